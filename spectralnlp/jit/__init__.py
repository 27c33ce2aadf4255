"""How numba kernels are compiled: serial, cached on disk, and without the GIL."""

from spectralnlp.jit.compilation import announced_compilation
from spectralnlp.jit.decorators import Kernel, fast_kernel, kernel

__all__ = ["Kernel", "announced_compilation", "fast_kernel", "kernel"]
