"""Run the inside and outside passes over a packed forest with dense rule tensors.

Hyperedges of the same node and rule are processed together: the rule's tensor is applied once to the sum of
the outer products of their children's vectors. A tensor that is nearly all zeros, such as one estimated by
clustering, is stored as a list of its non-negligible elements.

Vectors have the precision of the tensors (single for a grammar from a model folder), and are padded with
zeros to multiples of eight. Each vector has its own power of two, so that no sentence is long enough for
underflow or overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, TOP
from spectralnlp.inference.trees.padded import (
    add_product,
    add_scaled,
    dot,
    write_scaled,
    write_transposed_product,
)
from spectralnlp.inference.trees.ready_rules import make_ready
from spectralnlp.jit import exponent_of, fast_kernel_part, kernel, kernel_part, padded, power_of_two

# A hyperedge is neglected if its values are this many powers of two below those of its node's best hyperedge.
_MIN_SHIFT, _MIN_SHIFT_SINGLE = -1000.0, -120.0

# The exponent of a node without a derivation.
_NOTHING = -1e9


@kernel
def dense_posteriors(forest, rules, leaves):
    """Return the log of a forest's total weight, and the posteriors of its hyperedges and nodes.

    This is the kernel of `DenseRules.score`, which describes the results.

    Args:
        forest: `Forest`.
        rules: `DenseRules`.
        leaves: float64; vectors of the lexical nodes, concatenated.
    """
    make_ready(rules, forest)
    n_states, offsets, inside, exponent = dense_inside(forest, rules, leaves)
    edge, node = np.zeros(len(forest.rule)), np.zeros(len(forest.kind))
    total, common = _outside(forest, rules, n_states, offsets, inside, exponent, edge, node)
    usable = total != 0.0 and np.isfinite(total)
    for value in edge:
        usable = usable and np.isfinite(value)
    for value in node:
        usable = usable and np.isfinite(value)
    log_total = np.log(abs(total)) + common * np.log(2.0) if usable else -np.inf
    return log_total, edge, node


@kernel_part
def _normalise(vectors: Any, at: int, n: int) -> float:
    """Divide a vector by a power of two so that the largest magnitude is in [1, 2); return the exponent.

    Args:
        vectors: concatenated vectors, updated in place.
        at, n: index of the vector's first number in ``vectors``, and its length.
    """
    largest = 0.0
    for h in range(at, at + n):
        largest = max(largest, abs(vectors[h]))
    if largest == 0.0:
        return _NOTHING
    if not np.isfinite(largest):
        return 0.0
    exponent = exponent_of(largest)
    scale = vectors.dtype.type(power_of_two(-exponent))
    for h in range(at, at + n):
        vectors[h] *= scale
    return exponent


@kernel_part
def _scaling(shift: float, vectors: Any) -> Any:
    """Return 2 to the power of ``shift`` in the precision of the vectors, or 0 if it is negligible."""
    least = _MIN_SHIFT if vectors.itemsize == 8 else _MIN_SHIFT_SINGLE
    return vectors.dtype.type(power_of_two(shift) if shift > least else 0.0)


@fast_kernel_part
def dense_inside(forest, rules, leaves):
    """Run the inside pass; `make_ready` must have been called for the forest's rules before.

    Args:
        forest: `Forest`.
        rules: `DenseRules`.
        leaves: float64; vectors of the lexical nodes, concatenated.

    Returns:
        The number of states of each node, int64 (n_nodes,); the offsets of the nodes' vectors, int64
        (n_nodes + 1,); the inside vectors, concatenated; and the exponent (of two) of each vector, float64
        (n_nodes,).
    """
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    is_list, factors_of = rules.is_list, forest.factor
    binary, binary_offsets = rules.binary, rules.binary_offsets
    unary, unary_offsets = rules.unary, rules.unary_offsets
    first_row, row_of, column_of, value_of = rules.first_row, rules.row, rules.column, rules.value
    n_states, offsets, largest = _layout(forest.symbol, rules.state_offsets)
    inside = np.zeros(offsets[-1], unary.dtype)
    exponent = np.zeros(len(kind))
    columns = np.empty(largest * largest, unary.dtype)
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        at, m_a = offsets[node], n_states[node]
        e, last = edges[node], edges[node + 1]
        if kind[node] == LEXICAL:
            leaf -= m_a
            most = 0.0
            for h in range(m_a):
                most = max(most, abs(leaves[leaf + h]))
            power = exponent_of(most) if 0.0 < most < np.inf else 0.0
            share = power_of_two(-power)
            for h in range(m_a):
                inside[at + h] = leaves[leaf + h] * share
            exponent[node] = exponent_of(factors_of[e]) + power if most > 0.0 else _NOTHING
            continue
        common = _NOTHING
        for edge in range(e, last):
            power = exponent[left[edge]]
            if right[edge] >= 0:
                power += exponent_of(factors_of[edge]) + exponent[right[edge]]
            common = max(common, power)
        while e < last:
            r, x = rule[e], offsets[left[e]]
            width = offsets[left[e] + 1] - x
            if kind[node] == TOP:
                scale = _scaling(exponent[left[e]] - common, inside)
                if r == IDENTITY:
                    add_scaled(inside, at, scale, inside, x, width)
                else:
                    for h in range(m_a):
                        inside[at + h] += scale * dot(unary, unary_offsets[r] + h * width, inside, x, width)
                e += 1
                continue
            m_b, width = n_states[left[e]], offsets[right[e] + 1] - offsets[right[e]]
            is_first = True
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                shift = exponent_of(factors_of[e]) + exponent[left[e]] + exponent[right[e]] - common
                scale = _scaling(shift, inside)
                for g in range(m_b):
                    if is_first:
                        write_scaled(columns, g * width, scale * inside[x + g], inside, y, width)
                    else:
                        add_scaled(columns, g * width, scale * inside[x + g], inside, y, width)
                is_first = False
                e += 1
            if is_list[r]:
                for h in range(m_a):
                    start, stop = row_of[first_row[r] + h], row_of[first_row[r] + h + 1]
                    total, column, value = inside.dtype.type(0.0), column_of[start:stop], value_of[start:stop]
                    for t in range(len(column)):
                        total += value[t] * columns[column[t]]
                    inside[at + h] += total
            else:
                add_product(inside, at, binary, binary_offsets[r], m_a, columns, m_b * width)
        power = _normalise(inside, at, m_a)
        exponent[node] = common + power if power > _NOTHING else _NOTHING
    return n_states, offsets, inside, exponent


@kernel_part
def _layout(symbol, state_offsets):
    """Return each node's number of states, the offsets of the padded vectors, and the largest padded size."""
    n_states, offsets = np.empty(len(symbol), np.int64), np.empty(len(symbol) + 1, np.int64)
    offsets[0] = largest = 0
    for node in range(len(symbol)):
        n_states[node] = state_offsets[symbol[node] + 1] - state_offsets[symbol[node]]
        offsets[node + 1] = offsets[node] + padded(n_states[node])
        largest = max(largest, offsets[node + 1] - offsets[node])
    return n_states, offsets, largest


@kernel_part
def _start_outside(forest, rules, n_states, offsets, inside, exponent, outside):
    """Write the outside vectors of the roots, from the grammar's root weights.

    Args:
        forest: `Forest`.
        rules: `DenseRules`.
        n_states, offsets, inside, exponent: results of `dense_inside`.
        outside: outside vectors of all nodes, in the layout of ``inside``; output.

    Returns:
        The forest's total weight, as mantissa and exponent (of two).
    """
    common, total = _NOTHING, 0.0
    for node in range(forest.n_roots):
        common = max(common, exponent[node])
    for is_second in range(2):
        for node in range(forest.n_roots):
            shift, first = exponent[node] - common, rules.state_offsets[forest.symbol[node]]
            share = power_of_two(shift) if shift > _MIN_SHIFT else 0.0
            for h in range(n_states[node]):
                root, place = share * rules.root[first + h], offsets[node] + h
                if is_second:
                    outside[place] = root / abs(total) if total != 0.0 else 0.0
                else:
                    total += root * inside[place]
    return total, common


@fast_kernel_part
def _outside(forest, rules, n_states, offsets, inside, exponent, posterior, node_posterior):
    """Run the outside pass, and return the forest's total weight as mantissa and exponent (of two).

    Args:
        forest: `Forest`.
        rules: `DenseRules`.
        n_states, offsets, inside, exponent: results of `dense_inside`.
        posterior, node_posterior: float64 (n_edges,) and (n_nodes,); posteriors of hyperedges and of nodes;
            output.
    """
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    is_list, factors_of = rules.is_list, forest.factor
    binary, binary_offsets = rules.binary, rules.binary_offsets
    unary, unary_offsets = rules.unary, rules.unary_offsets
    first_row, row_of, column_of, value_of = rules.first_row, rules.row, rules.column, rules.value
    outside = np.zeros(len(inside), inside.dtype)
    total, common = _start_outside(forest, rules, n_states, offsets, inside, exponent, outside)
    if total == 0.0 or not np.isfinite(total):
        return total, common
    largest = np.int64(0)
    for node in range(len(kind)):
        largest = max(largest, offsets[node + 1] - offsets[node])
    columns = np.empty(largest * largest, inside.dtype)
    for node in range(len(kind)):
        at, m_a = offsets[node], n_states[node]
        node_posterior[node] = dot(outside, at, inside, at, offsets[node + 1] - at)
        e, last = edges[node], edges[node + 1]
        if kind[node] == LEXICAL:
            posterior[e] = node_posterior[node]
            continue
        if exponent[node] == _NOTHING:
            continue
        while e < last:
            r, x = rule[e], offsets[left[e]]
            width = offsets[left[e] + 1] - x
            if kind[node] == TOP:
                scale = _scaling(exponent[left[e]] - exponent[node], inside)
                if r == IDENTITY:
                    write_scaled(columns, 0, scale, outside, at, width)
                else:
                    write_transposed_product(columns, unary, unary_offsets[r], m_a, outside, at, width)
                    write_scaled(columns, 0, scale, columns, 0, width)
                add_scaled(outside, x, inside.dtype.type(1.0), columns, 0, width)
                posterior[e] = dot(columns, 0, inside, x, width)
                e += 1
                continue
            m_b, width = n_states[left[e]], offsets[right[e] + 1] - offsets[right[e]]
            size = m_b * width
            if is_list[r]:
                for k in range(size):
                    columns[k] = 0.0
                for h in range(m_a):
                    start, stop = row_of[first_row[r] + h], row_of[first_row[r] + h + 1]
                    factor, column, value = outside[at + h], column_of[start:stop], value_of[start:stop]
                    for t in range(len(column)):
                        columns[column[t]] += factor * value[t]
            else:
                write_transposed_product(columns, binary, binary_offsets[r], m_a, outside, at, size)
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                shift = exponent_of(factors_of[e]) + exponent[left[e]] + exponent[right[e]]
                scale = _scaling(shift - exponent[node], inside)
                total_flow = inside.dtype.type(0.0)
                for g in range(m_b):
                    scaled = scale * inside[x + g]
                    value = dot(columns, g * width, inside, y, width)
                    add_scaled(outside, y, scaled, columns, g * width, width)
                    outside[x + g] += scale * value
                    total_flow += scaled * value
                posterior[e] = total_flow
                e += 1
    return total, common
