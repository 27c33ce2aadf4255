"""Atomic counters for compiled functions (kernels), which several threads may increment at the same time."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from spectralnlp.jit.bits import Typed
from spectralnlp.jit.decorators import Kernel


def _fetch_add(typing_context: Any, array: Any, place: Any, number: Any) -> Typed:
    """Add ``number`` atomically to ``array[place]`` (int64), and return the element's previous value."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(array)(context, builder, args[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), args[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


fetch_add: Kernel = intrinsic(_fetch_add)
