"""Whitening: coordinates in which a symmetric matrix becomes the identity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spectralnlp.linalg.svd import randomized_svd

Floats = NDArray[np.float64]

# Eigenvalues below this share of the largest are not used.
_NEGLIGIBLE = 1e-10


def whiten(
    multiply: Callable[[Floats], Floats],
    size: int,
    rank: int,
    *,
    random_state: int = 0,
) -> tuple[Floats, Floats, Floats]:
    """W with Wᵀ M W = I on the leading positive eigenvectors of a symmetric M that is only ever multiplied.

    Anandkumar et al. 2014, section 4.3.1.

    Args:
        multiply: X (n, k) to M X (n, k).
        size: n.
        rank: directions wanted.
        random_state: seed of the randomised SVD.

    Returns:
        W (n, r), its pseudo-inverse's transpose M W (n, r), and the eigenvalues that were found, descending;
        r is at most ``rank`` and the number of eigenvalues that are positive.
    """
    # Leading singular vectors belong to negative eigenvalues too, which sampling error makes: ask for more.
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
