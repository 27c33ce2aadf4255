"""The number of directions of data."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Singular values below this share of the largest carry nothing.
NEGLIGIBLE = 1e-7


def usable_rank(singular_values: Floats, wanted: int, name: str, *, constant: int = 0) -> int:
    """The rank wanted, or as much of it as there is, with a warning that names the singular values.

    Args:
        singular_values: descending.
        wanted: how many of them are wanted.
        name: the hyper-parameter that asked for them.
        constant: directions that it counts beside those.
    """
    largest = singular_values[0] if len(singular_values) else 0.0
    rank = min(int((singular_values > NEGLIGIBLE * max(largest, 1e-300)).sum()), wanted)
    if rank < wanted:
        shown = ", ".join(f"{value:.2g}" for value in singular_values[: rank + 1][-6:]) or "none"
        what = f"{name} lowered from {wanted + constant} to {rank + constant}"
        warnings.warn(f"{what}: the data has no more directions (singular values {shown})", stacklevel=2)
    return rank
