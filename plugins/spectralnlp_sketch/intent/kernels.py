"""Compiled functions (kernels) that classify texts: hash n-grams, add up their scores, apply a softmax."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spectralnlp.jit import fast_kernel, kernel
from spectralnlp_sketch.hashing.kernels import write_columns

# Steepness of squashing. Scores of wrong labels are mostly near −1 and differ by a few tenths; squashing is
# steepest there, while squashed scores of the right label are nearly the same for all texts.
STEEPNESS = 2.0


@fast_kernel
def add_scores(weights, row, factor, scores):
    """Add one row of weights, multiplied by ``factor``, to ``scores``.

    Args:
        weights: float32 (n_rows, n_classes).
        row: index of the row.
        factor: factor of the row.
        scores: updated in place, float32 (n_classes,).
    """
    for c in range(len(scores)):
        scores[c] += factor * weights[row, c]


@fast_kernel
def add_four_scores(weights, a, b, c, d, of_a, of_b, of_c, of_d, scores):
    """Add four rows of weights, each multiplied by a factor, to ``scores`` in one pass.

    Args:
        weights: float32 (n_rows, n_classes).
        a, b, c, d: numbers of the rows.
        of_a, of_b, of_c, of_d: their factors.
        scores: updated in place, float32 (n_classes,).
    """
    for k in range(len(scores)):
        scores[k] += (of_a * weights[a, k] + of_b * weights[b, k]) + (
            of_c * weights[c, k] + of_d * weights[d, k]
        )


@kernel
def add_rows(weights, rows, factors, first, end, scores):
    """Add several rows of weights, each multiplied by a factor, to ``scores``.

    Args:
        weights: float32 (n_rows, n_classes).
        rows, factors: numbers of rows, and the factor of each.
        first, end: range of ``rows`` to add.
        scores: updated in place, float32 (n_classes,).
    """
    at = first
    while at + 4 <= end:
        a, b, c, d = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
        add_four_scores(
            weights, a, b, c, d, factors[at], factors[at + 1], factors[at + 2], factors[at + 3], scores
        )
        at += 4
    while at < end:
        add_scores(weights, rows[at], factors[at], scores)
        at += 1


@kernel
def softmax(scores):
    """Replace scores by their softmax in place, without overflow for large scores."""
    top = scores.max()
    total = np.float32(0.0)
    for c in range(len(scores)):
        scores[c] = np.exp(scores[c] - top)
        total += scores[c]
    for c in range(len(scores)):
        scores[c] /= total


@kernel
def largest(numbers, places, values):
    """Find the k largest numbers of each row and their positions, in descending order.

    Args:
        numbers: float32 (n, m), with m ≥ k.
        places: output positions, int64 (n, k).
        values: output numbers, float32 (n, k).
    """
    k = places.shape[1]
    for i in range(len(numbers)):
        values[i] = -np.inf
        for j in range(numbers.shape[1]):
            number = numbers[i, j]
            if number > values[i, k - 1]:
                at = k - 1
                while at > 0 and values[i, at - 1] < number:
                    values[i, at], places[i, at] = values[i, at - 1], places[i, at - 1]
                    at -= 1
                values[i, at], places[i, at] = number, j


@fast_kernel
def squash_scores(scores, centers, squashed):
    """Centre scores and squash them to the range −1 to 1, as `intent.stacking.SecondLayer.squashed` does.

    Args:
        scores: scores of labels (n_classes,).
        centers: mean score of each label (n_classes,).
        squashed: output (n_classes,).
    """
    for c in range(len(centers)):
        x = min(max(np.float32(STEEPNESS) * (scores[c] - centers[c]), np.float32(-3.0)), np.float32(3.0))
        square = x * x
        squashed[c] = x * (np.float32(27.0) + square) / (np.float32(27.0) + np.float32(9.0) * square)


class TableScorer(NamedTuple):
    """Arrays of a text classifier, in the form that the compiled kernels need.

    Args:
        place: row of ``table`` for each hashed column, -1 for unknown n-grams, int32 (width,).
        first_character_column: first column of n-grams of characters; columns below it are of words.
        first_pair_column: first column of pairs of words.
        idf: inverse document frequencies, float32 (n_ngrams,).
        table: scores of each n-gram, float32 (n_ngrams, n_classes).
        centers, corrections: arrays of `intent.stacking.SecondLayer`, float32 (n_classes,) and (n_classes,
            n_classes); both empty without corrections.
        sharpness: factor of scores, float32.
        familiarity: n/(n + 1) for an n-gram that is in n labelled texts, float32 (n_ngrams,).
        unknown_idf: idf of unknown n-grams, float32.
        columns: hashed columns of the known n-grams, int32 (n_ngrams,), ascending.
    """

    place: Any
    first_character_column: int
    first_pair_column: int
    idf: Any
    table: Any
    centers: Any
    corrections: Any
    sharpness: Any
    familiarity: Any
    unknown_idf: Any
    columns: Any


@kernel
def count_rows(columns, n, place, first_pair_column, rows, counts, slots):
    """Count the known n-grams of a text with a hash table, which is faster than sorting.

    Args:
        columns: int32; the first ``n`` entries are the feature columns of the text's n-grams, repeated ones
            included.
        n: number of these entries.
        place, first_pair_column: as in `TableScorer`.
        rows, counts: int32, overwritten; the distinct known n-grams, as rows of the table of weights, and
            how often each occurs.
        slots: work array, int32; its size is a power of two, at least twice ``n``.

    Returns:
        The number of distinct known n-grams, and the number of occurrences of unknown ones that are not pairs
        of words.
    """
    size = 64
    while size < 2 * n:
        size *= 2
    slots[:size] = -1
    n_rows, n_unknown = 0, 0
    for at in range(n):
        row = place[columns[at]]
        if row < 0:
            n_unknown += columns[at] < first_pair_column
            continue
        slot = (row * 40503) & (size - 1)
        while slots[slot] >= 0 and rows[slots[slot]] != row:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            slots[slot] = n_rows
            rows[n_rows], counts[n_rows] = row, 0
            n_rows += 1
        counts[slots[slot]] += 1
    return n_rows, n_unknown


@kernel
def classify_texts(text, bounds, rules, buffers, scorer, probabilities, familiar):
    """Write the probabilities of classes for each text, and the familiarity of the text.

    Familiarity says how many of the text's n-grams occur in labelled texts, from 0 to 1.

    Args:
        text: bytes of the concatenated texts, valid UTF-8, uint8.
        bounds: start offset of each text in ``text``, then the end offset, int64 (n_texts + 1,).
        rules: `spectralnlp_sketch.hashing.kernels.NgramRules`.
        buffers: `spectralnlp_sketch.hashing.kernels.Buffers`, large enough for one text.
        scorer: `TableScorer`.
        probabilities: initial scores, overwritten by probabilities, float32 (n_texts, n_classes).
        familiar: output mean familiarity of each text's n-grams, without pairs of words, weighted by idf,
            float32 (n_texts,); -1 if no n-gram is known. Each occurrence of an unknown n-gram counts.
    """
    # Fields are read once, since reading them inside the loops would count references.
    columns, rows = buffers.columns, buffers.counts
    place, first_character_column, first_pair_column, idf, table = scorer[:5]
    centers, corrections, sharpness = scorer.centers, scorer.corrections, scorer.sharpness
    squashed, classes = np.empty(len(centers), np.float32), np.arange(len(centers))
    familiarity, unknown_idf = scorer.familiarity, scorer.unknown_idf
    n_words = np.searchsorted(scorer.columns, first_character_column)
    n_single = np.searchsorted(scorer.columns, first_pair_column)
    values, counts = np.empty(len(columns), np.float32), np.empty(len(columns), np.int32)
    n_slots = 64
    while n_slots < 2 * len(columns):
        n_slots *= 2
    slots = np.empty(n_slots, np.int32)
    for i in range(len(bounds) - 1):
        n = write_columns(text, bounds[i], bounds[i + 1], rules, buffers, 0)
        n_rows, n_unknown = count_rows(columns, n, place, first_pair_column, rows, counts, slots)
        share, total = np.float32(0.0), unknown_idf * np.float32(n_unknown)
        of_words, of_characters, of_pairs = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for at in range(n_rows):
            row = rows[at]
            value = idf[row]
            if row < n_single:
                share += value * familiarity[row]
                total += value
            if counts[at] > 1:
                value *= np.float32(1.0) + np.log(np.float32(counts[at]))
            values[at] = value
            if row < n_words:
                of_words += value * value
            elif row < n_single:
                of_characters += value * value
            else:
                of_pairs += value * value
        familiar[i] = share / total if n_rows else np.float32(-1.0)
        of_words, of_characters, of_pairs = np.sqrt(of_words), np.sqrt(of_characters), np.sqrt(of_pairs)
        scores = probabilities[i]
        for at in range(n_rows):
            row = rows[at]
            length = of_characters if row < n_single else of_pairs
            if row < n_words:
                length = of_words
            values[at] /= length
        add_rows(table, rows, values, 0, n_rows, scores)
        squash_scores(scores, centers, squashed)
        add_rows(corrections, classes, squashed, 0, len(squashed), scores)
        scores *= sharpness
        softmax(scores)
