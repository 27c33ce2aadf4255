"""Determine the numerical rank of data from its singular values."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Singular values below this share of the largest count as zero.
NEGLIGIBLE = 1e-7


def usable_rank(singular_values: Floats, wanted: int, name: str, *, constant: int = 0) -> int:
    """Return the requested rank; if the data has a lower one, warn and return the numerical rank.

    Args:
        singular_values: float64 (n,), descending.
        wanted: requested rank.
        name: name of the hyper-parameter that sets the rank, for the warning.
        constant: number by which the hyper-parameter exceeds ``wanted``, for the warning.
    """
    largest = singular_values[0] if len(singular_values) else 0.0
    rank = min(int((singular_values > NEGLIGIBLE * max(largest, 1e-300)).sum()), wanted)
    if rank < wanted:
        shown = ", ".join(f"{value:.2g}" for value in singular_values[: rank + 1][-6:]) or "none"
        what = f"{name} lowered from {wanted + constant} to {rank + constant}"
        warnings.warn(f"{what}: the data has a lower rank (singular values {shown})", stacklevel=2)
    return rank
