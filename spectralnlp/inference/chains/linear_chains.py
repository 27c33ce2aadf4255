"""Decoding of linear chains of tags: the best sequence, and the marginals of tags.

The score of tags y₁…y_n is start[y₁] + Σ emissions[t, y_t] + Σ transitions[y_t, y_{t+1}] + end[y_n]; it is
-inf for forbidden sequences. Sentences are concatenated; ``starts`` holds the first token of each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.semirings import MaxPlus, plus, times
from spectralnlp.jit import kernel, kernel_part

Scores = NDArray[np.float32]
Offsets = NDArray[np.int64]

# Underflow is negligible in sums of exponentials that are greater than this.
_MIN_SUM = 1e-280


def best_tags(
    emissions: Scores, starts: Offsets, transitions: Scores, start: Scores, end: Scores
) -> NDArray[np.int32]:
    """Find the tags with the best score, by the algorithm of Viterbi (1967).

    Args:
        emissions: float32 (n_tokens, n_tags); scores.
        starts: int64 (n_sentences + 1,); first token of each sentence, then n_tokens.
        transitions: float32 (n_tags, n_tags); scores from a tag (row) to the next (column).
        start, end: float32 (n_tags,); scores of the first and the last tag of a sentence.

    Returns:
        Tag numbers, int32 (n_tokens,).
    """
    tags = np.empty(len(emissions), np.int32)
    longest = int(np.diff(starts).max(initial=1))
    totals = np.empty((longest, emissions.shape[1]), np.float32)
    _for_each_sentence(emissions, starts, np.ascontiguousarray(transitions), start, end, totals, tags)
    return tags


@kernel
def _for_each_sentence(emissions, starts, transitions, start, end, totals, tags):
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        if last > first:
            viterbi(emissions[first:last], transitions, start, end, totals, tags[first:last])


@kernel
def viterbi(emissions, transitions, start, end, totals, tags):
    """Find the best tags of one sentence by the Viterbi algorithm.

    Args:
        emissions: (n, k); score of each tag at each token.
        transitions: (k, k); scores from a tag (row) to the next (column).
        start, end: (k,); scores of the first and the last tag.
        totals: (at least n, k); work array, overwritten.
        tags: int32 (n,); output.
    """
    n = len(emissions)
    forward(MaxPlus(-np.inf, 0.0), emissions, transitions, start, totals)
    tag = _first_best(totals[n - 1], end)
    for t in range(n - 1, 0, -1):
        tags[t] = tag
        tag = _first_best(totals[t - 1], transitions[:, tag])
    tags[0] = tag


@kernel
def forward(semiring, emissions, transitions, start, totals):
    """Compute, for each token and tag, the total weight of all tag sequences that end there in that tag.

    This is the forward recursion over a chain, in any semiring.

    Args:
        semiring: a semiring of :mod:`spectralnlp.inference.semirings`.
        emissions: (n, k); weight of each tag at each token.
        transitions: (k, k); weights from a tag (row) to the next (column).
        start: (k,); weight of each tag at the first token.
        totals: (at least n, k); output.
    """
    n, k = emissions.shape
    for y in range(k):
        totals[0, y] = times(semiring, start[y], emissions[0, y])
    for t in range(1, n):
        before, now, scores = totals[t - 1], totals[t], emissions[t]
        for y in range(k):
            now[y] = times(semiring, before[0], transitions[0, y])
        for x in range(1, k):
            weight, following = before[x], transitions[x]  # so that the loop below is vectorised
            for y in range(k):
                now[y] = plus(semiring, now[y], times(semiring, weight, following[y]))
        for y in range(k):
            now[y] = times(semiring, now[y], scores[y])


@kernel
def _first_best(totals, following):
    """Return the best tag of a token, given the tag of the next token; the lowest id in a tie.

    Args:
        totals: (k,); score of the best sequence that ends in each tag.
        following: (k,); score of the transition from each tag to the next token's tag or, for the last
            token, score of each tag at the end.
    """
    most, best = totals[0] + following[0], 0
    for x in range(1, len(totals)):
        score = totals[x] + following[x]
        if score > most:
            most, best = score, x
    return best


def tag_marginals(
    emissions: Scores, starts: Offsets, transitions: Scores, start: Scores, end: Scores
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute marginal probabilities of tags by the forward and backward passes; scores are log weights.

    Args:
        emissions, starts, transitions, start, end: as for `best_tags`.

    Returns:
        p(tag | sentence), float64 (n_tokens, n_tags); and float64 (n_sentences,), the logarithm of the sum of
        all sequences' weights.
    """
    marginals = np.empty(emissions.shape)
    log_sums = np.zeros(len(starts) - 1)
    _sum_product(emissions, starts, _Steps.of(transitions), start, end, marginals, log_sums)
    return marginals, log_sums


class _Steps(NamedTuple):
    """Transition scores, precomputed for the forward and the backward pass.

    Attributes:
        score: float64 (n_tags, n_tags); score from tag x (row) to tag y (column).
        weight: float64 (n_tags, n_tags); exp(score - most).
        most: the largest score; 0 if it is not finite.
    """

    score: NDArray[np.float64]
    weight: NDArray[np.float64]
    most: float

    @classmethod
    def of(cls, transitions: Scores) -> _Steps:
        score = transitions.astype(np.float64)
        most = float(score.max()) if score.size and np.isfinite(score.max()) else 0.0
        return cls(score, np.exp(score - most), most)


@kernel
def _log_sum(values):
    top = values.max()
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += np.exp(value - top)
    return top + np.log(total)


@kernel_part
def _step(steps, forwards, scores, share, sums, pair_scores):
    """Take one step of the forward or backward pass, in logarithms.

    For each tag, the result is the log-sum-exp of scores plus transitions over all tags before it
    (``forwards``) or after it. Sums that are small enough to underflow are computed again in logarithms.

    Args:
        steps: transition scores.
        forwards: whether this is a step of the forward pass.
        scores: float64 (k,); scores of the tags of the token before (or after).
        share, pair_scores: float64 (k,); work arrays, overwritten.
        sums: float64 (k,); output.
    """
    k, top = len(scores), scores.max()
    for x in range(k):
        share[x] = np.exp(scores[x] - top) if top > -np.inf else 0.0
        sums[x] = 0.0
    for x in range(k):
        if forwards:
            for y in range(k):
                sums[y] += share[x] * steps.weight[x, y]
        else:
            total = 0.0
            for y in range(k):
                total += steps.weight[x, y] * share[y]
            sums[x] = total
    for y in range(k):
        if sums[y] > _MIN_SUM:
            sums[y] = top + steps.most + np.log(sums[y])
            continue
        for x in range(k):
            pair_scores[x] = scores[x] + (steps.score[x, y] if forwards else steps.score[y, x])
        sums[y] = _log_sum(pair_scores)


@kernel
def _sum_product(emissions, starts, steps, start, end, marginals, log_sums):
    k = emissions.shape[1]
    backward, before, values, share = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    sums = np.empty(k)
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        if last == first:
            continue
        forward = marginals  # overwritten by marginals, from the last token to the first
        for y in range(k):
            forward[first, y] = start[y] + emissions[first, y]
        for t in range(first + 1, last):
            _step(steps, True, forward[t - 1], share, sums, values)
            for y in range(k):
                forward[t, y] = sums[y] + emissions[t, y]
        for y in range(k):
            backward[y] = end[y]
            values[y] = forward[last - 1, y] + end[y]
        log_sums[s] = _log_sum(values)
        for t in range(last - 1, first - 1, -1):
            if t < last - 1:
                for y in range(k):
                    before[y] = backward[y] + emissions[t + 1, y]
                _step(steps, False, before, share, backward, values)
            for y in range(k):
                marginals[t, y] = np.exp(forward[t, y] + backward[y] - log_sums[s])
