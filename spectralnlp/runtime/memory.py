"""Check that memory is available before calling code that would crash without it.

Python and numpy raise MemoryError if memory is short; LLVM and OpenBLAS end the process or hang. Therefore
memory is checked before they are called.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading

from threadpoolctl import ThreadpoolController

BUFFER_BYTES = 1 << 25  # OpenBLAS's BUFFER_SIZE on x86-64 and arm64, for each thread that multiplies
MAX_BUFFERS = 40  # OpenBLAS has room for 50 buffers or more, some of which may be in use

_buffers: dict[str, int] = {}  # number of buffers of each OpenBLAS library, by its file
_lock = threading.Lock()


def require_room(n_bytes: int, purpose: str) -> None:
    """Check that the system can provide an amount of memory, without keeping it.

    Args:
        n_bytes: number of bytes.
        purpose: what the memory is for, for the message.

    Raises:
        MemoryError: the memory is not available.
    """
    if os.name == "nt":  # where a mapping would commit the memory
        return
    try:
        mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError as error:
        raise MemoryError(f"another {n_bytes >> 20} MB for {purpose}") from error


def reserve_blas_buffers(n_threads: int, controller: ThreadpoolController | None = None) -> None:
    """Make every OpenBLAS library of this process allocate a buffer for each thread in advance.

    OpenBLAS keeps buffers for later threads. If it cannot allocate one, version 0.3.30 tries for ever, and
    0.3.31 ends the process.

    Args:
        n_threads: number of threads, including the calling one.
        controller: a ``ThreadpoolController`` that was made after the libraries were loaded; None to make
            one here, which takes time.

    Raises:
        MemoryError: there is not enough memory for the buffers.
    """
    libraries = (controller or ThreadpoolController()).lib_controllers
    wanted = min(n_threads, MAX_BUFFERS)
    with _lock:
        for library in libraries:
            missing = wanted - _buffers.get(library.filepath, 0)
            if library.internal_api == "openblas" and missing > 0:
                require_room(missing * BUFFER_BYTES, f"matrix products in {wanted} threads")
                _take_and_give_back(ctypes.CDLL(library.filepath), wanted)
                _buffers[library.filepath] = wanted


def _take_and_give_back(library: ctypes.CDLL, n_buffers: int) -> None:
    try:
        take, give_back = library.blas_memory_alloc, library.blas_memory_free
    except AttributeError:  # a build without these symbols
        return
    take.argtypes, take.restype = [ctypes.c_int], ctypes.c_void_p
    give_back.argtypes, give_back.restype = [ctypes.c_void_p], None
    for buffer in [take(0) for _ in range(n_buffers)]:
        give_back(buffer)
