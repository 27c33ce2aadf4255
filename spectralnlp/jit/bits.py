"""Instructions of the processor for compiled functions (kernels): bits, powers of two, atomic counters."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from spectralnlp.jit.decorators import Kernel, kernel_part

Typed = tuple[Any, Any]
# Least and greatest exponent of a float64 that has all its digits.
_LEAST, _MOST = -1022, 1023


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


def _fetch_add(typing_context: Any, array: Any, place: Any, number: Any) -> Typed:
    """Add ``number`` atomically to ``array[place]`` (int64), and return the element's previous value."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(array)(context, builder, args[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), args[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


lowest_bit: Kernel = intrinsic(_lowest_bit)
count_bits: Kernel = intrinsic(_count_bits)
bits_of_float: Kernel = intrinsic(_bits_of_float)
float_of_bits: Kernel = intrinsic(_float_of_bits)
fetch_add: Kernel = intrinsic(_fetch_add)


@kernel_part
def power_of_two(exponent: float) -> float:
    """Return 2 ** exponent for a whole exponent; 0 or infinity outside the range of float64."""
    if exponent < _LEAST:
        return 0.0 if exponent < _LEAST - 52 else float(2.0**exponent)
    if exponent > _MOST:
        return float("inf")
    return float(float_of_bits((int(exponent) + _MOST) << 52))


@kernel_part
def exponent_of(number: float) -> float:
    """Return ⌊log₂ number⌋ of a positive float64; -1022 for all subnormal numbers."""
    return float(max((bits_of_float(number) >> 52) - _MOST, _LEAST))
