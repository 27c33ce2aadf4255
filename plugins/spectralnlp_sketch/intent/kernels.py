"""Kernels: a pass of each head's dual coordinate ascent, and the hot path from texts to probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spectralnlp.jit import fast_kernel, kernel, kernel_part
from spectralnlp_sketch.hashing.kernels import write_columns

_MOST_STEPS = 40
_LEAST = 1e-30
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


@kernel_part
def score_example(indptr, indices, data, dense, i, dense_rows, weights, scores):
    """Write the scores of an example, linear in its sparse and its dense features."""
    scores[:] = 0.0
    add_rows(weights, indices, data, indptr[i], indptr[i + 1], scores)
    add_rows(weights, dense_rows, dense[i], 0, dense.shape[1], scores)


@fast_kernel
def add_to_row(weights, row, factor, change):
    """Add ``factor`` times ``change`` to a row."""
    for c in range(len(change)):
        weights[row, c] += factor * change[c]


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
def best_step(target, dual, change, scores, weight, curvature):
    """The step from 0 to 1 along ``change`` that increases the dual objective most, by guarded Newton steps.

    With q(s) = target − (dual + s·change)/weight its slope is Σ change·(ln q(s) − scores) − curvature·s.
    """
    low, high, s = 0.0, 1.0, 0.5
    for _ in range(_MOST_STEPS):
        slope, bend = -curvature * s, -curvature
        for c in range(len(change)):
            q = max(target[c] - (dual[c] + s * change[c]) / weight, _LEAST)
            slope += change[c] * (np.log(q) - scores[c])
            bend -= change[c] * change[c] / (weight * q)
        if slope > 0:
            low = s
        else:
            high = s
        following = s - slope / bend
        if not low < following < high:  # the best step may be smaller by orders of magnitude
            following = (low + high) / 2 if low > 0 else high / 8
        if abs(following - s) <= 1e-3 * s:
            return following
        s = following
    return low


@kernel
def ascend(
    indptr, indices, data, dense, squares, targets, sample_weights, C, likeness, order, weights, duals
):
    """One pass over the examples; returns how far duals were from what they should be, summed over classes.

    Args:
        indptr, indices, data: the sparse part of the features, CSR; float32.
        dense: float32 (n, d); the dense part.
        squares: float32 (n,); squared length of each example's features.
        targets: float32 (n, C); the wanted distribution over classes.
        sample_weights: float32 (n,); positive.
        C: weight of the loss against half the sum of squared weights.
        likeness: float32 (n_classes, n_classes); products of classes, positive definite.
        order: int64; which examples, in which order.
        weights: float32 (sparse columns + d, n_classes); changed.
        duals: float32 (n, n_classes); changed.
    """
    n_classes = weights.shape[1]
    first_dense = weights.shape[0] - dense.shape[1]
    dense_rows, classes = np.arange(first_dense, weights.shape[0]), np.arange(n_classes)
    scores, change = np.empty(n_classes, np.float32), np.empty(n_classes, np.float32)
    probabilities, shared = np.empty(n_classes, np.float32), np.empty(n_classes, np.float32)
    missing = 0.0
    for i in order:
        score_example(indptr, indices, data, dense, i, dense_rows, weights, scores)
        probabilities[:] = scores
        softmax(probabilities)
        weight, size = sample_weights[i], np.float32(0.0)
        shared[:] = 0.0
        for c in range(n_classes):
            change[c] = weight * (targets[i, c] - probabilities[c]) - duals[i, c]
        add_rows(likeness, classes, change, 0, n_classes, shared)
        for c in range(n_classes):
            size += change[c] * shared[c]
        if size < 1e-10:
            continue
        s = np.float32(
            best_step(targets[i], duals[i], change, scores, weight, np.float64(C * squares[i] * size))
        )
        for c in range(n_classes):
            missing += abs(change[c])
            duals[i, c] += s * change[c]
            shared[c] *= np.float32(C) * s
        for at in range(indptr[i], indptr[i + 1]):
            add_to_row(weights, indices[at], data[at], shared)
        for j in range(dense.shape[1]):
            add_to_row(weights, first_dense + j, dense[i, j], shared)
    return missing / len(order)


@kernel
def separate(indptr, indices, data, dense, squares, classes, costs, order, weights, duals, violations):
    """One pass of one-against-rest support vector machines; returns the largest violation.

    Args:
        indptr, indices, data: the sparse part of the features, CSR; float32.
        dense: float32 (n, d); the dense part.
        squares: float32 (n,); squared length of each example's features.
        classes: int64 (n,); the class of each.
        costs: float32 (n,); weight of each example's loss against half the sum of squared weights.
        order: int64; which examples, in which order.
        weights: float32 (sparse columns + d, n_classes); changed.
        duals: float32 (n, n_classes); from 0 up, changed.
        violations: float32 (n,); how far a margin of each example was from where it should be, written.
    """
    n_classes = weights.shape[1]
    first_dense = weights.shape[0] - dense.shape[1]
    dense_rows = np.arange(first_dense, weights.shape[0])
    scores, steps = np.empty(n_classes, np.float32), np.empty(n_classes, np.float32)
    changed = np.empty(n_classes, np.int64)
    worst = np.float32(0.0)
    for i in order:
        score_example(indptr, indices, data, dense, i, dense_rows, weights, scores)
        slack = np.float32(0.5) / costs[i]
        n_changed, violations[i] = 0, np.float32(0.0)
        for c in range(n_classes):
            sign = np.float32(1.0) if classes[i] == c else np.float32(-1.0)
            dual = duals[i, c]
            slope = sign * scores[c] - np.float32(1.0) + slack * dual
            if slope >= 0 and dual == 0:
                continue
            following = max(dual - slope / (squares[i] + slack), np.float32(0.0))
            violations[i] = max(violations[i], abs(slope))
            duals[i, c] = following
            changed[n_changed], steps[n_changed] = c, sign * (following - dual)
            n_changed += 1
        worst = max(worst, violations[i])
        for at in range(indptr[i], indptr[i + 1]):
            for k in range(n_changed):
                weights[indices[at], changed[k]] += data[at] * steps[k]
        for j in range(dense.shape[1]):
            for k in range(n_changed):
                weights[first_dense + j, changed[k]] += dense[i, j] * steps[k]
    return worst


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
        bias: float32 (n_classes,).
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
    bias: Any
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
        probabilities: float32 (n_texts, n_classes); written here.
        familiar: float32 (n_texts,); mean familiarity of a text's n-grams but pairs, weighted by idf, is
            written here; -1 if nothing in it is known. An unknown n-gram counts as often as it is there.
    """
    # Fields are taken out once: within the loops that would count references.
    columns, rows = buffers.columns, buffers.counts
    place, first_character_column, first_pair_column, idf, table, bias = scorer[:6]
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
        scores[:] = bias
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
