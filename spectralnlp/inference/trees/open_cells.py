"""Choose the spans that a parser considers (open cells), by a model of unlabelled bracketings.

Ignoring all other spans (closed cells) hardly changes accuracy, doubles speed and makes time nearly linear in
the length (Roark and Hollingshead 2008; Bodenstab et al. 2011). Sentences of more than 200 tokens are split
into windows of 200 tokens that overlap by half. The probability (marginal) of a span of up to 100 tokens is
taken from the window in which the span is most central. Wider spans are considered only at the beginning and
the end of the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.bracketing import bracketing_marginals, span_marginals
from spectralnlp.inference.trees.cells import Cells, all_cells, all_span_cells, cells_of
from spectralnlp.inference.trees.limits import building_blocks, crosses, nested_cells
from spectralnlp.inference.trees.span_features import TokenAttributes, place_scores, span_scores
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.jit import kernel
from spectralnlp.parameters import CellModel, Floats, Ints, Lexicon

# Tokens in a window; sentences up to this length are one window.
WINDOW = 200

# Cells of a window with a smaller marginal are never opened.
_LEAST = 1e-9

# The empty set of required spans.
NOTHING_REQUIRED: Ints = np.empty((0, 2), np.int32)

_SYMBOL_CLASS = "UNK-SYM"


@dataclass(frozen=True)
class CellMarginals:
    """The spans (chart cells) of a sentence that a parser may consider, with their probabilities.

    Attributes:
        cells: the spans.
        marginals: float64 (n_cells,); probability that a bracketing of the sentence contains the span.
        threshold: minimum marginal of the spans that the parser considers in its first attempt.
    """

    cells: Cells
    marginals: Floats
    threshold: float

    def above(self, threshold: float) -> Cells:
        """Return the spans whose marginals reach a threshold, all single tokens, and the whole sentence."""
        return self.cells.subset(self.marginals >= threshold)


def compute_cell_marginals(
    model: CellModel, attributes: TokenAttributes, required: Ints = NOTHING_REQUIRED
) -> CellMarginals:
    """Return the spans that a parser may consider, each with the probability that it is a constituent.

    Args:
        model: the model of unlabelled bracketings.
        attributes: features of the sentence's tokens.
        required: int32 (n_required, 2); start and end of spans that every bracketing must have.
    """
    if len(attributes.word) > WINDOW:
        return _in_windows(model, attributes, place_scores(model.weights, attributes), required)
    if not len(required):
        cells, marginals = _all_marginals(model.weights, attributes)
        return CellMarginals(cells, marginals, model.threshold)
    cells = nested_cells(all_cells(len(attributes.word)), required)
    return CellMarginals(cells, _marginals(model.weights, attributes, cells), model.threshold)


@kernel
def _marginals(weights, attributes, cells):
    """Return the probability of each of the given cells (spans) under the model of bracketings."""
    scores = span_scores(weights, attributes, place_scores(weights, attributes), cells.start, cells.end)
    return bracketing_marginals(cells, scores)


@kernel
def _all_marginals(weights, attributes):
    """Return all spans of a sentence as `Cells`, and their probabilities under the model of bracketings."""
    n = len(attributes.word)
    cells = all_span_cells(n, n)
    scores = span_scores(weights, attributes, place_scores(weights, attributes), cells.start, cells.end)
    return cells, span_marginals(scores, n)


def _in_windows(
    model: CellModel, attributes: TokenAttributes, places: Floats, required: Ints
) -> CellMarginals:
    """Return the spans that a parser may consider in a long sentence, with marginals computed in windows.

    Args:
        model: the model of unlabelled bracketings.
        attributes: features of the sentence's tokens.
        places: scores of constituents' boundaries, from `place_scores`.
        required: int32 (n_required, 2); start and end of spans that every bracketing must have.
    """
    n, half = len(attributes.word), WINDOW // 2
    n_windows = -(-(n - WINDOW) // half) + 1
    starts, ends, marginals = [], [], []
    for number in range(n_windows):
        first = number * half
        inner = all_cells(min(WINDOW, n - first))
        start, end = inner.start + np.int32(first), inner.end + np.int32(first)
        scores = span_scores(model.weights, attributes, places, start, end)
        marginal = span_marginals(scores, len(inner.by_start) - 1)
        belongs = ((start + end) // 2 - half // 2) // half
        keep = np.clip(belongs, 0, n_windows - 1) == number
        keep &= (marginal >= _LEAST) & (end - start <= half) & (start > 0) & (end < n)
        starts.append(start[keep])
        ends.append(end[keep])
        marginals.append(marginal[keep])
    edge = np.arange(n, dtype=np.int32)  # for the spans at the sentence's beginning and end
    starts += [np.zeros(n, np.int32), edge[1:]]
    ends += [edge + np.int32(1), np.full(n - 1, n, np.int32)]
    marginals.append(np.ones(2 * n - 1))
    start, end, marginal = (np.concatenate(each) for each in (starts, ends, marginals))
    if len(required):
        start, end, marginal = _with_required(start, end, marginal, required)
    cells, order = cells_of(n, start, end)
    return CellMarginals(cells, marginal[order], model.threshold)


def _with_required(start: Ints, end: Ints, marginal: Floats, required: Ints) -> tuple[Ints, Ints, Floats]:
    """Return spans and their marginals after adding required spans and removing those that cross them.

    Required spans get the marginal 1, and so do all their prefixes and suffixes, from which binary rules can
    build them.
    """
    more_start, more_end = building_blocks(required)
    start, end = np.concatenate([more_start, start]), np.concatenate([more_end, end])
    marginal = np.concatenate([np.ones(len(more_start)), marginal])
    codes = start.astype(np.int64) * (int(end.max()) + 1) + end
    keep = np.zeros(len(codes), bool)
    keep[np.unique(codes, return_index=True)[1]] = True
    keep &= ~crosses(start, end, required)
    return start[keep], end[keep], marginal[keep]


def token_attributes(
    lexicon: Lexicon, found: Lookup, tag_values: Floats, tag_codes: NDArray[np.int64]
) -> TokenAttributes:
    """Return the features of a sentence's tokens that the model of bracketings uses.

    Args:
        lexicon: the lexicon in which the tokens were looked up.
        found: the tokens' entries in the lexicon.
        tag_values: float64 (n_tokens, n_symbols); unnormalised probabilities of the tags.
        tag_codes: int64 (n_symbols,); hash of each symbol's label, from `labels.tag_codes`.
    """
    rows = np.arange(len(tag_values))
    best = tag_values.argmax(axis=1)
    others = tag_values.copy()
    others[rows, best] = 0.0
    symbol_class = len(lexicon.words) + lexicon.signature_index.get(_SYMBOL_CLASS, len(lexicon.signatures))
    marks: Ints = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(found.signatures == symbol_class, out=marks[1:])
    return TokenAttributes(
        word=np.where(found.is_rare, found.signatures, found.entries),
        tag=tag_codes[best],
        second=tag_codes[others.argmax(axis=1)],
        shape=found.signatures,
        marks=marks,
    )
