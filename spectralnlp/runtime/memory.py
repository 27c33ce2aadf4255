"""Room in memory, asked for before code that cannot do without it.

Python and numpy raise MemoryError where memory is short; LLVM and OpenBLAS end the process, or never come
back. So there is a question before each of them.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading

from threadpoolctl import ThreadpoolController

BUFFER_BYTES = 1 << 25  # of OpenBLAS, for each thread that multiplies: its BUFFER_SIZE on x86-64 and arm64
MOST_BUFFERS = 40  # OpenBLAS's table of them has 50 places or more, and some may be in use

_buffers: dict[str, int] = {}  # how many each OpenBLAS holds, by its file
_lock = threading.Lock()


def require_room(n_bytes: int, purpose: str) -> None:
    """Ask the system whether it would give memory, and take none.

    Args:
        n_bytes: how much.
        purpose: who needs it, for the message.

    Raises:
        MemoryError: it would not.
    """
    if os.name == "nt":  # where asking is taking
        return
    try:
        mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError as error:
        raise MemoryError(f"another {n_bytes >> 20} MB for {purpose}") from error


def reserve_blas_buffers(n_threads: int, controller: ThreadpoolController | None = None) -> None:
    """Have every OpenBLAS of this process hold as many buffers as threads may use at once.

    A buffer is kept for the next thread that multiplies. One that cannot be had, 0.3.30 asks for again for
    ever; 0.3.31 ends the process.

    Args:
        n_threads: of them, with the calling one.
        controller: of the libraries, if they have been looked for just now.

    Raises:
        MemoryError: there is no room for them.
    """
    libraries = (controller or ThreadpoolController()).lib_controllers
    wanted = min(n_threads, MOST_BUFFERS)
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
    except AttributeError:  # a build that hides them
        return
    take.argtypes, take.restype = [ctypes.c_int], ctypes.c_void_p
    give_back.argtypes, give_back.restype = [ctypes.c_void_p], None
    for buffer in [take(0) for _ in range(n_buffers)]:
        give_back(buffer)
