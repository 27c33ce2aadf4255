"""Types of the arrays that parameters are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

# The largest number that a compact array holds: float16 reaches from here down to 6e-8.
_HALF = 32768.0
# The last bits of a float16 that are zero in compact arrays, of eleven significant ones.
_EMPTY_BITS = 4
Floats = NDArray[np.float64]


def offsets_of(sizes: NDArray[Any]) -> Offsets:
    """Where parts of these sizes begin and end, int64 (n + 1,), when they are laid end to end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def in_half(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """An array as of `few_bits`, and ``<name>.scale``, float32, the factor of its numbers."""
    scale = np.abs(values).max(initial=np.float32(1e-30))
    return {
        name: few_bits(values * (_HALF / scale)),
        f"{name}.scale": np.array([scale / _HALF], np.float32),
    }


def few_bits(values: NDArray[Any]) -> NDArray[np.float16]:
    """Numbers as float16, rounded to seven significant bits: to less than a hundredth of each.

    F1 is the same as with all eleven bits, and the zeros take no room in a wheel: "Fewer bits in compact
    models" in benchmarks/experiments/grammars.md.
    """
    bits = values.astype(np.float16).view(np.uint16).astype(np.uint32)
    odd = bits >> _EMPTY_BITS & 1  # halves are rounded to even
    rounded = bits + ((1 << (_EMPTY_BITS - 1)) - 1) + odd >> _EMPTY_BITS << _EMPTY_BITS
    return rounded.astype(np.uint16).view(np.float16)
