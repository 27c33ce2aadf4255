"""k-means clustering of many points into many clusters.

`spectralnlp.linalg.small_kmeans` is another implementation, for few points; it says how the two differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int32]

_ROWS = 4096  # points compared with all centres at a time

# Maximum number of iterations; the algorithm stops earlier if no point changes its cluster.
_ITERATIONS = 20


def kmeans(points: Array, k: int, *, random_state: int = 0) -> tuple[Ints, Array]:
    """Cluster points by k-means (Lloyd 1982) with k-means++ seeding (Arthur and Vassilvitskii 2007).

    Args:
        points: float (n, d).
        k: number of clusters; there are fewer if fewer points are distinct, or if a cluster is left empty.
        random_state: seed.

    Returns:
        The cluster of each point, int32 (n,), numbered from 0 by decreasing size; and the means, (k, d).
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
    """Return starting centres for k-means, chosen among the points by k-means++.

    Args:
        points: float (n, d).
        k: number of centres; fewer are returned if fewer points are distinct.
        rng: random generator.
    """
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
    """Return the mean of each cluster, (k, d); an empty cluster keeps its previous centre.

    Args:
        points: float (n, d).
        label: int32 (n,); the cluster of each point.
        centres: (k, d); the previous centres.
    """
    k = len(centres)
    sizes = np.bincount(label, minlength=k)[:, None]
    sums = np.stack([np.bincount(label, weights=column, minlength=k) for column in points.T], axis=1)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), centres).astype(points.dtype)
