"""k-means for many points and many clusters.

`spectralnlp.linalg.small_kmeans` is another one and says how they differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int32]

_ROWS = 4096  # points compared with all centres at a time

# At most; it stops when no point moves.
_ITERATIONS = 20


def kmeans(points: Array, k: int, *, random_state: int = 0) -> tuple[Ints, Array]:
    """Clusters around means (Lloyd 1982), from points far apart (k-means++, Arthur and Vassilvitskii 2007).

    Args:
        points: float (n, d).
        k: clusters wanted; there are fewer if fewer points differ, or if one is left empty.
        random_state: seed.

    Returns:
        int32 (n,) cluster of each point, numbered from 0 by size, the largest first; and (k, d) means.
    """
    centres = spread_points(points, k, np.random.default_rng(random_state))
    label = _nearest(points, centres)
    for _ in range(_ITERATIONS):
        centres = _means(points, label, centres)
        moved = _nearest(points, centres)
        if (moved == label).all():
            break
        label = moved
    used, inverse, sizes = np.unique(label, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(used), np.int32)
    rank[order] = np.arange(len(used))
    label = rank[inverse]
    return label, _means(points, label, centres[: len(used)])


def spread_points(points: Array, k: int, rng: np.random.Generator) -> Array:
    """Some of the points, far from one another; at most ``k``, fewer if fewer differ."""
    squares = np.einsum("nd,nd->n", points, points)
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while len(chosen) < k:
        centre = points[chosen[-1]]
        distance = np.minimum(distance, np.maximum(squares - 2 * (points @ centre) + centre @ centre, 0.0))
        mass = np.cumsum(np.where(distance > 1e-6 * (1 + squares), distance, 0.0))
        if mass[-1] <= 0:
            break
        chosen.append(int(np.searchsorted(mass, rng.random() * mass[-1], side="right")))
    return points[chosen]


def _nearest(points: Array, centres: Array) -> Ints:
    offset = np.einsum("kd,kd->k", centres, centres) / 2
    label = np.empty(len(points), np.int32)
    for start in range(0, len(points), _ROWS):
        label[start : start + _ROWS] = (points[start : start + _ROWS] @ centres.T - offset).argmax(axis=1)
    return label


def _means(points: Array, label: Ints, centres: Array) -> Array:
    """The mean of each cluster; one without points stays where it was."""
    k = len(centres)
    sizes = np.bincount(label, minlength=k)[:, None]
    sums = np.stack([np.bincount(label, weights=column, minlength=k) for column in points.T], axis=1)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), centres).astype(points.dtype)
