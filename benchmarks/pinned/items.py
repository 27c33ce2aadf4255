"""What a section yields, where its data are, and how it runs a command."""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("SPECTRALNLP_SHARED", ROOT.parent / "shared")).resolve() / "corpora"
TREEBANKS = CORPORA / "treebanks"
_SECONDS = re.compile(r"\b\d[\d,]*(\.\d+)? (s|ms)\b|(sentences/s|\"sentences_per_second\":) +[\d.,]+\d")


class Item(NamedTuple):
    """One thing that must not change.

    Attributes:
        key: unique in its section.
        value: of JSON.
        aside: of JSON too; written, but not compared.
    """

    key: str
    value: Any
    aside: Any = None


# A section gets the items that were pinned before, by their keys: none when they are written.
Section = Callable[[Mapping[str, Item]], Iterator[Item]]


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is there for a while."""
    with tempfile.TemporaryDirectory(prefix="pins-") as name:
        yield Path(name).resolve()


def command(*arguments: object, scratch: Path | None = None) -> dict[str, Any]:
    """The exit status and the output of a command, and its line of error, if any.

    Seconds in the output, and the places of corpora and of scratch folders, are replaced by words.

    Args:
        arguments: as on a command line.
        scratch: a folder whose name is left out.
    """
    from spectralnlp.cli import main

    given, out, err = [str(each) for each in arguments], io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["spectralnlp", *given]):
        status = main()
    found: dict[str, Any] = {"status": status, "stdout": plain(out.getvalue(), scratch)}
    if status:
        found["error"] = plain(err.getvalue().strip().rpartition("\n")[2], scratch)
    return found


def succeed(*arguments: object, scratch: Path | None = None) -> str:
    """The output of a command; it ends the run if the command fails."""
    found = command(*arguments, scratch=scratch)
    if found["status"]:
        sys.exit(f"spectralnlp {' '.join(map(str, arguments))}: {found['error']}")
    return str(found["stdout"])


def plain(text: str, scratch: Path | None = None) -> str:
    """A text without seconds, and with words for places that differ between machines."""
    if scratch is not None:
        text = text.replace(str(scratch), "SCRATCH")
    return _SECONDS.sub("SECONDS", text.replace(str(CORPORA), "CORPORA"))


def files_of(treebank: str, part: str, every: int = 1) -> list[str]:
    """Some files of a treebank, sorted: every so manieth."""
    found = sorted(str(each) for each in (TREEBANKS / treebank / part).iterdir() if each.is_file())
    if not found:
        sys.exit(f"no treebank at {TREEBANKS / treebank / part}: set SPECTRALNLP_SHARED")
    return found[::every]


@cache
def trees_of(treebank: str, part: str) -> tuple[Any, ...]:
    """All trees of a part of a treebank, without those that cannot be read."""
    import spectralnlp

    return tuple(spectralnlp.read_treebank(files_of(treebank, part), on_bad=lambda error: None))


def spread(trees: tuple[Any, ...], n: int, *, run: int = 1) -> list[Any]:
    """So many trees, from all over a treebank, in runs of so many neighbours."""
    n_runs = n // run
    step = len(trees) // n_runs
    return [tree for number in range(n_runs) for tree in trees[number * step : number * step + run]]
