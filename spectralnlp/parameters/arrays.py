"""Types of the arrays that parameters are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

# The largest number that a compact array holds: float16 reaches from here down to 6e-8.
_HALF = 32768.0
Floats = NDArray[np.float64]


def offsets_of(sizes: NDArray[Any]) -> Offsets:
    """Where parts of these sizes begin and end, int64 (n + 1,), when they are laid end to end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def in_half(name: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """An array as float16, of 11 bits, and ``<name>.scale``, float32, the factor of its numbers."""
    scale = np.abs(values).max(initial=np.float32(1e-30))
    return {
        name: (values * (_HALF / scale)).astype(np.float16),
        f"{name}.scale": np.array([scale / _HALF], np.float32),
    }
