"""Inside and outside over observed trees, whose states alone are hidden: the E-step of EM.

Matsuzaki et al. 2005, section 3.1: with the tree given, both passes are linear in its size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.jit import fast_kernel
from spectralnlp.parameters import Floats, Ints, Offsets
from spectralnlp.trees.treelog import TreeTable


class StateTensors(NamedTuple):
    """Probabilities or expected counts of the events of trees, with states, laid end to end.

    Attributes:
        binary, unary, pairs: float64; of binary rules, unary rules and (word, tag) pairs.
        root: float64 (sum of n_states,).
    """

    binary: Floats
    unary: Floats
    pairs: Floats
    root: Floats


class StateOffsets(NamedTuple):
    """Where each tensor begins among the others of its kind.

    Attributes:
        binary, unary, pairs: int64 (n_events + 1,).
    """

    binary: Offsets
    unary: Offsets
    pairs: Offsets


class _ObservedTrees(NamedTuple):
    """Columns of a TreeTable, and where the vectors of nodes and symbols lie.

    Attributes:
        symbol, event, left, right, parent, tree: int32 (n_nodes,).
        weight: float64 (n_trees,).
        n_states: int32 (n_symbols,).
        node_offsets: int64 (n_nodes + 1,).
        symbol_offsets: int64 (n_symbols + 1,).
    """

    symbol: Ints
    event: Ints
    left: Ints
    right: Ints
    parent: Ints
    tree: Ints
    weight: Floats
    n_states: Ints
    node_offsets: Offsets
    symbol_offsets: Offsets


def expected_counts(
    table: TreeTable,
    event: Ints,
    n_states: Ints,
    offsets: StateOffsets,
    probabilities: StateTensors,
    least_posterior: float = 0.0,
) -> tuple[StateTensors, float]:
    """Expected counts of the events of observed trees, with states.

    Args:
        table: the trees.
        event: int32 (n_nodes,); each node's binary rule, unary rule or (word, tag) pair.
        n_states: int32 (n_symbols,).
        offsets: where the tensors of each kind of event lie.
        probabilities: of the events.
        least_posterior: states of a node that are less probable count as impossible there; few states of
            many are not, so a small value saves most of the time. 0 for exact counts.

    Returns:
        Counts in the shapes of the probabilities, and the trees' log-likelihood (natural).
    """
    counts = StateTensors(*(np.zeros_like(array) for array in probabilities))
    trees = _ObservedTrees(
        symbol=table.symbol,
        event=event,
        left=table.left,
        right=table.right,
        parent=table.parent,
        tree=table.tree,
        weight=table.weight,
        n_states=n_states,
        node_offsets=np.concatenate([[0], np.cumsum(n_states[table.symbol], dtype=np.int64)]),
        symbol_offsets=np.concatenate([[0], np.cumsum(n_states, dtype=np.int64)]),
    )
    log_likelihood = _expected_counts(trees, offsets, probabilities, counts, least_posterior)
    return counts, float(log_likelihood)


@fast_kernel
def _expected_counts(trees, offsets, probabilities, counts, least):
    """Add expected counts to ``counts``; return the log-likelihood."""
    symbol, left, right, parent = trees.symbol, trees.left, trees.right, trees.parent
    tree, event, weight = trees.tree, trees.event, trees.weight
    n_states, at, state_offsets = trees.n_states, trees.node_offsets, trees.symbol_offsets
    binary_offsets, unary_offsets, pair_offsets = offsets.binary, offsets.unary, offsets.pairs
    binary, unary, pairs, root = (
        probabilities.binary,
        probabilities.unary,
        probabilities.pairs,
        probabilities.root,
    )
    binary_count, unary_count, pair_count, root_count = (
        counts.binary,
        counts.unary,
        counts.pairs,
        counts.root,
    )
    n_nodes = len(symbol)
    largest = n_states.max()
    outer = np.empty(largest * largest)
    inside, outside = np.zeros(at[n_nodes]), np.zeros(at[n_nodes])
    scale = np.ones(n_nodes)  # divisors of each node's inside values
    log_likelihood = 0.0
    first = 0
    while first < n_nodes:
        last = first
        while parent[last] >= 0:
            last += 1
        log_scale = 0.0
        for node in range(first, last + 1):
            m, x = n_states[symbol[node]], at[node]
            if left[node] < 0:
                o = pair_offsets[event[node]]
                for h in range(m):
                    inside[x + h] = pairs[o + h]
            elif right[node] < 0:
                y, m_b = at[left[node]], n_states[symbol[left[node]]]
                o = unary_offsets[event[node]]
                for h in range(m):
                    value = 0.0
                    for g in range(m_b):
                        value += unary[o + h * m_b + g] * inside[y + g]
                    inside[x + h] = value
            else:
                y, m_b = at[left[node]], n_states[symbol[left[node]]]
                z, m_c = at[right[node]], n_states[symbol[right[node]]]
                o, size = binary_offsets[event[node]], m_b * m_c
                for g in range(m_b):
                    for k in range(m_c):
                        outer[g * m_c + k] = inside[y + g] * inside[z + k]
                for h in range(m):
                    value = 0.0
                    for g in range(size):
                        value += binary[o + h * size + g] * outer[g]
                    inside[x + h] = value
            peak = 0.0
            for h in range(m):
                peak = max(peak, inside[x + h])
            if peak > 0.0:
                for h in range(m):
                    inside[x + h] /= peak
                scale[node] = peak
                log_scale += np.log(peak)
        total = 0.0
        x, r = at[last], state_offsets[symbol[last]]
        for h in range(n_states[symbol[last]]):
            outside[x + h] = root[r + h]
            total += root[r + h] * inside[x + h]
        w = weight[tree[last]]
        if total > 0.0:
            log_likelihood += w * (np.log(total) + log_scale)
            for h in range(n_states[symbol[last]]):
                root_count[r + h] += w * root[r + h] * inside[x + h] / total
        for node in range(last, first - 1, -1):
            m, x = n_states[symbol[node]], at[node]
            # Inside values were rescaled freely: at each node the posterior's sum tells the scale anew.
            total = 0.0
            for h in range(m):
                total += outside[x + h] * inside[x + h]
            if total <= 0.0:
                continue
            kept = 0.0
            for h in range(m):
                if outside[x + h] * inside[x + h] < least * total:
                    outside[x + h] = 0.0
                kept += outside[x + h] * inside[x + h]
            if left[node] < 0:
                o = pair_offsets[event[node]]
                for h in range(m):
                    pair_count[o + h] += w * outside[x + h] * inside[x + h] / kept
                continue
            norm = kept * scale[node]  # the sum of what follows, since inside values are sums over rules
            if norm <= 0.0:
                continue
            y, m_b = at[left[node]], n_states[symbol[left[node]]]
            if right[node] < 0:
                o = unary_offsets[event[node]]
                for h in range(m):
                    for g in range(m_b):
                        flow = outside[x + h] * unary[o + h * m_b + g] / norm
                        outside[y + g] += flow
                        unary_count[o + h * m_b + g] += w * flow * inside[y + g]
                continue
            z, m_c = at[right[node]], n_states[symbol[right[node]]]
            o, size = binary_offsets[event[node]], m_b * m_c
            for h in range(m):
                scaled = outside[x + h] / norm
                if scaled == 0.0:
                    continue
                for g in range(m_b):
                    row, value, left_inside = o + h * size + g * m_c, 0.0, inside[y + g]
                    for k in range(m_c):
                        flow = scaled * binary[row + k]
                        value += flow * inside[z + k]
                        outside[z + k] += flow * left_inside
                        binary_count[row + k] += w * flow * left_inside * inside[z + k]
                    outside[y + g] += value
        first = last + 1
    return log_likelihood
