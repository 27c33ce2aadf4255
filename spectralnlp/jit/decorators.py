"""How kernels are compiled: serial, cached on disk, and without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers at its first call."""
    compiled: Kernel = njit(cache=True, nogil=True)(function)
    return compiled


def fast_kernel(function: Kernel) -> Kernel:
    """The same, with sums in any order; not-a-numbers and infinities are still themselves."""
    fast_math = {"reassoc", "contract", "nsz", "arcp"}  # not nnan and ninf: an overflow must show
    compiled: Kernel = njit(cache=True, nogil=True, fastmath=fast_math)(function)
    return compiled
