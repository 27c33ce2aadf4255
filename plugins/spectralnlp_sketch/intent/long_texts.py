"""Classify very long texts in bounded memory, by counting n-grams in one piece of the text at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams
from spectralnlp_sketch.intent.kernels import TableScorer
from spectralnlp_sketch.intent.stacking import SecondLayer

# Characters of a piece, and characters on either side of a cut whose n-grams may cross it.
PIECE = 1 << 18
SEAM = 1 << 11


def count_long_text(text: str, form: NgramFormat, piece: int = PIECE, seam: int = SEAM) -> NDArray[np.int64]:
    """Count a text's n-grams in hashed columns, piece by piece to save memory; int64 (form.width,).

    The text is cut into pieces, and their counts are added up. For n-grams that cross a cut,
    the counts of a stretch of text around the cut are added, and the counts of its two halves are subtracted.
    Only n-grams of more than ``seam`` characters can be missed.

    Args:
        text: text to count n-grams in.
        form: format of n-grams.
        piece: number of characters of a piece.
        seam: number of characters of the stretch before a cut, and of the stretch after it.
    """
    counts = np.zeros(form.width, np.int64)
    for part, sign in _parts(text, piece, seam):
        of_part = count_ngrams([part], form)
        counts[of_part.indices] += sign * of_part.data.astype(np.int64)
    return counts


def _parts(text: str, piece: int, seam: int) -> Iterator[tuple[str, int]]:
    """Yield parts of a text, each with 1 if its n-gram counts must be added, or -1 if subtracted.

    Args:
        text: text to divide.
        piece, seam: as for `count_long_text`.
    """
    start = 0
    while len(text) - start > piece:
        cut = text.rfind(" ", start, start + piece) + 1 or start + piece
        yield text[start:cut], 1
        before, after = max(cut - seam, start), cut + seam
        yield text[before:after], 1
        yield text[before:cut], -1
        yield text[cut:after], -1
        start = cut
    yield text[start:], 1


def classify_long_text(
    text: str,
    form: NgramFormat,
    scorer: TableScorer,
    start: NDArray[np.float32],
    piece: int = PIECE,
    seam: int = SEAM,
) -> tuple[NDArray[np.float32], float]:
    """Classify a long text, with the same results as `intent.kernels.classify_texts`.

    Familiarity says how many of the text's n-grams occur in labelled texts, from 0 to 1.

    Args:
        text: text to classify.
        form: format of n-grams.
        scorer: tables of the classifier.
        start: initial scores, float32 (n_classes,).
        piece, seam: as for `count_long_text`.

    Returns:
        Probabilities of labels (n_classes,), and the mean familiarity of n-grams.
    """
    counts = count_long_text(text, form, piece, seam)
    n_unknown = int(counts[: form.n_columns][scorer.place[: form.n_columns] < 0].sum())
    columns = np.flatnonzero((counts > 0) & (scorer.place >= 0))
    rows = scorer.place[columns]
    values = (1 + np.log(counts[columns])) * scorer.idf[rows]
    kinds = form.kinds(columns)
    idf = scorer.idf[rows] * (kinds < 2)
    total = idf.sum() + n_unknown * scorer.unknown_idf
    familiar = float(idf @ scorer.familiarity[rows] / total) if len(columns) else -1.0
    for kind in range(3):
        values[kinds == kind] /= np.linalg.norm(values[kinds == kind]) or 1.0
    layer = SecondLayer(scorer.centers, scorer.corrections)
    scores = layer.corrected(start + values @ scorer.table[rows].astype(np.float64))
    scores *= float(scorer.sharpness)
    weights = np.exp(scores - scores.max())
    return (weights / weights.sum()).astype(np.float32), familiar
