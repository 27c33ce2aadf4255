"""The packed forest: the parses worth scoring, as flat arrays in topological order.

One forest serves any number of grammars that share the coarse grammar's symbols and rules: each
of them only does inside and outside over the same nodes and hyperedges (``latent.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..parameters import Floats, Ints, Offsets
from .coarse import Chart, RuleIndex
from .kernel import kernel

TOP, BINARY, LEXICAL = 0, 1, 2
"""Kinds of node: the top layer of a span, a bottom made by binary rules, a tag over its word."""

IDENTITY, WORD = -1, -2
"""In place of a rule: top[a] = bottom[a], and a tag's word."""


@dataclass(frozen=True)
class Forest:
    """Nodes and hyperedges, parents before children; the edges of a node are a range.

    Attributes:
        n_roots: the first nodes are the tops of the whole sentence.
        kind: int32 (n_nodes,); TOP, BINARY or LEXICAL.
        symbol, start, end: int32 (n_nodes,); tokens start (inclusive) to end (exclusive).
        edges: int64 (n_nodes + 1,); node v's edges are ``edges[v]:edges[v + 1]``, ordered by rule.
        rule: int32 (n_edges,); index of a binary rule (of BINARY nodes) or of a unary rule
            (of TOP nodes), or IDENTITY, or WORD.
        left, right: int32 (n_edges,); child nodes; right is -1 but for binary rules, left is -1 at WORD.
        factor: float64 (n_edges,); the power of two that keeps every span's values near one.
        log_scale: natural logarithm of what a total over this forest is to be multiplied by.
    """

    n_roots: int
    kind: Ints
    symbol: Ints
    start: Ints
    end: Ints
    edges: Offsets
    rule: Ints
    left: Ints
    right: Ints
    factor: Floats
    log_scale: float

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.symbol)

    @property
    def n_edges(self) -> int:
        """Number of hyperedges."""
        return len(self.rule)


def build_forest(chart: Chart, index: RuleIndex, *, node_threshold: float, edge_threshold: float) -> Forest:
    """The nodes and hyperedges whose coarse posterior reaches the thresholds.

    Args:
        chart: inside values with a total above zero.
        index: the rules that made the chart.
        node_threshold, edge_threshold: least posterior, in [0, 1]; 0 keeps all that can be derived.
    """
    arrays: tuple[Any, ...] = _build(
        chart.bottom, chart.top, chart.active, chart.n_active, chart.exponent, chart.root, chart.total,
        index.by_parent, index.group, index.rules, index.rule_weight, index.unary_by_parent,
        index.unary_child, index.unary_weight, index.root, node_threshold, edge_threshold,
    )  # fmt: skip
    return Forest(*(*arrays, chart.log_scale))


def prune_forest(forest: Forest, keep: NDArray[np.bool_]) -> Forest:
    """The forest without some of its hyperedges, and without what then leads nowhere.

    Args:
        forest: the forest.
        keep: bool (n_edges,).
    """
    arrays: tuple[Any, ...] = _prune(
        forest.n_roots, forest.kind, forest.symbol, forest.start, forest.end, forest.edges,
        forest.rule, forest.left, forest.right, forest.factor, keep,
    )  # fmt: skip
    return Forest(*(*arrays, forest.log_scale))


@kernel
def _grown(array):
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _build(
    bottom, top, active, n_active, exponent, root_row, total, by_parent, group, rules, rule_weight,
    unary_by_parent, unary_child, unary_weight, root, node_threshold, edge_threshold,
):  # fmt: skip
    n_spans, n_symbols = bottom.shape
    n = int((np.sqrt(8.0 * n_spans + 1.0) - 1.0) // 2)
    outside = np.zeros(
        (n_spans, n_symbols)
    )  # of top layers; scaled so that inside · outside / total is a posterior
    below = np.zeros(n_symbols)  # outside of the bottom layer of the span at hand
    top_id = np.full((n_spans, n_symbols), -1, np.int32)
    bottom_id = np.full((n_spans, n_symbols), -1, np.int32)
    factors = np.zeros(n + 1)

    kind, symbol = np.empty(1024, np.int32), np.empty(1024, np.int32)
    start, end = np.empty(1024, np.int32), np.empty(1024, np.int32)
    first_edge = np.empty(1024, np.int64)
    rule, factor = np.empty(8192, np.int32), np.empty(8192, np.float64)
    # Children are not numbered before their span is visited: until then, (row of the chart, symbol).
    left_row, left_symbol = np.empty(8192, np.int32), np.empty(8192, np.int32)
    right_row, right_symbol = np.empty(8192, np.int32), np.empty(8192, np.int32)
    n_nodes, n_edges, n_roots = 0, 0, 0
    outside[root_row] = root

    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            row = j * (j - 1) // 2 + i
            below[:] = 0.0
            for a in range(n_symbols):
                out = outside[row, a] / total
                if out == 0.0 or out * top[row, a] < node_threshold or top[row, a] == 0.0:
                    continue
                if n_nodes + n_symbols + 1 >= len(kind):
                    kind, symbol, start, end = _grown(kind), _grown(symbol), _grown(start), _grown(end)
                    first_edge = _grown(first_edge)
                while n_edges + n_symbols + 1 >= len(rule):
                    rule, factor = _grown(rule), _grown(factor)
                    left_row, left_symbol = _grown(left_row), _grown(left_symbol)
                    right_row, right_symbol = _grown(right_row), _grown(right_symbol)
                top_id[row, a] = n_nodes
                kind[n_nodes], symbol[n_nodes], start[n_nodes], end[n_nodes] = 0, a, i, j
                first_edge[n_nodes] = n_edges
                n_nodes += 1
                for unary in range(unary_by_parent[a] - 1, unary_by_parent[a + 1]):
                    if unary < unary_by_parent[a]:  # the identity comes first
                        b, weight, name = a, 1.0, -1
                    else:
                        b, weight, name = unary_child[unary], unary_weight[unary], unary
                    if bottom[row, b] == 0.0:
                        continue
                    below[b] += out * weight
                    if out * weight * bottom[row, b] >= edge_threshold:
                        rule[n_edges], factor[n_edges] = name, 1.0
                        left_row[n_edges], left_symbol[n_edges] = row, b
                        right_row[n_edges] = -1
                        n_edges += 1
            if width == n:
                n_roots = n_nodes
            for k in range(i + 1, j):
                shift = exponent[k * (k - 1) // 2 + i] + exponent[j * (j - 1) // 2 + k] - exponent[row]
                factors[k] = 2.0**shift if shift > -300.0 else 0.0
            for a in range(n_symbols):
                out = below[a]
                if out == 0.0 or out * bottom[row, a] < node_threshold:
                    continue
                if n_nodes + 1 >= len(kind):
                    kind, symbol, start, end = _grown(kind), _grown(symbol), _grown(start), _grown(end)
                    first_edge = _grown(first_edge)
                bottom_id[row, a] = n_nodes
                kind[n_nodes], symbol[n_nodes], start[n_nodes], end[n_nodes] = 1, a, i, j
                first_edge[n_nodes] = n_edges
                if width == 1:
                    kind[n_nodes] = 2
                    if n_edges + 1 >= len(rule):
                        rule, factor = _grown(rule), _grown(factor)
                        left_row, left_symbol = _grown(left_row), _grown(left_symbol)
                        right_row, right_symbol = _grown(right_row), _grown(right_symbol)
                    rule[n_edges], factor[n_edges] = -2, 2.0 ** -exponent[row]
                    left_row[n_edges], right_row[n_edges] = -1, -1
                    n_edges += 1
                n_nodes += 1
                for k in range(i + 1, j):
                    left, right = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                    for slot in range(n_active[left]):
                        b = active[left, slot]
                        first = group[a, b]
                        if first < 0:
                            continue
                        in_left = top[left, b]
                        scaled = out * factors[k]
                        for r in range(first, by_parent[a + 1]):
                            if rules[r, 1] != b:
                                break
                            c = rules[r, 2]
                            in_right = top[right, c]
                            if in_right == 0.0:
                                continue
                            flow = scaled * rule_weight[r]
                            outside[left, b] += flow * in_right * total
                            outside[right, c] += flow * in_left * total
                            if flow * in_left * in_right < edge_threshold:
                                continue
                            if n_edges + 1 >= len(rule):
                                rule, factor = _grown(rule), _grown(factor)
                                left_row, left_symbol = _grown(left_row), _grown(left_symbol)
                                right_row, right_symbol = _grown(right_row), _grown(right_symbol)
                            rule[n_edges], factor[n_edges] = r, factors[k]
                            left_row[n_edges], left_symbol[n_edges] = left, b
                            right_row[n_edges], right_symbol[n_edges] = right, c
                            n_edges += 1

    edges = np.empty(n_nodes + 1, np.int64)
    left_node, right_node = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    edge_rule, edge_factor = np.empty(n_edges, np.int32), np.empty(n_edges)
    kept = 0
    for node in range(n_nodes):
        last = first_edge[node + 1] if node + 1 < n_nodes else n_edges
        edges[node] = kept
        for position in np.argsort(rule[first_edge[node] : last], kind="mergesort"):
            e = first_edge[node] + position
            left_child, right_child = -1, -1
            if kind[node] == 0:
                left_child = bottom_id[left_row[e], left_symbol[e]]
                if left_child < 0:
                    continue
            elif kind[node] == 1:
                left_child = top_id[left_row[e], left_symbol[e]]
                right_child = top_id[right_row[e], right_symbol[e]]
                if left_child < 0 or right_child < 0:
                    continue
            edge_rule[kept], edge_factor[kept] = rule[e], factor[e]
            left_node[kept], right_node[kept] = left_child, right_child
            kept += 1
    edges[n_nodes] = kept
    return (
        n_roots, kind[:n_nodes].copy(), symbol[:n_nodes].copy(), start[:n_nodes].copy(), end[:n_nodes].copy(),
        edges, edge_rule[:kept].copy(), left_node[:kept].copy(), right_node[:kept].copy(),
        edge_factor[:kept].copy(),
    )  # fmt: skip


@kernel
def _prune(n_roots, kind, symbol, start, end, edges, rule, left, right, factor, keep):
    n_nodes = len(kind)
    productive = np.zeros(n_nodes, np.bool_)
    usable = keep.copy()
    for node in range(n_nodes - 1, -1, -1):
        for e in range(edges[node], edges[node + 1]):
            if left[e] >= 0 and not productive[left[e]]:
                usable[e] = False
            if right[e] >= 0 and not productive[right[e]]:
                usable[e] = False
            if usable[e]:
                productive[node] = True
    new_id = np.full(n_nodes, -1, np.int32)
    reached = np.zeros(n_nodes, np.bool_)
    reached[:n_roots] = True
    n_new, n_new_edges, n_new_roots = 0, 0, 0
    for node in range(n_nodes):
        if not (reached[node] and productive[node]):
            continue
        new_id[node] = n_new
        n_new += 1
        if node < n_roots:
            n_new_roots += 1
        for e in range(edges[node], edges[node + 1]):
            if usable[e]:
                n_new_edges += 1
                if left[e] >= 0:
                    reached[left[e]] = True
                if right[e] >= 0:
                    reached[right[e]] = True
    new_edges = np.empty(n_new + 1, np.int64)
    new_rule, new_factor = np.empty(n_new_edges, np.int32), np.empty(n_new_edges)
    new_left, new_right = np.empty(n_new_edges, np.int32), np.empty(n_new_edges, np.int32)
    kept = 0
    for node in range(n_nodes):
        if new_id[node] < 0:
            continue
        new_edges[new_id[node]] = kept
        for e in range(edges[node], edges[node + 1]):
            if usable[e]:
                new_rule[kept], new_factor[kept] = rule[e], factor[e]
                new_left[kept] = new_id[left[e]] if left[e] >= 0 else -1
                new_right[kept] = new_id[right[e]] if right[e] >= 0 else -1
                kept += 1
    new_edges[n_new] = kept
    nodes = np.flatnonzero(new_id >= 0)
    return (
        n_new_roots, kind[nodes], symbol[nodes], start[nodes], end[nodes],
        new_edges, new_rule, new_left, new_right, new_factor,
    )  # fmt: skip
