"""Compile numba kernels, cache them on disk and run them without the GIL; also for use by plugins.

To keep the number of parameters small, put arrays that belong together into a ``typing.NamedTuple``, which
numba passes as its fields. Define its class at the top level of an importable module; otherwise the kernel is
not cached. A cached kernel is invalidated only by a change of its own source file or of the package version:
after changing a named tuple, a constant or a kernel in another file that it uses, delete the ``__pycache__``
folders.
"""

from spectralnlp.jit.bits import count_bits, exponent_of, fetch_add, lowest_bit, power_of_two
from spectralnlp.jit.compilation import announced_compilation, compiled_kernels
from spectralnlp.jit.decorators import (
    Kernel,
    fast_kernel,
    fast_kernel_part,
    kernel,
    kernel_part,
)
from spectralnlp.jit.folders import cache_folders
from spectralnlp.jit.lanes import (
    LANES,
    divide_by_root,
    load_lanes,
    multiply_add,
    padded,
    repeat,
    store_lanes,
    sum_of_lanes,
)
from spectralnlp.jit.shipped import compile_for_wheels

__all__ = [
    "LANES",
    "Kernel",
    "announced_compilation",
    "cache_folders",
    "compile_for_wheels",
    "compiled_kernels",
    "count_bits",
    "divide_by_root",
    "exponent_of",
    "fast_kernel",
    "fast_kernel_part",
    "fetch_add",
    "kernel",
    "kernel_part",
    "load_lanes",
    "lowest_bit",
    "multiply_add",
    "padded",
    "power_of_two",
    "repeat",
    "store_lanes",
    "sum_of_lanes",
]
