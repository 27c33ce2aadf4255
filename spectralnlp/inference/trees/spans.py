"""Decoding by spans: the tree of largest expected gain for grammars of different binarisations.

They share no forest, but all have posteriors of labelled brackets, of unary rules over brackets and of tags.
Averaged, these are decoded as in :class:`~.decoders.MBRDecoder`: each bracket gains its posterior less γ,
each tag its posterior times a weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.coarse import span_row
from spectralnlp.inference.trees.forest import TOP
from spectralnlp.inference.trees.labels import NO_LABEL, LabelMap, SpanLabels
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints


class Span(NamedTuple):
    """A labelled span of a decoded tree.

    Attributes:
        start, end: tokens, end exclusive.
        label: of the phrase or tag.
        top: label of a unary rule's parent over it, or NO_LABEL.
    """

    start: int
    end: int
    label: int
    top: int


@dataclass(frozen=True)
class SpanPosteriors:
    """Averaged posteriors of the spans of a sentence that forests have, its tokens and itself among them.

    Attributes:
        labels: the labels.
        start, end: int32 (n_spans,); tokens, end exclusive; no span twice.
        bottom: float64 (n_spans, n_labels); of labels over the span, not made by a unary rule. Tags too.
        unary: float64 (n_spans, n_pairs); of unary rules over the span.
    """

    labels: SpanLabels
    start: Ints
    end: Ints
    bottom: Floats
    unary: Floats


def span_posteriors(
    forests: Sequence[ScoredForest], maps: Sequence[LabelMap], labels: SpanLabels, n_tokens: int
) -> SpanPosteriors:
    """The mean posteriors of forests of one sentence.

    Args:
        forests: one of each binarisation, with the posteriors of its grammars.
        maps: of each forest's grammars.
        labels: the labels that the maps use.
        n_tokens: of the sentence.
    """
    codes = [each.forest.end.astype(np.int64) * (n_tokens + 1) + each.forest.start for each in forests]
    spans, rows = np.unique(np.concatenate(codes), return_inverse=True)
    bottom, unary = np.zeros((len(spans), len(labels.is_tag))), np.zeros((len(spans), len(labels.pairs)))
    n_grammars = sum(len(each.posteriors) for each in forests)
    row_of_forest = np.split(rows.reshape(-1), np.cumsum([len(code) for code in codes[:-1]]))
    for each, numbers, row in zip(forests, maps, row_of_forest, strict=True):
        forest, owner = each.forest, each.edge_owners
        node, edge = np.asarray(sum(each.node_shares)), np.asarray(sum(each.edge_shares))
        label = numbers.bottom[forest.symbol]
        is_bottom = (forest.kind != TOP) & (label != NO_LABEL)
        np.add.at(bottom, (row[is_bottom], label[is_bottom]), node[is_bottom])
        is_unary = (forest.kind[owner] == TOP) & (forest.rule >= 0)
        at = row[owner[is_unary]], numbers.unary[forest.rule[is_unary]]
        np.add.at(unary, at, edge[is_unary])
    start, end = (spans % (n_tokens + 1)).astype(np.int32), (spans // (n_tokens + 1)).astype(np.int32)
    return SpanPosteriors(labels, start, end, bottom / n_grammars, unary / n_grammars)


def decode_spans(posteriors: SpanPosteriors, *, gamma: float, tag_weight: float) -> list[Span]:
    """The brackets of the tree of largest expected gain.

    Args:
        posteriors: of the sentence.
        gamma: price of a bracket.
        tag_weight: worth of a right tag beside a right bracket.

    Returns:
        The labelled spans, each after those inside it; every token has a tag, and the sentence a label.
    """
    is_tag, start, end = posteriors.labels.is_tag, posteriors.start, posteriors.end
    top_gain = np.zeros_like(posteriors.bottom)
    top_of = np.full(posteriors.bottom.shape, NO_LABEL, np.int32)
    for pair, (top, below) in enumerate(posteriors.labels.pairs):
        gain = posteriors.unary[:, pair] - gamma
        better = gain > top_gain[:, below]
        top_gain[better, below] = gain[better]
        top_of[better, below] = top
    gain = np.where(is_tag, tag_weight * posteriors.bottom, posteriors.bottom - gamma) + top_gain
    over_token = end - start == 1  # there a tag is, or a rule over it
    gain[over_token[:, None] & ~is_tag[None]] = -np.inf
    gain[~over_token[:, None] & is_tag[None]] = -np.inf
    best = gain.argmax(axis=1).astype(np.int32)
    rows = _best_bracketing(int(end.max()), start, end, gain[np.arange(len(best)), best])
    columns = (start[rows], end[rows], best[rows], top_of[rows, best[rows]])
    return [Span(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


@kernel
def _best_bracketing(n, start, end, gain):
    """Rows of the spans of the best binary bracketing; a span without a gain has no label."""
    n_all = n * (n + 1) // 2
    row_of = np.full(n_all, -1, np.int32)
    for row in range(len(gain)):
        row_of[span_row(start[row], end[row])] = row
    total = np.zeros(n_all)
    split = np.zeros(n_all, np.int32)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            at = span_row(i, j)
            inner = 0.0
            if width > 1:
                inner = -np.inf
                for k in range(i + 1, j):
                    value = total[span_row(i, k)] + total[span_row(k, j)]
                    if value > inner:
                        inner = value
                        split[at] = k
            own = gain[row_of[at]] if row_of[at] >= 0 else 0.0
            total[at] = inner + (own if width in (1, n) else max(own, 0.0))
    stack = np.empty((2 * n, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, n
    size, count = 1, 0
    chosen = np.empty(2 * n, np.int32)
    while size > 0:
        size -= 1
        i, j = stack[size, 0], stack[size, 1]
        row = row_of[span_row(i, j)]
        if row >= 0 and (j - i in (1, n) or gain[row] > 0.0):
            chosen[count] = row
            count += 1
        if j - i > 1:
            k = split[span_row(i, j)]
            stack[size, 0], stack[size, 1] = i, k
            stack[size + 1, 0], stack[size + 1, 1] = k, j
            size += 2
    return chosen[:count][::-1].copy()
