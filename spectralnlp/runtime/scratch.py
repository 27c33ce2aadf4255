"""Arrays that live in files of the temporary folder where memory is limited, and in memory where it is not.

Without a limit (`spectralnlp.runtime.use_memory`) nothing here does anything. With one, large arrays are maps
of files: the system holds as much of them as it has room for, and takes it back when others need it. Pages
that this process has touched count as its own until `trim_memory` lets go of them.
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
from spectralnlp.runtime.spill import PROGRAM, Memory, return_what_is_free, writing

# Bytes of an array for which a file is worth while.
LEAST_SPILLED = 1 << 20
# Bytes of zeros that are written at a time.
_BLOCK = 1 << 20

_maps: WeakSet[mmap.mmap] = WeakSet()  # of all scratch arrays of this process
_lock = Lock()


def scratch_array(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of zeros: a map of a file if memory is limited and the array is large.

    Raises:
        ConfigError: the disk is full.
    """
    memory, kind = current_memory(), np.dtype(dtype)
    n_bytes = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if memory is None or n_bytes < LEAST_SPILLED:
        return np.zeros(shape, kind)
    return np.frombuffer(_new_map(memory, n_bytes), kind).reshape(shape)


def _new_map(memory: Memory, n_bytes: int) -> mmap.mmap:
    """Map a file of zeros, which lasts as long as the map does."""
    path = memory.new_file("array")
    with writing(path) as write:  # else a full disk would end the process at the first touch of a page
        zeros = np.zeros(_BLOCK, np.uint8)
        for start in range(0, n_bytes, _BLOCK):
            write(zeros[: n_bytes - start])
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), n_bytes)
    if os.name != "nt":  # where a file goes with the folder
        path.unlink()
    with _lock:
        _maps.add(mapped)
    return mapped


def spilled(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array, copied to a file if memory is limited and the array is large.

    Errors as of `scratch_array` and `trim_memory`.
    """
    if current_memory() is None or array.nbytes < LEAST_SPILLED:
        return array
    copy = scratch_array(array.shape, array.dtype)
    copy[...] = array
    trim_memory()
    return copy


def concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays, in a file if memory is limited and they are large together; errors as of `spilled`.

    Args:
        arrays: one or more, of one type, and alike but for their lengths.
    """
    if current_memory() is None:
        return np.concatenate(arrays)
    n = sum(map(len, arrays))
    whole = scratch_array((n, *arrays[0].shape[1:]), arrays[0].dtype)
    np.concatenate(arrays, out=whole)
    trim_memory()
    return whole


def trim_memory() -> None:
    """Let go of the pages of all scratch arrays, and check that what is left is within the limit.

    Raises:
        ConfigError: it is not.
    """
    memory = current_memory()
    if memory is None:
        return
    if hasattr(mmap, "MADV_DONTNEED"):
        with _lock:
            for each in _maps:
                each.madvise(mmap.MADV_DONTNEED)  # what was written stays with the file
    limit = memory.size + PROGRAM
    if resident_bytes() > limit - limit // 4:
        return_what_is_free()
    held = resident_bytes()
    if held > limit:
        what = f"{limit >> 20} MB of memory is too little: {held >> 20} MB cannot go to disk"
        raise ConfigError(what, hint="raise --memory, or leave it out")


def resident_bytes() -> int:
    """Return how much memory this process holds; 0 where the system does not say, as Linux does."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * mmap.PAGESIZE
