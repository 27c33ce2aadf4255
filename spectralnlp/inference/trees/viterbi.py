"""Find the most probable derivation of a forest, latent states included (Viterbi)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from spectralnlp.inference.semirings import MaxPlus
from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, NO_NODE, TOP, Forest
from spectralnlp.inference.trees.sparse import SparseRules, state_weights
from spectralnlp.inference.trees.state_vectors import StateVectors, root_weights, vector_offsets
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints, LatentGrammar, SparseTensors, Tensors


def best_derivation(forest: Forest, grammar: LatentGrammar, leaves: Floats) -> Ints:
    """Return the hyperedge of each node in the most probable derivation, states included.

    Args:
        forest: a forest over the grammar's symbols and rules.
        grammar: a grammar without negative parameters.
        leaves: float64; vectors of the lexical nodes, concatenated.

    Returns:
        int32 (n_nodes,); -1 for nodes outside the derivation.
    """
    rules, offsets = log_rules(grammar), vector_offsets(forest, grammar)
    with np.errstate(divide="ignore"):  # factors and weights may be zero
        log_forest = forest._replace(factor=np.log(forest.factor))
        root, log_leaves = np.log(root_weights(forest, grammar, offsets)), np.log(leaves)
    best = state_weights(MaxPlus(), log_forest, rules, offsets, log_leaves)
    vectors = StateVectors(offsets, inside=best, outside=np.full_like(best, -np.inf))
    vectors.outside[: len(root)] = root
    choice: Ints = _derivation(log_forest, rules, vectors)
    return choice


@kernel
def _derivation(forest, rules, vectors):
    """Return the hyperedge of each node in the best derivation, int32 (n_nodes,), -1 for other nodes.

    If several derivations are equally good, the first hyperedge of each node is chosen, from the root down.
    """
    left, right = forest.left, forest.right
    offsets, best = vectors.offsets, vectors.inside
    n_nodes = len(forest.kind)
    choice = np.full(n_nodes, -1, np.int32)
    state = np.full(n_nodes, -1, np.int64)
    largest, start, start_state = -np.inf, -1, 0
    for node in range(forest.n_roots):
        for h in range(offsets[node], offsets[node + 1]):
            value = vectors.outside[h] + best[h]
            if value > largest:
                largest, start, start_state = value, node, h - offsets[node]
    if start < 0:
        return choice
    state[start] = start_state
    for node in range(start, n_nodes):
        if state[node] < 0:
            continue
        e, g, k = _first_best(forest, rules, offsets, best, node, state[node])
        choice[node] = e
        if left[e] != NO_NODE:
            state[left[e]] = g
        if right[e] != NO_NODE:
            state[right[e]] = k
    return choice


@kernel
def _first_best(forest, rules, offsets, best, node, h):
    """Return the hyperedge, and the children's states, of the best derivation of a node in a given state.

    Args:
        forest: `Forest`.
        rules: `SparseRules`, with logarithms of weights.
        offsets: int64 (n_nodes + 1,); start of each node's states in ``best``.
        best: float64; weight of the best derivation of each state of each node.
        node, h: the node and its state.
    """
    left, right, factor = forest.left, forest.right, forest.factor
    goal = best[offsets[node] + h]
    first = forest.edges[node]
    if forest.kind[node] == LEXICAL:
        return first, -1, -1
    for e in range(first, forest.edges[node + 1]):
        r, x = forest.rule[e], offsets[left[e]]
        if r == IDENTITY:
            if best[x + h] == goal:
                return e, h, -1
        elif forest.kind[node] == TOP:
            for t in range(rules.unary_offsets[r], rules.unary_offsets[r + 1]):
                g = rules.unary_states[t, 1]
                if rules.unary_states[t, 0] == h and rules.unary[t] + best[x + g] == goal:
                    return e, g, -1
        else:
            y = offsets[right[e]]
            for t in range(rules.binary_offsets[r], rules.binary_offsets[r + 1]):
                g, k = rules.binary_states[t, 1], rules.binary_states[t, 2]
                if rules.binary_states[t, 0] != h:
                    continue
                if factor[e] + rules.binary[t] + best[x + g] + best[y + k] == goal:
                    return e, g, k
    return first, -1, -1


@lru_cache(maxsize=8)
def log_rules(grammar: LatentGrammar) -> SparseRules:
    """Return a grammar's rules in sparse form, with the natural logarithms of their weights."""
    binary, unary = _sparse(grammar.binary, 3, grammar), _sparse(grammar.unary, 2, grammar)
    with np.errstate(divide="ignore"):  # stored weights may be zero
        return SparseRules(
            binary_offsets=binary.offsets,
            binary_states=binary.states,
            binary=np.log(binary.values),
            unary_offsets=unary.offsets,
            unary_states=unary.states,
            unary=np.log(unary.values),
        )


def _sparse(tensors: Tensors, order: int, grammar: LatentGrammar) -> SparseTensors:
    if isinstance(tensors, SparseTensors):
        return tensors
    dense = tensors.values
    rules = grammar.binary_rules if order == 3 else grammar.unary_rules
    counts, states, values = [0], [np.empty((0, order), np.int32)], [np.empty(0)]
    for r, rule in enumerate(rules):
        block = dense[tensors.offsets[r] : tensors.offsets[r + 1]]
        block = block.reshape(grammar.n_states[rule])
        where = np.argwhere(block)
        counts.append(len(where))
        states.append(where.astype(np.int32))
        values.append(block[tuple(where.T)])
    return SparseTensors(
        offsets=np.cumsum(counts, dtype=np.int64),
        states=np.concatenate(states),
        values=np.concatenate(values),
    )
