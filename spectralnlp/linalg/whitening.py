"""Whitening: coordinates in which a symmetric matrix becomes the identity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spectralnlp.linalg.svd import randomized_svd

Floats = NDArray[np.float64]

# Eigenvalues below this share of the largest count as zero.
_NEGLIGIBLE = 1e-10


def whiten(
    multiply: Callable[[Floats], Floats],
    size: int,
    rank: int,
    *,
    random_state: int = 0,
) -> tuple[Floats, Floats, Floats]:
    """Compute W with Wᵀ M W = I, from the largest positive eigenvalues of a symmetric matrix M.

    M need not be given explicitly, only as a function that computes products with it. See Anandkumar et al.
    2014, section 4.3.1.

    Args:
        multiply: function that maps X (n, k) to M X (n, k).
        size: number n of rows of M.
        rank: maximum number of directions.
        random_state: seed of the randomised SVD.

    Returns:
        Three arrays: W (n, r); M W (n, r), which is the transposed pseudo-inverse of W; and the ``rank``
        largest eigenvalues, descending (only n if n is less than ``rank``). r is the number of these that are
        positive and not negligible.
    """
    # Sampling error makes negative eigenvalues, some of which are large in magnitude: compute extra vectors.
    searched = rank + rank // 2 + 8
    u, _, _ = randomized_svd(
        multiply, multiply, (size, size), searched, iterations=2, random_state=random_state
    )
    small = u.T @ multiply(u)
    values, inner = np.linalg.eigh((small + small.T) / 2)
    values, vectors = values[::-1], u @ inner[:, ::-1]
    signs = np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))] < 0, -1.0, 1.0)
    values, vectors, signs = values[:rank], vectors[:, :rank], signs[:rank]
    kept = values > _NEGLIGIBLE * max(float(values[0]), 0.0) if len(values) else values > 0
    vectors, roots = (vectors * signs)[:, kept], np.sqrt(values[kept])
    return vectors / roots, vectors * roots, values
