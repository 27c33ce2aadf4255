"""Kernels of the tagger: forms of words, vectors of contexts, and the perceptron's epoch."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.inference.chains.linear_chains import viterbi
from spectralnlp.jit import fast_kernel, kernel


@fast_kernel
def _add_rows(row_starts, rows, at, features, scores):
    for i in range(row_starts[at], row_starts[at + 1]):
        row = features[rows[i]]
        for y in range(len(scores)):
            scores[y] += row[y]


@fast_kernel
def _add_dense(vector, weights, scores):
    for j in range(len(vector)):
        for y in range(len(scores)):
            scores[y] += vector[j] * weights[j, y]


@fast_kernel
def score_sentence(
    s, types, starts, row_starts, rows, pairs, words, tokens, features, word_weights, token_weights, emissions
):
    """Scores of tags of the tokens of sentence ``s``, by `Examples` and weights; ``emissions`` is written."""
    first, n = starts[s], starts[s + 1] - starts[s]
    base = first + 4 * s + 2
    n_types = len(words)
    for t in range(n):
        scores = emissions[t]
        for y in range(len(scores)):
            scores[y] = 0.0
        for o in range(N_OFFSETS):
            word = types[base + t + o - 2]
            _add_rows(row_starts, rows, o * n_types + word, features, scores)
            _add_dense(words[word], word_weights[o], scores)
        own = (FIRST if t == 0 else INNER) * n_types + types[base + t]
        _add_rows(row_starts, rows, own, features, scores)
        for p in range(pairs.shape[1]):
            if pairs[first + t, p] >= 0:
                row = features[pairs[first + t, p]]
                for y in range(len(scores)):
                    scores[y] += row[y]
        _add_dense(tokens[first + t], token_weights, scores)


@kernel
def _change(weights, changes, at, gold, found, amount, time):
    weights[at, gold] += amount
    weights[at, found] -= amount
    changes[at, gold] += amount * time
    changes[at, found] -= amount * time


@kernel
def _change_rows(row_starts, rows, at, features, changes, gold, found, time):
    for i in range(row_starts[at], row_starts[at + 1]):
        _change(features, changes, rows[i], gold, found, 1.0, time)


@kernel
def _change_dense(vector, weights, changes, gold, found, time):
    for j in range(len(vector)):
        _change(weights, changes, j, gold, found, vector[j], time)


@kernel
def perceptron_epoch(
    order, types, starts, tags, row_starts, rows, pairs, words, tokens,
    features, word_weights, token_weights, transitions, start, end,
    d_features, d_words, d_tokens, d_transitions, d_start, d_end,
    no_transition, no_start, no_end, emissions, time,
):  # fmt: skip
    """Tag each sentence of ``order``; where a tag is wrong, change weights, and note changes times the time.

    Returns:
        The time, and the number of wrong tags.
    """
    k = len(start)
    n_types = len(words)
    totals = np.empty((len(emissions), k), np.float32)
    found = np.empty(len(emissions), np.int32)
    allowed = np.empty((k, k), np.float32)
    wrong = 0
    for s in order:
        first, n = starts[s], starts[s + 1] - starts[s]
        base = first + 4 * s + 2
        score_sentence(
            s, types, starts, row_starts, rows, pairs, words, tokens,
            features, word_weights, token_weights, emissions,
        )  # fmt: skip
        for x in range(k):
            for y in range(k):
                allowed[x, y] = transitions[x, y] + no_transition[x, y]
        viterbi(emissions[:n], allowed, start + no_start, end + no_end, totals, found[:n])
        time += 1
        gold = tags[first : first + n]
        for t in range(n):
            g, f = gold[t], found[t]
            if t > 0 and (g != f or gold[t - 1] != found[t - 1]):
                transitions[gold[t - 1], g] += 1.0
                transitions[found[t - 1], f] -= 1.0
                d_transitions[gold[t - 1], g] += time
                d_transitions[found[t - 1], f] -= time
            if g == f:
                continue
            wrong += 1
            for o in range(N_OFFSETS):
                word = types[base + t + o - 2]
                at = o * n_types + word
                _change_rows(row_starts, rows, at, features, d_features, g, f, time)
                _change_dense(words[word], word_weights[o], d_words[o], g, f, time)
            own = (FIRST if t == 0 else INNER) * n_types + types[base + t]
            _change_rows(row_starts, rows, own, features, d_features, g, f, time)
            for p in range(pairs.shape[1]):
                if pairs[first + t, p] >= 0:
                    _change(features, d_features, pairs[first + t, p], g, f, 1.0, time)
            _change_dense(tokens[first + t], token_weights, d_tokens, g, f, time)
        if gold[0] != found[0]:
            start[gold[0]] += 1.0
            start[found[0]] -= 1.0
            d_start[gold[0]] += time
            d_start[found[0]] -= time
        if gold[n - 1] != found[n - 1]:
            end[gold[n - 1]] += 1.0
            end[found[n - 1]] -= 1.0
            d_end[gold[n - 1]] += time
            d_end[found[n - 1]] -= time
    return time, wrong
