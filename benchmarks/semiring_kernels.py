"""Kernels for one semiring each, with which `benchmarks.semirings` compares kernels for any semiring.

The package used them before it had semirings; their results are identical bit by bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

from spectralnlp.inference.semirings import plus, times
from spectralnlp.inference.trees.forest import IDENTITY, LEXICAL, NO_NODE, TOP
from spectralnlp.jit import kernel


@kernel
def inside(forest, rules, offsets, leaves):
    """Compute the inside vector of each node of a forest, by sums of products."""
    _, kind, _, _, _, edges, rule, left, right, factor, _ = forest
    binary_offsets, binary_states, binary, unary_offsets, unary_states, unary = rules
    values = np.zeros(offsets[-1])
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        at, n_states = offsets[node], offsets[node + 1] - offsets[node]
        if kind[node] == LEXICAL:
            leaf -= n_states
            for h in range(n_states):
                values[at + h] = leaves[leaf + h] * factor[edges[node]]
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if r == IDENTITY:
                for h in range(n_states):
                    values[at + h] += values[x + h]
            elif kind[node] == TOP:
                for t in range(unary_offsets[r], unary_offsets[r + 1]):
                    values[at + unary_states[t, 0]] += unary[t] * values[x + unary_states[t, 1]]
            else:
                y = offsets[right[e]]
                for t in range(binary_offsets[r], binary_offsets[r + 1]):
                    b, c = x + binary_states[t, 1], y + binary_states[t, 2]
                    values[at + binary_states[t, 0]] += factor[e] * binary[t] * values[b] * values[c]
    return values


@kernel
def viterbi(forest, rules, offsets, leaves):
    """Compute the best weight of each node of a forest in each state, with back-pointers."""
    _, kind, _, _, _, edges, rule, left, right, factor, _ = forest
    best = np.full(offsets[-1], -np.inf)
    best_edge = np.full(offsets[-1], -1, np.int32)
    best_left, best_right = np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1], np.int32)
    leaf = len(leaves)
    for node in range(len(kind) - 1, -1, -1):
        at, n_states = offsets[node], offsets[node + 1] - offsets[node]
        if kind[node] == LEXICAL:
            leaf -= n_states
            for h in range(n_states):
                best[at + h] = leaves[leaf + h] + factor[edges[node]]
                best_edge[at + h] = edges[node]
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if r == IDENTITY:
                for h in range(n_states):
                    if best[x + h] > best[at + h]:
                        best[at + h], best_edge[at + h], best_left[at + h] = best[x + h], e, h
            elif kind[node] == TOP:
                for t in range(rules.unary_offsets[r], rules.unary_offsets[r + 1]):
                    h, g = at + rules.unary_states[t, 0], rules.unary_states[t, 1]
                    value = rules.unary[t] + best[x + g]
                    if value > best[h]:
                        best[h], best_edge[h], best_left[h] = value, e, g
            else:
                y = offsets[right[e]]
                for t in range(rules.binary_offsets[r], rules.binary_offsets[r + 1]):
                    h, g, k = (
                        at + rules.binary_states[t, 0],
                        rules.binary_states[t, 1],
                        rules.binary_states[t, 2],
                    )
                    value = factor[e] + rules.binary[t] + best[x + g] + best[y + k]
                    if value > best[h]:
                        best[h], best_edge[h], best_left[h], best_right[h] = value, e, g, k
    return best, best_edge, best_left, best_right


@kernel
def best_by_gains(forest, gains):
    """Compute for each node of a forest the largest total gain of a derivation, and its first hyperedge.

    Args:
        forest: the forest.
        gains: gain of each hyperedge.
    """
    _, _, _, _, _, edges, _, left, right, _, _ = forest
    n_nodes = len(edges) - 1
    best, choice = np.full(n_nodes, -np.inf), np.full(n_nodes, -1, np.int32)
    for node in range(n_nodes - 1, -1, -1):
        for e in range(edges[node], edges[node + 1]):
            value = gains[e]
            if left[e] != NO_NODE:
                value += best[left[e]]
            if right[e] != NO_NODE:
                value += best[right[e]]
            if value > best[node]:
                best[node], choice[node] = value, e
    return best, choice


@kernel
def count(forest):
    """Count the derivations of each node of a forest."""
    _, _, _, _, _, edges, _, left, right, _, _ = forest
    counts = np.zeros(len(edges) - 1)
    for node in range(len(counts) - 1, -1, -1):
        for e in range(edges[node], edges[node + 1]):
            value = 1.0
            if left[e] != NO_NODE:
                value *= counts[left[e]]
            if right[e] != NO_NODE:
                value *= counts[right[e]]
            counts[node] += value
    return counts


@kernel
def productive(forest, keep):
    """Compute whether each node of a forest has a derivation whose hyperedges are all kept.

    Args:
        forest: the forest.
        keep: whether each hyperedge is kept.
    """
    _, _, _, _, _, edges, _, left, right, _, _ = forest
    can = np.zeros(len(edges) - 1, np.bool_)
    for node in range(len(can) - 1, -1, -1):
        for e in range(edges[node], edges[node + 1]):
            usable = keep[e]
            if left[e] != NO_NODE and not can[left[e]]:
                usable = False
            if right[e] != NO_NODE and not can[right[e]]:
                usable = False
            if usable:
                can[node] = True
    return can


@kernel
def dense_weights(semiring, forest, rules, offsets, leaves):
    """Compute inside vectors of a forest with dense rule tensors in any semiring, one hyperedge at a time."""
    _, kind, _, _, _, edges, rule, left, right, factor, _ = forest
    binary_offsets, binary = rules.stored.offsets, rules.stored.numbers
    unary_offsets, unary = rules.unary_stored.offsets, rules.unary_stored.numbers
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
            m = offsets[left[e] + 1] - x
            if r == IDENTITY:
                for h in range(n_states):
                    totals[at + h] = plus(semiring, totals[at + h], totals[x + h])
            elif kind[node] == TOP:
                t = unary_offsets[r]
                for h in range(n_states):
                    for g in range(m):
                        value = times(semiring, unary[t + h * m + g], totals[x + g])
                        totals[at + h] = plus(semiring, totals[at + h], value)
            else:
                y, t = offsets[right[e]], binary_offsets[r]
                n = offsets[right[e] + 1] - y
                for h in range(n_states):
                    total = semiring.zero
                    for g in range(m):
                        for k in range(n):
                            value = times(semiring, binary[t + (h * m + g) * n + k], totals[y + k])
                            total = plus(semiring, total, times(semiring, value, totals[x + g]))
                    totals[at + h] = plus(semiring, totals[at + h], times(semiring, factor[e], total))
    return totals


@kernel
def chain_viterbi(emissions, into, start, end, best, back, tags):
    """Compute the best tags of a sentence with back-pointers.

    Transition scores ``into`` have a row for each following tag, and a column for each tag before it.
    """
    n, k = emissions.shape
    for y in range(k):
        best[0, y] = start[y] + emissions[0, y]
    for t in range(1, n):
        before, now = best[(t - 1) & 1], best[t & 1]
        for y in range(k):
            top, at = before[0] + into[y, 0], 0
            for x in range(1, k):
                score = before[x] + into[y, x]
                if score > top:
                    top, at = score, x
            now[y] = top + emissions[t, y]
            back[t, y] = at
    top, at = best[(n - 1) & 1, 0] + end[0], 0
    for y in range(1, k):
        score = best[(n - 1) & 1, y] + end[y]
        if score > top:
            top, at = score, y
    for t in range(n - 1, -1, -1):
        tags[t] = at
        if t > 0:
            at = back[t, at]


@kernel
def chain_log_sum(emissions, transitions, start, totals):
    """Compute the forward scores of a chain of tags: log-sums over all paths that end in each tag."""
    n, k = emissions.shape
    values = np.empty(k)
    for y in range(k):
        totals[0, y] = start[y] + emissions[0, y]
    for t in range(1, n):
        for y in range(k):
            top = -np.inf
            for x in range(k):
                values[x] = totals[t - 1, x] + transitions[x, y]
                top = max(top, values[x])
            total = 0.0
            for x in range(k):
                total += np.exp(values[x] - top)
            totals[t, y] = top + np.log(total) + emissions[t, y]


class LogSum(NamedTuple):
    """Log semiring: a ⊕ b is log(eᵃ + eᵇ), and a ⊗ b is a + b."""

    zero: float = -np.inf
    one: float = 0.0


def _log_sum(semiring: Any, a: Any, b: Any) -> Any:
    top, low = max(a, b), min(a, b)
    return top if low == -np.inf else top + np.log1p(np.exp(low - top))


def _log_product(semiring: Any, a: Any, b: Any) -> Any:
    return a + b


@overload(plus, strict=False)
def _plus_logarithms(semiring: Any, a: Any, b: Any) -> Any:
    return _log_sum if semiring.instance_class is LogSum else None


@overload(times, strict=False)
def _times_logarithms(semiring: Any, a: Any, b: Any) -> Any:
    return _log_product if semiring.instance_class is LogSum else None


@kernel
def add(a, b):
    """Compute a ⊕ b in the counting semiring, as a kernel for the two designs that cannot be cached."""
    return a + b


@kernel
def multiply(a, b):
    """Compute a ⊗ b in the counting semiring, as a kernel for the two designs that cannot be cached."""
    return a * b


@kernel
def passed(plus_kernel, times_kernel, forest):
    """Count the derivations of a forest; the operations of the semiring are passed as kernels."""
    counts = np.zeros(len(forest.kind))
    for node in range(len(counts) - 1, -1, -1):
        for e in range(forest.edges[node], forest.edges[node + 1]):
            value = 1.0
            if forest.left[e] != NO_NODE:
                value = times_kernel(value, counts[forest.left[e]])
            if forest.right[e] != NO_NODE:
                value = times_kernel(value, counts[forest.right[e]])
            counts[node] = plus_kernel(counts[node], value)
    return counts


def closed_over(plus_kernel: Any, times_kernel: Any) -> Any:
    """Return a kernel that counts derivations of a forest, a closure over the semiring's operations."""

    @njit(cache=True, nogil=True)
    def weights(forest: Any) -> Any:
        return passed(plus_kernel, times_kernel, forest)

    return weights
