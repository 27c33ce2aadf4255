"""Kernels: the hot path from texts to probabilities, and what is shared with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spectralnlp.jit import fast_kernel, kernel
from spectralnlp_sketch.hashing.kernels import write_columns

# Scores of labels that a text does not have are −1 as a rule and differ by a few tenths: that is where the
# squashed ones are steepest, and what a text's own label has is nearly the same for all.
STEEPNESS = 2.0


@fast_kernel
def add_scores(weights, row, factor, scores):
    """Add ``factor`` times a row to scores."""
    for c in range(len(scores)):
        scores[c] += factor * weights[row, c]


@fast_kernel
def add_four_scores(weights, a, b, c, d, of_a, of_b, of_c, of_d, scores):
    """Add four rows, each times its factor, to scores, which are read and written once."""
    for k in range(len(scores)):
        scores[k] += (of_a * weights[a, k] + of_b * weights[b, k]) + (
            of_c * weights[c, k] + of_d * weights[d, k]
        )


@kernel
def add_rows(weights, rows, factors, first, end, scores):
    """Add ``rows[first:end]`` of weights, each times its factor, to scores."""
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
    """Scores to probabilities, in place; exact where one is far above the others."""
    top = scores.max()
    total = np.float32(0.0)
    for c in range(len(scores)):
        scores[c] = np.exp(scores[c] - top)
        total += scores[c]
    for c in range(len(scores)):
        scores[c] /= total


@kernel
def largest(numbers, places, values):
    """Write where the k largest numbers of each row are, and these, in descending order.

    Args:
        numbers: float32 (n, m), m at least k.
        places: int64 (n, k); written.
        values: float32 (n, k); written.
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
    """Write how like each class a text is, from −1 to 1; as `intent.stacking.SecondLayer.squashed`."""
    for c in range(len(centers)):
        x = min(max(np.float32(STEEPNESS) * (scores[c] - centers[c]), np.float32(-3.0)), np.float32(3.0))
        square = x * x
        squashed[c] = x * (np.float32(27.0) + square) / (np.float32(27.0) + np.float32(9.0) * square)


class TableScorer(NamedTuple):
    """Scores of classes, linear in the n-grams, and corrections of them.

    Args:
        place: int32 (width,); row of each column in ``table``, -1 for unknown ones.
        first_character_column: columns below are of words.
        first_pair_column: columns from here on are of pairs of words.
        idf: float32 (n_ngrams,).
        table: float32 (n_ngrams, n_classes); scores of each n-gram.
        centers, corrections: float32 (n_classes,), (n_classes, n_classes); both without rows if nothing is
            corrected; `intent.stacking.SecondLayer`.
        sharpness: float32; scores are multiplied by it.
        familiarity: float32 (n_ngrams,); how familiar labelled texts make each n-gram.
        unknown_idf: float32; idf of n-grams that are not known.
        columns: int32 (n_ngrams,), ascending.
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
    """Count the known n-grams of a text by a hash table of its own, which is faster than to sort them.

    Args:
        columns: int32; the first ``n`` are the text's, as often as they are there.
        place, first_pair_column: as in `TableScorer`.
        rows, counts: int32; which rows of the table, and how often, are written here.
        slots: int32; overwritten; a power of two of them, at least twice as many as columns.

    Returns:
        How many rows, and how many n-grams but pairs are not known.
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
    """Probabilities of classes for each text, and how familiar it is.

    Args:
        text: uint8; texts one behind the other, valid UTF-8.
        bounds: int64 (n_texts + 1,); where each text begins in ``text``.
        rules: `spectralnlp_sketch.hashing.kernels.NgramRules`.
        buffers: `spectralnlp_sketch.hashing.kernels.Buffers`, for one text.
        scorer: `TableScorer`.
        probabilities: float32 (n_texts, n_classes); scores to begin with, in whose place they are written.
        familiar: float32 (n_texts,); mean familiarity of a text's n-grams but pairs, weighted by idf, is
            written here; -1 if nothing in it is known. An unknown n-gram counts as often as it is there.
    """
    # Fields are taken out once: within the loops that would count references.
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
