"""Run the inside and outside passes over a packed forest with sparse rule tensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.inference.semirings import SumProduct, plus, times
from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, TOP, Forest
from spectralnlp.inference.trees.state_vectors import StateVectors, root_weights, vector_offsets
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints, LatentGrammar, Offsets


class SparseRules(NamedTuple):
    """The non-zero weights of rules a → b c and a → b; rule r has the entries ``offsets[r]:offsets[r + 1]``.

    Attributes:
        binary_offsets: int64 (n_binary + 1,); start of each binary rule's entries.
        binary_states: int32 (n_binary_entries, 3); states of a, b and c.
        binary: float64 (n_binary_entries,); the weights.
        unary_offsets: int64 (n_unary + 1,); start of each unary rule's entries.
        unary_states: int32 (n_unary_entries, 2); states of a and b.
        unary: float64 (n_unary_entries,); the weights.
    """

    binary_offsets: Offsets
    binary_states: Ints
    binary: Floats
    unary_offsets: Offsets
    unary_states: Ints
    unary: Floats

    def score(self, forest: Forest, grammar: LatentGrammar, leaves: Floats) -> tuple[float, Floats, Floats]:
        """Return the log of a forest's total weight, and the posteriors of its hyperedges and nodes.

        Args:
            forest: a forest over these rules.
            grammar: the grammar of these rules.
            leaves: float64; vectors of the lexical nodes, concatenated.

        Returns:
            The natural logarithm of the total's magnitude without ``forest.log_scale`` (-inf if the total is
            zero or any result is not finite), the posteriors of hyperedges and those of nodes, float64.
        """
        offsets = vector_offsets(forest, grammar)
        root = root_weights(forest, grammar, offsets)
        inside = state_weights(SumProduct(), forest, self, offsets, leaves)
        vectors = StateVectors(offsets, inside, outside=np.zeros_like(inside))
        vectors.outside[: len(root)] = root
        total = float(inside[: len(root)] @ root)
        edge: Floats = np.zeros(forest.n_edges)
        if total == 0.0 or not np.isfinite(total):
            return -np.inf, edge, np.zeros(forest.n_nodes)
        outside_sparse(forest, self, vectors, edge)
        node: Floats = _node_posteriors(vectors)
        edge, node = edge / abs(total), node / abs(total)
        usable = bool(np.isfinite(edge).all() and np.isfinite(node).all())
        return float(np.log(abs(total))) if usable else -np.inf, edge, node


@kernel
def _node_posteriors(vectors):
    """Return the unnormalised posterior of each node, float64 (n_nodes,): inside · outside vector."""
    offsets = vectors.offsets
    posterior = np.zeros(len(offsets) - 1)
    for node in range(len(posterior)):
        for position in range(offsets[node], offsets[node + 1]):
            posterior[node] += vectors.inside[position] * vectors.outside[position]
    return posterior


@kernel
def state_weights(semiring, forest, rules, offsets, leaves):
    """Return the weight of each node in each state: the semiring sum over the node's derivations.

    Args:
        semiring: a semiring of :mod:`spectralnlp.inference.semirings`.
        forest: a Forest whose factors are elements of the semiring.
        rules: SparseRules.
        offsets: int64 (n_nodes + 1,); node v has the states ``offsets[v]:offsets[v + 1]`` of the result.
        leaves: float64; weights of the states of the lexical nodes, concatenated.

    Returns:
        float64 (offsets[-1],).
    """
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    factor = forest.factor
    binary_offsets, binary_states, binary = rules.binary_offsets, rules.binary_states, rules.binary
    unary_offsets, unary_states, unary = rules.unary_offsets, rules.unary_states, rules.unary
    totals = np.full(offsets[-1], semiring.zero)
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        at, n_states = offsets[node], offsets[node + 1] - offsets[node]
        if kind[node] == LEXICAL:
            leaf -= n_states
            for h in range(n_states):
                totals[at + h] = times(semiring, leaves[leaf + h], factor[edges[node]])
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if r == IDENTITY:
                for h in range(n_states):
                    totals[at + h] = plus(semiring, totals[at + h], totals[x + h])
            elif kind[node] == TOP:
                for t in range(unary_offsets[r], unary_offsets[r + 1]):
                    h, b = at + unary_states[t, 0], x + unary_states[t, 1]
                    totals[h] = plus(semiring, totals[h], times(semiring, unary[t], totals[b]))
            else:
                y = offsets[right[e]]
                for t in range(binary_offsets[r], binary_offsets[r + 1]):
                    h, b, c = at + binary_states[t, 0], x + binary_states[t, 1], y + binary_states[t, 2]
                    value = times(semiring, factor[e], binary[t])
                    value = times(semiring, times(semiring, value, totals[b]), totals[c])
                    totals[h] = plus(semiring, totals[h], value)
    return totals


@kernel
def outside_sparse(forest, rules, vectors, edge):
    """Compute the outside vectors of a forest's nodes, and the unnormalised posteriors of its hyperedges.

    Args:
        forest: Forest.
        rules: SparseRules.
        vectors: StateVectors; ``outside`` has the root weights at the roots and zeros elsewhere; updated.
        edge: float64 (n_edges,); updated by adding each hyperedge's posterior times the forest's total.
    """
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    factor = forest.factor
    binary_offsets, binary_states, binary = rules.binary_offsets, rules.binary_states, rules.binary
    unary_offsets, unary_states, unary = rules.unary_offsets, rules.unary_states, rules.unary
    offsets, inside, outside = vectors.offsets, vectors.inside, vectors.outside
    for node in range(len(kind)):
        at, m_a = offsets[node], offsets[node + 1] - offsets[node]
        if kind[node] == LEXICAL:
            for h in range(m_a):
                edge[edges[node]] += outside[at + h] * inside[at + h]
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if r == IDENTITY:
                for h in range(m_a):
                    outside[x + h] += outside[at + h]
                    edge[e] += outside[at + h] * inside[x + h]
            elif kind[node] == TOP:
                for t in range(unary_offsets[r], unary_offsets[r + 1]):
                    flow = unary[t] * outside[at + unary_states[t, 0]]
                    outside[x + unary_states[t, 1]] += flow
                    edge[e] += flow * inside[x + unary_states[t, 1]]
            else:
                y = offsets[right[e]]
                for t in range(binary_offsets[r], binary_offsets[r + 1]):
                    b, c = x + binary_states[t, 1], y + binary_states[t, 2]
                    flow = factor[e] * binary[t] * outside[at + binary_states[t, 0]]
                    outside[b] += flow * inside[c]
                    outside[c] += flow * inside[b]
                    edge[e] += flow * inside[b] * inside[c]
