"""Inside and outside of a latent-variable grammar over a packed forest.

The tensor form of Cohen et al. 2012, section 5 (Figure 4): vectors over states in place of
numbers, and every quantity in which states are summed out – totals, node and hyperedge
posteriors – is the same whatever basis the parameters are in.

Edges of one node with one rule are taken together: their tensor is applied once to the sum of
the outer products of their children.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.jit import fast_kernel, kernel
from spectralnlp.parameters import DenseTensors, Floats, LatentGrammar, Lexicon, Offsets


@dataclass(frozen=True)
class Scores:
    """What a grammar says of a forest.

    Attributes:
        log_total: natural logarithm of |Z|, the sum over the forest's trees.
        edge: float64 (n_edges,); posterior of each hyperedge, signed for signed grammars.
        node: float64 (n_nodes,); posterior of each node.
        usable: False when the total is zero or not finite; then ``edge`` and ``node`` are zero.
    """

    log_total: float
    edge: Floats
    node: Floats
    usable: bool


def score_forest(forest: Forest, grammar: LatentGrammar, leaves: Floats) -> Scores:
    """Inside, outside and posteriors of a grammar over a forest.

    Args:
        forest: a forest over the grammar's symbols and rules.
        grammar: any grammar with those symbols and rules.
        leaves: float64; the vectors of the forest's lexical nodes, in the order of the
            nodes, laid end to end (``leaf_vectors``).
    """
    offsets = vector_offsets(forest, grammar)
    inside, outside = np.zeros(offsets[-1]), np.zeros(offsets[-1])
    edge = np.zeros(forest.n_edges)
    nodes = (forest.kind, forest.symbol, forest.edges, forest.rule, forest.left, forest.right, forest.factor)
    states = (grammar.n_states, offsets)
    tensors = _tensor_arrays(grammar)
    if isinstance(grammar.binary, DenseTensors):
        _inside_dense(*nodes, *states, *tensors, leaves, inside)
    else:
        _inside_sparse(*nodes, *states, *tensors, leaves, inside)
    _start_outside(forest.n_roots, forest.symbol, grammar.state_offsets, grammar.root, offsets, outside)
    total = float(_dot_nodes(forest.n_roots, offsets, inside, outside))
    if not np.isfinite(total) or total == 0.0:
        return Scores(-np.inf, edge, np.zeros(forest.n_nodes), usable=False)
    if isinstance(grammar.binary, DenseTensors):
        _outside_dense(*nodes, *states, *tensors, leaves, inside, outside, edge)
    else:
        _outside_sparse(*nodes, *states, *tensors, leaves, inside, outside, edge)
    edge /= total
    node = _node_posteriors(offsets, inside, outside) / total
    usable = bool(np.isfinite(edge).all() and np.isfinite(node).all())
    if not usable:
        return Scores(-np.inf, np.zeros_like(edge), np.zeros_like(node), usable)
    return Scores(float(np.log(abs(total))) + forest.log_scale, edge, node, usable)


def _tensor_arrays(grammar: LatentGrammar) -> tuple[np.ndarray, ...]:
    binary, unary = grammar.binary, grammar.unary
    if isinstance(binary, DenseTensors) and isinstance(unary, DenseTensors):
        return binary.offsets, binary.values, unary.offsets, unary.values
    if isinstance(binary, DenseTensors) or isinstance(unary, DenseTensors):
        raise TypeError("binary and unary tensors are both dense or both sparse")
    return binary.offsets, binary.states, binary.values, unary.offsets, unary.states, unary.values


def vector_offsets(forest: Forest, grammar: LatentGrammar) -> Offsets:
    """int64 (n_nodes + 1,): where each node's vector lies."""
    return np.concatenate([[0], np.cumsum(grammar.n_states[forest.symbol], dtype=np.int64)])


def leaf_vectors(forest: Forest, grammar: LatentGrammar, found: Lookup) -> Floats:
    """Vectors of the forest's lexical nodes.

    Args:
        forest: the forest.
        grammar: the grammar whose lexicon gives the vectors.
        found: where the tokens are in it.
    """
    lexicon: Lexicon = grammar.lexicon
    weights = _NO_WEIGHTS if found.tag_weights is None else found.tag_weights
    return _leaf_vectors(
        forest.kind, forest.symbol, forest.start, found.entries, found.signatures, weights, lexicon.starts,
        lexicon.tags, lexicon.offsets, lexicon.values, lexicon.backoff, grammar.n_states,
        grammar.state_offsets, grammar.tag_default,
    )  # fmt: skip


_NO_WEIGHTS = np.empty((0, 0))


@kernel
def _leaf_vectors(
    kind, symbol, start, entries, signatures, weights, starts, tags, offsets, values, backoff, n_states,
    state_offsets, tag_default,
):  # fmt: skip
    size = 0
    for node in range(len(kind)):
        if kind[node] == 2:
            size += n_states[symbol[node]]
    leaves = np.empty(size)
    position = 0
    for node in range(len(kind)):
        if kind[node] != 2:
            continue
        tag, entry, signature = symbol[node], entries[start[node]], signatures[start[node]]
        m = n_states[tag]
        weight = 1.0
        row = _find(tags, starts[entry], starts[entry + 1], tag)
        if row < 0 and entry != signature:
            weight = backoff[entry]
            row = _find(tags, starts[signature], starts[signature + 1], tag)
        if row >= 0 and weight > 0.0:
            for h in range(m):
                leaves[position + h] = weight * values[offsets[row] + h]
        else:
            for h in range(m):
                leaves[position + h] = tag_default[state_offsets[tag] + h]
        if len(weights):
            for h in range(m):
                leaves[position + h] *= weights[start[node], tag]
        position += m
    return leaves


@kernel
def _find(tags, first, last, tag):
    for row in range(first, last):
        if tags[row] == tag:
            return row
    return -1


@kernel
def _start_outside(n_roots, symbol, state_offsets, root, offsets, outside):
    for node in range(n_roots):
        first = state_offsets[symbol[node]]
        for h in range(offsets[node + 1] - offsets[node]):
            outside[offsets[node] + h] = root[first + h]


@kernel
def _dot_nodes(n_nodes, offsets, inside, outside):
    total = 0.0
    for position in range(offsets[n_nodes]):
        total += inside[position] * outside[position]
    return total


@kernel
def _node_posteriors(offsets, inside, outside):
    posterior = np.zeros(len(offsets) - 1)
    for node in range(len(posterior)):
        for position in range(offsets[node], offsets[node + 1]):
            posterior[node] += inside[position] * outside[position]
    return posterior


@fast_kernel
def _inside_dense(
    kind, symbol, edges, rule, left, right, factor, n_states, offsets,
    binary_offsets, binary, unary_offsets, unary, leaves, inside,
):  # fmt: skip
    largest = n_states.max()
    outer = np.empty(largest * largest)
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        m_a = n_states[symbol[node]]
        at = offsets[node]
        if kind[node] == 2:
            leaf -= m_a
            for h in range(m_a):
                inside[at + h] = leaves[leaf + h] * factor[edges[node]]
            continue
        e, last = edges[node], edges[node + 1]
        while e < last:
            r = rule[e]
            m_b = n_states[symbol[left[e]]]
            if kind[node] == 0:
                child = offsets[left[e]]
                if r < 0:
                    for h in range(m_a):
                        inside[at + h] += inside[child + h]
                else:
                    tensor = unary[unary_offsets[r] : unary_offsets[r + 1]]
                    for h in range(m_a):
                        value = 0.0
                        for g in range(m_b):
                            value += tensor[h * m_b + g] * inside[child + g]
                        inside[at + h] += value
                e += 1
                continue
            m_c = n_states[symbol[right[e]]]
            size = m_b * m_c
            outer[:size] = 0.0
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                for g in range(m_b):
                    value = factor[e] * inside[x + g]
                    for k in range(m_c):
                        outer[g * m_c + k] += value * inside[y + k]
                e += 1
            tensor = binary[binary_offsets[r] : binary_offsets[r + 1]]
            for h in range(m_a):
                value = 0.0
                for g in range(size):
                    value += tensor[h * size + g] * outer[g]
                inside[at + h] += value


@fast_kernel
def _outside_dense(
    kind, symbol, edges, rule, left, right, factor, n_states, offsets,
    binary_offsets, binary, unary_offsets, unary, leaves, inside, outside, edge,
):  # fmt: skip
    largest = n_states.max()
    above = np.empty(largest * largest)  # the rule's tensor with the parent's outside vector contracted
    for node in range(len(kind)):
        m_a = n_states[symbol[node]]
        at = offsets[node]
        if kind[node] == 2:
            for h in range(m_a):
                edge[edges[node]] += outside[at + h] * inside[at + h]
            continue
        e, last = edges[node], edges[node + 1]
        while e < last:
            r = rule[e]
            m_b = n_states[symbol[left[e]]]
            if kind[node] == 0:
                child = offsets[left[e]]
                if r < 0:
                    for h in range(m_a):
                        outside[child + h] += outside[at + h]
                        edge[e] += outside[at + h] * inside[child + h]
                else:
                    tensor = unary[unary_offsets[r] : unary_offsets[r + 1]]
                    for h in range(m_a):
                        value = outside[at + h]
                        for g in range(m_b):
                            flow = value * tensor[h * m_b + g]
                            outside[child + g] += flow
                            edge[e] += flow * inside[child + g]
                e += 1
                continue
            m_c = n_states[symbol[right[e]]]
            size = m_b * m_c
            above[:size] = 0.0
            tensor = binary[binary_offsets[r] : binary_offsets[r + 1]]
            for h in range(m_a):
                value = outside[at + h]
                for g in range(size):
                    above[g] += value * tensor[h * size + g]
            while e < last and rule[e] == r:
                x, y, f = offsets[left[e]], offsets[right[e]], factor[e]
                posterior = 0.0
                for g in range(m_b):
                    value = 0.0
                    scaled = f * inside[x + g]
                    for k in range(m_c):
                        value += above[g * m_c + k] * inside[y + k]
                        outside[y + k] += scaled * above[g * m_c + k]
                    outside[x + g] += f * value
                    posterior += scaled * value
                edge[e] = posterior
                e += 1


@kernel
def _inside_sparse(
    kind, symbol, edges, rule, left, right, factor, n_states, offsets,
    binary_offsets, binary_states, binary, unary_offsets, unary_states, unary, leaves, inside,
):  # fmt: skip
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        m_a = n_states[symbol[node]]
        at = offsets[node]
        if kind[node] == 2:
            leaf -= m_a
            for h in range(m_a):
                inside[at + h] = leaves[leaf + h] * factor[edges[node]]
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if kind[node] == 0 and r < 0:
                for h in range(m_a):
                    inside[at + h] += inside[x + h]
            elif kind[node] == 0:
                for t in range(unary_offsets[r], unary_offsets[r + 1]):
                    inside[at + unary_states[t, 0]] += unary[t] * inside[x + unary_states[t, 1]]
            else:
                y = offsets[right[e]]
                for t in range(binary_offsets[r], binary_offsets[r + 1]):
                    inside[at + binary_states[t, 0]] += (
                        factor[e]
                        * binary[t]
                        * inside[x + binary_states[t, 1]]
                        * inside[y + binary_states[t, 2]]
                    )


@kernel
def _outside_sparse(
    kind, symbol, edges, rule, left, right, factor, n_states, offsets,
    binary_offsets, binary_states, binary, unary_offsets, unary_states, unary, leaves, inside, outside, edge,
):  # fmt: skip
    for node in range(len(kind)):
        m_a = n_states[symbol[node]]
        at = offsets[node]
        if kind[node] == 2:
            for h in range(m_a):
                edge[edges[node]] += outside[at + h] * inside[at + h]
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if kind[node] == 0 and r < 0:
                for h in range(m_a):
                    outside[x + h] += outside[at + h]
                    edge[e] += outside[at + h] * inside[x + h]
            elif kind[node] == 0:
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
