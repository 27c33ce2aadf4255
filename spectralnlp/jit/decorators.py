"""Decorators of kernels: compiled serially at the first call, cached on disk, run without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.extending import register_jitable

from spectralnlp.jit.cache import KernelCache

Kernel = Callable[..., Any]
Function = TypeVar("Function", bound=Callable[..., Any])

# Not nnan and ninf: an overflow must show.
_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: Kernel) -> Kernel:
    """Compile a function of arrays, numbers and named tuples of them at its first call."""
    return _cached(njit(nogil=True)(function))


def fast_kernel(function: Kernel) -> Kernel:
    """Compile a kernel whose sums may be in any order; not-a-numbers and infinities stay themselves."""
    return _cached(njit(nogil=True, fastmath=_FAST_MATH)(function))


def _cached(dispatcher: Any) -> Kernel:
    if hasattr(dispatcher, "_cache"):  # not where NUMBA_DISABLE_JIT leaves functions as they are
        dispatcher._cache = KernelCache(dispatcher.py_func)
    compiled: Kernel = dispatcher
    return compiled


def jitable(function: Function) -> Function:
    """Let kernels call a short function; Python calls it as it is written."""
    registered: Function = register_jitable(function)
    return registered


def kernel_part(function: Kernel) -> Kernel:
    """Let kernels call a function, which is compiled with them; Python calls it as it is written.

    What Python need not call compiles in less time so, is not looked for on disk, and the compiler may take
    it and the kernel together.
    """
    part: Kernel = register_jitable(function)
    return part


def fast_kernel_part(function: Kernel) -> Kernel:
    """Let kernels call a function whose sums may be in any order; see `kernel_part` and `fast_kernel`."""
    part: Kernel = register_jitable(fastmath=_FAST_MATH)(function)
    return part
