"""The packed forest: the parses worth scoring, as flat arrays in topological order.

One forest serves any number of grammars that share the coarse grammar's symbols and rules: each
of them only does inside and outside over the same nodes and hyperedges (``latent.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.coarse import Chart, RuleIndex
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints, Offsets

TOP, BINARY, LEXICAL = 0, 1, 2
"""Kinds of node: the top layer of a span, a bottom made by binary rules, a tag over its word."""

_NOWHERE_NEAR = 0.01
"""Share of the threshold below which posteriors are not even added up; many small ones still count."""

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
        index.pair, index.pair_rules, index.parent, index.weight, index.rule, index.unary_by_parent,
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
    larger = np.empty((2 * array.shape[0], *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _build(
    bottom, top, active, n_active, exponent, root_row, total, pair, pair_rules, parent, weight, rule,
    unary_by_parent, unary_child, unary_weight, root, node_threshold, edge_threshold,
):  # fmt: skip
    n_spans, n_symbols = bottom.shape
    n = int((np.sqrt(8.0 * n_spans + 1.0) - 1.0) // 2)
    outside = np.zeros((n_spans, n_symbols))  # of top layers, so that inside · outside is a posterior
    below = np.empty(n_symbols)  # the same of the bottom layer of the span at hand, 0 where it is pruned
    top_id = np.full((n_spans, n_symbols), -1, np.int32)
    bottom_id = np.full((n_spans, n_symbols), -1, np.int32)

    node = np.empty((1024, 4), np.int32)  # kind, symbol, start, end
    # Children are not numbered before their span is visited: until then they are (row of the chart, symbol).
    edge = np.empty((8192, 6), np.int32)  # node, rule, left row, left symbol, right row, right symbol
    factor = np.empty(8192)
    n_nodes, n_edges, n_roots = 0, 0, 0
    most_weight = weight.max() if len(weight) else 0.0
    outside[root_row] = root / total

    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            row = j * (j - 1) // 2 + i
            below[:] = 0.0
            while n_nodes + 2 * n_symbols >= len(node):
                node = _grown(node)
            for slot in range(n_active[row]):
                a = active[row, slot]
                out = outside[row, a]
                if out == 0.0 or out * top[row, a] < node_threshold:
                    continue
                top_id[row, a] = n_nodes
                node[n_nodes, 0], node[n_nodes, 1], node[n_nodes, 2], node[n_nodes, 3] = 0, a, i, j
                for unary in range(unary_by_parent[a] - 1, unary_by_parent[a + 1]):
                    b, w, name = a, 1.0, -1  # the identity comes first
                    if unary >= unary_by_parent[a]:
                        b, w, name = unary_child[unary], unary_weight[unary], unary
                    if bottom[row, b] == 0.0:
                        continue
                    below[b] += out * w
                    if out * w * bottom[row, b] >= edge_threshold:
                        if n_edges == len(edge):
                            edge, factor = _grown(edge), _grown(factor)
                        edge[n_edges, 0], edge[n_edges, 1], factor[n_edges] = n_nodes, name, 1.0
                        edge[n_edges, 2], edge[n_edges, 3] = row, b
                        n_edges += 1
                n_nodes += 1
            if width == n:
                n_roots = n_nodes
            most_below = 0.0
            for a in range(n_symbols):
                if below[a] == 0.0 or below[a] * bottom[row, a] < node_threshold:
                    below[a] = 0.0
                    continue
                most_below = max(most_below, below[a])
                bottom_id[row, a] = n_nodes
                node[n_nodes, 0], node[n_nodes, 1], node[n_nodes, 2], node[n_nodes, 3] = 1, a, i, j
                if width == 1:
                    node[n_nodes, 0] = 2
                    if n_edges == len(edge):
                        edge, factor = _grown(edge), _grown(factor)
                    edge[n_edges, 0], edge[n_edges, 1], factor[n_edges] = n_nodes, -2, 2.0 ** -exponent[row]
                    n_edges += 1
                n_nodes += 1
            if most_below == 0.0:
                continue
            for k in range(i + 1, j):
                left, right = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                shift = exponent[left] + exponent[right] - exponent[row]
                if shift < -300.0:
                    continue
                scale = 2.0**shift
                most_right = 0.0
                for other in range(n_active[right]):
                    most_right = max(most_right, top[right, active[right, other]])
                # Children that come nowhere near the threshold, whatever the rule, are passed over.
                hopeless = _NOWHERE_NEAR * edge_threshold / (most_below * most_weight)
                for slot in range(n_active[left]):
                    b = active[left, slot]
                    in_left = scale * top[left, b]
                    if in_left * most_right < hopeless:
                        continue
                    for other in range(n_active[right]):
                        c = active[right, other]
                        bc, in_right = pair[b, c], top[right, c]
                        if bc < 0 or in_left * in_right < hopeless:
                            continue
                        flow = 0.0
                        for r in range(pair_rules[bc], pair_rules[bc + 1]):
                            out = below[parent[r]] * weight[r]
                            if out == 0.0:
                                continue
                            flow += out
                            if out * in_left * in_right >= edge_threshold:
                                if n_edges == len(edge):
                                    edge, factor = _grown(edge), _grown(factor)
                                edge[n_edges, 0], edge[n_edges, 1] = bottom_id[row, parent[r]], rule[r]
                                edge[n_edges, 2], edge[n_edges, 3] = left, b
                                edge[n_edges, 4], edge[n_edges, 5] = right, c
                                factor[n_edges] = scale
                                n_edges += 1
                        outside[left, b] += flow * scale * in_right
                        outside[right, c] += flow * in_left
    return n_roots, *_ordered(node[:n_nodes], edge[:n_edges], factor[:n_edges], top_id, bottom_id)


@kernel
def _ordered(node, edge, factor, top_id, bottom_id):
    """The forest's arrays: edges by node and rule, children numbered, without edges to pruned children."""
    n_nodes, n_edges = len(node), len(edge)
    edges = np.zeros(n_nodes + 1, np.int64)
    edge_rule, edge_factor = np.empty(n_edges, np.int32), np.empty(n_edges)
    left, right = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    largest = 1
    for e in range(n_edges):
        largest = max(largest, edge[e, 1] + 1)
    key = edge[:, 0].astype(np.int64) * (largest + 2) + edge[:, 1]
    kept = 0
    for e in np.argsort(key, kind="mergesort"):
        left_child, right_child = -1, -1
        if node[edge[e, 0], 0] == 0:
            left_child = bottom_id[edge[e, 2], edge[e, 3]]
            if left_child < 0:
                continue
        elif node[edge[e, 0], 0] == 1:
            left_child, right_child = top_id[edge[e, 2], edge[e, 3]], top_id[edge[e, 4], edge[e, 5]]
            if left_child < 0 or right_child < 0:
                continue
        edge_rule[kept], edge_factor[kept] = edge[e, 1], factor[e]
        left[kept], right[kept] = left_child, right_child
        edges[edge[e, 0] + 1] += 1
        kept += 1
    for number in range(n_nodes):
        edges[number + 1] += edges[number]
    return (
        node[:, 0].copy(), node[:, 1].copy(), node[:, 2].copy(), node[:, 3].copy(), edges,
        edge_rule[:kept].copy(), left[:kept].copy(), right[:kept].copy(), edge_factor[:kept].copy(),
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
