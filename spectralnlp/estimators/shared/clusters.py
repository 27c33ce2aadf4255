"""Cluster nodes by their spectral vectors; the clusters are used as states.

Source: Narayan and Cohen 2015 (*Diversity in spectral learning*, section 3). The nodes of each symbol are
clustered by their projected inside and outside features. Counting the states then gives probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spectralnlp.estimators.shared.projections import Directions
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import Floats, Ints


def cluster_nodes(
    n_nodes: int, directions: Directions, n_states: Ints, *, dimensions: int, random_state: Sequence[int]
) -> tuple[Ints, Ints]:
    """Assign a state to every node by clustering the nodes of each symbol with k-means.

    A node is represented by its projected inside and outside features (`SymbolDirections`). Both vectors are
    multiplied by the square roots of the singular values, scaled to unit length, and concatenated.

    Args:
        n_nodes: number of nodes.
        directions: projected inside and outside features of the nodes of each symbol.
        n_states: int32 (n_symbols,); requested number of clusters of each symbol.
        dimensions: number of singular vectors used on each side.
        random_state: seed, as one or more numbers.

    Returns:
        The state of each node, int32 (n_nodes,), and the number of states of each symbol, int32 (n_symbols,).
    """
    state = np.zeros(n_nodes, np.int32)
    n_used = np.ones_like(n_states)
    for symbol, rows, part in directions.by_symbol(dimensions):
        if n_states[symbol] < 2:
            continue
        root = np.sqrt(part.sigma)
        points = np.hstack([_unit_rows(part.u * root), _unit_rows(part.v * root)])
        # Limit and order of clusters are those of scipy's k-means, with which grammars were learned before.
        label, _ = kmeans(
            points, int(n_states[symbol]), random_state=[*random_state, symbol], iterations=19, by_size=False
        )
        state[rows], n_used[symbol] = label, label.max() + 1
    return state, n_used


def _unit_rows(x: Floats) -> Floats:
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
