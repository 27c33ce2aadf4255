"""Kernels of the conditional random field: expected counts of a sentence, and an epoch of gradient steps."""

from __future__ import annotations

import numpy as np

from spectralnlp.estimators.tagger.kernels import score_sentence, vectors_around
from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.inference.chains.joint_features import is_forgotten
from spectralnlp.jit import (
    LANES,
    divide_by_root,
    fast_kernel,
    kernel,
    load_lanes,
    multiply_add,
    repeat,
    store_lanes,
)

_PADDING = N_OFFSETS // 2
# Tags with a smaller gradient, which are most tags of most tokens, do not change feature weights.
_RIGHT = 1e-3
# Initial value of AdaGrad's sums of squared gradients, which bounds first steps by the learning rate.
FIRST_SUM = 1e-2


@kernel
def count_expected(emissions, transitions, start, end, forward, backward, weights, pairs):
    """Compute marginals of tags and expected counts of transitions by the scaled forward-backward algorithm.

    Args:
        emissions: (n, k); emission scores of k tags at n tokens; overwritten with p(tag | sentence).
        transitions: float64 (k, k); exponentials of transition scores, (from, to).
        start, end: (k,); scores of first and last tags.
        forward, backward: float64 (at least n, k); work arrays, overwritten.
        weights: float64 (at least n, k); work array, overwritten.
        pairs: float64 (k, k); expected counts of transitions are added to it.

    Returns:
        False if probabilities underflow; ``pairs`` is then unchanged.
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
    # Use rows of the transposed matrix in the sums over the next tag, so that they can be vectorised.
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
    """Compute p(tag | sentence) as normalised products of forward and backward values.

    Args:
        forward, backward: float64 (at least n, k); values of k tags at n tokens.
        n: number of tokens.
        marginals: (n, k); output.

    Returns:
        False if a sum underflows.
    """
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
    """Take an AdaGrad step in a row of weights.

    Args:
        row, sums: weights of a feature for each tag, and sums of their squared gradients; updated.
        tags, n_tags: the first ``n_tags`` entries of ``tags`` are the tags whose weights change.
        gradient: gradient with respect to the weight of each tag.
        rate: learning rate.
    """
    for i in range(n_tags):
        y = tags[i]
        sums[y] += gradient[y] * gradient[y]
        row[y] -= rate * gradient[y] / np.sqrt(sums[y])


@fast_kernel
def _descend_all(row, sums, gradient, rate):
    for y in range(len(gradient)):
        sums[y] += gradient[y] * gradient[y]
        row[y] -= rate * gradient[y] / np.sqrt(sums[y])


@kernel
def descend_vectors(vectors, gradients, tokens, n_tokens, weights, sums, rate):
    """Take an AdaGrad step in the weights of word vectors, with the gradient summed over a sentence.

    Args:
        vectors: word vectors of the sentence, as `vectors_around` returns them.
        gradients: float32 (at least n_tokens, padded n_tags); gradient of each token's scores.
        tokens, n_tokens: the first ``n_tokens`` entries of ``tokens``, int64, are the tokens whose gradient
            is not negligible.
        weights, sums: float32 (n_offsets, k, padded n_tags); weights of the k vector components at each
            offset from a token, and sums of their squared gradients; updated.
        rate: float32; learning rate.
    """
    width, n_tags = weights.shape[1], weights.shape[2]
    stride, back = vectors.shape[1], repeat(-rate)
    change = np.empty(stride * n_tags, np.float32)
    for slot in range(N_OFFSETS):
        for y in range(0, n_tags, LANES):
            for j in range(0, width, 4):
                a = b = c = d = repeat(np.float32(0))
                for i in range(n_tokens):
                    gradient = load_lanes(gradients, tokens[i] * n_tags + y)
                    vector = vectors[tokens[i] + slot]
                    a = multiply_add(repeat(vector[j]), gradient, a)
                    b = multiply_add(repeat(vector[j + 1]), gradient, b)
                    c = multiply_add(repeat(vector[j + 2]), gradient, c)
                    d = multiply_add(repeat(vector[j + 3]), gradient, d)
                at = j * n_tags + y
                store_lanes(change, at, a)
                store_lanes(change, at + n_tags, b)
                store_lanes(change, at + 2 * n_tags, c)
                store_lanes(change, at + 3 * n_tags, d)
        first = slot * width * n_tags
        for at in range(0, width * n_tags, LANES):
            gradient = load_lanes(change, at)
            total = multiply_add(gradient, gradient, load_lanes(sums, first + at))
            step = divide_by_root(gradient, total)
            store_lanes(sums, first + at, total)
            store_lanes(weights, first + at, multiply_add(back, step, load_lanes(weights, first + at)))


@fast_kernel
def descend_token(t, first, base, examples, weights, sums, dropped, gradient, rate, tags):
    """Take an AdaGrad step in the weights of a token's features; return False if its gradient is negligible.

    Args:
        t: index of the token in the sentence.
        first: index of the sentence's first token among all tokens.
        base: index of the sentence's first token in ``examples.types``, which includes padding.
        examples, weights, dropped: see `likelihood_epoch`.
        sums: `ScoreWeights`; sums of squared gradients; updated.
        gradient: float32 (n_tags,); p(tag | sentence), minus 1 for the gold tag.
        rate: float32; learning rate.
        tags: int64 (n_tags,); work array, overwritten.
    """
    types, row_starts, rows, named = examples.types, examples.row_starts, examples.rows, examples.named
    features, feature_sums = weights.features, sums.features
    n_tags = 0
    for y in range(len(gradient)):
        if abs(gradient[y]) > _RIGHT:
            tags[n_tags] = y
            n_tags += 1
    if n_tags == 0:
        return False
    n_types = len(examples.words)
    for slot in range(N_OFFSETS + 1):
        at = base + t + (slot - _PADDING if slot < N_OFFSETS else 0)
        place = (slot if slot < N_OFFSETS else FIRST if t == 0 else INNER) * n_types + types[at]
        for i in range(named[place] if dropped[at] else row_starts[place], row_starts[place + 1]):
            _descend(features[rows[i]], feature_sums[rows[i]], tags, n_tags, gradient, rate)
    for p in range(examples.joint.shape[1]):
        row = examples.joint[first + t, p]
        if row >= 0 and not is_forgotten(dropped, base + t, p):
            _descend(features[row], feature_sums[row], tags, n_tags, gradient, rate)
    return True


@kernel
def likelihood_epoch(order, examples, weights, sums, forbidden, dropped, rate, emissions):
    """Take an AdaGrad step for each sentence, which lowers its negative log likelihood, -log p(tags | words).

    Args:
        order: int64; indices of the sentences, in order.
        examples: `Examples`.
        weights: `ScoreWeights`; updated.
        sums: `ScoreWeights`; sums of squared gradients; updated.
        forbidden: `ChainScores`; 0 or -inf, added to the scores of transitions, first and last tags.
        dropped: bool, in the shape of ``examples.types``; positions whose words are treated as unknown.
        rate: float32; learning rate of features; word vectors learn at half this rate.
        emissions: float32 (tokens of the longest sentence, padded n_tags); work array, overwritten.
    """
    starts, tags = examples.starts, examples.tags
    transitions, start, end = weights.transitions, weights.start, weights.end
    longest, k = len(emissions), len(start)
    forward, backward, scaled = np.empty((longest, k)), np.empty((longest, k)), np.empty((longest, k))
    pairs, steps = np.empty((k, k)), np.empty((k, k))
    gradient, some_tags, tokens = np.empty(k, np.float32), np.empty(k, np.int64), np.empty(longest, np.int64)
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
        gradients = emissions[:n, :k]
        if not count_expected(gradients, steps, first_scores, last_scores, forward, backward, scaled, pairs):
            continue
        for t in range(n):
            gradients[t, tags[first + t]] -= one
            if t > 0:
                pairs[tags[first + t - 1], tags[first + t]] -= 1.0
        for x in range(k):
            for y in range(k):
                gradient[y] = pairs[x, y]
            _descend_all(transitions[x], sums.transitions[x], gradient, rate)
        _descend_all(start, sums.start, gradients[0], rate)
        _descend_all(end, sums.end, gradients[n - 1], rate)
        n_asking = 0
        for t in range(n):
            if descend_token(t, first, base, examples, weights, sums, dropped, gradients[t], rate, some_tags):
                tokens[n_asking] = t
                n_asking += 1
        around = vectors_around(s, examples)
        descend_vectors(around, emissions, tokens, n_asking, weights.words, sums.words, rate / np.float32(2))
