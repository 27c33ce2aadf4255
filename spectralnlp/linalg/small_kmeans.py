"""k-means clustering, by scipy, of the few thousand points of one grammar symbol.

`spectralnlp.linalg.kmeans` is faster for many points and many clusters. This one is kept because trained
grammars depend on its exact results: it computes distances from differences instead of inner products, seeds
without a minimum distance, runs a fixed number of iterations, and numbers clusters by the order of seeds.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

Floats = NDArray[np.float64]

_ITERATIONS = 20


def small_kmeans(points: Floats, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Cluster points by k-means with k-means++ seeding (Arthur and Vassilvitskii 2007).

    Args:
        points: float64 (n, d).
        k: number of clusters; there are fewer if fewer points are distinct, or if a cluster is left empty.
        rng: random generator that draws the seeds.

    Returns:
        The cluster of each point, int64 (n,), numbered from 0 without gaps.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scipy warns of empty clusters; they are dropped below
        _, label = kmeans2(points, _spread_points(points, k, rng), iter=_ITERATIONS, minit="matrix")
    numbered: NDArray[np.int64] = np.unique(label, return_inverse=True)[1]
    return numbered


def _spread_points(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Return starting centres for k-means, chosen among the points by k-means++.

    Args:
        points: float64 (n, d).
        k: number of centres; fewer are returned if fewer points are distinct.
        rng: random generator.
    """
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while True:
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        total = distance.sum()
        if len(chosen) == k or total <= 1e-9:
            return points[chosen]
        chosen.append(int(np.searchsorted(np.cumsum(distance), rng.random() * total)))
