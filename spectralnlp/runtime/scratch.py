"""Scratch arrays, which are mapped to temporary files if memory is limited.

Without a limit (`spectralnlp.runtime.use_memory`) arrays stay in memory. With one, large arrays are memory
maps of files, which the system can page out. Pages that this process has touched count as its memory until
`trim_memory` releases them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.runtime.context import current_memory
from spectralnlp.runtime.spill import PROGRAM, Memory, release_free_memory, writing

# Minimum size in bytes of an array that is mapped to a file.
MIN_SPILLED = 1 << 20
# Number of bytes of zeros that are written at a time.
_BLOCK = 1 << 20

_maps: WeakSet[mmap.mmap] = WeakSet()  # memory maps of all scratch arrays of this process
_lock = Lock()


def scratch_array(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of zeros, mapped to a file if memory is limited and the array is large.

    Raises:
        ConfigError: the disk is full.
    """
    memory, kind = current_memory(), np.dtype(dtype)
    n_bytes = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if memory is None or n_bytes < MIN_SPILLED:
        return np.zeros(shape, kind)
    return np.frombuffer(_new_map(memory, n_bytes), kind).reshape(shape)


def _new_map(memory: Memory, n_bytes: int) -> mmap.mmap:
    """Return a memory map of a new file of zeros, which is deleted with the map."""
    path = memory.new_file("array")
    with writing(path) as write:  # otherwise a full disk would crash the process when a page is touched
        zeros = np.zeros(_BLOCK, np.uint8)
        for start in range(0, n_bytes, _BLOCK):
            write(zeros[: n_bytes - start])
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), n_bytes)
    if os.name != "nt":  # there, the file is deleted with the folder
        path.unlink()
    with _lock:
        _maps.add(mapped)
    return mapped


def spilled(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a memory-mapped copy in a file if memory is limited and the array is large.

    Raises what `scratch_array` and `trim_memory` raise.
    """
    if current_memory() is None or array.nbytes < MIN_SPILLED:
        return array
    copy = scratch_array(array.shape, array.dtype)
    copy[...] = array
    trim_memory()
    return copy


def concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays, in a file if memory is limited and the result is large.

    Raises what `spilled` raises.

    Args:
        arrays: one or more arrays of the same dtype, whose shapes differ only in the first axis.
    """
    if current_memory() is None:
        return np.concatenate(arrays)
    n = sum(map(len, arrays))
    whole = scratch_array((n, *arrays[0].shape[1:]), arrays[0].dtype)
    np.concatenate(arrays, out=whole)
    trim_memory()
    return whole


def trim_memory() -> None:
    """Release the pages of all scratch arrays, and check that the remaining memory is within the limit.

    Raises:
        ConfigError: the process uses more memory than the limit.
    """
    memory = current_memory()
    if memory is None:
        return
    if hasattr(mmap, "MADV_DONTNEED"):
        with _lock:
            for each in _maps:
                each.madvise(mmap.MADV_DONTNEED)  # data that was written stays in the file
    limit = memory.size + PROGRAM
    if resident_bytes() > limit - limit // 4:
        release_free_memory()
    held = resident_bytes()
    if held > limit:
        what = f"{limit >> 20} MB of memory is too little: {held >> 20} MB cannot go to disk"
        raise ConfigError(what, hint="raise --memory, or leave it out")


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 on systems other than Linux."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * mmap.PAGESIZE
