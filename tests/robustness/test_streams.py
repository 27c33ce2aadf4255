"""Closed standard streams, and inputs that can be read only once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.api import train
from spectralnlp.cli.app import run
from spectralnlp.errors import InputError
from spectralnlp.runtime import rereadable

MAIN = "import sys; from spectralnlp.cli import main; sys.exit(main())"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a POSIX system"),
]


def in_shell(redirection: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line with a redirection of the shell's, such as ``>&-``."""
    command = f'exec "$0" -c "$1" "${{@:2}}" {redirection}'
    words = ["bash", "-c", command, sys.executable, MAIN, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("redirection", [">&-", "<&- >&-"])
def test_a_closed_output_is_refused_in_one_line(own_treebank: Path, redirection: str) -> None:
    trees = own_treebank / "dev.mrg"
    done = in_shell(redirection, "score", trees, trees)
    assert done.returncode == 2
    said, line = done.stderr.splitlines()
    assert said == "spectralnlp: left out: 7 empty elements"
    assert line == "spectralnlp: cannot write the result: standard output is closed"


def test_a_failure_stays_one_where_nobody_can_hear_of_it(tmp_path: Path) -> None:
    assert in_shell("2>&-", "score", tmp_path / "none", tmp_path / "none").returncode == 2
    assert in_shell(">&- 2>&-", "score", tmp_path / "none", tmp_path / "none").returncode == 2


def test_what_succeeds_needs_no_stderr(own_treebank: Path) -> None:
    trees = own_treebank / "dev.mrg"
    done = in_shell("2>&-", "score", trees, trees)
    assert done.returncode == 0
    assert "100.00" in done.stdout


@pytest.mark.parametrize("command", [["train", "pcfg", "-", "-o", "m"], ["evaluate", "m", "-"]])
def test_a_closed_input_is_refused_in_one_line(
    command: list[str], own_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["train", "pcfg", str(own_treebank / "dev.mrg"), "-o", "m"]) == 0
    monkeypatch.setattr(sys, "stdin", None)
    assert run(command) == 2


@pytest.fixture
def pipe_of(tmp_path: Path) -> Callable[[Path], Path]:
    """A named pipe into which a thread writes a file once."""

    def write(pipe: Path, source: Path) -> None:
        with suppress(BrokenPipeError):  # a reader that fails leaves
            pipe.write_bytes(source.read_bytes())

    def make(source: Path) -> Path:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        threading.Thread(target=write, args=(pipe, source), daemon=True).start()
        return pipe

    return make


def test_a_pipe_is_copied_and_can_be_read_again(pipe_of: Callable[[Path], Path], own_corpora: Path) -> None:
    source = own_corpora / "text" / "lighthouse.txt"
    (copy,) = rereadable([pipe_of(source)])
    assert Path(copy).name == "pipe"
    assert Path(copy).read_bytes() == Path(copy).read_bytes() == source.read_bytes()


def test_other_inputs_stay_as_they_are(tmp_path: Path) -> None:
    inputs = ["s3://bucket/x", tmp_path, tmp_path / "none", "*.mrg", "a\0b"]
    assert rereadable(inputs) == inputs


def test_models_are_trained_from_pipes_as_from_files(
    pipe_of: Callable[[Path], Path], own_corpora: Path
) -> None:
    """The hidden Markov model takes two passes; a pipe has one."""
    source = own_corpora / "text" / "tokenized.txt"
    settings = {"n_states": 3, "min_count": 1}
    piped, read = (train("hmm", path, **settings) for path in (pipe_of(source), source))
    assert piped.symbols == read.symbols
    ours, theirs = (model.to_stored()[1] for model in (piped, read))
    assert all(np.array_equal(array, theirs[name]) for name, array in ours.items())


def test_a_pipe_that_cannot_be_copied_is_named(
    pipe_of: Callable[[Path], Path], own_corpora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(InputError, match="pipe: cannot be copied to a file: No space left on device"):
        rereadable([pipe_of(own_corpora / "text" / "lighthouse.txt")])
