"""Store the inside and outside vectors of a forest's nodes, over the states of their symbols."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.forest import Forest
from spectralnlp.parameters import Floats, LatentGrammar, Offsets
from spectralnlp.runtime import offsets_of


class StateVectors(NamedTuple):
    """The inside and outside vectors of a forest's nodes over the states of their symbols, concatenated.

    Attributes:
        offsets: int64 (n_nodes + 1,); the vectors of node v are at ``offsets[v]:offsets[v + 1]``.
        inside, outside: float64 (offsets[-1],); the concatenated vectors.
    """

    offsets: Offsets
    inside: Floats
    outside: Floats


def root_weights(forest: Forest, grammar: LatentGrammar, offsets: Offsets) -> Floats:
    """Return the weight that a grammar gives to each state of each root of a forest, concatenated.

    Args:
        forest: a forest over the grammar's symbols.
        grammar: any grammar.
        offsets: int64 (n_nodes + 1,); from `vector_offsets`.

    Returns:
        float64 (offsets[n_roots],), because the roots are the first nodes of the forest.
    """
    weights: Floats = np.empty(offsets[forest.n_roots])
    for node in range(forest.n_roots):
        first = grammar.state_offsets[forest.symbol[node]]
        size = offsets[node + 1] - offsets[node]
        weights[offsets[node] : offsets[node + 1]] = grammar.root[first : first + size]
    return weights


def vector_offsets(forest: Forest, grammar: LatentGrammar) -> Offsets:
    """Return where the vector of each node begins if the state vectors of all nodes are concatenated.

    Returns:
        int64 (n_nodes + 1,); the last element is the total length.
    """
    return offsets_of(grammar.n_states[forest.symbol])
