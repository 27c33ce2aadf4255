"""States as clusters of nodes in the space of the singular vectors.

Narayan and Cohen 2015 (*Diversity in spectral learning*, section 3): cluster each symbol's nodes by their
projected inside and outside features, read the states off, and count. Parameters are proper probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spectralnlp.estimators.shared.projections import Directions
from spectralnlp.linalg.small_kmeans import small_kmeans
from spectralnlp.parameters import Floats, Ints


def cluster_nodes(
    n_nodes: int, directions: Directions, n_states: Ints, *, dimensions: int, random_state: Sequence[int]
) -> tuple[Ints, Ints]:
    """A state for every node by k-means over [rows of σ^½u, normalised; rows of σ^½v, normalised].

    Args:
        n_nodes: how many nodes there are.
        directions: singular vectors applied to them.
        n_states: int32 (n_symbols,); clusters wanted of each symbol.
        dimensions: singular vectors used of each side.
        random_state: seed, one number or several.

    Returns:
        int32 (n_nodes,) states, and int32 (n_symbols,) how many each symbol has.
    """
    state = np.zeros(n_nodes, np.int32)
    n_used = np.ones_like(n_states)
    for symbol, rows, part in directions.by_symbol(dimensions):
        if n_states[symbol] < 2:
            continue
        root = np.sqrt(part.sigma)
        points = np.hstack([_unit_rows(part.u * root), _unit_rows(part.v * root)])
        label = small_kmeans(points, int(n_states[symbol]), np.random.default_rng([*random_state, symbol]))
        state[rows], n_used[symbol] = label, label.max() + 1
    return state, n_used


def _unit_rows(x: Floats) -> Floats:
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
