"""Memory that does not grow with the text, and commands that run short of it: peaks of child processes."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from children import run_child

from spectralnlp.cli.app import run
from spectralnlp.errors import InputError
from spectralnlp.runtime import files, open_text

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peaks are read as Linux gives them"),
]


def peak(*arguments: object) -> int:
    """The peak of a command that succeeds, in MB."""
    done = run_child(*arguments)
    assert done.returncode == 0, done.stderr
    return int(done.stderr.split()[-1])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, own_corpora: Path) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name, path in (
        ("tagger", "text/tagged.txt"),
        ("intent", "intents/train.tsv"),
        ("pcfg", "treebank/train.mrg"),
    ):
        assert run(["train", name, str(own_corpora / path), "-o", str(root / name)]) == 0
    return root


def write_text(path: Path, megabytes: float, end: str = "\n") -> Path:
    """Write sentences with ever new words."""
    with path.open("w", encoding="utf-8") as file:
        size = number = 0
        while size < megabytes * 1e6:
            size += file.write(
                f"The keeper x{number:x} climbs {number} stairs, every evening. It is late.{end}"
            )
            number += 1
    return path


# Command, its model, and megabytes of a shorter and a longer text.
STREAMS = [("tag", "tagger", 2, 8), ("classify", "intent", 1, 8), ("parse", "pcfg", 0.05, 0.2)]


@pytest.mark.parametrize(("command", "model", "short", "long"), STREAMS)
def test_more_lines_take_no_more_memory(
    command: str, model: str, short: float, long: float, models: Path, tmp_path: Path
) -> None:
    peaks = [
        peak(command, "-m", models / model, write_text(tmp_path / f"{size}.txt", size))
        for size in (short, long)
    ]
    assert peaks[1] < peaks[0] + 25, peaks


@pytest.mark.parametrize(("command", "model"), [("tag", "tagger"), ("classify", "intent")])
def test_a_long_line_is_not_held_as_tokens(command: str, model: str, models: Path, tmp_path: Path) -> None:
    peaks = [
        peak(command, "-m", models / model, write_text(tmp_path / "text", 3, end)) for end in ("\n", " ")
    ]
    assert peaks[1] < peaks[0] + 60, peaks


def test_memory_is_the_peak_of_the_process(tmp_path: Path) -> None:
    text = write_text(tmp_path / "text", 12)
    assert peak("train", "eigenwords", text, "-o", tmp_path / "m", "--memory", "300MB") < 300


# ---------------------------------------------------------------------------------------------------------
# Lines without end


def test_a_line_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    (tmp_path / "text").write_bytes(b"a\n" + b"b" * (1 << 20) + b"\n")
    with (
        pytest.raises(InputError, match=r"text:2: a line of more than 1 MB"),
        open_text(tmp_path / "text") as lines,
    ):
        list(lines)
    (tmp_path / "text").write_bytes(b"b" * ((1 << 20) - 1) + b"\n")
    with open_text(tmp_path / "text") as lines:
        assert [len(line) for line in lines] == [(1 << 20) - 1]


COMMANDS: list[tuple[str, Callable[[Path, Path], list[object]]]] = [
    ("parse", lambda models, bomb: ["parse", "-m", models / "pcfg", bomb]),
    ("tag", lambda models, bomb: ["tag", "-m", models / "tagger", bomb]),
    ("classify", lambda models, bomb: ["classify", "-m", models / "intent", bomb]),
    ("train", lambda models, bomb: ["train", "pcfg", bomb, "-o", models / "new"]),
    ("score", lambda models, bomb: ["score", bomb, bomb]),
]


@pytest.mark.parametrize(("_", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_a_compressed_line_that_swells_is_refused(
    _: str, command: Callable[[Path, Path], list[object]], models: Path, tmp_path: Path
) -> None:
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b"a" * (1 << 20))
    done = run_child(*command(models, bomb))
    line, megabytes = done.stderr.strip().rsplit("\n", 1)
    assert done.returncode == 2
    what = "a gzip file that swells to more than 200 times its size; unpack it, and look at what it holds"
    assert line == f"spectralnlp: {bomb}: {what}"
    assert int(megabytes) < 500
