"""Memory limits and spilling: counts that do not fit in memory are written to disk in sorted runs.

Counts that grow with the data are written as a run, sorted by key, whenever they fill their share of memory;
at the end the runs are merged as streams. Nothing is dropped, so the result is the same as with unlimited
memory.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError

Longs = NDArray[np.int64]

# Bytes that a process takes without any data: Python, numpy, scipy, compiled kernels.
PROGRAM = 210 << 20
# Minimum limit in bytes.
LEAST = 300 << 20
MOST = 1 << 60
# Budget in bytes of counts that spill without a limit of the user's.
DEFAULT_BUDGET = 4 << 30
# Minimum number of entries of a run that are read at a time; reading fewer would only take longer.
MIN_SHARE = 1 << 12
# Options of ``mallopt``, from malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# Number of bytes of each unit, by its letter.
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True)
class Memory:
    """Memory limit of one process, and a folder for data beyond it.

    Args:
        size: limit in bytes, not counting the program itself.
        folder: folder for spilled data, the same for all processes of a run.
    """

    size: int
    folder: Path

    __repr__ = one_line

    def new_file(self, kind: str) -> Path:
        """Return a path for a new file that no other process uses; its name begins with ``kind``."""
        return self.folder / f"{kind}-{secrets.token_hex(8)}"


class _DefaultMemory(Memory):
    """Budget whose folder is made when the first file is."""

    def new_file(self, kind: str) -> Path:
        with suppress(OSError):  # `writing` reports a folder that is not there
            self.folder.mkdir(mode=0o700, exist_ok=True)
        return super().new_file(kind)


@cache
def default_memory() -> Memory:
    """Return the memory limit of counts that always spill, for use outside `spectralnlp.runtime.use_memory`.

    There is one for each process; its folder is deleted when the process ends.
    """
    folder = Path(tempfile.gettempdir(), f"spectralnlp-{secrets.token_hex(8)}")
    atexit.register(_delete_folder, folder, os.getpid())
    return _DefaultMemory(DEFAULT_BUDGET, folder)


def _delete_folder(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked process uses the folder of its parent
        shutil.rmtree(folder, ignore_errors=True)


def parse_size(text: str) -> int:
    """Return the number of bytes of a text such as ``800MB``, ``1.5G`` or ``1073741824``.

    Raises:
        ConfigError: the text is not a size, or the size is too small or too large.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise ConfigError(f"{text!r} is not a size of memory", hint="write it as 800MB or 1.5GB")
    exact = float(match[1]) * _UNITS[match[2]]
    if exact > MOST:
        raise ConfigError(f"{text} of memory is more than any machine has", hint="give what this one has")
    size = int(exact)
    if size < LEAST:
        raise ConfigError(f"{text} of memory is too little", hint=f"give {LEAST >> 20} MB or more")
    return size


@contextmanager
def temporary_memory(size: str | int, folder: str | Path | None) -> Iterator[Memory]:
    """Provide a memory limit with a temporary folder; the folder is deleted after the ``with`` block.

    For arguments and errors see `spectralnlp.runtime.use_memory`.
    """
    n_bytes = parse_size(size) - PROGRAM if isinstance(size, str) else size
    try:
        path = Path(tempfile.mkdtemp(prefix="spectralnlp-", dir=folder))
    except OSError as error:
        raise ConfigError(f"no temporary folder: {error.strerror}", path=folder) from error
    _return_what_is_freed()
    try:
        yield Memory(n_bytes, path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _return_what_is_freed() -> None:
    """Make glibc return the memory of freed arrays to the system at once.

    By default, glibc keeps freed memory for later arrays, and the heap fragments; this wastes 80 MB in a pass
    over 250 MB of text. With other C libraries, this function does nothing.
    """
    mallopt = _of_c_library("mallopt")
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 18)
        mallopt(_M_TRIM_THRESHOLD, 1 << 20)


def release_free_memory() -> None:
    """Make glibc return free memory to the system; do nothing with other C libraries."""
    malloc_trim = _of_c_library("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


def _of_c_library(name: str) -> Any:
    """Return a function of the C library by name, or None if it does not exist."""
    return getattr(ctypes.CDLL(None) if os.name == "posix" else None, name, None)


@contextmanager
def writing(path: Path) -> Iterator[Callable[[NDArray[Any]], None]]:
    """Open a new file for a ``with`` block, and provide a function that appends an array to it.

    Raises:
        ConfigError: the disk is full.
    """
    try:
        with path.open("wb") as file:

            def write(array: NDArray[Any]) -> None:
                file.write(np.ascontiguousarray(array).data)

            yield write
    except OSError as error:
        hint = "free some space, or set TMPDIR to another disk"
        folder = path.parent.parent  # the temporary folder within it will be deleted
        raise ConfigError(f"cannot spill: {error.strerror}", path=folder, hint=hint) from error


# ---------------------------------------------------------------------------------------------------------
# Sorted runs


@dataclass(frozen=True)
class Run:
    """A file of counts by key: distinct int64 keys in ascending order, then their int64 counts.

    Attributes:
        path: the file.
        length: number of keys.
    """

    path: Path
    length: int

    __repr__ = one_line

    @classmethod
    def write(cls, path: Path, keys: Longs, counts: Longs) -> Run:
        """Write counts, sorted by key, to a new file, and return the run. Raises what `writing` raises."""
        with writing(path) as write:
            write(keys)
            write(counts)
        return cls(path, len(keys))

    def read(self, start: int = 0, end: int | None = None) -> tuple[Longs, Longs]:
        """Return the keys and counts of the entries from index ``start`` to ``end``, exclusive."""
        n = min(self.length if end is None else end, self.length) - start
        return (
            np.fromfile(self.path, np.int64, n, offset=8 * start),
            np.fromfile(self.path, np.int64, n, offset=8 * (self.length + start)),
        )


def sum_by_key(keys: Longs, counts: Longs) -> tuple[Longs, Longs]:
    """Return distinct keys in ascending order with the sums of their counts; drops sums of zero."""
    if not len(keys):
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    sums = np.add.reduceat(counts, starts)
    kept = sums != 0
    return keys[starts][kept], sums[kept]


def merge_runs(runs: Sequence[Run], at_a_time: int) -> Iterator[tuple[Longs, Longs]]:
    """Merge runs (sorted counts on disk): yield arrays of ascending keys, and their counts summed over runs.

    Args:
        runs: the runs to merge.
        at_a_time: approximate number of entries to hold in memory. This number is divided among the runs,
            each of which gets at least `MIN_SHARE` entries.
    """
    share = max(MIN_SHARE, at_a_time // max(len(runs), 1))
    heads: list[tuple[Longs, Longs]] = [(np.empty(0, np.int64),) * 2 for _ in runs]
    positions = [0] * len(runs)
    while True:
        for i, run in enumerate(runs):
            if not len(heads[i][0]) and positions[i] < run.length:
                heads[i] = run.read(positions[i], positions[i] + share)
                positions[i] += len(heads[i][0])
        unread = [heads[i][0][-1] for i, run in enumerate(runs) if positions[i] < run.length]
        # All keys up to this bound have been read from every run.
        bound = min(unread) if unread else np.iinfo(np.int64).max
        cuts = [int(np.searchsorted(keys, bound, side="right")) for keys, _ in heads]
        if not any(cuts):
            return
        yield sum_by_key(
            np.concatenate([keys[:cut] for (keys, _), cut in zip(heads, cuts, strict=True)]),
            np.concatenate([counts[:cut] for (_, counts), cut in zip(heads, cuts, strict=True)]),
        )
        heads = [(keys[cut:], counts[cut:]) for (keys, counts), cut in zip(heads, cuts, strict=True)]
