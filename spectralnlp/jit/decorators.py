"""Decorators that compile kernels at their first call, cache them on disk and run them without the GIL."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import register_jitable

from spectralnlp.jit.cache import KernelCache
from spectralnlp.jit.linking import KernelLibrary
from spectralnlp.runtime import held_interrupts

Kernel = Callable[..., Any]

# Not nnan and ninf: an overflow must show.
_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}

# Nothing calls kernels from C; numba's wrappers for that took a sixth of the time of compiling.
_FOR_PYTHON: dict[str, Any] = {"no_cfunc_wrapper": True}


class _Uninterrupted(CPUDispatcher):
    """A kernel whose calls defer Ctrl-C, which could otherwise crash the process."""

    targetctx: Any
    _cache: Any

    def __call__(self, *arguments: Any) -> Any:
        with held_interrupts:
            return _call(self, *arguments)

    def compile(self, signature: Any) -> Any:
        """Compile or load the kernel; see `KernelLibrary` and `Turn`."""
        with global_compiler_lock:
            codegen = self.targetctx.codegen()
            of_others, collects = codegen._library_class, gc.isenabled()
            codegen._library_class = KernelLibrary
            gc.disable()  # nearly all that the compiler makes stays until it is done
            try:
                return super().compile(signature)
            finally:
                codegen._library_class = of_others
                if collects:
                    gc.enable()
                self._cache.turn.end()


_call = CPUDispatcher.__call__


def kernel(function: Kernel) -> Kernel:
    """Compile a function of arrays, numbers and named tuples of them at its first call."""
    return _cached(njit(nogil=True, **_FOR_PYTHON)(function))


def fast_kernel(function: Kernel) -> Kernel:
    """Compile a kernel whose sums may be reordered; NaN and infinities are preserved."""
    return _cached(njit(nogil=True, fastmath=_FAST_MATH, **_FOR_PYTHON)(function))


def _cached(dispatcher: Any) -> Kernel:
    if hasattr(dispatcher, "_cache"):  # not where NUMBA_DISABLE_JIT leaves functions as they are
        dispatcher._cache = KernelCache(dispatcher.py_func)
        dispatcher.__class__ = _Uninterrupted
    compiled: Kernel = dispatcher
    return compiled


def kernel_part(function: Kernel) -> Kernel:
    """Make a function callable from kernels, which compile it with them; Python calls it uncompiled.

    It compiles in less time than a kernel, is not looked for on disk, and the compiler may optimise it
    together with its caller.
    """
    part: Kernel = register_jitable(**_FOR_PYTHON)(function)
    return part


def fast_kernel_part(function: Kernel) -> Kernel:
    """Make a function with reorderable sums callable from kernels; see `kernel_part` and `fast_kernel`."""
    part: Kernel = register_jitable(fastmath=_FAST_MATH, **_FOR_PYTHON)(function)
    return part
