"""Array types of model parameters, and functions that store them compactly as float16."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

# Largest magnitude in a compact array, close to the top of float16's range; its smallest number is 6e-8.
_HALF = 32768.0
# Number of low-order bits, of float16's eleven significant ones, that are zero in compact arrays.
_EMPTY_BITS = 4
Floats = NDArray[np.float64]


def to_half_precision(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Convert an array to float16 for storage, scaled to the range of float16 and rounded to seven bits.

    Returns:
        Two arrays by name: ``<name>``, the scaled array, rounded by `round_to_seven_bits`; and
        ``<name>.scale``, float32 (1,), the factor by which readers multiply to undo the scaling.
    """
    scale = np.abs(values).max(initial=np.float32(1e-30))
    return {
        name: round_to_seven_bits(values * (_HALF / scale)),
        f"{name}.scale": np.array([scale / _HALF], np.float32),
    }


def round_to_seven_bits(values: NDArray[Any]) -> NDArray[np.float16]:
    """Round numbers to float16 with seven significant bits, a relative error below one percent.

    float16 has eleven significant bits. The last four are set to zero, because zeros compress well in a wheel
    and parsers remain as accurate ("Fewer bits in compact models" in benchmarks/experiments/grammars.md).
    """
    bits = values.astype(np.float16).view(np.uint16).astype(np.uint32)
    odd = bits >> _EMPTY_BITS & 1  # ties are rounded to even
    rounded = bits + ((1 << (_EMPTY_BITS - 1)) - 1) + odd >> _EMPTY_BITS << _EMPTY_BITS
    return rounded.astype(np.uint16).view(np.float16)
