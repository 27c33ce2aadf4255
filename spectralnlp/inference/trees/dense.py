"""Inside and outside over a packed forest, of rules with dense tensors.

Edges of one node with one rule are taken together: their tensor is applied once to the sum of the outer
products of their children. A tensor that is nearly all zeros, as those of clusters are, is a list of its
other numbers instead, and its edges are taken one by one.

Vectors are of the precision of the tensors, single from a model folder. Each has its own power of two, so
that neither precision underflows or overflows at any length.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.coarse import power_of_two
from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, TOP, Forest
from spectralnlp.jit import fast_kernel, jitable, kernel
from spectralnlp.parameters import DenseTensors, FactoredTensors, Floats, LatentGrammar, Offsets

# Share of a tensor's numbers that are not negligible up to which it becomes a list.
_MOST_LISTED = 0.06

# Share of the largest number of a tensor in single precision below which a number is left out of the list.
_NEGLIGIBLE = 1e-4

# Powers of two below those of the best hyperedge of a node from which one counts for nothing.
_LEAST_SHIFT, _LEAST_SHIFT_SINGLE = -1000.0, -120.0

# The exponent of a node that nothing derives.
_NOTHING = -1e9


class DenseRules(NamedTuple):
    """Tensors of rules, row-major, laid end to end; of some rules of two children also lists of numbers.

    Attributes:
        binary_offsets: int64 (n_binary + 1,); rule r has ``binary[binary_offsets[r]:binary_offsets[r + 1]]``.
        binary: float64 or float32; (m_a, m_b, m_c) for each rule.
        unary_offsets: int64 (n_unary + 1,).
        unary: float64 or float32; (m_a, m_b) for each rule.
        listed: int64 (n_binary + 1,); a rule that is a list has a range of the next two, others none.
        states: uint16 (n_listed, 3); states of a, b and c.
        values: float64 or float32 (n_listed,).
    """

    binary_offsets: Offsets
    binary: NDArray[Any]
    unary_offsets: Offsets
    unary: NDArray[Any]
    listed: Offsets
    states: NDArray[np.uint16]
    values: NDArray[Any]

    @classmethod
    def of(
        cls,
        grammar: LatentGrammar,
        binary: DenseTensors | FactoredTensors,
        unary: DenseTensors | FactoredTensors,
    ) -> DenseRules:
        """The rules of a grammar; lists are made once for each."""
        known = _KNOWN.get(grammar)
        if known is None:
            shapes = grammar.n_states[grammar.binary_rules].astype(np.int64)
            numbers = binary.values
            negligible = _NEGLIGIBLE if numbers.dtype == np.float32 else 0.0
            listed, states, values = _lists(binary.offsets, numbers, shapes, negligible)
            known = cls(
                binary_offsets=binary.offsets,
                binary=numbers,
                unary_offsets=unary.offsets,
                unary=unary.values,
                listed=listed,
                states=states,
                values=values,
            )
            _KNOWN[grammar] = known
        return known

    def score(
        self, forest: Forest, offsets: Offsets, leaves: Floats, root: Floats
    ) -> tuple[float, float, Floats, Floats]:
        """Total and posteriors of a forest.

        Args:
            forest: over these rules.
            offsets: int64 (n_nodes + 1,); where each node's vector lies.
            leaves: float64; vectors of the lexical nodes, laid end to end.
            root: float64; the root weights of the states of the forest's roots, laid end to end.

        Returns:
            The total and its exponent, of two; posteriors of hyperedges and of nodes.
        """
        inside, exponents = self.inside(forest, offsets, leaves)
        scored: tuple[float, float, Floats, Floats] = _outside_dense(
            forest, self, offsets, root, inside, exponents
        )
        return scored

    def inside(self, forest: Forest, offsets: Offsets, leaves: Floats) -> tuple[NDArray[Any], Floats]:
        """Inside vectors of all nodes, laid end to end, and the exponent of each node's.

        Args:
            forest: over these rules.
            offsets: int64 (n_nodes + 1,); where each node's vector lies.
            leaves: float64; vectors of the lexical nodes, laid end to end.
        """
        vectors: tuple[NDArray[Any], Floats] = _inside_dense(forest, self, offsets, leaves)
        return vectors


_KNOWN: WeakKeyDictionary[LatentGrammar, DenseRules] = WeakKeyDictionary()


@kernel
def _lists(offsets, values, shapes, negligible):
    """Lists of the tensors that are nearly all zeros."""
    n_rules = len(shapes)
    listed = np.zeros(n_rules + 1, np.int64)
    limits = np.zeros(n_rules)
    for rule in range(n_rules):
        tensor = values[offsets[rule] : offsets[rule + 1]]
        largest = 0.0
        for value in tensor:
            largest = max(largest, abs(value))
        limits[rule], count = negligible * largest, 0
        for value in tensor:
            if abs(value) > limits[rule]:
                count += 1
        listed[rule + 1] = listed[rule] + (count if count <= _MOST_LISTED * len(tensor) else 0)
    states, kept = np.empty((listed[-1], 3), np.uint16), np.empty(listed[-1], values.dtype)
    for rule in range(n_rules):
        at = listed[rule]
        if listed[rule + 1] == at:
            continue
        m_b, m_c = shapes[rule, 1], shapes[rule, 2]
        tensor = values[offsets[rule] : offsets[rule + 1]]
        for place in range(len(tensor)):
            if abs(tensor[place]) > limits[rule]:
                states[at, 0], rest = place // (m_b * m_c), place % (m_b * m_c)
                states[at, 1], states[at, 2] = rest // m_c, rest % m_c
                kept[at] = tensor[place]
                at += 1
    return listed, states, kept


@kernel
def _longest(offsets):
    """The length of the longest vector."""
    longest = 0
    for node in range(len(offsets) - 1):
        longest = max(longest, offsets[node + 1] - offsets[node])
    return longest


@jitable
def _normalise(vector: Any) -> float:
    """Divide by a power of two so that the largest magnitude is in [1, 2); return its exponent."""
    largest = 0.0
    for h in range(len(vector)):
        largest = max(largest, abs(vector[h]))
    if largest == 0.0:
        return _NOTHING
    if not np.isfinite(largest):
        return 0.0
    exponent = np.floor(np.log2(largest))
    scale = vector.dtype.type(2.0**-exponent)
    for h in range(len(vector)):
        vector[h] *= scale
    return float(exponent)


@jitable
def _scaling(shift: float, inside: Any) -> Any:
    """Two to the power of a shift, in the precision of the vectors; 0 where it is negligible."""
    least = _LEAST_SHIFT if inside.itemsize == 8 else _LEAST_SHIFT_SINGLE
    return inside.dtype.type(power_of_two(shift) if shift > least else 0.0)


@fast_kernel
def _inside_dense(forest, rules, offsets, leaves):
    """Inside vectors of all nodes, and their exponents."""
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    binary_offsets, binary, unary_offsets, unary, listed, states, values = rules
    inside = np.zeros(offsets[-1], binary.dtype)
    exponent = np.zeros(len(kind))
    powers = np.log2(forest.factor)
    largest = _longest(offsets)
    outer = np.empty(largest * largest, binary.dtype)
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
            power = np.floor(np.log2(most)) if 0.0 < most < np.inf else 0.0
            for h in range(m_a):
                vector[h] = leaves[leaf + h] * 2.0**-power
            exponent[node] = powers[e] + power if most > 0.0 else _NOTHING
            continue
        common = _NOTHING
        for edge in range(e, last):
            power = powers[edge] + exponent[left[edge]]
            common = max(common, power + exponent[right[edge]] if right[edge] >= 0 else power)
        while e < last:
            r = rule[e]
            child = offsets[left[e]]
            m_b = offsets[left[e] + 1] - child
            if kind[node] == TOP:
                scale = _scaling(exponent[left[e]] - common, inside)
                if r == IDENTITY:
                    for h in range(m_a):
                        vector[h] += scale * inside[child + h]
                else:
                    tensor = unary[unary_offsets[r] : unary_offsets[r + 1]]
                    for h in range(m_a):
                        value = tensor.dtype.type(0.0)
                        for g in range(m_b):
                            value += tensor[h * m_b + g] * inside[child + g]
                        vector[h] += scale * value
                e += 1
                continue
            m_c = offsets[right[e] + 1] - offsets[right[e]]
            if listed[r + 1] > listed[r]:
                while e < last and rule[e] == r:
                    x = inside[offsets[left[e]] : offsets[left[e] + 1]]
                    y = inside[offsets[right[e]] : offsets[right[e] + 1]]
                    scale = _scaling(powers[e] + exponent[left[e]] + exponent[right[e]] - common, inside)
                    h, value = states[listed[r], 0], binary.dtype.type(0.0)
                    for t in range(listed[r], listed[r + 1]):
                        if states[t, 0] != h:
                            vector[h] += scale * value
                            h, value = states[t, 0], binary.dtype.type(0.0)
                        value += values[t] * x[states[t, 1]] * y[states[t, 2]]
                    vector[h] += scale * value
                    e += 1
                continue
            size = m_b * m_c
            outer[:size] = 0.0
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                scale = _scaling(powers[e] + exponent[left[e]] + exponent[right[e]] - common, inside)
                for g in range(m_b):
                    value = scale * inside[x + g]
                    for k in range(m_c):
                        outer[g * m_c + k] += value * inside[y + k]
                e += 1
            tensor = binary[binary_offsets[r] : binary_offsets[r + 1]]
            for h in range(m_a):
                value = tensor.dtype.type(0.0)
                for g in range(size):
                    value += tensor[h * size + g] * outer[g]
                vector[h] += value
        power = _normalise(vector)
        exponent[node] = common + power if power > _NOTHING else _NOTHING
    return inside, exponent


@kernel
def _start_outside(n_roots, offsets, root, inside, exponent, outside):
    """Give the roots their outside vectors; return the total and its exponent."""
    common = _NOTHING
    for node in range(n_roots):
        common = max(common, exponent[node])
    total = 0.0
    for node in range(n_roots):
        share = power_of_two(exponent[node] - common) if exponent[node] - common > _LEAST_SHIFT else 0.0
        for h in range(offsets[node], offsets[node + 1]):
            total += share * root[h] * inside[h]
    for node in range(n_roots):
        share = power_of_two(exponent[node] - common) if exponent[node] - common > _LEAST_SHIFT else 0.0
        for h in range(offsets[node], offsets[node + 1]):
            outside[h] = share * root[h] / total if total != 0.0 else 0.0
    return total, common


@fast_kernel
def _outside_dense(forest, rules, offsets, root, inside, exponent):
    """The total, its exponent, and posteriors of hyperedges and nodes."""
    kind, edges, rule, left, right = forest.kind, forest.edges, forest.rule, forest.left, forest.right
    binary_offsets, binary, unary_offsets, unary, listed, states, values = rules
    posterior = np.zeros(len(rule))
    node_posterior = np.zeros(len(kind))
    outside = np.zeros(len(inside), inside.dtype)
    total, total_exponent = _start_outside(forest.n_roots, offsets, root, inside, exponent, outside)
    if total == 0.0 or not np.isfinite(total):
        return total, total_exponent, posterior, node_posterior
    powers = np.log2(forest.factor)
    largest = _longest(offsets)
    above = np.empty(
        largest * largest, inside.dtype
    )  # the tensor, contracted with the parent's outside vector
    for node in range(len(kind)):
        at, m_a = offsets[node], offsets[node + 1] - offsets[node]
        out = outside[at : at + m_a]
        for h in range(m_a):
            node_posterior[node] += out[h] * inside[at + h]
        e, last = edges[node], edges[node + 1]
        if kind[node] == LEXICAL:
            posterior[e] = node_posterior[node]
            continue
        if exponent[node] == _NOTHING:
            continue
        while e < last:
            r = rule[e]
            child = offsets[left[e]]
            m_b = offsets[left[e] + 1] - child
            if kind[node] == TOP:
                scale = _scaling(exponent[left[e]] - exponent[node], inside)
                if r == IDENTITY:
                    for h in range(m_a):
                        flow = scale * out[h]
                        outside[child + h] += flow
                        posterior[e] += flow * inside[child + h]
                else:
                    tensor = unary[unary_offsets[r] : unary_offsets[r + 1]]
                    for h in range(m_a):
                        value = scale * out[h]
                        for g in range(m_b):
                            flow = value * tensor[h * m_b + g]
                            outside[child + g] += flow
                            posterior[e] += flow * inside[child + g]
                e += 1
                continue
            m_c = offsets[right[e] + 1] - offsets[right[e]]
            size = m_b * m_c
            tensor = binary[binary_offsets[r] : binary_offsets[r + 1]]
            is_listed = listed[r + 1] > listed[r]
            if not is_listed:
                above[:size] = 0.0
                for h in range(m_a):
                    value = out[h]
                    for g in range(size):
                        above[g] += value * tensor[h * size + g]
            while e < last and rule[e] == r:
                x, y = offsets[left[e]], offsets[right[e]]
                scale = _scaling(powers[e] + exponent[left[e]] + exponent[right[e]] - exponent[node], inside)
                total_flow = inside.dtype.type(0.0)
                if is_listed:
                    in_left, in_right = inside[x : x + m_b], inside[y : y + m_c]
                    out_left, out_right = outside[x : x + m_b], outside[y : y + m_c]
                    for t in range(listed[r], listed[r + 1]):
                        b, c = states[t, 1], states[t, 2]
                        flow = scale * values[t] * out[states[t, 0]]
                        to_left = flow * in_right[c]
                        out_left[b] += to_left
                        out_right[c] += flow * in_left[b]
                        total_flow += to_left * in_left[b]
                else:
                    for g in range(m_b):
                        value = inside.dtype.type(0.0)
                        scaled = scale * inside[x + g]
                        for k in range(m_c):
                            value += above[g * m_c + k] * inside[y + k]
                            outside[y + k] += scaled * above[g * m_c + k]
                        outside[x + g] += scale * value
                        total_flow += scaled * value
                posterior[e] = total_flow
                e += 1
    return total, total_exponent, posterior, node_posterior
