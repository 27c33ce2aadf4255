"""Score the candidate labels (options) of a span by their posteriors, a few numbers and hashed features.

The new posteriors of the options are the softmax of their scores; "no bracket" has the score 0:

score(option) = log(p + ε) - log(p_none + ε) + w · x + Σ weights of the option's hashed features

p and p_none are the mean posteriors of the option and of "no bracket" under the grammars, ε is a small
constant, x are ten real-valued features of the option, and w their weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.rescoring.span_values import set_option_values, set_span_values
from spectralnlp.inference.trees.rescoring.templates import hash_features
from spectralnlp.inference.trees.rescoring.values import N_VALUES, TokenValues
from spectralnlp.jit import kernel_part
from spectralnlp.parameters import Floats, Ints, Offsets

N_NUMBERS = 10  # real numbers that describe an option
CELL_ODDS = 8  # index of the number that is the scaled log-odds of the span's cell
_EPSILON = 0.002


class Workspace(NamedTuple):
    """Scratch arrays for the options of one span, reused for the next span; row r is the span's option r.

    Attributes:
        values: uint64 (N_VALUES,); the values of the current option.
        numbers: float64 (n_rows, N_NUMBERS); the real-valued features of each option.
        buckets: int32 (n_rows, n_templates); the hashed features of each option.
        n_features: int64 (n_rows,); number of features of each option.
        score: float64 (n_rows,); score of each option.
    """

    values: NDArray[np.uint64]
    numbers: Floats
    buckets: Ints
    n_features: Offsets
    score: Floats


@kernel_part
def make_workspace(first, n_templates):
    """Return a workspace for the largest number of options (candidate labels) that any span has.

    Args:
        first: int64 (n_spans + 1,); options ``first[s]:first[s + 1]`` belong to span s.
        n_templates: number of feature templates.
    """
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
    """Compute the real-valued features of an option (candidate label of a span).

    Args:
        posteriors: float64 (n_grammars,); posteriors of the option.
        none: mean posterior of "no bracket" for the span.
        cell_odds: log-odds that the span is a bracket.
        numbers: float64 (N_NUMBERS,); output.

    Returns:
        The mean of the option's posteriors over grammars, and the standard deviation of their logarithms.
    """
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
    scaled = cell_odds / 3.0  # to the scale of the other numbers, so that its weight is learned as fast
    numbers[CELL_ODDS], numbers[CELL_ODDS + 1] = scaled, min(scaled, 0.0)
    return mean, spread


@kernel_part
def describe_span(s, options, tokens, labels, brackets, table, work):
    """Compute the numeric and hashed features of all options (candidate labels) of one span.

    Args:
        s: index of the span.
        options: SpanOptions.
        tokens: TokenValues of the span's sentence.
        labels: LabelValues.
        brackets: the sentence's likely brackets.
        table: int64; the templates, from `template_table`.
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
    """Write the score of each option (label) of a span; return the logarithm of the softmax's denominator.

    Args:
        n_options: number of options of the span.
        weight_of: float32; weights, indexed by the entries of ``work.buckets``.
        numbers_weight: float64 (N_NUMBERS,); weights of the real-valued features.
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
    """Return one sentence's slice of the token values of several concatenated sentences.

    Args:
        tokens: `TokenValues` of all sentences.
        first, last: range of the sentence's tokens, not counting padding; ``last`` exclusive.
        margins: total number of padding entries of all sentences before this one.
    """
    a, b = first + margins, last + margins + 6
    return TokenValues(
        tokens.word[a:b],
        tokens.shape[a:b],
        tokens.tag[a:b],
        tokens.coarse[a:b],
        tokens.fine[a:b],
        tokens.kind[a:b],
        tokens.relation[a:b],
        tokens.annotated_tag[a:b],
        tokens.tag_number[first:last],
        tokens.governor[first:last],
    )
