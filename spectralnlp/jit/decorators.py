"""Decorators that compile kernels at their first call, cache them on disk and run them without the GIL."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numba
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import register_jitable

from spectralnlp.runtime import deferred_interrupts

# Our cache and linking of kernels build on private parts of these versions of numba (`tests/jit` names them).
# Other versions use numba's own cache, which is slower.
_KNOWN = numba.__version__.startswith("0.68.")
if _KNOWN:
    from spectralnlp.jit.cache import KernelCache
    from spectralnlp.jit.linking import KernelLibrary

Kernel = Callable[..., Any]

# Without nnan and ninf, because an overflow must remain visible.
_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}

# Kernels are not called from C, and numba's wrappers for that took a sixth of the compile time.
_FOR_PYTHON: dict[str, Any] = {"no_cfunc_wrapper": True}


class _Uninterrupted(CPUDispatcher):
    """Kernel that defers Ctrl-C until its calls return, since an interrupt could crash the process."""

    def __call__(self, *arguments: Any) -> Any:
        with deferred_interrupts:
            return _call(self, *arguments)


class _Cached(_Uninterrupted):
    """Kernel in our disk cache, which is compiled together with the functions that it calls."""

    targetctx: Any
    _cache: Any

    def compile(self, signature: Any) -> Any:
        """Load the kernel for a signature of argument types from the disk cache, or compile it.

        Called functions are optimised together with the kernel (`KernelLibrary`), and only one process
        compiles it at a time (`Turn`).
        """
        with global_compiler_lock:
            codegen = self.targetctx.codegen()
            of_others, collects = codegen._library_class, gc.isenabled()
            codegen._library_class = KernelLibrary
            gc.disable()  # nearly all objects of the compiler live until it is done
            try:
                return super().compile(signature)
            finally:
                codegen._library_class = of_others
                if collects:
                    gc.enable()
                self._cache.turn.end()


_call = CPUDispatcher.__call__


def kernel(function: Kernel) -> Kernel:
    """Return a kernel: a function of arrays, numbers and named tuples, compiled at its first call."""
    return _cached(njit(nogil=True, **_FOR_PYTHON)(function))


def fast_kernel(function: Kernel) -> Kernel:
    """Return a kernel like `kernel`, but let the compiler reorder sums; NaN and infinities are preserved."""
    return _cached(njit(nogil=True, fastmath=_FAST_MATH, **_FOR_PYTHON)(function))


def _cached(dispatcher: Any) -> Kernel:
    if hasattr(dispatcher, "_cache"):  # absent if NUMBA_DISABLE_JIT is set
        if _KNOWN:
            dispatcher._cache = KernelCache(dispatcher.py_func)
        else:
            dispatcher.enable_caching()
        dispatcher.__class__ = _Cached if _KNOWN else _Uninterrupted
    compiled: Kernel = dispatcher
    return compiled


def kernel_part(function: Kernel) -> Kernel:
    """Make a function callable from kernels; it is compiled as a part of them.

    Such a function takes less time to compile than a kernel, has no cache file, and can be optimised together
    with its caller. Called from Python, it runs uncompiled.
    """
    part: Kernel = register_jitable(**_FOR_PYTHON)(function)
    return part


def fast_kernel_part(function: Kernel) -> Kernel:
    """Make a function callable from kernels, like `kernel_part`, but let the compiler reorder its sums."""
    part: Kernel = register_jitable(fastmath=_FAST_MATH, **_FOR_PYTHON)(function)
    return part
