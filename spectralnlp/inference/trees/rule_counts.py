"""Compute expected counts of a latent-variable grammar's rules, by state, over the trees of a forest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.inference.semirings import SumProduct
from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, TOP, Forest
from spectralnlp.inference.trees.sparse import SparseRules, outside_sparse, state_weights
from spectralnlp.inference.trees.state_vectors import StateVectors, root_weights, vector_offsets
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, LatentGrammar, Offsets


class ForestCounts(NamedTuple):
    """Expected counts of a grammar's parameters in a forest's trees.

    Attributes:
        log_total: natural logarithm of the total weight of the forest's trees; -inf if it is not positive.
        binary, unary: float64; the expected count of each entry of `SparseRules`.
        root: float64 (sum of n_states,); the expected count of each state as the root.
        offsets: int64 (n_nodes + 1,); node v has ``states[offsets[v]:offsets[v + 1]]``.
        states: float64 (offsets[-1],); posteriors of the states of each node.
    """

    log_total: float
    binary: Floats
    unary: Floats
    root: Floats
    offsets: Offsets
    states: Floats


def count_rules(forest: Forest, rules: SparseRules, grammar: LatentGrammar, leaves: Floats) -> ForestCounts:
    """Return the expected count of each of a grammar's parameters, by inside and outside passes.

    Args:
        forest: a forest over the grammar's symbols and rules.
        rules: the weights of the grammar's rules.
        grammar: the grammar, for its states and root weights.
        leaves: float64; the vectors of the lexical nodes, as `score_forest` takes them.
    """
    offsets = vector_offsets(forest, grammar)
    roots = root_weights(forest, grammar, offsets)
    inside = state_weights(SumProduct(), forest, rules, offsets, leaves)
    vectors = StateVectors(offsets, inside, outside=np.zeros_like(inside))
    vectors.outside[: len(roots)] = roots
    total = float(inside[: len(roots)] @ roots)
    binary, unary = np.zeros(len(rules.binary)), np.zeros(len(rules.unary))
    root = np.zeros(len(grammar.root))
    if not (total > 0.0 and np.isfinite(total)):
        return ForestCounts(-np.inf, binary, unary, root, offsets, np.zeros_like(inside))
    outside_sparse(forest, rules, vectors, np.zeros(forest.n_edges))
    _count(forest, rules, vectors, binary, unary)
    states = inside * vectors.outside / total
    for node in range(forest.n_roots):
        first, at = grammar.state_offsets[forest.symbol[node]], offsets[node]
        size = offsets[node + 1] - at
        root[first : first + size] += roots[at : at + size] * inside[at : at + size] / total
    log_total = float(np.log(total)) + forest.log_scale
    return ForestCounts(log_total, binary / total, unary / total, root, offsets, states)


@kernel
def _count(forest, rules, vectors, binary, unary):
    """Add the expected counts of the rules in a forest, by states, to ``binary`` and ``unary``.

    Counts are not normalised: they are the expected counts times the total weight of the forest's trees.

    Args:
        forest: `Forest`.
        rules: `SparseRules`.
        vectors: `StateVectors`, the inside and outside vectors of the forest's nodes.
        binary, unary: float64; a count for each entry of the rules; updated.
    """
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    offsets, inside, outside = vectors.offsets, vectors.inside, vectors.outside
    for node in range(len(kind)):
        at = offsets[node]
        if kind[node] == LEXICAL:
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if r == IDENTITY:
                continue
            if kind[node] == TOP:
                for t in range(rules.unary_offsets[r], rules.unary_offsets[r + 1]):
                    h, b = at + rules.unary_states[t, 0], x + rules.unary_states[t, 1]
                    unary[t] += outside[h] * rules.unary[t] * inside[b]
            else:
                y = offsets[right[e]]
                for t in range(rules.binary_offsets[r], rules.binary_offsets[r + 1]):
                    states = rules.binary_states[t]
                    flow = outside[at + states[0]] * forest.factor[e] * rules.binary[t]
                    binary[t] += flow * inside[x + states[1]] * inside[y + states[2]]
