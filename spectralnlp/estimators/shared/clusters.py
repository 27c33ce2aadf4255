"""States as clusters of nodes in the space of the singular vectors.

Narayan and Cohen 2015 (*Diversity in spectral learning*, section 3): cluster each symbol's nodes by their
projected inside and outside features, read the states off, and count. Parameters are proper probabilities.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.cluster.vq import kmeans2

from spectralnlp.estimators.shared.projections import Directions
from spectralnlp.parameters import Floats, Ints


def cluster_nodes(
    n_nodes: int, directions: Directions, n_states: Ints, *, dimensions: int, random_state: Sequence[int]
) -> tuple[Ints, Ints]:
    """A state for every node by k-means over [rows of σ^½u, normalised; rows of σ^½v, normalised].

    Args:
        n_nodes: nodes of the treebank.
        directions: singular vectors applied to them.
        n_states: int32 (n_symbols,); clusters wanted of each symbol.
        dimensions: singular vectors used of each side.
        random_state: seed, one number or several.

    Returns:
        int32 (n_nodes,) states, and int32 (n_symbols,) how many of them there are.
    """
    state = np.zeros(n_nodes, np.int32)
    found = np.ones_like(n_states)
    for symbol, rows, part in directions.by_symbol(dimensions):
        if n_states[symbol] < 2:
            continue
        root = np.sqrt(part.sigma)
        points = np.hstack([_unit_rows(part.u * root), _unit_rows(part.v * root)])
        rng = np.random.default_rng([*random_state, symbol])
        centres = _spread_centres(points, int(n_states[symbol]), rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty cluster is dropped below
            _, label = kmeans2(points, centres, iter=20, minit="matrix")
        used, label = np.unique(label, return_inverse=True)
        state[rows], found[symbol] = label, len(used)
    return state, found


def _spread_centres(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Points to start from, far from one another (k-means++, Arthur and Vassilvitskii 2007); at most k."""
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    while True:
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        total = distance.sum()
        if len(chosen) == k or total <= 1e-9:
            return points[chosen]
        chosen.append(int(np.searchsorted(np.cumsum(distance), rng.random() * total)))


def _unit_rows(x: Floats) -> Floats:
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
