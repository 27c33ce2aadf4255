"""The options of commands: ``--scheduler``, ``--checkpoint``, ``--memory``, ``--skip-bad-partitions``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp import registry
from spectralnlp.cli.app import run
from spectralnlp.cli.remote import ParseToText

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

SMALL = ("--set", "dimensions=5", "--set", "min_count=1")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of ten files."""
    folder = tmp_path_factory.mktemp("text")
    rng = np.random.default_rng(0)
    for number in range(10):
        rows = rng.zipf(1.5, size=(40, 8)).clip(max=60)
        Path(folder, f"{number}.txt").write_text("\n".join(" ".join(map(_word, row)) for row in rows))
    return folder


def _word(number: int) -> str:
    return "word" + "abcdefghij"[number // 10] + "abcdefghij"[number % 10]


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory, own_treebank: Path) -> Path:
    folder = tmp_path_factory.mktemp("model") / "pcfg"
    assert run(["train", "pcfg", str(own_treebank / "train.mrg"), "-o", str(folder)]) == 0
    return folder


def numbers(folder: Path) -> bytes:
    return (folder / "arrays.safetensors").read_bytes()


def train(*arguments: object) -> int:
    return run(["train", *map(str, arguments), *SMALL])


def test_train_on_a_cluster_gives_the_same_bytes(scheduler: str, text: Path, tmp_path: Path) -> None:
    assert train("eigenwords", text, "-o", tmp_path / "serial") == 0
    assert train("eigenwords", f"file://{text}/*.txt", "-o", tmp_path / "far", "--scheduler", scheduler) == 0
    assert numbers(tmp_path / "far") == numbers(tmp_path / "serial")


SPILLING = {
    "eigenwords": SMALL,
    "hmm": ("--set", "n_states=3"),
    "topics": ("--set", "n_topics=2", "--set", "min_documents=2", "--set", "max_share=1"),
}


@pytest.mark.parametrize("estimator", SPILLING)
def test_little_memory_gives_the_same_bytes(
    scheduler: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, estimator: str
) -> None:
    def train(output: Path, *options: object) -> bytes:
        arguments = (estimator, text, "-o", output, *SPILLING[estimator], *options)
        assert run(["train", *map(str, arguments)]) == 0
        return numbers(output)

    free = train(tmp_path / "free")
    monkeypatch.setattr("spectralnlp.runtime.spill.LEAST", 1)
    monkeypatch.setattr("spectralnlp.runtime.spill.PROGRAM", 0)
    for number, options in enumerate([(), ("--scheduler", scheduler), ("--checkpoint", tmp_path / "kept")]):
        assert train(tmp_path / f"bound{number}", "--memory", "120KB", *options) == free


def test_estimators_that_spill_are_all_tried() -> None:
    there = [each.name for each in registry.estimators.describe() if each.status != "not installed"]
    found = {name for name in there if registry.estimators.get(name).spills}
    elsewhere = {"lpcfg"}  # tests/estimators/test_parser_spilled.py
    assert {name.partition(".")[0] for name in found} == {*SPILLING, *elsewhere}


@pytest.mark.parametrize("size", ["much", "5MB"])
def test_memory_that_is_none_is_refused(
    text: Path, tmp_path: Path, size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("eigenwords", text, "-o", tmp_path / "model", "--memory", size) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "model").exists()


def test_memory_is_refused_where_nothing_spills(
    own_treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["train", "pcfg", str(own_treebank), "-o", str(tmp_path / "model"), "--memory", "1GB"]
    assert run(arguments) == 2
    assert "--memory cannot bound pcfg," in capsys.readouterr().err


@pytest.mark.parametrize("estimator", SPILLING)
def test_memory_is_refused_where_moments_are_kept(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], estimator: str
) -> None:
    arguments = ["train", estimator, str(text), "-o", str(tmp_path / "model"), "--memory", "1GB"]
    assert run([*arguments, "--keep-moments"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--memory cannot bound --keep-moments" in error
    assert not (tmp_path / "model").exists()


def test_a_bad_file_is_named_and_the_run_goes_on_from_its_checkpoint(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.txt").write_bytes(b"a\0b\n")
    files = [*sorted(text.iterdir()), tmp_path / "bad.txt"]
    kept = tmp_path / "kept"
    assert train("eigenwords", *files, "-o", tmp_path / "model", "--checkpoint", kept) == 2
    assert "bad.txt:1: a NUL byte" in capsys.readouterr().err
    assert len(list(kept.rglob("*.safetensors"))) == 10
    skipping = ("--checkpoint", kept, "--skip-bad-partitions")
    assert train("eigenwords", *files, "-o", tmp_path / "model", *skipping) == 0
    said = capsys.readouterr().err
    assert f"spectralnlp: left out {tmp_path}/bad.txt:1: a NUL byte in text" in said
    assert "spectralnlp: left out 1 in all" in said
    assert not kept.exists()
    assert train("eigenwords", text, "-o", tmp_path / "good") == 0
    assert numbers(tmp_path / "model") == numbers(tmp_path / "good")


def test_a_treebank_with_a_bad_file_first(tmp_path: Path, own_treebank: Path) -> None:
    (tmp_path / "0.mrg").write_text("(S (NP torn\n")
    (tmp_path / "1.mrg").write_text((own_treebank / "dev.mrg").read_text())
    arguments = ["train", "pcfg", str(tmp_path), "-o", str(tmp_path / "model"), "--skip-bad-partitions"]
    assert run(arguments) == 0
    assert run(["train", "pcfg", str(tmp_path / "1.mrg"), "-o", str(tmp_path / "good")]) == 0
    assert numbers(tmp_path / "model") == numbers(tmp_path / "good")


SENTENCES = "the keeper saw the boat\na dog slept\n\nthe boat came\nshe saw it\n"


def test_parse_on_a_cluster_gives_the_same_text(
    scheduler: str, parser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text(SENTENCES)
    parse = ["parse", "--tokenized", "--scores", "-m", str(parser), str(tmp_path / "text")]
    assert run(parse) == 0
    here = capsys.readouterr().out
    assert run([*parse, "--scheduler", scheduler]) == 0
    assert capsys.readouterr().out == here
    assert here.count("\n") == 5


def test_parse_goes_on_where_it_was_cut_off(
    parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ParseToText, "batch_size", 1)  # a line a task
    (tmp_path / "text").write_text(SENTENCES)
    parse = ["parse", "--tokenized", "-m", str(parser), str(tmp_path / "text")]
    assert run(parse) == 0
    whole = capsys.readouterr().out
    resumable = [*parse, "--checkpoint", str(tmp_path / "kept"), "-o", str(tmp_path / "trees")]
    parsed: list[Any] = []
    original = ParseToText.__call__

    def cut_off(self: ParseToText, sentence: Any) -> Any:
        if len(parsed) == 2:
            raise KeyboardInterrupt
        parsed.append(sentence)
        return original(self, sentence)

    monkeypatch.setattr(ParseToText, "__call__", cut_off)
    assert run(resumable) == 130
    assert not (tmp_path / "trees").exists()
    kept = (tmp_path / "kept" / "map-1.jsonl").read_text().splitlines()
    assert [json.loads(line)[1] is None for line in kept[1:]] == [False, False]
    monkeypatch.setattr(ParseToText, "__call__", counting(parsed, original))
    assert run(resumable) == 0
    assert len(parsed) == 5
    assert (tmp_path / "trees").read_text() == whole
    assert not (tmp_path / "kept").exists()


def counting(parsed: list[Any], original: Any) -> Any:
    def call(self: ParseToText, sentence: Any) -> Any:
        parsed.append(sentence)
        return original(self, sentence)

    return call


def test_a_model_that_is_another_one_on_a_worker_is_refused(parser: Path) -> None:
    from spectralnlp.errors import ConfigError
    from spectralnlp.text.tokens import Sentence

    with pytest.raises(ConfigError, match="is another one"):
        ParseToText(str(parser), "0" * 16)(Sentence.from_words(["a"]))


@pytest.fixture(autouse=True)
def no_limits_left() -> Iterator[None]:
    yield
    from spectralnlp.runtime import current_checkpoint, current_memory

    assert current_memory() is None
    assert current_checkpoint() is None
