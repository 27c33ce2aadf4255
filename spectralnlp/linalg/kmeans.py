"""k-means clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int32]

_ROWS = 4096  # points compared with all centres at a time


def kmeans(
    points: Array,
    k: int,
    *,
    random_state: int | Sequence[int] = 0,
    iterations: int = 20,
    by_size: bool = True,
) -> tuple[Ints, Array]:
    """Cluster points by k-means (Lloyd 1982) with k-means++ seeding (Arthur and Vassilvitskii 2007).

    Args:
        points: float (n, d).
        k: number of clusters; there are fewer if fewer points are distinct, or if a cluster is left empty.
        random_state: seed, as one or more numbers.
        iterations: maximum number of iterations; it stops earlier if no point changes its cluster.
        by_size: whether to number clusters by decreasing size, instead of in the order of their seeds.

    Returns:
        The cluster of each point, int32 (n,), numbered from 0 without gaps; and the means, (k, d).
    """
    centres = _spread_points(points, k, np.random.default_rng(random_state))
    label = _nearest(points, centres)
    for _ in range(iterations):
        centres = _means(points, label, centres)
        moved = _nearest(points, centres)
        if (moved == label).all():
            break
        label = moved
    used, inverse, sizes = np.unique(label, return_inverse=True, return_counts=True)
    rank = np.arange(len(used), dtype=np.int32)
    if by_size:
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(used))
    label = rank[inverse]
    return label, _means(points, label, centres[: len(used)])


def _spread_points(points: Array, k: int, rng: np.random.Generator) -> Array:
    """Return starting centres for k-means, chosen among the points by k-means++.

    Args:
        points: float (n, d).
        k: number of centres; fewer are returned if fewer points are distinct.
        rng: random generator.
    """
    squares = np.einsum("nd,nd->n", points, points)
    rounding = 8 * np.finfo(points.dtype).eps  # bound on the distance between equal points
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while len(chosen) < k:
        centre = points[chosen[-1]]
        distance = np.minimum(distance, np.maximum(squares - 2 * (points @ centre) + centre @ centre, 0.0))
        mass = np.cumsum(np.where(distance > rounding * (1 + squares), distance, 0.0))
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
