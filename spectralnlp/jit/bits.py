"""Bit operations for compiled functions (kernels), each a single processor instruction."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from spectralnlp.jit.decorators import Kernel

Typed = tuple[Any, Any]


def _lowest_bit(typing_context: Any, bits: Any) -> Typed:
    """Return the position of the lowest set bit of a uint64, which must not be 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


def _count_bits(typing_context: Any, bits: Any) -> Typed:
    """Return the number of set bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


def _bits_of_float(typing_context: Any, number: Any) -> Typed:
    """Return the bits of a float64 as an int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


def _float_of_bits(typing_context: Any, bits: Any) -> Typed:
    """Return the float64 with the bits of an int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


lowest_bit: Kernel = intrinsic(_lowest_bit)
count_bits: Kernel = intrinsic(_count_bits)
bits_of_float: Kernel = intrinsic(_bits_of_float)
float_of_bits: Kernel = intrinsic(_float_of_bits)
