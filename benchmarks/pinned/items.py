"""Shared helpers of the pinned sections: items (results to compare), data, and running of commands."""

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
_SECONDS = re.compile(
    r"\b\d[\d,]*(\.\d+)? (s|ms)\b|((?:sentences|symbols|words|texts)/s|\"sentences_per_second\":) +[\d.,]+\d"
)


class Item(NamedTuple):
    """Pinned result: one that is recorded to check that later versions compute the same.

    Attributes:
        key: key, unique in its section.
        value: JSON value.
        aside: JSON value that is recorded for information, but not compared.
    """

    key: str
    value: Any
    aside: Any = None


# A section gets the previously pinned items by key; none when pins are written.
Section = Callable[[Mapping[str, Item]], Iterator[Item]]


@contextmanager
def scratch() -> Iterator[Path]:
    """Return a context with a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="pins-") as name:
        yield Path(name).resolve()


def command(*arguments: object, scratch: Path | None = None) -> dict[str, Any]:
    """Run a command of spectralnlp; return its exit status, output and error message, if any.

    Seconds in the output, and the paths of corpora and of scratch folders, are replaced by placeholders.

    Args:
        arguments: arguments of the command line.
        scratch: folder whose path is replaced.
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
    """Run a command of spectralnlp and return its output; exit if it fails.

    Args:
        arguments: arguments of the command line.
        scratch: folder whose path is replaced in the output.
    """
    found = command(*arguments, scratch=scratch)
    if found["status"]:
        sys.exit(f"spectralnlp {' '.join(map(str, arguments))}: {found['error']}")
    return str(found["stdout"])


def plain(text: str, scratch: Path | None = None) -> str:
    """Return a text with placeholders for seconds and for paths that differ between machines."""
    if scratch is not None:
        text = text.replace(str(scratch), "SCRATCH")
    return _SECONDS.sub("SECONDS", text.replace(str(CORPORA), "CORPORA"))


def files_of(treebank: str, part: str, every: int = 1) -> list[str]:
    """Return every ``every``-th file of a treebank, sorted."""
    found = sorted(str(each) for each in (TREEBANKS / treebank / part).iterdir() if each.is_file())
    if not found:
        sys.exit(f"no treebank at {TREEBANKS / treebank / part}: set SPECTRALNLP_SHARED")
    return found[::every]


@cache
def trees_of(treebank: str, part: str) -> tuple[Any, ...]:
    """Return all readable trees of a part of a treebank."""
    import spectralnlp

    return tuple(spectralnlp.read_treebank(files_of(treebank, part), on_bad=lambda error: None))


def spread(trees: tuple[Any, ...], n: int, *, run: int = 1) -> list[Any]:
    """Return n trees at equal distances, in runs of ``run`` neighbouring trees."""
    n_runs = n // run
    step = len(trees) // n_runs
    return [tree for number in range(n_runs) for tree in trees[number * step : number * step + run]]
