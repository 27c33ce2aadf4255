"""Journals: results of a function mapped over a long stream, stored so that a run can be resumed.

A journal is a file of JSON lines: a header that describes the run, and for each example its digest and
result. A restarted run takes stored results from the file, after checking each example's digest, and computes
only the missing results.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from spectralnlp.display import exact
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.runtime.context import current_checkpoint
from spectralnlp.runtime.passes import map_ordered

T = TypeVar("T")

FORMAT = "spectralnlp-journal-1"
_HINT = "delete it to begin again, or go on with what it is of"


def map_resumable(
    function: Callable[[T], Any],
    examples: Iterable[T],
    about: Mapping[str, Any],
    *,
    chunk_size: int | None = None,
) -> Iterator[Any]:
    """Yield a function's value for each example, in order, computed by the current engine.

    If there is a current checkpoint, results are stored in a journal there. If the run is started again, it
    takes these results from the journal instead of computing them.

    Args:
        function: returns JSON values; see `map_ordered`.
        examples: a stream that is the same in every run.
        about: the model and its options, as JSON values. A stored journal must have the same values.
        chunk_size: see `map_ordered`.

    Raises:
        ConfigError: the checkpoint belongs to other examples, or to another model or other options.
        ModelError: the journal is damaged.
    """
    checkpoint = current_checkpoint()
    if checkpoint is None:
        yield from map_ordered(function, examples, chunk_size=chunk_size)
        return
    path = checkpoint.next_map()
    with _writing(path):
        _begin(path, about)
    stream = iter(examples)
    yield from _kept(path, stream)
    with path.open("a", encoding="utf-8") as journal:
        for digest, result in map_ordered(partial(_with_digest, function), stream, chunk_size=chunk_size):
            with _writing(path):
                journal.write(json.dumps([digest, result]) + "\n")
                journal.flush()
            yield result


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise a ConfigError for any OSError in a ``with`` block that writes the file ``path``."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot write the checkpoint: {error.strerror}", path=path) from error


def _begin(path: Path, about: Mapping[str, Any]) -> None:
    """Create a journal file with its header; if it exists, check the header and cut an incomplete last line.

    Args:
        path: the file.
        about: content of the header; see `map_resumable`.
    """
    header = json.dumps([FORMAT, dict(about)], sort_keys=True) + "\n"
    if not path.exists():
        fresh = path.with_name(f".{path.name}.tmp")
        fresh.write_text(header, encoding="utf-8")
        os.replace(fresh, path)
        return
    with path.open("r+b") as journal:
        first = journal.readline().decode("utf-8", "replace")
        if first != header:
            _refuse(path, first, about)
        end = journal.tell()
        for line in journal:
            end += len(line) if line.endswith(b"\n") else 0
        journal.truncate(end)


def _refuse(path: Path, first: str, about: Mapping[str, Any]) -> None:
    try:
        name, kept = json.loads(first)
        different = sorted(key for key in {*kept, *about} if kept.get(key) != about.get(key))
    except (ValueError, AttributeError, TypeError):
        name, different = None, []
    if name != FORMAT or not different:
        raise ModelError("truncated or no journal at all", path=path, hint=_HINT)
    raise ConfigError(f"a journal of another {different[0]}", path=path, hint=_HINT)


def _kept(path: Path, examples: Iterator[T]) -> Iterator[Any]:
    with path.open(encoding="utf-8") as journal:
        next(journal)
        for number, line in enumerate(journal, start=1):
            try:
                digest, result = json.loads(line)
            except ValueError as error:
                raise ModelError(f"corrupt: {error}", path=path, line=number + 1, hint=_HINT) from error
            if digest != digest_of(next(examples, None)):
                what = f"a journal of other input, from example {number} on"
                raise ConfigError(what, path=path, hint=_HINT)
            yield result


def _with_digest(function: Callable[[T], Any], example: T) -> tuple[str, Any]:
    return digest_of(example), function(example)


def digest_of(example: object) -> str:
    """Return a digest of an example's whole content, 16 hexadecimal digits."""
    return hashlib.sha256(exact(example).encode("utf-8", "replace")).hexdigest()[:16]
