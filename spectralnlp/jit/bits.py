"""Operations on the bits of a number, as the processor has them, for kernels."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from spectralnlp.jit.decorators import Kernel

Typed = tuple[Any, Any]


def _lowest_bit(typing_context: Any, bits: Any) -> Typed:
    """The place of the lowest bit that is set in a uint64, which must not be 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


def _count_bits(typing_context: Any, bits: Any) -> Typed:
    """The number of bits that are set in a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


lowest_bit: Kernel = intrinsic(_lowest_bit)
count_bits: Kernel = intrinsic(_count_bits)
