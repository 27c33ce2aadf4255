"""Truncated singular value decompositions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def randomized_svd(
    multiply: Callable[[Floats], Floats],
    multiply_transposed: Callable[[Floats], Floats],
    shape: tuple[int, int],
    rank: int,
    *,
    oversampling: int = 8,
    iterations: int = 3,
    random_state: int = 0,
) -> tuple[Floats, Floats, Floats]:
    """The leading singular triplets of a matrix that is only ever multiplied.

    Halko, Martinsson and Tropp 2011, algorithms 4.4 (subspace iteration) and 5.1. Signs are fixed: the entry
    of largest magnitude in each left vector is positive.

    Args:
        multiply: X (n, k) to A X (m, k).
        multiply_transposed: X (m, k) to Aᵀ X (n, k).
        shape: (m, n) of A.
        rank: triplets wanted; fewer come back where A is smaller.
        oversampling: vectors beyond ``rank`` that the iteration carries along.
        iterations: power iterations.
        random_state: seed of the starting vectors.

    Returns:
        U (m, r), the singular values (r,), descending, and V (n, r).
    """
    rank = min(rank, *shape)
    if rank == 0:
        return np.empty((shape[0], 0)), np.empty(0), np.empty((shape[1], 0))
    width = min(rank + oversampling, *shape)
    basis = np.random.default_rng(random_state).standard_normal((shape[1], width))
    basis, _ = np.linalg.qr(multiply(basis))
    for _ in range(iterations):
        basis, _ = np.linalg.qr(multiply_transposed(basis))
        basis, _ = np.linalg.qr(multiply(basis))
    small = multiply_transposed(basis)  # (n, width): Aᵀ Q
    v, sigma, inner = np.linalg.svd(small, full_matrices=False)
    u, v = (basis @ inner.T)[:, :rank], v[:, :rank]
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(rank)])
    signs[signs == 0] = 1
    return u * signs, sigma[:rank], v * signs
