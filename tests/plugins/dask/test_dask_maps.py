"""``tag`` and ``classify`` on workers, and taken up again: the text of the serial run, batch by batch."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from spectralnlp_sketch.cli.classify import ClassifyToText

from spectralnlp.cli.app import run
from spectralnlp.cli.remote import OnWorkers, TagToText
from spectralnlp.errors import ConfigError

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

WORDS = {"the": "DET", "cat": "NOUN", "dogs": "NOUN", "saw": "VERB", "met": "VERB", ".": "PUNCT"}
SENTENCES = ["the cat saw the dogs .", "dogs met the cat .", "the cat met the cat ."]
LABELLED = [
    "weather\twill it rain in oslo",
    "weather\tis it sunny today",
    "food\torder a pizza",
    "food\teat rice",
]


class Case(NamedTuple):
    """A command with all but the model, the class of its work, and models by the name of what they are of."""

    arguments: list[str]
    work: type[OnWorkers[Any, Any]]
    models: dict[str, Path]
    text: Path

    def __call__(self, *options: object, model: str = "one") -> int:
        return run([*self.arguments, "-m", str(self.models[model]), str(self.text), *map(str, options)])


@pytest.fixture(scope="module")
def taggers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("taggers")
    for name, n in (("one", 3), ("other", 2)):
        gold = folder / f"{name}.txt"
        rows = ("".join(f"{word} {WORDS[word]}\n" for word in each.split()) for each in SENTENCES[:n] * 3)
        gold.write_text("\n".join(rows))
        assert run(["train", "tagger", str(gold), "-o", str(folder / name)]) == 0
    return {name: folder / name for name in ("one", "other")}


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("classifiers")
    for name, n in (("one", 4), ("other", 3)):
        gold = folder / f"{name}.tsv"
        gold.write_text("\n".join(LABELLED[:n] * 2) + "\n")
        assert run(["train", "intent", str(gold), "-o", str(folder / name)]) == 0
    return {name: folder / name for name in ("one", "other")}


@pytest.fixture(params=["tag --scores", "classify"])
def case(
    request: pytest.FixtureRequest, taggers: dict[str, Path], classifiers: dict[str, Path], tmp_path: Path
) -> Case:
    """Eleven lines; in batches of two where a test asks for `small_batches`."""
    text = tmp_path / "text.txt"
    if request.param == "classify":
        text.write_text("".join(f"{each} {n}\n" for n in range(3) for each in ("rain", "", "eat a pizza")))
        return Case(["classify", "--format", "json"], ClassifyToText, classifiers, text)
    text.write_text("".join(f"{each}\n\n" for each in SENTENCES * 2))
    return Case([*request.param.split(), "--tokenized"], TagToText, taggers, text)


@pytest.fixture
def small_batches(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case.work, "batch_size", 2)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("engine", ["dask", "processes"])
def test_workers_give_the_text_of_the_serial_run(
    case: Case, scheduler: str, engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert case() == 0
    here = capsys.readouterr().out
    assert here.count("\n") == len(case.text.read_text().splitlines())
    options = ["--scheduler", scheduler] if engine == "dask" else ["--jobs", 2]
    assert case(*options, "--checkpoint", tmp_path / "kept") == 0
    assert capsys.readouterr().out == here
    assert not (tmp_path / "kept").exists()


def cut_off(work: type[OnWorkers[Any, Any]], n: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let it come to an end after some batches, all of which are listed."""
    done: list[Any] = []
    original: Callable[..., Any] = work.__call__

    def call(self: OnWorkers[Any, Any], batch: Any) -> Any:
        if len(done) == n:
            raise KeyboardInterrupt
        done.append(batch)
        return original(self, batch)

    monkeypatch.setattr(work, "__call__", call)
    return done


@pytest.mark.usefixtures("small_batches")
def test_a_run_that_was_cut_off_goes_on(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert case() == 0
    whole = capsys.readouterr().out
    kept, output = tmp_path / "kept", tmp_path / "output"
    with monkeypatch.context() as patch:
        cut_off(case.work, 3, patch)
        assert case("--checkpoint", kept, "-o", output) == 130
    assert not output.exists()
    journal = kept / "map-1.jsonl"
    assert [len(json.loads(line)[1]) for line in journal.read_text().splitlines()[1:]] == [2, 2, 2]
    journal.write_bytes(journal.read_bytes()[:-5])  # as if the machine had lost power
    done = cut_off(case.work, 99, monkeypatch)
    assert case("--checkpoint", kept, "-o", output) == 0
    assert len(done) == -(-len(whole.splitlines()) // 2) - 2
    assert output.read_text() == whole
    assert not kept.exists()


@pytest.mark.usefixtures("small_batches")
def test_a_journal_of_another_model_or_text_is_refused(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    with monkeypatch.context() as patch:
        cut_off(case.work, 3, patch)
        assert case("--checkpoint", kept) == 130
    before = (kept / "map-1.jsonl").read_bytes()
    capsys.readouterr()
    assert case("--checkpoint", kept, model="other") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "map-1.jsonl: a journal of another model" in err
    assert err.count("\n") == 1
    case.text.write_text("x\n" + case.text.read_text())
    assert case("--checkpoint", kept) == 2
    assert "a journal of other input, from example 1 on" in capsys.readouterr().err
    assert (kept / "map-1.jsonl").read_bytes() == before


def test_another_model_on_a_worker_is_refused(case: Case) -> None:
    named = case.work.of(str(case.models["one"]))
    assert named.fingerprint != case.work.of(str(case.models["other"])).fingerprint
    with pytest.raises(ConfigError, match="is another one"):
        case.work(str(case.models["other"]), named.fingerprint)([])


def test_a_model_that_was_moved_is_the_same(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(case.models["one"], tmp_path / "moved")
    with monkeypatch.context() as patch:
        cut_off(case.work, 0, patch)
        assert case("--checkpoint", tmp_path / "kept") == 130
    moved = case._replace(models={"one": tmp_path / "moved"})
    assert moved("--checkpoint", tmp_path / "kept") == 0
    assert capsys.readouterr().out


def test_standard_input_is_cut_where_a_file_is(
    classifiers: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """However it arrives, so that a run can go on."""

    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read1(3)

    monkeypatch.setattr(ClassifyToText, "batch_size", 2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Slow(b"rain\neat rice\n\nrain\neat\n")))
    done = cut_off(ClassifyToText, 99, monkeypatch)
    assert run(["classify", str(classifiers["one"]), "--checkpoint", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out.count("\n") == 5
    assert done == [["rain", "eat rice"], ["", "rain"], ["eat"]]
