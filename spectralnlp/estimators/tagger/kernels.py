"""Kernels of the tagger: scores of a sentence's tags, and a pass of the perceptron."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.inference.chains.joint_features import is_forgotten
from spectralnlp.inference.chains.linear_chains import viterbi
from spectralnlp.jit import fast_kernel, kernel
from spectralnlp.parameters import Ints, Offsets

Array32 = NDArray[np.float32]

# Numbers of words before each sentence, and after it, that stand for no word.
_PADDING = N_OFFSETS // 2


class Examples(NamedTuple):
    """Tagged sentences as numbers: the arrays that kernels read.

    Attributes:
        types: int32 (n_tokens + 4 · n_sentences,); words, two places before and after each sentence.
        starts: int64 (n_sentences + 1,).
        tags: int32 (n_tokens,).
        row_starts: int64 (n_slots · n_types + 1,); of the features of each word in each slot, slot by slot.
        rows: int32; those features; of each word in each slot those that name it come first.
        named: int64 (n_slots · n_types,); where those end, which no other word has.
        joint: int32 (n_tokens, n_joint); features of several words, columns of `joint_keys`, -1 for none.
        words: float32 (n_types, k).
        tokens: float32 (n_tokens, l).
    """

    types: Ints
    starts: Offsets
    tags: Ints
    row_starts: Offsets
    rows: Ints
    named: Offsets
    joint: Ints
    words: Array32
    tokens: Array32


class ScoreWeights(NamedTuple):
    """Weights under training, or for each weight the sum of its changes times the time they were made.

    Attributes:
        features: (n_features, n_tags), float32 of weights and float64 of changes, like the others.
        words: (n_offsets, k, n_tags); of the vectors of the words around a token.
        tokens: (l, n_tags); of the vector of the token's context.
        transitions: (n_tags, n_tags); from, to.
        start: (n_tags,); of the first tag.
        end: (n_tags,); of the last tag.
    """

    features: NDArray[np.floating[Any]]
    words: NDArray[np.floating[Any]]
    tokens: NDArray[np.floating[Any]]
    transitions: NDArray[np.floating[Any]]
    start: NDArray[np.floating[Any]]
    end: NDArray[np.floating[Any]]


class ChainScores(NamedTuple):
    """Scores of a chain of tags alone, such as -inf where a tag must not stand.

    Attributes:
        transitions: float32 (n_tags, n_tags); from, to.
        start: float32 (n_tags,); of the first tag.
        end: float32 (n_tags,); of the last tag.
    """

    transitions: Array32
    start: Array32
    end: Array32


def zero_weights(
    n_features: int, n_tags: int, word_width: int, token_width: int, dtype: type[np.floating[Any]]
) -> ScoreWeights:
    """Weights before training; the last arguments are lengths of vectors, and the type of the numbers."""
    return ScoreWeights(
        features=np.zeros((n_features, n_tags), dtype),
        words=np.zeros((N_OFFSETS, word_width, n_tags), dtype),
        tokens=np.zeros((token_width, n_tags), dtype),
        transitions=np.zeros((n_tags, n_tags), dtype),
        start=np.zeros(n_tags, dtype),
        end=np.zeros(n_tags, dtype),
    )


@fast_kernel
def _add_rows(first, last, rows, features, scores):
    for i in range(first, last):
        _add_row(features[rows[i]], scores)


@fast_kernel
def _add_row(row, scores):
    for y in range(len(scores)):
        scores[y] += row[y]


@fast_kernel
def _add_dense(vector, weights, scores):
    for j in range(len(vector)):
        for y in range(len(scores)):
            scores[y] += vector[j] * weights[j, y]


@fast_kernel
def score_sentence(s, examples, weights, dropped, emissions):
    """Write the scores of the tags of each token of a sentence.

    Args:
        s: which sentence.
        examples: `Examples`.
        weights: `ScoreWeights`, float32.
        dropped: bool, as ``examples.types``; places whose words are not to be known by name.
        emissions: float32 (at least n_tokens, n_tags); written.
    """
    types, row_starts, rows, joint = examples.types, examples.row_starts, examples.rows, examples.joint
    words, tokens = examples.words, examples.tokens
    features, word_weights, token_weights = weights.features, weights.words, weights.tokens
    named = examples.named
    first, n = examples.starts[s], examples.starts[s + 1] - examples.starts[s]
    base = first + 2 * _PADDING * s + _PADDING
    n_types = len(words)
    for t in range(n):
        scores = emissions[t]
        for y in range(len(scores)):
            scores[y] = 0.0
        for slot in range(N_OFFSETS + 1):
            at = base + t + (slot - _PADDING if slot < N_OFFSETS else 0)
            place = (slot if slot < N_OFFSETS else FIRST if t == 0 else INNER) * n_types + types[at]
            begin = named[place] if dropped[at] else row_starts[place]
            _add_rows(begin, row_starts[place + 1], rows, features, scores)
            if slot < N_OFFSETS:
                _add_dense(words[types[at]], word_weights[slot], scores)
        for p in range(joint.shape[1]):
            if joint[first + t, p] >= 0 and not is_forgotten(dropped, base + t, p):
                _add_row(features[joint[first + t, p]], scores)
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
def perceptron_epoch(order, examples, weights, changes, forbidden, emissions, time):
    """Tag sentences one after the other; where a tag is wrong, change the weights.

    Args:
        order: int64; the sentences.
        examples: `Examples`.
        weights: `ScoreWeights`, float32; changed.
        changes: `ScoreWeights`, float64; each change is added, times the time.
        forbidden: `ChainScores`; added to the scores of transitions, first and last tags: 0 or -inf.
        emissions: float32 (tokens of the longest sentence, n_tags); overwritten.
        time: sentences seen.

    Returns:
        The time, and the number of wrong tags.
    """
    types, starts, tags = examples.types, examples.starts, examples.tags
    row_starts, rows, joint = examples.row_starts, examples.rows, examples.joint
    words, tokens = examples.words, examples.tokens
    features, word_weights, token_weights = weights.features, weights.words, weights.tokens
    transitions, start, end = weights.transitions, weights.start, weights.end
    d_features, d_words, d_tokens = changes.features, changes.words, changes.tokens
    d_transitions, d_start, d_end = changes.transitions, changes.start, changes.end
    k = len(start)
    n_types = len(words)
    totals = np.empty((len(emissions), k), np.float32)
    found = np.empty(len(emissions), np.int32)
    allowed = np.empty((k, k), np.float32)
    none_dropped = np.zeros(len(types), np.bool_)
    wrong = 0
    for s in order:
        first, n = starts[s], starts[s + 1] - starts[s]
        base = first + 2 * _PADDING * s + _PADDING
        score_sentence(s, examples, weights, none_dropped, emissions)
        for x in range(k):
            for y in range(k):
                allowed[x, y] = transitions[x, y] + forbidden.transitions[x, y]
        viterbi(emissions[:n], allowed, start + forbidden.start, end + forbidden.end, totals, found[:n])
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
                word = types[base + t + o - _PADDING]
                at = o * n_types + word
                _change_rows(row_starts, rows, at, features, d_features, g, f, time)
                _change_dense(words[word], word_weights[o], d_words[o], g, f, time)
            own = (FIRST if t == 0 else INNER) * n_types + types[base + t]
            _change_rows(row_starts, rows, own, features, d_features, g, f, time)
            for p in range(joint.shape[1]):
                if joint[first + t, p] >= 0:
                    _change(features, d_features, joint[first + t, p], g, f, 1.0, time)
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
