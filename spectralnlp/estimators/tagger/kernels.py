"""Kernels that compute the scores of tags, with the arrays that encode sentences and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.inference.chains.joint_features import is_forgotten
from spectralnlp.jit import (
    LANES,
    fast_kernel,
    kernel,
    load_lanes,
    multiply_add,
    padded,
    repeat,
    store_lanes,
)
from spectralnlp.parameters import Ints, Offsets
from spectralnlp.runtime import offsets_of

Array32 = NDArray[np.float32]

# Number of padding words before and after each sentence.
_PADDING = N_OFFSETS // 2


class Examples(NamedTuple):
    """Tagged sentences, encoded as arrays for kernels.

    A slot is a position relative to the token. A word has features in each slot; those that no other word has
    are called its identity features.

    Attributes:
        types: int32 (n_tokens + 4 · n_sentences,); word type of each token, with two padding words before and
            after each sentence.
        starts: int64 (n_sentences + 1,); first token of each sentence.
        tags: int32 (n_tokens,); gold tag of each token.
        row_starts: int64 (n_slots · n_types + 1,); start in ``rows`` of the features of each word type in
            each slot, slot by slot.
        rows: int32; features of each word type in each slot, identity features first.
        named: int64 (n_slots · n_types,); end in ``rows`` of the identity features.
        joint: int32 (n_tokens, n_joint); features of several words, as in `joint_keys`, -1 for none.
        words: float32 (n_types, k); vector of each word type.
    """

    types: Ints
    starts: Offsets
    tags: Ints
    row_starts: Offsets
    rows: Ints
    named: Offsets
    joint: Ints
    words: Array32


class ScoreWeights(NamedTuple):
    """Weights of the model during training, or the sums of their squared gradients; all float32.

    Attributes:
        features: (n_features, n_tags); weights of features.
        words: (n_offsets, k, padded n_tags); weights of the word vectors, of length k, at each offset from
            a token.
        transitions: (n_tags, n_tags); scores of transitions, (from, to).
        start: (n_tags,); scores of the first tag.
        end: (n_tags,); scores of the last tag.
    """

    features: Array32
    words: Array32
    transitions: Array32
    start: Array32
    end: Array32


class ChainScores(NamedTuple):
    """Scores of tag sequences that do not depend on words, such as -inf for forbidden tags.

    Attributes:
        transitions: float32 (n_tags, n_tags); scores of transitions, (from, to).
        start: float32 (n_tags,); scores of the first tag.
        end: float32 (n_tags,); scores of the last tag.
    """

    transitions: Array32
    start: Array32
    end: Array32


def zero_weights(n_features: int, n_tags: int, word_width: int) -> ScoreWeights:
    """Return `ScoreWeights` of zeros; ``word_width`` is the length of word vectors."""
    return ScoreWeights(
        features=np.zeros((n_features, n_tags), np.float32),
        words=np.zeros((N_OFFSETS, word_width, padded(n_tags)), np.float32),
        transitions=np.zeros((n_tags, n_tags), np.float32),
        start=np.zeros(n_tags, np.float32),
        end=np.zeros(n_tags, np.float32),
    )


@fast_kernel
def _add_rows(first, last, rows, features, scores):
    for i in range(first, last):
        _add_row(features[rows[i]], scores)


@fast_kernel
def _add_row(row, scores):
    for y in range(len(row)):
        scores[y] += row[y]


@kernel
def vectors_around(s, examples):
    """Return the word vectors of a sentence with two padding words on each side, (n_tokens + 4, padded k)."""
    words, width = examples.words, examples.words.shape[1]
    first, n = examples.starts[s], examples.starts[s + 1] - examples.starts[s]
    vectors = np.zeros((n + 2 * _PADDING, padded(width)), np.float32)
    for i in range(len(vectors)):
        for j in range(width):
            vectors[i, j] = words[examples.types[first + 2 * _PADDING * s + i], j]
    return vectors


@kernel
def score_vectors(vectors, weights, scores):
    """Compute the part of the tag scores that comes from word vectors, four tokens at a time.

    Args:
        vectors: word vectors of the sentence, as `vectors_around` returns them.
        weights: float32 (n_offsets, k, padded n_tags); weights of word vectors.
        scores: float32 (at least n_tokens, padded n_tags); output.
    """
    n = len(vectors) - 2 * _PADDING
    width, n_tags = weights.shape[1], weights.shape[2]
    for y in range(0, n_tags, LANES):
        for t in range(0, n, 4):
            # Beyond the end of the sentence, the last token is repeated.
            u, v, w = min(t + 1, n - 1), min(t + 2, n - 1), min(t + 3, n - 1)
            a = b = c = d = repeat(np.float32(0))
            for slot in range(N_OFFSETS):
                for j in range(width):
                    factors = load_lanes(weights, (slot * width + j) * n_tags + y)
                    a = multiply_add(repeat(vectors[t + slot, j]), factors, a)
                    b = multiply_add(repeat(vectors[u + slot, j]), factors, b)
                    c = multiply_add(repeat(vectors[v + slot, j]), factors, c)
                    d = multiply_add(repeat(vectors[w + slot, j]), factors, d)
            store_lanes(scores, t * n_tags + y, a)
            store_lanes(scores, u * n_tags + y, b)
            store_lanes(scores, v * n_tags + y, c)
            store_lanes(scores, w * n_tags + y, d)


@fast_kernel
def score_sentence(s, examples, weights, dropped, emissions):
    """Compute the scores of all tags for each token of a sentence.

    Args:
        s: index of the sentence.
        examples: `Examples`.
        weights: `ScoreWeights`.
        dropped: bool, in the shape of ``examples.types``; positions whose words are treated as unknown.
        emissions: float32 (at least n_tokens, padded n_tags); output.
    """
    types, row_starts, rows, joint = examples.types, examples.row_starts, examples.rows, examples.joint
    named, features = examples.named, weights.features
    first, n = examples.starts[s], examples.starts[s + 1] - examples.starts[s]
    base = first + 2 * _PADDING * s + _PADDING
    n_types = len(examples.words)
    score_vectors(vectors_around(s, examples), weights.words, emissions)
    for t in range(n):
        scores = emissions[t]
        for slot in range(N_OFFSETS + 1):
            at = base + t + (slot - _PADDING if slot < N_OFFSETS else 0)
            place = (slot if slot < N_OFFSETS else FIRST if t == 0 else INNER) * n_types + types[at]
            begin = named[place] if dropped[at] else row_starts[place]
            _add_rows(begin, row_starts[place + 1], rows, features, scores)
        for p in range(joint.shape[1]):
            if joint[first + t, p] >= 0 and not is_forgotten(dropped, base + t, p):
                _add_row(features[joint[first + t, p]], scores)


def emissions_of(
    examples: Examples, order: NDArray[np.int64], weights: ScoreWeights
) -> tuple[Array32, Offsets]:
    """Compute the tag scores of some sentences.

    Args:
        examples: encoded sentences.
        order: int64; indices of the sentences to score, in order.
        weights: weights of the model.

    Returns:
        Scores, float32 (n_tokens, n_tags), and the first token of each sentence, int64 (n_sentences + 1,).
    """
    lengths = np.diff(examples.starts)[order]
    starts = offsets_of(lengths)
    n_tags = weights.features.shape[1]
    emissions = np.zeros((int(starts[-1]), padded(n_tags)), np.float32)
    none_dropped = np.zeros(len(examples.types), bool)
    for i, s in enumerate(order):
        score_sentence(s, examples, weights, none_dropped, emissions[starts[i] : starts[i + 1]])
    return np.ascontiguousarray(emissions[:, :n_tags]), starts
