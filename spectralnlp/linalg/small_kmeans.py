"""k-means for the thousands of points of one symbol, by scipy.

It differs from `spectralnlp.linalg.kmeans` in what decides the bytes of a trained grammar: distances are not
expanded into products, points to start from are drawn without a floor, the number of iterations is fixed, and
clusters keep the order of the points they started from. That one is faster for many points and many clusters.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

Floats = NDArray[np.float64]

_ITERATIONS = 20


def small_kmeans(points: Floats, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Clusters around means, from points far apart (k-means++, Arthur and Vassilvitskii 2007).

    Args:
        points: float64 (n, d).
        k: clusters wanted; there are fewer if fewer points differ, or if one is left empty.
        rng: draws the points to start from.

    Returns:
        int64 (n,) cluster of each point, numbered from 0 without gaps.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster gets no number
        _, label = kmeans2(points, _spread_points(points, k, rng), iter=_ITERATIONS, minit="matrix")
    numbered: NDArray[np.int64] = np.unique(label, return_inverse=True)[1]
    return numbered


def _spread_points(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Some of the points, far from one another; at most ``k``, fewer if fewer differ."""
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while True:
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        total = distance.sum()
        if len(chosen) == k or total <= 1e-9:
            return points[chosen]
        chosen.append(int(np.searchsorted(np.cumsum(distance), rng.random() * total)))
