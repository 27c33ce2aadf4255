"""Find the best tree for span posteriors that are averaged over grammars of different binarisations.

Grammars of different binarisations have no common forest, but each gives posteriors of labelled brackets, of
unary rules over brackets, and of tags. The tree of largest expected gain under the averaged posteriors is
found as in :class:`~.decoders.MBRDecoder`: the gain of a bracket is its posterior minus γ, and the gain of a
tag is its posterior times a weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.forest import TOP
from spectralnlp.inference.trees.labels import NO_LABEL, LabelMap, SpanLabels
from spectralnlp.inference.trees.limits import FREE, SpanLimits, limits_of
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Floats, Ints

# Extra gain of a required bracket, larger than any loss it can cause. No span of the forests crosses it, so
# it is in the best tree if its gain is positive.
_REQUIRED = 1e3


class Span(NamedTuple):
    """A labelled span of a decoded tree.

    Attributes:
        start, end: tokens, end exclusive.
        label: id of the phrase label or tag.
        top: id of the label above ``label`` in a unary rule over the span; NO_LABEL if there is none.
    """

    start: int
    end: int
    label: int
    top: int


@dataclass(frozen=True)
class SpanPosteriors:
    """Posteriors of the labels of a sentence's spans, averaged over grammars.

    Single tokens and the whole sentence are among the spans.

    Attributes:
        labels: the labels, and pairs of labels of unary rules, that the columns stand for.
        start, end: int32 (n_spans,); tokens, end exclusive.
        bottom: float64 (n_spans, n_labels); posteriors of the labels and tags of each span, not counting
            parents of unary rules.
        unary: float64 (n_spans, n_pairs); posteriors of unary rules over the span.
        limits: the labels and pairs allowed over spans; None if all are.
    """

    labels: SpanLabels
    start: Ints
    end: Ints
    bottom: Floats
    unary: Floats
    limits: SpanLimits | None = None


def span_posteriors(
    forests: Sequence[ScoredForest],
    maps: Sequence[LabelMap],
    labels: SpanLabels,
    n_tokens: int,
    limits: SpanLimits | None = None,
) -> SpanPosteriors:
    """Return the posteriors of the labelled spans in a sentence's forests, averaged over all grammars.

    Args:
        forests: one forest for each binarisation, with the posteriors of its grammars.
        maps: for each forest, the map from its symbols and rules to the shared labels.
        labels: the shared labels.
        n_tokens: length of the sentence.
        limits: the labels and pairs allowed over spans; the forests were made under the same limits.
    """
    n_grammars = sum(len(each.posteriors) for each in forests)
    codes = [each.forest.end.astype(np.int64) * (n_tokens + 1) + each.forest.start for each in forests]
    spans, rows = np.unique(np.concatenate(codes), return_inverse=True)
    bottom, unary = np.zeros((len(spans), len(labels.is_tag))), np.zeros((len(spans), len(labels.pairs)))
    first, share = 0, 1.0 / n_grammars
    for each, numbers in zip(forests, maps, strict=True):
        n_nodes = len(each.forest.kind)
        row = rows[first : first + n_nodes]
        _add(each.forest, numbers, row, each.node_shares, each.edge_shares, share, bottom, unary)
        first += n_nodes
    start, end = (spans % (n_tokens + 1)).astype(np.int32), (spans // (n_tokens + 1)).astype(np.int32)
    return SpanPosteriors(labels, start, end, bottom, unary, limits)


@kernel
def _add(forest, numbers, row, node, edge, share, bottom, unary):
    """Add the posteriors of a forest's nodes and hyperedges to the averages for labelled spans.

    Args:
        forest: `Forest`.
        numbers: `LabelMap` of the forest's grammars.
        row: int64 (n_nodes,); row of each node's span in ``bottom`` and ``unary``.
        node, edge: float64 (n_grammars, n_nodes) and (n_grammars, n_edges); posteriors.
        share: 1 / (total number of grammars of all forests), by which posteriors are multiplied.
        bottom, unary: see `SpanPosteriors`; updated.
    """
    for v in range(len(forest.kind)):
        if forest.kind[v] == TOP:
            for e in range(forest.edges[v], forest.edges[v + 1]):
                if forest.rule[e] >= 0:
                    pair = numbers.unary[forest.rule[e]]
                    for g in range(len(edge)):
                        unary[row[v], pair] += share * edge[g, e]
            continue
        label = numbers.bottom[forest.symbol[v]]
        if label != NO_LABEL:
            for g in range(len(node)):
                bottom[row[v], label] += share * node[g, v]


def decode_spans(posteriors: SpanPosteriors, *, gamma: float, tag_weight: float) -> list[Span]:
    """Return the labelled spans of the tree of largest expected gain.

    Args:
        posteriors: averaged posteriors of the sentence.
        gamma: precision–recall weight γ, subtracted from each bracket's posterior.
        tag_weight: gain of a correct tag relative to that of a correct bracket.

    Returns:
        The labelled spans, each after those inside it; every token has a tag, and the sentence has a label.
    """
    is_tag, pairs = posteriors.labels.is_tag, posteriors.labels.pairs
    start, end = posteriors.start, posteriors.end
    gain, label, top = _best_labels(
        is_tag,
        pairs,
        start,
        end,
        posteriors.bottom,
        posteriors.unary,
        limits_of(posteriors.limits, start, end),
        float(gamma),
        float(tag_weight),
    )
    if posteriors.limits is not None:
        gain[posteriors.limits.is_required(start, end)] += _REQUIRED
    rows = _best_bracketing(start, end, gain)
    columns = (start[rows], end[rows], label[rows], top[rows])
    return [Span(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


@kernel
def _best_labels(is_tag, pairs, start, end, bottom, unary, limits, gamma, tag_weight):
    """Return the best label of each span, with or without a unary rule above it, and its expected gain.

    The arguments are fields of `SpanPosteriors` and of its ``labels``, and arguments of `decode_spans`.

    Returns:
        For each span the expected gain (-inf if no label is allowed over the span), the label, and the
        label of the unary rule's parent (NO_LABEL if there is no unary rule).
    """
    n_spans, n_labels = bottom.shape
    gain, label = np.empty(n_spans), np.empty(n_spans, np.int32)
    top = np.empty(n_spans, np.int32)
    above, top_of = np.empty(n_labels), np.empty(n_labels, np.int32)
    for row in range(n_spans):
        limit = limits.row[row]
        for x in range(n_labels):
            above[x] = 0.0 if limit == FREE or limits.alone[limit, x] else -np.inf
            top_of[x] = NO_LABEL
        for pair in range(len(pairs)):
            if limit != FREE and not limits.under[limit, pair]:
                continue
            value, below = unary[row, pair] - gamma, pairs[pair, 1]
            if value > above[below]:
                above[below], top_of[below] = value, pairs[pair, 0]
        over_token = end[row] - start[row] == 1
        best, best_gain = -1, -np.inf
        for x in range(n_labels):
            if is_tag[x] != over_token:  # the bottom of a token is a tag
                continue
            value = above[x] + (tag_weight * bottom[row, x] if over_token else bottom[row, x] - gamma)
            if value > best_gain or best < 0:
                best, best_gain = x, value
        gain[row], label[row], top[row] = best_gain, best, top_of[best]
    return gain, label, top


@kernel
def _best_bracketing(start, end, gain):
    """Return the rows of the spans in the bracketing of largest total gain, each span after those inside it.

    Single tokens and the whole sentence are always chosen. Other spans are candidates if their gain is
    positive; their number is about proportional to the number of tokens. For each candidate, from narrow to
    wide, a pass from left to right finds the best sequence of candidates inside it.

    Args:
        start, end: int32 (n_spans,); tokens, end exclusive.
        gain: float64 (n_spans,); expected gain of each span with its best label.
    """
    n = np.int64(0)
    for row in range(len(gain)):
        n = max(n, np.int64(end[row]))
    by_width = _in_order(end - start, np.arange(len(gain)))
    before = np.full(len(gain), -1, np.int64)  # the next narrower useful span with the same end
    last = np.full(n + 1, -1, np.int64)
    total, best, choice = np.zeros(len(gain)), np.zeros(n + 1), np.empty(n + 1, np.int64)
    is_chosen = np.zeros(len(gain), np.bool_)
    for row in by_width:
        width = end[row] - start[row]
        is_chosen[row] = width == 1 or width == n
        if 1 < width < n and gain[row] > 0.0:
            _fill(start[row], end[row], start, total, last, before, best, choice)
            total[row] = gain[row] + best[end[row]]
            before[row], last[end[row]] = last[end[row]], row
    stack, size = np.empty((n + 1, 2), np.int64), 1
    stack[0, 0], stack[0, 1] = 0, n
    while size > 0:
        size -= 1
        first, place = stack[size, 0], stack[size, 1]
        _fill(first, place, start, total, last, before, best, choice)
        while place > first:
            row = choice[place]
            if row < 0:
                place -= 1
                continue
            is_chosen[row] = True
            stack[size, 0], stack[size, 1] = start[row], place
            size += 1
            place = np.int64(start[row])
    return _in_order(end, by_width[is_chosen[by_width]])


@kernel_part
def _fill(first, last_place, start, total, last, before, best, choice):
    """Find the best sequence of non-overlapping spans inside one span, by a pass from left to right.

    Args:
        first, last_place: start and end of the outer span.
        start: int32 (n_spans,); start of each span.
        total: float64 (n_spans,); best total gain of each span and the spans inside it.
        last: int64 (n_tokens + 1,); row of the widest candidate so far that ends at each boundary, or -1.
        before: int64 (n_spans,); row of the next narrower candidate with the same end, or -1.
        best: float64 (n_tokens + 1,); written; best total gain from ``first`` to each boundary.
        choice: int64 (n_tokens + 1,); written; row of the chosen span that ends at each boundary, or -1.
    """
    best[first] = 0.0
    for place in range(first + 1, last_place + 1):
        best[place], choice[place] = best[place - 1], -1
        row = last[place]
        while row >= 0:
            i = start[row]
            if i > first or (i == first and place < last_place):
                value = best[i] + total[row]
                if value > best[place]:
                    best[place], choice[place] = value, row
            row = before[row]


@kernel_part
def _in_order(keys, rows):
    """Return rows in ascending order of their keys, which are small integers, by a stable counting sort."""
    most = np.int64(0)
    for row in rows:
        most = max(most, np.int64(keys[row]))
    following, order = np.zeros(most + 2, np.int64), np.empty(len(rows), np.int64)
    for row in rows:
        following[keys[row] + 1] += 1
    for key in range(most):
        following[key + 1] += following[key]
    for row in rows:
        order[following[keys[row]]] = row
        following[keys[row]] += 1
    return order
