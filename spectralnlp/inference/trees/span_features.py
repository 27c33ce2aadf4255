"""Compute hashed features of spans and of their boundaries, and scores of spans as sums of feature weights.

The scores are those of the model of unlabelled bracketings (`bracketing`) that chooses which spans a parser
considers. A feature is a hash of its template and its values; its low bits are the index of its weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.hashing import GOLDEN, mix
from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Ints

# The two sides of a constituent: it begins or ends at a place between tokens.
BEGIN, END = 0, 1

# Number of features of a place (for one side) and of a span.
N_PLACE, N_SPAN = 25, 20

# The value of positions outside the sentence.
_OUTSIDE = -1

# Widest span whose tags are conjoined in one feature.
_FEW = 4

# Greatest count of punctuation tokens in a feature; more count as this many.
_MAX_MARKS = 3


class TokenAttributes(NamedTuple):
    """Token features of a sentence, as integer ids.

    Attributes:
        word: int64 (n_tokens,); the word, or the signature of a rare word.
        tag, second: int64 (n_tokens,); the most probable and the second most probable tag of the word.
        shape: int64 (n_tokens,); the word's signature (its class by spelling).
        marks: int32 (n_tokens + 1,); number of punctuation tokens before each token.
    """

    word: NDArray[np.int64]
    tag: NDArray[np.int64]
    second: NDArray[np.int64]
    shape: NDArray[np.int64]
    marks: Ints


@kernel_part
def _at(values: Any, place: int) -> int:
    """Return the value of the token at index ``place``; `_OUTSIDE` if the sentence has no such token."""
    return int(values[place]) if 0 <= place < len(values) else _OUTSIDE


@kernel_part
def _with(code: Any, value: int) -> Any:
    """Extend the hash of a feature, ``code``, by one value, which may be -1 (`_OUTSIDE`)."""
    return mix(code, np.uint64(value + 2))


@kernel_part
def _one(template: int, a: int) -> Any:
    return _with(np.uint64(template) * GOLDEN, a)


@kernel_part
def _two(template: int, a: int, b: int) -> Any:
    return _with(_one(template, a), b)


@kernel_part
def _three(template: int, a: int, b: int, c: int) -> Any:
    return _with(_two(template, a, b), c)


@kernel_part
def _four(template: int, a: int, b: int, c: int, d: int) -> Any:
    return _with(_three(template, a, b, c), d)


@kernel_part
def place_features(attributes, place, side, codes):
    """Write the features of a constituent that begins or ends at a boundary between tokens.

    Args:
        attributes: TokenAttributes, the token features of the sentence.
        place: index of the token after the boundary, 0 to n_tokens.
        side: BEGIN if the constituent begins there, END if it ends there.
        codes: uint32 (N_PLACE,); output, the hashes of the features.
    """
    t, w, s, u = attributes.tag, attributes.word, attributes.shape, attributes.second
    t3, t2, t1 = _at(t, place - 3), _at(t, place - 2), _at(t, place - 1)
    t_0, t_1, t_2 = _at(t, place), _at(t, place + 1), _at(t, place + 2)
    w2, w1, w_0, w_1 = _at(w, place - 2), _at(w, place - 1), _at(w, place), _at(w, place + 1)
    s1, s_0, u1, u_0 = _at(s, place - 1), _at(s, place), _at(u, place - 1), _at(u, place)
    base = 64 * (side + 1)
    codes[0] = _two(base, t1, t_0)
    codes[1] = _one(base + 1, t_0)
    codes[2] = _one(base + 2, t1)
    codes[3] = _two(base + 3, t2, t1)
    codes[4] = _two(base + 4, t_0, t_1)
    codes[5] = _three(base + 5, t2, t1, t_0)
    codes[6] = _three(base + 6, t1, t_0, t_1)
    codes[7] = _four(base + 7, t2, t1, t_0, t_1)
    codes[8] = _three(base + 8, t_0, t_1, t_2)
    codes[9] = _three(base + 9, t3, t2, t1)
    codes[10] = _one(base + 10, w1)
    codes[11] = _one(base + 11, w_0)
    codes[12] = _two(base + 12, w1, t_0)
    codes[13] = _two(base + 13, t1, w_0)
    codes[14] = _two(base + 14, w1, w_0)
    codes[15] = _one(base + 15, s1)
    codes[16] = _one(base + 16, s_0)
    codes[17] = _two(base + 17, s1, t_0)
    codes[18] = _two(base + 18, t1, s_0)
    codes[19] = _three(base + 19, u1, t1, t_0)
    codes[20] = _three(base + 20, t1, t_0, u_0)
    codes[21] = _two(base + 21, w_0, t_1)
    codes[22] = _two(base + 22, t2, w1)
    codes[23] = _two(base + 23, w_1, t_0)
    codes[24] = _two(base + 24, w2, t1)


@kernel_part
def span_features(attributes, start, end, codes):
    """Write the features of a span of several tokens.

    Args:
        attributes: TokenAttributes, the token features of the sentence.
        start, end: range of the span's tokens, ``end`` exclusive.
        codes: uint32 (N_SPAN,); output, the hashes of the features.
    """
    t, w, m = attributes.tag, attributes.word, attributes.marks
    width = _width_class(end - start)
    first, last = int(t[start]), int(t[end - 1])
    before, after = _at(t, start - 1), _at(t, end)
    word_before, word_after = _at(w, start - 1), _at(w, end)
    word_first, word_last = int(w[start]), int(w[end - 1])
    marks = min(int(m[end - 1] - m[start + 1]), _MAX_MARKS)
    codes[0] = _one(0, width)
    codes[1] = _three(1, width, first, last)
    codes[2] = _three(2, width, before, after)
    codes[3] = _two(3, first, last)
    codes[4] = _two(4, before, after)
    codes[5] = _four(5, before, first, last, after)
    codes[6] = _three(6, before, first, last)
    codes[7] = _three(7, first, last, after)
    codes[8] = _two(8, first, after)
    codes[9] = _two(9, before, last)
    codes[10] = _two(10, word_first, word_last)
    codes[11] = _two(11, word_before, word_after)
    codes[12] = _three(12, word_first, last, after)
    codes[13] = _three(13, before, first, word_after)
    codes[14] = _two(14, marks, width)
    codes[15] = _three(15, marks, before, after)
    codes[16] = _three(16, word_before, last, after)
    codes[17] = _two(17, word_first, width)
    codes[18] = _two(18, word_before, width)
    code = _one(19, end - start)
    if end - start <= _FEW:
        for token in range(start, end):
            code = _with(code, int(t[token]))
    codes[19] = code


@kernel_part
def _width_class(width: int) -> int:
    """Return the class of a width: the width itself up to 5, then classes on a logarithmic scale."""
    if width <= 5:
        return width
    return int(5 + np.floor(3.0 * np.log2(width / 5.0)))


@kernel
def place_scores(weights, attributes):
    """Return the scores of constituents that begin, and that end, at each boundary between tokens.

    Args:
        weights: float32 (n_weights,); weights of hashed features, n_weights is a power of two.
        attributes: TokenAttributes, the token features of the sentence.

    Returns:
        float64 (2, n_tokens + 1); scores for BEGIN and END.
    """
    n, mask = len(attributes.word), np.uint32(len(weights) - 1)
    scores = np.zeros((2, n + 1))
    codes = np.empty(N_PLACE, np.uint32)
    for place in range(n + 1):
        for side in range(2):
            place_features(attributes, place, side, codes)
            for number in range(N_PLACE):
                scores[side, place] += weights[codes[number] & mask]
    return scores


@kernel
def span_scores(weights, attributes, places, start, end):
    """Return the score of each span, float64 (n_spans,); 0 for single tokens.

    Args:
        weights: float32 (n_weights,); weights of hashed features, n_weights is a power of two.
        attributes: TokenAttributes, the token features of the sentence.
        places: float64 (2, n_tokens + 1); the result of :func:`place_scores`.
        start, end: int32 (n_spans,); range of the tokens of each span, ``end`` exclusive.
    """
    mask = np.uint32(len(weights) - 1)
    codes = np.empty(N_SPAN, np.uint32)
    scores = np.zeros(len(start))
    for span in range(len(start)):
        if end[span] - start[span] > 1:
            span_features(attributes, start[span], end[span], codes)
            score = places[BEGIN, start[span]] + places[END, end[span]]
            for number in range(N_SPAN):
                score += weights[codes[number] & mask]
            scores[span] = score
    return scores
