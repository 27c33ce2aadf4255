"""The recursion over a packed forest, in any semiring.

A node's weight is the sum (⊕) over its hyperedges of the product (⊗) of the hyperedge's weight and its
children's. Here it is one number a node; with a vector over the states of a latent-variable grammar the same
recursion is in :mod:`~spectralnlp.inference.trees.sparse`.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.semirings import SumProduct, plus, times
from spectralnlp.inference.trees.forest import NO_NODE, Forest
from spectralnlp.jit import kernel


def n_trees(forest: Forest) -> float:
    """Number of trees in a forest; exact up to 2 ** 53."""
    per_node = derivation_weights(SumProduct(), forest, np.ones(forest.n_edges))
    return float(per_node[: forest.n_roots].sum())


@kernel
def derivation_weights(semiring, forest, weights):
    """The weight of each node, all its derivations added up.

    Args:
        semiring: of :mod:`spectralnlp.inference.semirings`.
        forest: a Forest.
        weights: (n_edges,), of the type of the semiring's zero.

    Returns:
        (n_nodes,), of the same type.
    """
    edges, left, right = forest.edges, forest.left, forest.right
    n_nodes = len(forest.kind)
    totals = np.full(n_nodes, semiring.zero)
    for node in range(n_nodes - 1, -1, -1):
        total = semiring.zero
        for e in range(edges[node], edges[node + 1]):
            value = weights[e]
            if left[e] != NO_NODE:
                value = times(semiring, value, totals[left[e]])
            if right[e] != NO_NODE:
                value = times(semiring, value, totals[right[e]])
            total = plus(semiring, total, value)
        totals[node] = total
    return totals
