"""Inside and outside over a packed forest, of rules with dense tensors.

Edges of one node with one rule are taken together: their tensor is applied once to the sum of the outer
products of their children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, TOP, Forest
from spectralnlp.inference.trees.state_vectors import StateVectors
from spectralnlp.jit import fast_kernel, kernel
from spectralnlp.parameters import Floats, Offsets


class DenseRules(NamedTuple):
    """Tensors of rules, row-major, laid end to end.

    Attributes:
        binary_offsets: int64 (n_binary + 1,); rule r has ``binary[binary_offsets[r]:binary_offsets[r + 1]]``.
        binary: float64 or float32; (m_a, m_b, m_c) for each rule.
        unary_offsets: int64 (n_unary + 1,).
        unary: float64 or float32; (m_a, m_b) for each rule.
    """

    binary_offsets: Offsets
    binary: Floats
    unary_offsets: Offsets
    unary: Floats

    def inside(self, forest: Forest, offsets: Offsets, leaves: Floats) -> Floats:
        """Inside vectors of all nodes, laid end to end.

        Args:
            forest: over these rules.
            offsets: int64 (n_nodes + 1,); where each node's vector lies.
            leaves: float64; vectors of the lexical nodes, laid end to end.
        """
        vectors: Floats = _inside_dense(forest, self, offsets, leaves)
        return vectors

    def outside(self, forest: Forest, vectors: StateVectors, edge: Floats) -> None:
        """Add to the outside vectors, and to the posteriors of hyperedges times the forest's total.

        Args:
            forest: over these rules.
            vectors: of its nodes; the outside vectors of the roots are those that the grammar gives.
            edge: float64 (n_edges,), zeros.
        """
        _outside_dense(forest, self, vectors, edge)


@kernel
def _longest(offsets):
    """The length of the longest vector."""
    longest = 0
    for node in range(len(offsets) - 1):
        longest = max(longest, offsets[node + 1] - offsets[node])
    return longest


@fast_kernel
def _inside_dense(forest, rules, offsets, leaves):
    """Inside vectors of all nodes."""
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    factor = forest.factor
    binary_offsets, binary, unary_offsets, unary = rules
    inside = np.zeros(offsets[-1])
    largest = _longest(offsets)
    outer = np.empty(largest * largest)
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        at, m_a = offsets[node], offsets[node + 1] - offsets[node]
        if kind[node] == LEXICAL:
            leaf -= m_a
            for h in range(m_a):
                inside[at + h] = leaves[leaf + h] * factor[edges[node]]
            continue
        e, last = edges[node], edges[node + 1]
        while e < last:
            r = rule[e]
            m_b = offsets[left[e] + 1] - offsets[left[e]]
            if kind[node] == TOP:
                child = offsets[left[e]]
                if r == IDENTITY:
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
            m_c = offsets[right[e] + 1] - offsets[right[e]]
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
    return inside


@fast_kernel
def _outside_dense(forest, rules, vectors, edge):
    """Add outside vectors to those of the roots, and to ``edge`` posteriors times the total."""
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    offsets, inside, outside = vectors.offsets, vectors.inside, vectors.outside
    binary_offsets, binary, unary_offsets, unary = rules
    factor = forest.factor
    largest = _longest(offsets)
    above = np.empty(largest * largest)  # the rule's tensor with the parent's outside vector contracted
    for node in range(len(kind)):
        at, m_a = offsets[node], offsets[node + 1] - offsets[node]
        if kind[node] == LEXICAL:
            for h in range(m_a):
                edge[edges[node]] += outside[at + h] * inside[at + h]
            continue
        e, last = edges[node], edges[node + 1]
        while e < last:
            r = rule[e]
            m_b = offsets[left[e] + 1] - offsets[left[e]]
            if kind[node] == TOP:
                child = offsets[left[e]]
                if r == IDENTITY:
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
            m_c = offsets[right[e] + 1] - offsets[right[e]]
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
