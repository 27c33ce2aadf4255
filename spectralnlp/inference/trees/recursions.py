"""Inside recursion over a packed forest in any semiring, and pruning of forests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.semirings import AnyAll, plus, times
from spectralnlp.inference.trees.forest import NO_NODE, Forest
from spectralnlp.jit import kernel
from spectralnlp.parameters import Offsets


@kernel
def derivation_weights(semiring, forest, weights):
    """Return the weight of each node in a forest: the semiring sum over the node's derivations.

    Args:
        semiring: a semiring of :mod:`spectralnlp.inference.semirings`.
        forest: a Forest.
        weights: array (n_edges,) of the weights of hyperedges, with the dtype of the semiring's zero.

    Returns:
        Array (n_nodes,) of the same dtype.
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


def prune_forest(forest: Forest, keep: NDArray[np.bool_]) -> tuple[Forest, Offsets, Offsets]:
    """Remove hyperedges from a forest, and the nodes that then have no derivation or cannot be reached.

    Args:
        forest: the forest.
        keep: bool (n_edges,); False for hyperedges to remove.

    Returns:
        The pruned forest, and the indices that its nodes and its hyperedges had in ``forest``, int64.
    """
    pruned: tuple[Forest, Offsets, Offsets] = _prune(forest, derivation_weights(AnyAll(), forest, keep), keep)
    return pruned


@kernel
def _prune(forest, productive, keep):
    """Remove hyperedges from a forest; see `prune_forest`.

    Args:
        forest: `Forest`.
        productive: bool (n_nodes,); whether a node has a derivation of remaining hyperedges.
        keep: bool (n_edges,); False for hyperedges to remove.
    """
    edges, left, right = forest.edges, forest.left, forest.right
    n_nodes, n_roots = len(forest.kind), forest.n_roots
    usable = keep.copy()
    for e in range(len(usable)):
        if left[e] != NO_NODE and not productive[left[e]]:
            usable[e] = False
        if right[e] != NO_NODE and not productive[right[e]]:
            usable[e] = False
    new_id = np.full(n_nodes, NO_NODE, np.int32)
    reached = np.zeros(n_nodes, np.bool_)
    reached[:n_roots] = True
    n_new, n_new_edges, n_new_roots = 0, 0, 0
    for node in range(n_nodes):
        if not (reached[node] and productive[node]):
            continue
        new_id[node] = n_new
        n_new += 1
        if node < n_roots:
            n_new_roots += 1
        for e in range(edges[node], edges[node + 1]):
            if usable[e]:
                n_new_edges += 1
                if left[e] != NO_NODE:
                    reached[left[e]] = True
                if right[e] != NO_NODE:
                    reached[right[e]] = True
    new_edges = np.empty(n_new + 1, np.int64)
    rule, factor = np.empty(n_new_edges, np.int32), np.empty(n_new_edges)
    new_left, new_right = np.empty(n_new_edges, np.int32), np.empty(n_new_edges, np.int32)
    old_edge = np.empty(n_new_edges, np.int64)
    kept = 0
    for node in range(n_nodes):
        if new_id[node] == NO_NODE:
            continue
        new_edges[new_id[node]] = kept
        for e in range(edges[node], edges[node + 1]):
            if usable[e]:
                rule[kept], factor[kept], old_edge[kept] = forest.rule[e], forest.factor[e], e
                new_left[kept] = new_id[left[e]] if left[e] != NO_NODE else NO_NODE
                new_right[kept] = new_id[right[e]] if right[e] != NO_NODE else NO_NODE
                kept += 1
    new_edges[n_new] = kept
    nodes = np.flatnonzero(new_id != NO_NODE)
    thinned = Forest(
        n_roots=n_new_roots,
        kind=forest.kind[nodes],
        symbol=forest.symbol[nodes],
        start=forest.start[nodes],
        end=forest.end[nodes],
        edges=new_edges,
        rule=rule,
        left=new_left,
        right=new_right,
        factor=factor,
        log_scale=forest.log_scale,
    )
    return thinned, nodes, old_edge
