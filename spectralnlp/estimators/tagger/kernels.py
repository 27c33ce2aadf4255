"""Kernels of the tagger: the numbers of sentences, and the scores of their tags."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.inference.chains.joint_features import is_forgotten
from spectralnlp.jit import fast_kernel
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
    """Weights under training, or a number for each of them; all float32.

    Attributes:
        features: (n_features, n_tags).
        words: (n_offsets, k, n_tags); of the vectors of the words around a token.
        transitions: (n_tags, n_tags); from, to.
        start: (n_tags,); of the first tag.
        end: (n_tags,); of the last tag.
    """

    features: Array32
    words: Array32
    transitions: Array32
    start: Array32
    end: Array32


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


def zero_weights(n_features: int, n_tags: int, word_width: int) -> ScoreWeights:
    """Weights before training; the last argument is the length of vectors."""
    return ScoreWeights(
        features=np.zeros((n_features, n_tags), np.float32),
        words=np.zeros((N_OFFSETS, word_width, n_tags), np.float32),
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
    words, named = examples.words, examples.named
    features, word_weights = weights.features, weights.words
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


def emissions_of(
    examples: Examples, order: NDArray[np.int64], weights: ScoreWeights
) -> tuple[Array32, Offsets]:
    """Score the tags of some sentences.

    Args:
        examples: sentences.
        order: int64; those to score, one after the other.
        weights: float32.

    Returns:
        float32 (n_tokens, n_tags), and int64 (n_sentences + 1,), where each sentence begins.
    """
    lengths = np.diff(examples.starts)[order]
    starts = np.append(0, np.cumsum(lengths))
    emissions = np.zeros((int(starts[-1]), weights.features.shape[1]), np.float32)
    none_dropped = np.zeros(len(examples.types), bool)
    for i, s in enumerate(order):
        score_sentence(s, examples, weights, none_dropped, emissions[starts[i] : starts[i + 1]])
    return emissions, starts
