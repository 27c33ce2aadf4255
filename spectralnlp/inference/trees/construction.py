"""Run the outside pass of the coarse grammar, and build a pruned packed forest from a chart."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.cells import find_splits
from spectralnlp.inference.trees.coarse import (
    NEGLIGIBLE_SHIFT,
    Chart,
    grown,
    grown_rows,
)
from spectralnlp.inference.trees.forest import BINARY, IDENTITY, LEXICAL, NO_NODE, TOP, WORD, Forest
from spectralnlp.inference.trees.limits import FREE
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.jit import count_bits, kernel, kernel_part, lowest_bit, power_of_two

# Children are skipped if their posteriors are below this share of the threshold under every rule. Those
# between this share and the threshold make no hyperedge, but still add to the outside values.
_NOWHERE_NEAR = 0.01

# Columns of the tables of nodes and hyperedges that grow as a forest is built. Children have no node ids
# until their cell is visited, so the tables hold their places in the layers of the chart.
_KIND, _SYMBOL, _START, _END = range(4)
_NODE, _RULE, _LEFT, _RIGHT = range(4)

# Columns of ``flow`` in `_build`.
_SUM, _MOST, _CELL = range(3)


def build_forest(chart: Chart, rules: RuleIndex, *, node_threshold: float, edge_threshold: float) -> Forest:
    """Return the forest of nodes and hyperedges with high enough posteriors under the coarse grammar.

    Args:
        chart: inside values with a total above zero.
        rules: the rules from which the chart was computed.
        node_threshold, edge_threshold: minimum posterior of a node and of a hyperedge, in [0, 1]; 0 keeps
            all that can be derived.
    """
    forest: Forest = _build(chart, rules, float(node_threshold), float(edge_threshold))
    return forest._replace(log_scale=float(chart.exponent[-1] * np.log(2.0)))


@kernel
def _build(chart, rules, node_threshold, edge_threshold):
    """Return the forest that `build_forest` describes; its caller then sets the field ``log_scale``."""
    # Local names, because numba updates reference counts at each use of a named tuple's array.
    cells, top, bottom, exponent = chart.cells, chart.top, chart.bottom, chart.exponent
    top_symbol, top_value, top_bits, most = chart.top_symbol, chart.top_value, chart.top_bits, chart.most
    bottom_symbol, bottom_value = chart.bottom_symbol, chart.bottom_value
    weight, unary_by_parent, parent, rule = rules.weight, rules.unary_by_parent, rules.parent, rules.rule
    unary_child, unary_weight, pair_rules = rules.unary_child, rules.unary_weight, rules.pair_rules
    partners_of, first_pair = rules.partners, rules.first_pair
    limit_row, alone, under = chart.limits.row, chart.limits.alone, chart.limits.under
    n_symbols, n_words = partners_of.shape
    n, n_cells = len(cells.by_start) - 1, len(cells.start)
    outside = np.zeros(len(top_value))  # of top layers, so that inside · outside is a posterior
    below = np.zeros(n_symbols)  # the same for the bottom layer of the current cell, 0 for pruned symbols
    inner = np.zeros(n_symbols)  # inside values of that layer
    ids = np.empty(n_symbols, np.int32)  # node ids of that layer
    top_id = np.full(len(top_value), NO_NODE, np.int32)
    bottom_id = np.full(len(bottom_value), NO_NODE, np.int32)
    bottom_place = np.empty(n_symbols, np.int64)  # of the current cell
    n_pairs = len(pair_rules) - 1
    # For each pair of children: outside value of the parent times weight of the rule, which is the same at
    # every split of a cell. The columns are the sum over the rules, the largest summand, and the cell.
    flow = np.full((n_pairs, 4), -1.0)
    live = np.empty((n_symbols, n_words), np.uint64)  # bits of right children whose pair may have a flow
    live_cell = np.full(n_symbols, -1, np.int32)  # the cell that each row of ``live`` belongs to
    left_cells, right_cells = np.empty(n, np.int32), np.empty(n, np.int32)

    node = np.empty((1024, 4), np.int32)
    edge = np.empty((8192, 4), np.int32)
    factor = np.empty(8192)
    n_nodes, n_edges, n_roots = 0, 0, 0
    most_weight = 0.0
    for each in weight:
        most_weight = max(most_weight, each)
    for place in range(top[n_cells - 1], top[n_cells]):
        outside[place] = rules.root[top_symbol[place]] / chart.total

    for cell in _from_wide_to_narrow(cells):
        i, j, row = cells.start[cell], cells.end[cell], limit_row[cell]
        while n_nodes + 2 * n_symbols >= len(node):
            node = grown_rows(node)
        while n_edges + 2 * n_symbols + len(unary_child) >= len(edge):
            edge, factor = grown_rows(edge), grown(factor)
        for place in range(bottom[cell], bottom[cell + 1]):
            b = bottom_symbol[place]
            inner[b], bottom_place[b] = bottom_value[place], place
        for place in range(top[cell], top[cell + 1]):
            a, out = top_symbol[place], outside[place]
            if out == 0.0 or out * top_value[place] < node_threshold:
                continue
            top_id[place] = n_nodes
            _write_node(node, n_nodes, TOP, a, i, j)
            for unary in range(unary_by_parent[a] - 1, unary_by_parent[a + 1]):
                b, w, name = a, 1.0, IDENTITY  # the first turn is for no unary rule
                if unary >= unary_by_parent[a]:
                    b, w, name = unary_child[unary], unary_weight[unary], unary
                    if row != FREE and not under[row, unary]:
                        continue
                elif row != FREE and not alone[row, a]:
                    continue
                if inner[b] == 0.0:
                    continue
                below[b] += out * w
                if out * w * inner[b] >= edge_threshold:
                    edge[n_edges, _NODE], edge[n_edges, _RULE] = n_nodes, name
                    edge[n_edges, _LEFT] = bottom_place[b]
                    factor[n_edges] = 1.0
                    n_edges += 1
            n_nodes += 1
        if cell == n_cells - 1:
            n_roots = n_nodes
        most_below = 0.0
        for place in range(bottom[cell], bottom[cell + 1]):
            a = bottom_symbol[place]
            if below[a] == 0.0 or below[a] * inner[a] < node_threshold:
                below[a] = 0.0
                continue
            most_below = max(most_below, below[a])
            bottom_id[place] = ids[a] = n_nodes
            _write_node(node, n_nodes, BINARY, a, i, j)
            if cell < n:
                node[n_nodes, _KIND] = LEXICAL
                edge[n_edges, _NODE], edge[n_edges, _RULE] = n_nodes, WORD
                factor[n_edges] = power_of_two(-exponent[cell])
                n_edges += 1
            n_nodes += 1
        if most_below > 0.0 and cell >= n:
            # Children whose posteriors are far below the threshold under every rule are skipped.
            hopeless = _NOWHERE_NEAR * edge_threshold / (most_below * most_weight)
            n_splits = find_splits(cells, cell, left_cells, right_cells)
            for split in range(n_splits):
                left, right = left_cells[split], right_cells[split]
                shift = exponent[left] + exponent[right] - exponent[cell]
                if shift < NEGLIGIBLE_SHIFT:
                    continue
                # Outside the inner loop, where numba would update the arrays' reference counts at each turn.
                while n_edges + len(parent) > len(edge):
                    edge, factor = grown_rows(edge), grown(factor)
                scale, most_right = power_of_two(shift), most[right]
                for left_place in range(top[left], top[left + 1]):
                    b = top_symbol[left_place]
                    in_left = scale * top_value[left_place]
                    if in_left * most_right < hopeless:
                        continue
                    if live_cell[b] != cell:
                        live_cell[b] = cell
                        for word in range(n_words):
                            live[b, word] = partners_of[b, word]
                    right_place, first = top[right], first_pair[b]  # of the current word
                    for word in range(n_words):
                        present, partners = top_bits[right, word], partners_of[b, word]
                        bits = present & live[b, word]
                        while bits != np.uint64(0):
                            c = lowest_bit(bits)
                            lower = (np.uint64(1) << np.uint64(c)) - np.uint64(1)
                            bits &= bits - np.uint64(1)
                            here = right_place + count_bits(present & lower)
                            in_right = top_value[here]
                            if in_left * in_right < hopeless:
                                continue
                            bc = first + count_bits(partners & lower)
                            if flow[bc, _CELL] != cell:
                                total = largest = 0.0
                                for r in range(pair_rules[bc], pair_rules[bc + 1]):
                                    out = below[parent[r]] * weight[r]
                                    total += out
                                    largest = max(largest, out)
                                flow[bc, _CELL], flow[bc, _SUM], flow[bc, _MOST] = cell, total, largest
                                if flow[bc, _SUM] == 0.0:
                                    live[b, word] &= ~(np.uint64(1) << np.uint64(c))
                                    continue
                            if flow[bc, _MOST] * in_left * in_right >= edge_threshold:
                                for r in range(pair_rules[bc], pair_rules[bc + 1]):
                                    a = parent[r]
                                    out = below[a] * weight[r]
                                    if out == 0.0 or out * in_left * in_right < edge_threshold:
                                        continue
                                    edge[n_edges, _NODE], edge[n_edges, _RULE] = ids[a], rule[r]
                                    edge[n_edges, _LEFT], edge[n_edges, _RIGHT] = left_place, here
                                    factor[n_edges] = scale
                                    n_edges += 1
                            outside[left_place] += flow[bc, _SUM] * scale * in_right
                            outside[here] += flow[bc, _SUM] * in_left
                        right_place += count_bits(present)
                        first += count_bits(partners)
        for place in range(bottom[cell], bottom[cell + 1]):
            below[bottom_symbol[place]] = inner[bottom_symbol[place]] = 0.0
    return _ordered(n_roots, node[:n_nodes], edge[:n_edges], factor[:n_edges], top_id, bottom_id)


@kernel_part
def _from_wide_to_narrow(cells):
    """Return all cells from wide to narrow, those of the same width from left to right."""
    order = np.empty(len(cells.start), np.int32)
    count, first = 0, len(order)
    while first > 0:
        last = first
        width = cells.end[last - 1] - cells.start[last - 1]
        while first > 0 and cells.end[first - 1] - cells.start[first - 1] == width:
            first -= 1
        for cell in range(first, last):
            order[count] = cell
            count += 1
    return order


@kernel_part
def _write_node(table, row, kind, symbol, start, end):
    table[row, _KIND], table[row, _SYMBOL] = kind, symbol
    table[row, _START], table[row, _END] = start, end


@kernel_part
def _ordered(n_roots, node, edge, factor, top_id, bottom_id):
    """Return a forest with hyperedges sorted by node and rule, without hyperedges that have pruned children.

    Args:
        n_roots: number of roots.
        node: int32 (n_nodes, 4); kind, symbol, start and end of each node.
        edge: int32 (n_edges, 4); node, rule and the chart indices of the left and right child.
        factor: float64 (n_edges,); see `Forest`.
        top_id, bottom_id: int32; node of each chart value of the top and bottom layers, NO_NODE if pruned.
    """
    n_nodes, n_edges = len(node), len(edge)
    edges = np.zeros(n_nodes + 1, np.int64)
    rule, ordered_factor = np.empty(n_edges, np.int32), np.empty(n_edges)
    left, right = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32)
    order = _by_node_and_rule(edge, n_nodes)
    kept = 0
    for e in order:
        left_child, right_child = NO_NODE, NO_NODE
        kind = node[edge[e, _NODE], _KIND]
        if kind == TOP:
            left_child = bottom_id[edge[e, _LEFT]]
            if left_child == NO_NODE:
                continue
        elif kind == BINARY:
            left_child, right_child = top_id[edge[e, _LEFT]], top_id[edge[e, _RIGHT]]
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


@kernel_part
def _by_node_and_rule(edge, n_nodes):
    """Return the indices that sort hyperedges by node, then by rule (two stable counting sorts)."""
    n_rules = 0
    for e in range(len(edge)):
        n_rules = max(n_rules, edge[e, _RULE] - WORD + 1)
    by_rule, order = np.empty(len(edge), np.int32), np.empty(len(edge), np.int32)
    following = np.zeros(max(n_nodes, n_rules) + 1, np.int64)
    for e in range(len(edge)):
        following[edge[e, _RULE] - WORD + 1] += 1
    for number in range(n_rules):
        following[number + 1] += following[number]
    for e in range(len(edge)):
        key = edge[e, _RULE] - WORD
        by_rule[following[key]] = e
        following[key] += 1
    following[:] = 0
    for e in range(len(edge)):
        following[edge[e, _NODE] + 1] += 1
    for number in range(n_nodes):
        following[number + 1] += following[number]
    for place in range(len(edge)):
        key = edge[by_rule[place], _NODE]
        order[following[key]] = by_rule[place]
        following[key] += 1
    return order
