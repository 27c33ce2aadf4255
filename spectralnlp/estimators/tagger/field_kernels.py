"""Kernels of the conditional random field: expected counts of a sentence, and a pass of gradient steps."""

from __future__ import annotations

import numpy as np

from spectralnlp.estimators.tagger.kernels import score_sentence
from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.inference.chains.joint_features import is_forgotten
from spectralnlp.jit import fast_kernel, kernel

_PADDING = N_OFFSETS // 2
# Tags whose probability is as good as right change no features: most of the tags of most tokens.
_RIGHT = 1e-3
# What AdaGrad's sums of squares begin with: first steps are no longer than the rate.
FIRST_SUM = 1e-2


@kernel
def count_expected(emissions, transitions, start, end, forward, backward, weights, pairs):
    """Expected numbers of tags and of pairs of tags: forward and backward passes, scaled at each token.

    Args:
        emissions: (n, k); overwritten with p(tag | sentence).
        transitions: float64 (k, k); from, to: e to the power of the scores.
        start, end: (k,); scores.
        forward, backward: float64 (at least n, k); overwritten.
        weights: float64 (at least n, k); overwritten.
        pairs: float64 (k, k); expected numbers are added.

    Returns:
        False where all sequences are too improbable for a number, and nothing was written.
    """
    n, k = emissions.shape
    for t in range(n):
        most = emissions[t].max()
        for y in range(k):
            weights[t, y] = np.exp(emissions[t, y] - most)
    for t in range(n):
        now = forward[t]
        if t == 0:
            for y in range(k):
                now[y] = np.exp(start[y])
        else:
            now[:] = 0.0
            for x in range(k):
                for y in range(k):
                    now[y] += forward[t - 1, x] * transitions[x, y]
        total = 0.0
        for y in range(k):
            now[y] *= weights[t, y]
            total += now[y]
        if not (0.0 < total < np.inf):
            return False
        for y in range(k):
            now[y] /= total
    # Sums over the next tag run along rows of the transposed matrix, which processors add up at once.
    leading, ahead, scales = transitions.T.copy(), np.empty(k), np.empty(n)
    for y in range(k):
        backward[n - 1, y] = np.exp(end[y])
    for t in range(n - 2, -1, -1):
        before = backward[t]
        before[:] = 0.0
        for y in range(k):
            ahead[y] = weights[t + 1, y] * backward[t + 1, y]
            for x in range(k):
                before[x] += leading[y, x] * ahead[y]
        total = before.sum()
        if not (0.0 < total < np.inf):
            return False
        for x in range(k):
            before[x] /= total
        scales[t] = total
    if not _normalise(forward, backward, n, emissions):
        return False
    for t in range(n - 1):
        total = 0.0
        for x in range(k):
            total += forward[t, x] * backward[t, x] * scales[t]
        for y in range(k):
            ahead[y] = weights[t + 1, y] * backward[t + 1, y]
        for x in range(k):
            share = forward[t, x] / total
            for y in range(k):
                pairs[x, y] += share * transitions[x, y] * ahead[y]
    return True


@kernel
def _normalise(forward, backward, n, marginals):
    """Write the products of both passes, scaled to probabilities; False if one cannot be."""
    for t in range(n):
        total = 0.0
        for y in range(marginals.shape[1]):
            total += forward[t, y] * backward[t, y]
        if not (0.0 < total < np.inf):
            return False
        for y in range(marginals.shape[1]):
            marginals[t, y] = forward[t, y] * backward[t, y] / total
    return True


@fast_kernel
def _descend(row, sums, tags, n_tags, gradient, rate):
    """A step of AdaGrad in the weights of some tags."""
    for i in range(n_tags):
        y = tags[i]
        sums[y] += gradient[y] * gradient[y]
        row[y] -= rate * gradient[y] / np.sqrt(sums[y])


@fast_kernel
def _descend_all(row, sums, gradient, value, rate):
    for y in range(len(gradient)):
        change = gradient[y] * value
        sums[y] += change * change
        row[y] -= rate * change / np.sqrt(sums[y])


@fast_kernel
def _descend_dense(vector, weights, sums, gradient, rate):
    for j in range(len(vector)):
        if vector[j] != 0:
            _descend_all(weights[j], sums[j], gradient, vector[j], rate)


@fast_kernel
def descend_token(t, first, base, examples, weights, sums, dropped, gradient, rate, tags):
    """Take a step in the weights of what is seen of a token.

    Args:
        t: which token of the sentence.
        first, base: where the sentence begins, among tokens and among ``examples.types``.
        examples, weights, dropped: as in `likelihood_epoch`.
        sums: of squares of gradients, as ``weights``.
        gradient: float32 (k,), p(tag | sentence) less 1 for the right tag.
        rate: of features; vectors have half of it.
        tags: int64 (k,), overwritten.
    """
    types, row_starts, rows, named = examples.types, examples.row_starts, examples.rows, examples.named
    features, feature_sums = weights.features, sums.features
    n_tags = 0
    for y in range(len(gradient)):
        if abs(gradient[y]) > _RIGHT:
            tags[n_tags] = y
            n_tags += 1
    if n_tags == 0:
        return
    n_types = len(examples.words)
    half = rate / np.float32(2)
    for slot in range(N_OFFSETS + 1):
        at = base + t + (slot - _PADDING if slot < N_OFFSETS else 0)
        place = (slot if slot < N_OFFSETS else FIRST if t == 0 else INNER) * n_types + types[at]
        for i in range(named[place] if dropped[at] else row_starts[place], row_starts[place + 1]):
            _descend(features[rows[i]], feature_sums[rows[i]], tags, n_tags, gradient, rate)
        if slot < N_OFFSETS:
            _descend_dense(examples.words[types[at]], weights.words[slot], sums.words[slot], gradient, half)
    for p in range(examples.joint.shape[1]):
        row = examples.joint[first + t, p]
        if row >= 0 and not is_forgotten(dropped, base + t, p):
            _descend(features[row], feature_sums[row], tags, n_tags, gradient, rate)


@kernel
def likelihood_epoch(order, examples, weights, sums, forbidden, dropped, rate, emissions):
    """Take a step down the gradient of each sentence's surprise, -log p(tags | words).

    Args:
        order: int64; the sentences.
        examples: `Examples`.
        weights: `ScoreWeights`, float32; changed.
        sums: `ScoreWeights`, float32; AdaGrad's sums of squares, changed.
        forbidden: `ChainScores`; added to the scores of transitions, first and last tags: 0 or -inf.
        dropped: bool, as ``examples.types``; places whose words are not to be known by name.
        rate: float32; the longest step.
        emissions: float32 (tokens of the longest sentence, n_tags); overwritten.
    """
    starts, tags = examples.starts, examples.tags
    transitions, start, end = weights.transitions, weights.start, weights.end
    longest, k = emissions.shape
    forward, backward, scaled = np.empty((longest, k)), np.empty((longest, k)), np.empty((longest, k))
    pairs, steps = np.empty((k, k)), np.empty((k, k))
    gradient, active = np.empty(k, np.float32), np.empty(k, np.int64)
    one = np.float32(1)
    for s in order:
        first, n = starts[s], starts[s + 1] - starts[s]
        base = first + 2 * _PADDING * s + _PADDING
        score_sentence(s, examples, weights, dropped, emissions)
        for x in range(k):
            for y in range(k):
                steps[x, y] = np.exp(transitions[x, y] + forbidden.transitions[x, y])
                pairs[x, y] = 0.0
        first_scores, last_scores = start + forbidden.start, end + forbidden.end
        found = emissions[:n]
        if not count_expected(found, steps, first_scores, last_scores, forward, backward, scaled, pairs):
            continue
        for t in range(n):
            found[t, tags[first + t]] -= one
            if t > 0:
                pairs[tags[first + t - 1], tags[first + t]] -= 1.0
        for x in range(k):
            for y in range(k):
                gradient[y] = pairs[x, y]
            _descend_all(transitions[x], sums.transitions[x], gradient, one, rate)
        _descend_all(start, sums.start, found[0], one, rate)
        _descend_all(end, sums.end, found[n - 1], one, rate)
        for t in range(n):
            descend_token(t, first, base, examples, weights, sums, dropped, found[t], rate, active)
