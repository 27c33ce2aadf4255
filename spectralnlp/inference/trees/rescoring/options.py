"""The options of a sentence's spans: what each may be labelled, and how probable forests hold that.

A span of several tokens is a bracket X alone, or X under a unary rule's A, or no bracket; a span of one token
is a tag alone, or a tag under A. These exclude each other, so that the posteriors of a span's options and
that of no bracket sum to one. Forests of several binarisations share no nodes, but they share options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.forest import LEXICAL, TOP
from spectralnlp.inference.trees.labels import NO_LABEL, LabelMap, SpanLabels
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints, Offsets

# Least mean posterior of an option.
LEAST_POSTERIOR = 0.005

# In place of an option: a node or hyperedge has none.
NO_OPTION = -1


class SpanOptions(NamedTuple):
    """Options of the spans of one sentence, or of several, one after the other.

    Attributes:
        start, end: int32 (n_spans,); tokens of the sentence, end exclusive; spans by end, then by start.
        first: int64 (n_spans + 1,); options ``first[s]:first[s + 1]`` are those of span s.
        label: int32 (n_options,); X alone is X, A over X is n_labels + its pair, A over a tag is A.
        posterior: float64 (n_options, n_grammars); one column a grammar.
        tag: int32 (n_tokens,); the most probable tag of each token.
    """

    start: Ints
    end: Ints
    first: Offsets
    label: Ints
    posterior: Floats
    tag: Ints


@dataclass(frozen=True)
class OptionsOfForest:
    """Where the options of a sentence stand in one of its forests.

    Attributes:
        of_node: int32 (n_nodes,); option that is a binary node's label alone, or NO_OPTION.
        of_edge: int32 (n_edges,); option that a unary rule's hyperedge is, or NO_OPTION.
    """

    of_node: Ints
    of_edge: Ints


def span_options(
    forests: Sequence[ScoredForest], maps: Sequence[LabelMap], labels: SpanLabels, n_tokens: int
) -> tuple[SpanOptions, list[OptionsOfForest]]:
    """The options that forests of one sentence have in common.

    Args:
        forests: one of each binarisation, with the posteriors of its grammars.
        maps: of each forest's grammars.
        labels: the labels that the maps use.
        n_tokens: of the sentence.
    """
    n_labels, n_keys = len(labels.is_tag), len(labels.is_tag) + len(labels.pairs)
    n_grammars = sum(len(each.posteriors) for each in forests)
    tag_share = np.zeros((n_tokens, n_labels))
    records = []
    for each, numbers in zip(forests, maps, strict=True):
        node, edge = np.stack(each.node_shares), np.stack(each.edge_shares)
        least = LEAST_POSTERIOR * n_grammars / 4.0
        records.append(_emit(each.forest, numbers, labels.pairs, node, edge, n_labels, least, tag_share))
    keys = np.concatenate([key for key, _, _ in records])
    values = np.zeros((len(keys), n_grammars))
    row = column = 0
    for key, value, _ in records:
        values[row : row + len(key), column : column + value.shape[1]] = value
        row, column = row + len(key), column + value.shape[1]
    order = np.argsort(keys, kind="stable")
    start, end, first, label, posterior, option = _group(keys, values, order, n_tokens, n_keys)
    options = SpanOptions(start, end, first, label, posterior, tag_share.argmax(axis=1).astype(np.int32))
    places, row = [], 0
    for each, (key, _, source) in zip(forests, records, strict=True):
        of_node = np.full(each.forest.n_nodes, NO_OPTION, np.int32)
        of_edge = np.full(each.forest.n_edges, NO_OPTION, np.int32)
        found = option[row : row + len(key)]
        is_node = source >= 0
        of_node[source[is_node]] = found[is_node]
        of_edge[~source[~is_node]] = found[~is_node]
        places.append(OptionsOfForest(of_node, of_edge))
        row += len(key)
    return options, places


@kernel
def _emit(forest, numbers, pairs, node, edge, n_labels, least, tag_share):
    """Key, posteriors and source of all that is an option: a node v is v, a hyperedge e is ~e.

    The keys sort by end, start and option.
    """
    kind, symbol, n_grammars = forest.kind, forest.symbol, len(node)
    n_tokens, n_keys = len(tag_share), n_labels + len(pairs)
    alone = node.copy()
    n_records = 0
    keys = np.empty(len(kind) + len(forest.rule), np.int64)
    source = np.empty(len(keys), np.int32)
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
            keys[n_records] = (forest.end[v] * np.int64(n_tokens + 1) + forest.start[v]) * n_keys + label
            source[n_records] = ~e
            n_records += 1
    for v in range(len(kind)):
        label = numbers.bottom[symbol[v]]
        if kind[v] == TOP or label == NO_LABEL:
            continue
        total = 0.0
        for g in range(n_grammars):
            total += node[g, v]
            alone[g, v] = max(alone[g, v], 0.0)
        if kind[v] == LEXICAL:
            tag_share[forest.start[v], label] += total
        elif total >= least:
            keys[n_records] = (forest.end[v] * np.int64(n_tokens + 1) + forest.start[v]) * n_keys + label
            source[n_records] = v
            n_records += 1
    values = np.empty((n_records, n_grammars))
    for r in range(n_records):
        for g in range(n_grammars):
            values[r, g] = alone[g, source[r]] if source[r] >= 0 else edge[g, ~source[r]]
    return keys[:n_records].copy(), values, source[:n_records].copy()


@kernel
def _group(keys, values, order, n_tokens, n_keys):
    """Options from records in the order of their keys; equal keys are one option."""
    n_records, n_grammars = values.shape
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
        if total >= LEAST_POSTERIOR * n_grammars:
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
    return (
        start[:n_spans].copy(),
        end[:n_spans].copy(),
        first[: n_spans + 1].copy(),
        label[:n_options].copy(),
        posterior[:n_options].copy(),
        option,
    )
