"""Building a packed forest from a chart, and pruning one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.semirings import AnyAll
from spectralnlp.inference.trees.coarse import (
    NEGLIGIBLE_SHIFT,
    NO_RULE,
    Chart,
    RuleIndex,
    n_tokens_of,
    span_row,
)
from spectralnlp.inference.trees.forest import BINARY, IDENTITY, LEXICAL, NO_NODE, TOP, WORD, Forest
from spectralnlp.inference.trees.recursions import derivation_weights
from spectralnlp.jit import kernel

# Share of the threshold below which posteriors are not even added up; many small ones still count.
_NOWHERE_NEAR = 0.01

# Columns of the lists of nodes and hyperedges that grow as a forest is built. Children are not numbered
# before their span is visited: until then they are (row of the chart, symbol).
_KIND, _SYMBOL, _START, _END = range(4)
_NODE, _RULE, _LEFT_ROW, _LEFT_SYMBOL, _RIGHT_ROW, _RIGHT_SYMBOL = range(6)


def build_forest(chart: Chart, rules: RuleIndex, *, node_threshold: float, edge_threshold: float) -> Forest:
    """The nodes and hyperedges whose coarse posterior reaches the thresholds.

    Args:
        chart: inside values with a total above zero.
        rules: the rules that made the chart.
        node_threshold, edge_threshold: least posterior, in [0, 1]; 0 keeps all that can be derived.
    """
    forest: Forest = _build(chart, rules, float(node_threshold), float(edge_threshold))
    return forest._replace(log_scale=chart.log_scale)


def prune_forest(forest: Forest, keep: NDArray[np.bool_]) -> Forest:
    """The forest without some of its hyperedges, and without the nodes that then lead nowhere.

    Args:
        forest: the forest.
        keep: bool (n_edges,).
    """
    pruned: Forest = _prune(forest, derivation_weights(AnyAll(), forest, keep), keep)
    return pruned


@kernel
def _build(chart, rules, node_threshold, edge_threshold):
    """The forest, but for its ``log_scale``."""
    bottom, top, active, exponent = chart.bottom, chart.top, chart.active, chart.exponent
    pair, pair_rules, parent, weight = rules.pair, rules.pair_rules, rules.parent, rules.weight
    unary_by_parent, n_active = rules.unary_by_parent, chart.n_active
    n_spans, n_symbols = bottom.shape
    n = n_tokens_of(n_spans)
    outside = np.zeros((n_spans, n_symbols))  # of top layers, so that inside · outside is a posterior
    below = np.empty(n_symbols)  # the same of the bottom layer of the span at hand, 0 where it is pruned
    top_id = np.full((n_spans, n_symbols), NO_NODE, np.int32)
    bottom_id = np.full((n_spans, n_symbols), NO_NODE, np.int32)

    node = np.empty((1024, 4), np.int32)
    edge = np.empty((8192, 6), np.int32)
    factor = np.empty(8192)
    n_nodes, n_edges, n_roots = 0, 0, 0
    most_weight = weight.max() if len(weight) else 0.0
    outside[span_row(0, n)] = rules.root / chart.total

    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            row = span_row(i, j)
            below[:] = 0.0
            while n_nodes + 2 * n_symbols >= len(node):
                node = _grown(node)
            for slot in range(n_active[row]):
                a = active[row, slot]
                out = outside[row, a]
                if out == 0.0 or out * top[row, a] < node_threshold:
                    continue
                top_id[row, a] = n_nodes
                _write_node(node[n_nodes], TOP, a, i, j)
                for unary in range(unary_by_parent[a] - 1, unary_by_parent[a + 1]):
                    b, w, name = a, 1.0, IDENTITY  # it comes first
                    if unary >= unary_by_parent[a]:
                        b, w, name = rules.unary_child[unary], rules.unary_weight[unary], unary
                    if bottom[row, b] == 0.0:
                        continue
                    below[b] += out * w
                    if out * w * bottom[row, b] >= edge_threshold:
                        if n_edges == len(edge):
                            edge, factor = _grown(edge), _grown(factor)
                        edge[n_edges, _NODE], edge[n_edges, _RULE] = n_nodes, name
                        edge[n_edges, _LEFT_ROW], edge[n_edges, _LEFT_SYMBOL] = row, b
                        factor[n_edges] = 1.0
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
                _write_node(node[n_nodes], BINARY, a, i, j)
                if width == 1:
                    node[n_nodes, _KIND] = LEXICAL
                    if n_edges == len(edge):
                        edge, factor = _grown(edge), _grown(factor)
                    edge[n_edges, _NODE], edge[n_edges, _RULE] = n_nodes, WORD
                    factor[n_edges] = 2.0 ** -exponent[row]
                    n_edges += 1
                n_nodes += 1
            if most_below == 0.0:
                continue
            for k in range(i + 1, j):
                left, right = span_row(i, k), span_row(k, j)
                shift = exponent[left] + exponent[right] - exponent[row]
                if shift < NEGLIGIBLE_SHIFT:
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
                        if bc == NO_RULE or in_left * in_right < hopeless:
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
                                edge[n_edges, _NODE] = bottom_id[row, parent[r]]
                                edge[n_edges, _RULE] = rules.rule[r]
                                edge[n_edges, _LEFT_ROW], edge[n_edges, _LEFT_SYMBOL] = left, b
                                edge[n_edges, _RIGHT_ROW], edge[n_edges, _RIGHT_SYMBOL] = right, c
                                factor[n_edges] = scale
                                n_edges += 1
                        outside[left, b] += flow * scale * in_right
                        outside[right, c] += flow * in_left
    return _ordered(n_roots, node[:n_nodes], edge[:n_edges], factor[:n_edges], top_id, bottom_id)


@kernel
def _grown(array):
    """A longer array that begins with this one."""
    larger = np.empty((2 * array.shape[0], *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _write_node(row, kind, symbol, start, end):
    row[_KIND], row[_SYMBOL], row[_START], row[_END] = kind, symbol, start, end


@kernel
def _ordered(n_roots, node, edge, factor, top_id, bottom_id):
    """The forest of these lists: edges by node and rule, children numbered, no edges to pruned children."""
    n_nodes, n_edges = len(node), len(edge)
    edges = np.zeros(n_nodes + 1, np.int64)
    rule, ordered_factor = np.empty(n_edges, np.int32), np.empty(n_edges)
    left, right = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    largest = 1
    for e in range(n_edges):
        largest = max(largest, edge[e, _RULE] + 1)
    key = edge[:, _NODE].astype(np.int64) * (largest + 2) + edge[:, _RULE]
    kept = 0
    for e in np.argsort(key, kind="mergesort"):
        left_child, right_child = NO_NODE, NO_NODE
        kind = node[edge[e, _NODE], _KIND]
        if kind == TOP:
            left_child = bottom_id[edge[e, _LEFT_ROW], edge[e, _LEFT_SYMBOL]]
            if left_child == NO_NODE:
                continue
        elif kind == BINARY:
            left_child = top_id[edge[e, _LEFT_ROW], edge[e, _LEFT_SYMBOL]]
            right_child = top_id[edge[e, _RIGHT_ROW], edge[e, _RIGHT_SYMBOL]]
            if left_child == NO_NODE or right_child == NO_NODE:
                continue
        rule[kept], ordered_factor[kept] = edge[e, _RULE], factor[e]
        left[kept], right[kept] = left_child, right_child
        edges[edge[e, _NODE] + 1] += 1
        kept += 1
    for number in range(n_nodes):
        edges[number + 1] += edges[number]
    return Forest(
        n_roots=n_roots,
        kind=node[:, _KIND].copy(),
        symbol=node[:, _SYMBOL].copy(),
        start=node[:, _START].copy(),
        end=node[:, _END].copy(),
        edges=edges,
        rule=rule[:kept].copy(),
        left=left[:kept].copy(),
        right=right[:kept].copy(),
        factor=ordered_factor[:kept].copy(),
        log_scale=0.0,
    )


@kernel
def _prune(forest, productive, keep):
    """The forest without hyperedges that are not kept, or that lead to a node without a derivation."""
    edges, left, right = forest.edges, forest.left, forest.right
    n_nodes, n_roots = len(forest.kind), forest.n_roots
    usable = keep.copy()
    for e in range(len(usable)):
        if left[e] != NO_NODE and not productive[left[e]]:
            usable[e] = False
        if right[e] != NO_NODE and not productive[right[e]]:
            usable[e] = False
    new_id = np.full(n_nodes, NO_NODE, np.int32)
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
                if left[e] != NO_NODE:
                    reached[left[e]] = True
                if right[e] != NO_NODE:
                    reached[right[e]] = True
    new_edges = np.empty(n_new + 1, np.int64)
    rule, factor = np.empty(n_new_edges, np.int32), np.empty(n_new_edges)
    new_left, new_right = np.empty(n_new_edges, np.int32), np.empty(n_new_edges, np.int32)
    kept = 0
    for node in range(n_nodes):
        if new_id[node] == NO_NODE:
            continue
        new_edges[new_id[node]] = kept
        for e in range(edges[node], edges[node + 1]):
            if usable[e]:
                rule[kept], factor[kept] = forest.rule[e], forest.factor[e]
                new_left[kept] = new_id[left[e]] if left[e] != NO_NODE else NO_NODE
                new_right[kept] = new_id[right[e]] if right[e] != NO_NODE else NO_NODE
                kept += 1
    new_edges[n_new] = kept
    nodes = np.flatnonzero(new_id != NO_NODE)
    return Forest(
        n_roots=n_new_roots,
        kind=forest.kind[nodes],
        symbol=forest.symbol[nodes],
        start=forest.start[nodes],
        end=forest.end[nodes],
        edges=new_edges,
        rule=rule,
        left=new_left,
        right=new_right,
        factor=factor,
        log_scale=forest.log_scale,
    )
