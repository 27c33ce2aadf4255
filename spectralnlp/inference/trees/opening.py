"""Opening cells of a sentence's chart: those that enough bracketings have, under a model without labels.

Closing the others costs next to no accuracy, doubles the speed and makes time nearly linear in the length
(Roark and Hollingshead 2008; Bodenstab et al. 2011). Beyond 200 tokens bracketings are of windows of 200,
half of each in the next: a cell of up to 100 tokens has the marginal of the window that it is most central
in, and wider cells are open at the sentence's beginning and end alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.bracketing import bracketing_marginals, span_marginals
from spectralnlp.inference.trees.cells import Cells, all_cells, all_span_cells, cells_of
from spectralnlp.inference.trees.limits import building_blocks, crosses, nested_cells
from spectralnlp.inference.trees.span_features import Cues, place_scores, span_scores
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.jit import kernel
from spectralnlp.parameters import CellModel, Floats, Ints, Lexicon

# Tokens of a sentence up to which bracketings are of the whole sentence, and of a window beyond.
WINDOW = 200

# Least marginal of a window's cells that are worth a try.
_LEAST = 1e-9

# No span that bracketings must have.
NOTHING_REQUIRED: Ints = np.empty((0, 2), np.int32)

_SYMBOL_CLASS = "UNK-SYM"


@dataclass(frozen=True)
class Opening:
    """Cells of a sentence, with the share of its bracketings that have each.

    Attributes:
        cells: those that may open.
        marginals: float64 (n_cells,).
        threshold: least marginal of the cells that open first.
    """

    cells: Cells
    marginals: Floats
    threshold: float

    def above(self, threshold: float) -> Cells:
        """The cells whose marginals reach a threshold."""
        return self.cells.subset(self.marginals >= threshold)


def open_cells(model: CellModel, cues: Cues, required: Ints = NOTHING_REQUIRED) -> Opening:
    """The marginals of a sentence's cells.

    Args:
        model: the model.
        cues: of the sentence.
        required: int32 (n_required, 2); start and end of spans that all bracketings are to have.
    """
    if len(cues.word) > WINDOW:
        return _in_windows(model, cues, place_scores(model.weights, cues), required)
    if not len(required):
        cells, marginals = _all_marginals(model.weights, cues)
        return Opening(cells, marginals, model.threshold)
    cells = nested_cells(all_cells(len(cues.word)), required)
    return Opening(cells, _marginals(model.weights, cues, cells), model.threshold)


@kernel
def _marginals(weights, cues, cells):
    """The marginals of a sentence's cells."""
    scores = span_scores(weights, cues, place_scores(weights, cues), cells.start, cells.end)
    return bracketing_marginals(cells, scores)


@kernel
def _all_marginals(weights, cues):
    """All cells of a sentence and their marginals."""
    n = len(cues.word)
    cells = all_span_cells(n, n)
    scores = span_scores(weights, cues, place_scores(weights, cues), cells.start, cells.end)
    return cells, span_marginals(scores, n)


def _in_windows(model: CellModel, cues: Cues, places: Floats, required: Ints) -> Opening:
    """The cells that are worth opening, with marginals of windows."""
    n, half = len(cues.word), WINDOW // 2
    n_windows = -(-(n - WINDOW) // half) + 1
    starts, ends, marginals = [], [], []
    for number in range(n_windows):
        first = number * half
        inner = all_cells(min(WINDOW, n - first))
        start, end = inner.start + np.int32(first), inner.end + np.int32(first)
        scores = span_scores(model.weights, cues, places, start, end)
        marginal = span_marginals(scores, len(inner.by_start) - 1)
        belongs = ((start + end) // 2 - half // 2) // half
        keep = np.clip(belongs, 0, n_windows - 1) == number
        keep &= (marginal >= _LEAST) & (end - start <= half) & (start > 0) & (end < n)
        starts.append(start[keep])
        ends.append(end[keep])
        marginals.append(marginal[keep])
    edge = np.arange(n, dtype=np.int32)  # the sentence's beginnings and ends
    starts += [np.zeros(n, np.int32), edge[1:]]
    ends += [edge + np.int32(1), np.full(n - 1, n, np.int32)]
    marginals.append(np.ones(2 * n - 1))
    start, end, marginal = (np.concatenate(each) for each in (starts, ends, marginals))
    if len(required):
        start, end, marginal = _with_required(start, end, marginal, required)
    cells, order = cells_of(n, start, end)
    return Opening(cells, marginal[order], model.threshold)


def _with_required(start: Ints, end: Ints, marginal: Floats, required: Ints) -> tuple[Ints, Ints, Floats]:
    """Spans and their marginals without those that cross a required one, and with those that build each."""
    more_start, more_end = building_blocks(required)
    start, end = np.concatenate([more_start, start]), np.concatenate([more_end, end])
    marginal = np.concatenate([np.ones(len(more_start)), marginal])
    codes = start.astype(np.int64) * (int(end.max()) + 1) + end
    keep = np.zeros(len(codes), bool)
    keep[np.unique(codes, return_index=True)[1]] = True
    keep &= ~crosses(start, end, required)
    return start[keep], end[keep], marginal[keep]


def cues_of(lexicon: Lexicon, found: Lookup, tag_values: Floats, tag_codes: NDArray[np.int64]) -> Cues:
    """Cues of a sentence's tokens for the model.

    Args:
        lexicon: that the tokens were looked up in.
        found: the tokens' entries.
        tag_values: float64 (n_tokens, n_symbols); how likely each tag is, up to a factor.
        tag_codes: int64 (n_symbols,); a number for each tag.
    """
    rows = np.arange(len(tag_values))
    best = tag_values.argmax(axis=1)
    others = tag_values.copy()
    others[rows, best] = 0.0
    symbol_class = len(lexicon.words) + lexicon.signature_index.get(_SYMBOL_CLASS, len(lexicon.signatures))
    marks: Ints = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(found.signatures == symbol_class, out=marks[1:])
    return Cues(
        word=np.where(found.is_rare, found.signatures, found.entries),
        tag=tag_codes[best],
        second=tag_codes[others.argmax(axis=1)],
        shape=found.signatures,
        marks=marks,
    )
