"""Types of the arrays that parameters are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]


def offsets_of(sizes: NDArray[Any]) -> Offsets:
    """Where parts of these sizes begin and end, int64 (n + 1,), when they are laid end to end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
