"""The softmax of a span: log posteriors, a few real numbers and many hashed features of each option.

score(option) = log(p + ε) - log(p_none + ε) + w · numbers + Σ weights of features; no bracket scores 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.rescoring.templates import hash_features
from spectralnlp.inference.trees.rescoring.values import (
    N_VALUES,
    TokenValues,
    set_option_values,
    set_span_values,
)
from spectralnlp.jit import kernel_part
from spectralnlp.parameters import Floats, Ints, Offsets

N_NUMBERS = 10  # real numbers that describe an option
CELL_ODDS = 8  # that of them which says how sure bracketings are of the span
_EPSILON = 0.002


class Workspace(NamedTuple):
    """Values and features of the options of one span, overwritten by the next.

    Attributes:
        values: uint64 (n_values,).
        numbers: float64 (n_rows, N_NUMBERS); of each option of the span.
        buckets: int32 (n_rows, n_templates); its features.
        n_features: int64 (n_rows,); how many they are.
        score: float64 (n_rows,).
    """

    values: NDArray[np.uint64]
    numbers: Floats
    buckets: Ints
    n_features: Offsets
    score: Floats


@kernel_part
def make_workspace(first, n_templates):
    """A workspace for spans whose options begin at ``first`` (of `SpanOptions`)."""
    rows = 1
    for s in range(len(first) - 1):
        rows = max(rows, first[s + 1] - first[s])
    return Workspace(
        np.zeros(N_VALUES, np.uint64),
        np.zeros((rows, N_NUMBERS)),
        np.zeros((rows, n_templates), np.int32),
        np.zeros(rows, np.int64),
        np.zeros(rows),
    )


@kernel_part
def _set_numbers(posteriors, none, cell_odds, numbers):
    """Write the real numbers of an option, its log-odds first, and return its mean posterior and spread."""
    n = len(posteriors)
    mean = posteriors.mean()
    log_mean = np.log(mean + _EPSILON)
    low, high, average, square = np.inf, -np.inf, 0.0, 0.0
    for g in range(n):
        x = np.log(posteriors[g] + _EPSILON) - log_mean
        low, high = min(low, x), max(high, x)
        average += x / n
        square += x * x / n
    spread = np.sqrt(max(square - average * average, 0.0))
    odds = log_mean - np.log(none + _EPSILON)
    numbers[0], numbers[1], numbers[2], numbers[3] = odds, 1.0, low, high
    numbers[4], numbers[5], numbers[6], numbers[7] = spread, mean, abs(odds), none
    scaled = cell_odds / 3.0  # to the size of the others, so that it is learned as fast
    numbers[CELL_ODDS], numbers[CELL_ODDS + 1] = scaled, min(scaled, 0.0)
    return mean, spread


@kernel_part
def describe_span(s, options, tokens, labels, brackets, table, work):
    """Write all that is said about the options of span s into the workspace.

    Args:
        options: SpanOptions; tokens: TokenValues of the span's sentence; labels: LabelValues.
        brackets: the sentence's likely brackets.
        table: of templates.
        work: Workspace; numbers, buckets and n_features are written.
    """
    first, last = options.first[s], options.first[s + 1]
    start, end = options.start[s], options.end[s]
    none = 1.0
    for o in range(first, last):
        none -= options.posterior[o].mean()
    set_span_values(start, end, tokens, labels, brackets, work.values)
    for o in range(first, last):
        label, row = options.label[o], o - first
        mean, spread = _set_numbers(
            options.posterior[o], max(none, 0.0), options.cell_odds[s], work.numbers[row]
        )
        rank = 0
        for other in range(first, last):
            rank += options.posterior[other].mean() > mean
        set_option_values(start, end, label, mean, spread, rank, tokens, labels, work.values)
        work.n_features[row] = hash_features(labels.name[label], work.values, table, work.buckets[row])


@kernel_part
def score_span(n_options, weight_of, numbers_weight, work):
    """Write the score of each option of the described span, and return the logarithm of the softmax's sum.

    Args:
        n_options: of the span.
        weight_of: float32 (n_buckets,).
        numbers_weight: float64 (N_NUMBERS,).
        work: Workspace; ``score`` is written.
    """
    top = 0.0
    for row in range(n_options):
        score = work.numbers[row, 0]
        for k in range(len(numbers_weight)):
            score += numbers_weight[k] * work.numbers[row, k]
        for k in range(work.n_features[row]):
            score += weight_of[work.buckets[row, k]]
        work.score[row] = score
        top = max(top, score)
    total = np.exp(-top)
    for row in range(n_options):
        total += np.exp(work.score[row] - top)
    return top + np.log(total)


@kernel_part
def tokens_of(tokens, first, last, margins):
    """The values of one of several sentences that lie end to end.

    Args:
        tokens: of all sentences.
        first, last: its tokens, ``last`` exclusive.
        margins: entries of padding before its own.
    """
    a, b = first + margins, last + margins + 6
    return TokenValues(
        tokens.word[a:b],
        tokens.shape[a:b],
        tokens.tag[a:b],
        tokens.coarse[a:b],
        tokens.fine[a:b],
        tokens.kind[a:b],
        tokens.tag_number[first:last],
    )
