"""Inside and outside over a packed forest, of rules with dense tensors.

Edges of one node with one rule are taken together: their tensor is applied once to the sum of the outer
products of their children. A tensor that is nearly all zeros, as those of clusters are, is a list of its
other numbers instead.

Vectors are of the precision of the tensors, single from a model folder. Each has its own power of two, so
that neither precision underflows or overflows at any length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, TOP
from spectralnlp.inference.trees.rule_lists import make_ready
from spectralnlp.jit import exponent_of, fast_kernel_part, kernel, kernel_part, power_of_two
from spectralnlp.parameters.expansion import write_tensors

# Powers of two below those of the best hyperedge of a node from which one counts for nothing.
_LEAST_SHIFT, _LEAST_SHIFT_SINGLE = -1000.0, -120.0

# The exponent of a node that nothing derives.
_NOTHING = -1e9


@kernel
def dense_posteriors(forest, rules, leaves):
    """Total and posteriors of a forest; see :meth:`~.dense_rules.DenseRules.score`."""
    binary, unary = np.empty(len(forest.rule), np.int32), np.empty(len(forest.rule), np.int32)
    for e in range(len(forest.rule)):
        is_binary = forest.right[e] >= 0
        binary[e] = forest.rule[e] if is_binary else -1
        unary[e] = -1 if is_binary else forest.rule[e]
    make_ready(rules, binary)
    write_tensors(rules.unary_factors, unary, rules.unary_offsets, rules.unary_is_there, rules.unary)
    offsets, inside, exponent = dense_inside(forest, rules, leaves)
    edge, node = np.zeros(len(forest.rule)), np.zeros(len(forest.kind))
    total, common = _outside(forest, rules, offsets, inside, exponent, edge, node)
    usable = total != 0.0 and np.isfinite(total)
    for value in edge:
        usable = usable and np.isfinite(value)
    for value in node:
        usable = usable and np.isfinite(value)
    log_total = np.log(abs(total)) + common * np.log(2.0) if usable else -np.inf
    return log_total, edge, node


@kernel_part
def _normalise(vector: Any) -> float:
    """Divide by a power of two so that the largest magnitude is in [1, 2); return its exponent."""
    largest = 0.0
    for h in range(len(vector)):
        largest = max(largest, abs(vector[h]))
    if largest == 0.0:
        return _NOTHING
    if not np.isfinite(largest):
        return 0.0
    exponent = exponent_of(largest)
    scale = vector.dtype.type(power_of_two(-exponent))
    for h in range(len(vector)):
        vector[h] *= scale
    return exponent


@kernel_part
def _scaling(shift: float, vectors: Any) -> Any:
    """Two to the power of a shift, in the precision of the vectors; 0 where it is negligible."""
    least = _LEAST_SHIFT if vectors.itemsize == 8 else _LEAST_SHIFT_SINGLE
    return vectors.dtype.type(power_of_two(shift) if shift > least else 0.0)


@fast_kernel_part
def dense_inside(forest, rules, leaves):
    """Where the inside vectors of nodes lie, the vectors, and their exponents; the rules are ready."""
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    is_list, first_row, row_of, column_of, values = (
        rules.is_list,
        rules.first_row,
        rules.row,
        rules.column,
        rules.value,
    )
    binary, binary_offsets = rules.binary, rules.binary_offsets
    factors_of = forest.factor
    unary, unary_offsets, state_offsets = rules.unary, rules.unary_offsets, rules.state_offsets
    offsets, largest = np.empty(len(kind) + 1, np.int64), np.int64(0)
    offsets[0] = 0
    for node in range(len(kind)):
        a = forest.symbol[node]
        m_a = state_offsets[a + 1] - state_offsets[a]
        offsets[node + 1] = offsets[node] + m_a
        largest = max(largest, m_a)
    inside = np.zeros(offsets[-1], unary.dtype)
    exponent = np.zeros(len(kind))
    columns = np.empty(largest * largest, unary.dtype)
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        at, m_a = offsets[node], offsets[node + 1] - offsets[node]
        vector = inside[at : at + m_a]
        e, last = edges[node], edges[node + 1]
        if kind[node] == LEXICAL:
            leaf -= m_a
            most = 0.0
            for h in range(m_a):
                most = max(most, abs(leaves[leaf + h]))
            power = exponent_of(most) if 0.0 < most < np.inf else 0.0
            share = power_of_two(-power)
            for h in range(m_a):
                vector[h] = leaves[leaf + h] * share
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
            m_b = offsets[left[e] + 1] - x
            if kind[node] == TOP:
                scale, below = _scaling(exponent[left[e]] - common, inside), inside[x : x + m_b]
                if r == IDENTITY:
                    for h in range(m_a):
                        vector[h] += scale * below[h]
                else:
                    for h in range(m_a):
                        t = unary_offsets[r] + h * m_b
                        row, total = unary[t : t + m_b], inside.dtype.type(0.0)
                        for g in range(m_b):
                            total += row[g] * below[g]
                        vector[h] += scale * total
                e += 1
                continue
            m_c = offsets[right[e] + 1] - offsets[right[e]]
            size, is_first = m_b * m_c, True
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                shift = exponent_of(factors_of[e]) + exponent[left[e]] + exponent[right[e]] - common
                scale, above = _scaling(shift, inside), inside[y : y + m_c]
                for g in range(m_b):
                    factor, out = scale * inside[x + g], columns[g * m_c : g * m_c + m_c]
                    if is_first:
                        for k in range(m_c):
                            out[k] = factor * above[k]
                    else:
                        for k in range(m_c):
                            out[k] += factor * above[k]
                is_first = False
                e += 1
            if is_list[r]:
                for h in range(m_a):
                    first, stop = row_of[first_row[r] + h], row_of[first_row[r] + h + 1]
                    total, column, value = inside.dtype.type(0.0), column_of[first:stop], values[first:stop]
                    for t in range(len(column)):
                        total += value[t] * columns[column[t]]
                    vector[h] += total
            else:
                for h in range(m_a):
                    t = binary_offsets[r] + h * size
                    row, total = binary[t : t + size], inside.dtype.type(0.0)
                    for g in range(size):
                        total += row[g] * columns[g]
                    vector[h] += total
        power = _normalise(vector)
        exponent[node] = common + power if power > _NOTHING else _NOTHING
    return offsets, inside, exponent


@kernel_part
def _start_outside(forest, rules, offsets, inside, exponent, outside):
    """Give the roots their outside vectors; return the total and its exponent."""
    common, total = _NOTHING, 0.0
    for node in range(forest.n_roots):
        common = max(common, exponent[node])
    for is_second in range(2):
        for node in range(forest.n_roots):
            shift, first = exponent[node] - common, rules.state_offsets[forest.symbol[node]]
            share = power_of_two(shift) if shift > _LEAST_SHIFT else 0.0
            for place in range(offsets[node], offsets[node + 1]):
                root = share * rules.root[first + place - offsets[node]]
                if is_second:
                    outside[place] = root / total if total != 0.0 else 0.0
                else:
                    total += root * inside[place]
    return total, common


@fast_kernel_part
def _outside(forest, rules, offsets, inside, exponent, posterior, node_posterior):
    """Add the posteriors of hyperedges and nodes; return the total and its exponent."""
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    is_list, first_row, row_of, column_of, values = (
        rules.is_list,
        rules.first_row,
        rules.row,
        rules.column,
        rules.value,
    )
    binary, binary_offsets = rules.binary, rules.binary_offsets
    factors_of = forest.factor
    unary, unary_offsets = rules.unary, rules.unary_offsets
    outside = np.zeros(len(inside), inside.dtype)
    total, common = _start_outside(forest, rules, offsets, inside, exponent, outside)
    if total == 0.0 or not np.isfinite(total):
        return total, common
    largest = np.int64(0)
    for node in range(len(kind)):
        largest = max(largest, offsets[node + 1] - offsets[node])
    columns, to_right = np.empty(largest * largest, inside.dtype), np.empty(largest, inside.dtype)
    for node in range(len(kind)):
        at, m_a = offsets[node], offsets[node + 1] - offsets[node]
        out, within = outside[at : at + m_a], inside[at : at + m_a]
        # Sums are local: in an array's cell, the order of adding would depend on where the arrays lie.
        here = 0.0
        for h in range(m_a):
            here += out[h] * within[h]
        node_posterior[node] = here
        e, last = edges[node], edges[node + 1]
        if kind[node] == LEXICAL:
            posterior[e] = node_posterior[node]
            continue
        if exponent[node] == _NOTHING:
            continue
        while e < last:
            r, x = rule[e], offsets[left[e]]
            m_b = offsets[left[e] + 1] - x
            if kind[node] == TOP:
                scale = _scaling(exponent[left[e]] - exponent[node], inside)
                flow, below = outside[x : x + m_b], inside[x : x + m_b]
                through = 0.0
                if r == IDENTITY:
                    for h in range(m_a):
                        value = scale * out[h]
                        flow[h] += value
                        through += value * below[h]
                else:
                    for g in range(m_b):
                        value = inside.dtype.type(0.0)
                        for h in range(m_a):
                            value += out[h] * unary[unary_offsets[r] + h * m_b + g]
                        flow[g] += scale * value
                        through += scale * value * below[g]
                posterior[e] = through
                e += 1
                continue
            m_c = offsets[right[e] + 1] - offsets[right[e]]
            size = m_b * m_c
            for g in range(size):
                columns[g] = 0.0
            if is_list[r]:
                for h in range(m_a):
                    factor = out[h]
                    first, stop = row_of[first_row[r] + h], row_of[first_row[r] + h + 1]
                    column, value = column_of[first:stop], values[first:stop]
                    for t in range(len(column)):
                        columns[column[t]] += factor * value[t]
            else:
                for h in range(m_a):
                    factor, t = out[h], binary_offsets[r] + h * size
                    row = binary[t : t + size]
                    for g in range(size):
                        columns[g] += factor * row[g]
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                shift = exponent_of(factors_of[e]) + exponent[left[e]] + exponent[right[e]]
                scale, in_right = _scaling(shift - exponent[node], inside), inside[y : y + m_c]
                share = to_right[:m_c]
                for k in range(m_c):
                    share[k] = 0.0
                total_flow = inside.dtype.type(0.0)
                for g in range(m_b):
                    scaled, value = scale * inside[x + g], inside.dtype.type(0.0)
                    row = columns[g * m_c : g * m_c + m_c]
                    for k in range(m_c):
                        value += row[k] * in_right[k]
                    for k in range(m_c):
                        share[k] += scaled * row[k]
                    outside[x + g] += scale * value
                    total_flow += scaled * value
                for k in range(m_c):
                    outside[y + k] += share[k]
                posterior[e] = total_flow
                e += 1
    return total, common
