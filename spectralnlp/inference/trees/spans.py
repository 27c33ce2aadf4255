"""Decoding by spans: the tree of largest expected gain, whatever binarisations its evidence came from.

Grammars of different binarisations share no forest, but they all say how probable a labelled bracket, a unary
rule over a bracket, or a tag is. Averaged, these are decoded as in :class:`~.decoders.MBRDecoder`: each
bracket gains its posterior less γ, each tag its posterior times a weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.decoders import Evidence
from spectralnlp.inference.trees.forest import TOP
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints


@dataclass(frozen=True)
class LabelMap:
    """One grammar's symbols and unary rules as numbers that a pool's grammars share.

    Attributes:
        bottom: int32 (n_symbols,); the label of a phrase or tag, -1 for intermediates.
        unary: int32 (n_unary,); the pair (top label, bottom label) of each unary rule.
    """

    bottom: Ints
    unary: Ints


@dataclass(frozen=True)
class SpanPosteriors:
    """Averaged posteriors of one sentence of n tokens; span (i, j) is row j (j - 1) / 2 + i.

    Attributes:
        bottom: float64 (n_spans, n_labels); of labels over the span, not made by a unary rule. Tags too.
        unary: float64 (n_spans, n_pairs); of unary rules over the span.
    """

    bottom: Floats
    unary: Floats


def span_posteriors(
    evidence: Sequence[Evidence], maps: Sequence[LabelMap], n_tokens: int, n_labels: int, n_pairs: int
) -> SpanPosteriors:
    """The mean posteriors of forests of one sentence.

    Args:
        evidence: a forest of each binarisation, with the posteriors of its grammars.
        maps: of each forest's grammars.
        n_tokens: of the sentence.
        n_labels, n_pairs: numbers that the maps use.
    """
    n_spans = n_tokens * (n_tokens + 1) // 2
    bottom, unary = np.zeros((n_spans, n_labels)), np.zeros((n_spans, n_pairs))
    n_grammars = sum(len(each.scores) for each in evidence)
    for each, labels in zip(evidence, maps, strict=True):
        forest = each.forest
        node = sum(np.minimum(np.abs(s.node), 1.0) for s in each.scores)
        edge = sum(np.minimum(np.abs(s.edge), 1.0) for s in each.scores)
        row = forest.end * (forest.end - 1) // 2 + forest.start
        label = labels.bottom[forest.symbol]
        is_bottom = (forest.kind != TOP) & (label >= 0)
        np.add.at(bottom, (row[is_bottom], label[is_bottom]), np.asarray(node)[is_bottom])
        owner = np.repeat(np.arange(forest.n_nodes), np.diff(forest.edges))
        is_unary = (forest.kind[owner] == TOP) & (forest.rule >= 0)
        at = row[owner[is_unary]], labels.unary[forest.rule[is_unary]]
        np.add.at(unary, at, np.asarray(edge)[is_unary])
    return SpanPosteriors(bottom / n_grammars, unary / n_grammars)


def decode_spans(
    posteriors: SpanPosteriors, pairs: Ints, is_tag: NDArray[np.bool_], *, gamma: float, tag_weight: float
) -> list[tuple[int, int, int, int]]:
    """The brackets of the tree of largest expected gain.

    Args:
        posteriors: of the sentence.
        pairs: int32 (n_pairs, 2); top and bottom label of each pair.
        is_tag: bool (n_labels,).
        gamma: price of a bracket.
        tag_weight: what a right tag counts beside a right bracket.

    Returns:
        (start, end, bottom label, top label or -1) of the labelled spans, a span after those inside it. Every
        token has a tag, and the whole sentence a label.
    """
    n_spans = len(posteriors.bottom)
    n = int((np.sqrt(8 * n_spans + 1) - 1) // 2)
    top_gain = np.zeros_like(posteriors.bottom)
    top_of = np.full(posteriors.bottom.shape, -1, np.int32)
    for pair, (top, below) in enumerate(pairs):
        gain = posteriors.unary[:, pair] - gamma
        better = gain > top_gain[:, below]
        top_gain[better, below] = gain[better]
        top_of[better, below] = top
    gain = np.where(is_tag, tag_weight * posteriors.bottom, posteriors.bottom - gamma) + top_gain
    widths = np.concatenate(
        [np.arange(j, 0, -1) for j in range(1, n + 1)]
    )  # of span (i, j), in the order of rows
    gain[
        (widths == 1)[:, None] & ~is_tag[None]
    ] = -np.inf  # what is over one token is a tag, or a rule over it
    gain[(widths > 1)[:, None] & is_tag[None]] = -np.inf
    best = gain.argmax(axis=1).astype(np.int32)
    best_gain = gain[np.arange(n_spans), best]
    chosen = _best_bracketing(n, best_gain)
    return [
        (i, j, int(best[row]), int(top_of[row, best[row]]))
        for i, j in chosen.tolist()
        for row in (j * (j - 1) // 2 + i,)
    ]


@kernel
def _best_bracketing(n, gain):
    """Labelled spans (i, j) of the best binary bracketing, in which a span without a gain has no label."""
    total = np.zeros(n * (n + 1) // 2)
    split = np.zeros(n * (n + 1) // 2, np.int32)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            row = j * (j - 1) // 2 + i
            inner = 0.0
            if width > 1:
                inner = -np.inf
                for k in range(i + 1, j):
                    value = total[k * (k - 1) // 2 + i] + total[j * (j - 1) // 2 + k]
                    if value > inner:
                        inner = value
                        split[row] = k
            total[row] = inner + (gain[row] if width in (1, n) else max(gain[row], 0.0))
    stack = np.empty((2 * n, 2), np.int32)
    stack[0, 0], stack[0, 1] = 0, n
    size, count = 1, 0
    chosen = np.empty((2 * n, 2), np.int32)
    while size > 0:
        size -= 1
        i, j = stack[size, 0], stack[size, 1]
        row = j * (j - 1) // 2 + i
        if j - i in (1, n) or gain[row] > 0.0:
            chosen[count, 0], chosen[count, 1] = i, j
            count += 1
        if j - i > 1:
            k = split[row]
            stack[size, 0], stack[size, 1] = i, k
            stack[size + 1, 0], stack[size + 1, 1] = k, j
            size += 2
    return chosen[:count][::-1].copy()
