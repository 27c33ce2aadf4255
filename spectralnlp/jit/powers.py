"""Compute powers of two and binary exponents quickly, from the bits of floats, for kernels."""

from __future__ import annotations

from spectralnlp.jit.bits import bits_of_float, float_of_bits
from spectralnlp.jit.decorators import kernel_part

# Least and greatest exponent of a float64 that has all its digits.
_LEAST, _MOST = -1022, 1023


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
