from __future__ import annotations

from pathlib import Path

import pytest
from change_runs import Outcome, Run

from spectralnlp.cli import app

NOUNS, VERBS = ("cat", "dog", "bird", "fish"), ("saw", "chased", "heard")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def run_here(*arguments: str | Path) -> Outcome:
        status = app.run([str(argument) for argument in arguments])
        return Outcome(status, *capsys.readouterr())

    return run_here


@pytest.fixture
def trees(tmp_path: Path) -> list[Path]:
    """Three files of trees."""
    folder = tmp_path / "trees"
    folder.mkdir()
    files = []
    for number, verb in enumerate(VERBS):
        path = folder / f"{verb}.mrg"
        lines = [
            f"(S (NP (DT the) (NN {a})) (VP (VBD {verb}) (NP (DT the) (NN {b}))))\n"
            for a in NOUNS
            for b in NOUNS[number:]
        ]
        path.write_text("".join(lines))
        files.append(path)
    return files


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file of sequences."""
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"the {a} {verb} the {b} .\n" for a in NOUNS for verb in VERBS for b in NOUNS))
    return path
