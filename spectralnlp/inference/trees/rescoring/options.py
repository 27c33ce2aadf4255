"""Collect the candidate labels (options) of each span of a sentence, with posteriors, from its forests.

A span of several tokens is a bracket X alone, a bracket X under a unary rule with parent A, or no bracket. A
span of one token is a tag alone, or a tag under a unary rule with parent A. These cases exclude one another,
so the posteriors of a span's options and of "no bracket" sum to one. Forests of different binarisations share
no nodes, but their nodes correspond to the same options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.forest import LEXICAL, TOP
from spectralnlp.inference.trees.labels import NO_LABEL, LabelMap, SpanLabels
from spectralnlp.inference.trees.open_cells import WINDOW, CellMarginals
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Floats, Ints, Offsets

# Minimum posterior of an option, averaged over grammars.
MIN_POSTERIOR = 0.005

# Option number of a node or hyperedge that corresponds to no option.
NO_OPTION = -1

# Marginals of chart cells are clipped to this range before log-odds are taken.
_MIN_MARGINAL, _MAX_MARGINAL = 1e-4, 0.999


class SpanOptions(NamedTuple):
    """Options (candidate labels) of the spans of one sentence, or of several sentences, concatenated.

    Attributes:
        start, end: int32 (n_spans,); token positions, end exclusive; sorted by end, then by start.
        first: int64 (n_spans + 1,); options ``first[s]:first[s + 1]`` belong to span s.
        label: int32 (n_options,); for a phrase X alone the id of X; for a unary rule A → X the id of the
            pair (A, X) plus n_labels; for a unary rule A → tag the id of A.
        posterior: float64 (n_options, n_grammars); posterior of the option under each grammar.
        tag: int32 (n_tokens,); the most probable tag of each token.
        cell_odds: float64 (n_spans,); log-odds that the span is a bracket with any label; see `cell_odds`.
    """

    start: Ints
    end: Ints
    first: Offsets
    label: Ints
    posterior: Floats
    tag: Ints
    cell_odds: Floats


@dataclass(frozen=True)
class OptionsOfForest:
    """The option (candidate label of a span) to which each node and hyperedge of a forest corresponds.

    Attributes:
        of_node: int32 (n_nodes,); the option of a binary node's label without a unary rule above, or
            NO_OPTION.
        of_edge: int32 (n_edges,); the option of a unary rule's hyperedge, or NO_OPTION.
    """

    of_node: Ints
    of_edge: Ints


def span_options(
    forests: Sequence[ScoredForest],
    maps: Sequence[LabelMap],
    labels: SpanLabels,
    n_tokens: int,
    cell_marginals: CellMarginals | None = None,
) -> tuple[SpanOptions, list[OptionsOfForest]]:
    """Collect the options (candidate labels) of a sentence's spans from all of its forests.

    Args:
        forests: one forest for each binarisation, with the posteriors of its grammars.
        maps: for each forest, the map from its grammars' symbols to shared labels.
        labels: the shared labels.
        n_tokens: number of tokens in the sentence.
        cell_marginals: marginals of the spans that the parser considered; None without a model of cells.

    Returns:
        The options, and for each forest the options that its nodes and hyperedges correspond to.
    """
    n_labels, n_keys = len(labels.is_tag), len(labels.is_tag) + len(labels.pairs)
    n_grammars = sum(len(each.posteriors) for each in forests)
    least = MIN_POSTERIOR * n_grammars / 4.0
    tag_share = np.zeros((n_tokens, n_labels))
    n_most = sum(each.node_shares.shape[1] + each.edge_shares.shape[1] for each in forests)
    records = _Records(np.empty(n_most, np.int64), np.empty(n_most, np.int32), np.empty((n_most, n_grammars)))
    ends, column = [0], 0
    for each, numbers in zip(forests, maps, strict=True):
        shares = (each.node_shares, each.edge_shares)
        ends.append(
            _emit(each.forest, numbers, labels.pairs, *shares, least, tag_share, records, ends[-1], column)
        )
        column += len(each.posteriors)
    start, end, first, label, posterior, option, tag = _group(records, ends[-1], n_keys, tag_share)
    places = [
        OptionsOfForest(*_places(records.source[a:b], option[a:b], each.node_shares, each.edge_shares))
        for each, a, b in zip(forests, ends[:-1], ends[1:], strict=True)
    ]
    odds = np.zeros(len(start)) if cell_marginals is None else cell_odds(cell_marginals, start, end)
    return SpanOptions(start, end, first, label, posterior, tag, odds), places


class _Records(NamedTuple):
    """Nodes and hyperedges of forests that correspond to options (candidate labels of spans).

    Attributes:
        key: int64 (n_records,); sort keys, ordered by end, start and label of the option.
        source: int32 (n_records,); v for a node v, ~e for a hyperedge e.
        value: float64 (n_records, n_grammars); posteriors, 0 for grammars of other forests.
    """

    key: Offsets
    source: Ints
    value: Floats


@kernel
def _emit(forest, numbers, pairs, node, edge, least, tag_share, records, n_records, column):
    """Append the options (candidate labels) of a forest to the records, and add up the posteriors of tags.

    Args:
        forest: `Forest`.
        numbers: `LabelMap` of the forest's grammars.
        pairs: int32 (n_pairs, 2); top and bottom label of each pair of labels.
        node, edge: float64 (n_grammars, n_nodes) and (n_grammars, n_edges); posteriors.
        least: minimum sum of an option's posteriors over grammars; other options are left out.
        tag_share: float64 (n_tokens, n_labels); sum of the posteriors of each token's tags; updated.
        records: `_Records`; updated.
        n_records: number of records so far.
        column: index of the forest's first grammar among the grammars of all forests.

    Returns:
        The new number of records.
    """
    kind, symbol, n_grammars = forest.kind, forest.symbol, len(node)
    n_tokens, n_labels = tag_share.shape
    n_keys, n_columns = n_labels + len(pairs), records.value.shape[1]
    alone = node.copy()
    for v in range(len(kind)):
        if kind[v] != TOP:
            continue
        for e in range(forest.edges[v], forest.edges[v + 1]):
            rule = forest.rule[e]
            if rule < 0:
                continue
            below = forest.left[e]
            total = 0.0
            for g in range(n_grammars):
                alone[g, below] -= edge[g, e]
                total += edge[g, e]
            pair = numbers.unary[rule]
            if total < least or pair == NO_LABEL:
                continue
            label = pairs[pair, 0] if kind[below] == LEXICAL else n_labels + pair
            span = forest.end[v] * np.int64(n_tokens + 1) + forest.start[v]
            records.key[n_records], records.source[n_records] = span * n_keys + label, ~e
            for g in range(n_columns):
                records.value[n_records, g] = 0.0
            for g in range(n_grammars):
                records.value[n_records, column + g] = edge[g, e]
            n_records += 1
    for v in range(len(kind)):
        label = numbers.bottom[symbol[v]]
        if kind[v] == TOP or label == NO_LABEL:
            continue
        total = 0.0
        for g in range(n_grammars):
            total += node[g, v]
        if kind[v] == LEXICAL:
            tag_share[forest.start[v], label] += total
        elif total >= least:
            span = forest.end[v] * np.int64(n_tokens + 1) + forest.start[v]
            records.key[n_records], records.source[n_records] = span * n_keys + label, v
            for g in range(n_columns):
                records.value[n_records, g] = 0.0
            for g in range(n_grammars):
                records.value[n_records, column + g] = max(alone[g, v], 0.0)
            n_records += 1
    return n_records


@kernel
def _places(source, option, node, edge):
    """Return the option (candidate label) of each node and hyperedge of a forest, or NO_OPTION.

    Args:
        source: int32; node or hyperedge of each record, as in `_Records`.
        option: int32; option of each record.
        node, edge: float64 (n_grammars, n_nodes) and (n_grammars, n_edges); posteriors.
    """
    of_node = np.full(node.shape[1], NO_OPTION, np.int32)
    of_edge = np.full(edge.shape[1], NO_OPTION, np.int32)
    for r in range(len(source)):
        if source[r] >= 0:
            of_node[source[r]] = option[r]
        else:
            of_edge[~source[r]] = option[r]
    return of_node, of_edge


@kernel_part
def _in_order(keys, n):
    """Return the indices that sort the first n keys, by a stable bottom-up merge sort."""
    order, merged = np.empty(n, np.int64), np.empty(n, np.int64)
    for place in range(n):
        order[place] = place
    length = 1
    while length < n:
        for first in range(0, n, 2 * length):
            middle, last = min(first + length, n), min(first + 2 * length, n)
            i, j = first, middle
            for place in range(first, last):
                if j == last or (i < middle and keys[order[i]] <= keys[order[j]]):
                    merged[place] = order[i]
                    i += 1
                else:
                    merged[place] = order[j]
                    j += 1
        order, merged = merged, order
        length *= 2
    return order


@kernel
def _group(records, n_records, n_keys, tag_share):
    """Merge records with equal keys into options (candidate labels of spans).

    Options with a mean posterior below MIN_POSTERIOR are left out; their records get NO_OPTION.

    Args:
        records: `_Records`.
        n_records: number of records.
        n_keys: number of labels and pairs of labels; a record's key is
            (end · (n_tokens + 1) + start) · n_keys + label.
        tag_share: float64 (n_tokens, n_labels); sum of the posteriors of each token's tags.

    Returns:
        The arrays of `SpanOptions` up to ``posterior``, the option of each record, and each token's tag.
    """
    keys, values, n_tokens = records.key, records.value, len(tag_share)
    n_grammars = values.shape[1]
    order = _in_order(keys, n_records)
    start, end = np.empty(n_records, np.int32), np.empty(n_records, np.int32)
    first = np.zeros(n_records + 1, np.int64)
    label = np.empty(n_records, np.int32)
    posterior = np.zeros((n_records, n_grammars))
    option = np.full(n_records, NO_OPTION, np.int32)
    n_spans = n_options = at = 0
    last_span = np.int64(-1)
    while at < n_records:
        key = keys[order[at]]
        after = at
        total = 0.0
        while after < n_records and keys[order[after]] == key:
            for g in range(n_grammars):
                total += values[order[after], g]
            after += 1
        if total >= MIN_POSTERIOR * n_grammars:
            if key // n_keys != last_span:
                last_span = key // n_keys
                end[n_spans] = last_span // (n_tokens + 1)
                start[n_spans] = last_span % (n_tokens + 1)
                n_spans += 1
            label[n_options] = key % n_keys
            for each in range(at, after):
                option[order[each]] = n_options
                for g in range(n_grammars):
                    posterior[n_options, g] += values[order[each], g]
            n_options += 1
            first[n_spans] = n_options
        at = after
    tag = np.zeros(n_tokens, np.int32)
    for t in range(n_tokens):
        for x in range(tag_share.shape[1]):
            if tag_share[t, x] > tag_share[t, tag[t]]:
                tag[t] = x
    return (
        start[:n_spans],
        end[:n_spans],
        first[: n_spans + 1],
        label[:n_options],
        posterior[:n_options],
        option,
        tag,
    )


def cell_odds(cell_marginals: CellMarginals, start: Ints, end: Ints) -> Floats:
    """Return the log-odds that spans are constituents, with any label; float64 (n_spans,), about -9 to 7.

    The log-odds are 0 in sentences longer than `WINDOW`, because marginals computed in windows are unreliable
    for wide spans.

    Args:
        cell_marginals: marginals of a sentence's spans under the model of bracketings.
        start, end: int32 (n_spans,); sorted by end, then by start.
    """
    if cell_marginals.cells.n_tokens > WINDOW:
        return np.zeros(len(start))
    odds: Floats = _odds(cell_marginals.cells, cell_marginals.marginals, start, end)
    return odds


@kernel
def _odds(cells, marginals, start, end):
    """Return the log-odds that spans are constituents, float64 (n_spans,), by probabilities of cells.

    A span that is not among the cells gets the smallest possible value.

    Args:
        cells: `Cells`, the spans that have a marginal.
        marginals: float64 (n_cells,); marginal of each cell.
        start, end: int32 (n_spans,); the spans, sorted by end, then by start.
    """
    odds = np.empty(len(start))
    at, last_end = np.int64(0), -1
    for s in range(len(start)):
        if end[s] != last_end:
            last_end, at = end[s], cells.by_end[end[s]]
        while at < cells.by_end[end[s] + 1] and cells.ending_start[at] < start[s]:
            at += 1
        marginal = 0.0
        if at < cells.by_end[end[s] + 1] and cells.ending_start[at] == start[s]:
            marginal = marginals[cells.ending[at]]
        marginal = min(max(marginal, _MIN_MARGINAL), _MAX_MARGINAL)
        odds[s] = np.log(marginal / (1.0 - marginal))
    return odds
