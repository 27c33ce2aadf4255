"""Kernels that hash words, given as bytes, and extract features of their spelling."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel

_FNV_START, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
# Kinds of spelling features; with literal numbers instead, numba would compile a version for each.
_PREFIX, _TRIGRAM, _SUFFIX, _SHAPE, _LENGTH = map(np.uint64, range(1, 6))


@kernel
def hash_word(text, start, end):
    """Return a 64-bit hash of the bytes ``text[start:end]``: FNV-1a, whose bits are then mixed."""
    value = _FNV_START
    for i in range(start, end):
        value = (value ^ np.uint64(text[i])) * _FNV_PRIME
    value = (value ^ (value >> _HALF)) * _GOLDEN
    return value ^ (value >> _HALF)


@kernel
def spelling_features(text, bounds, bits, rows, columns):
    """Compute the hashed spelling features of words; see `features_of` in ``spelling.py``.

    Args:
        text: uint8; the words in UTF-8, concatenated.
        bounds: int64 (n_words + 1,); start of each word in ``text``.
        bits: number of bits of a feature id; ids are below 2^bits.
        rows: int64 (n_words + 1,); start of each word's features in ``columns``, written.
        columns: int32, long enough for all features; ids of the features, written.

    Returns:
        The number of features.
    """
    mask = (1 << bits) - 1
    n = 0
    shape = np.empty(16, np.uint8)
    for word in range(len(bounds) - 1):
        start, end = bounds[word], bounds[word + 1]
        length = 0
        for i in range(start, end):
            length += (text[i] & 0xC0) != 0x80
        first = last = start  # of the prefix, and of the trigram
        position, n_shape, kind = 0, 0, 0
        i = start
        while i < end:
            following = i + 1
            while following < end and (text[following] & 0xC0) == 0x80:
                following += 1
            position += 1
            if position <= 4:
                columns[n] = _feature(text, first, following, _PREFIX) & mask
                n += 1
            if position >= 3:
                columns[n] = _feature(text, last, following, _TRIGRAM) & mask
                n += 1
                last += 1
                while (text[last] & 0xC0) == 0x80:
                    last += 1
            if length - position < 5:
                columns[n] = _feature(text, i, end, _SUFFIX) & mask
                n += 1
            here = _class_of(text[i])
            if here != kind and n_shape < 15:
                shape[n_shape] = here
                n_shape += 1
            kind = here
            i = following
        shape[n_shape] = min(length, 12)
        columns[n] = _feature(shape, np.int64(0), n_shape, _SHAPE) & mask
        columns[n + 1] = _feature(shape, n_shape, n_shape + 1, _LENGTH) & mask
        n += 2
        rows[word + 1] = n
    return n


@kernel
def _feature(text, start, end, kind):
    return np.int64((hash_word(text, start, end) + kind) * _GOLDEN >> _HALF) >> 1


@kernel
def _class_of(byte):
    if byte >= 128:
        return 5
    if 48 <= byte <= 57:
        return 3
    if 65 <= byte <= 90:
        return 1
    return 2 if 97 <= byte <= 122 else 4


@kernel
def add_spelled(features, table, vectors):
    """Add to each word's vector the weighted sum of the table's rows for its features.

    Args:
        features: `SpellingFeatures` of the words.
        table: float32 (n_features, d); a row for each hashed feature.
        vectors: float32 (n_words, d); updated.
    """
    for word in range(len(vectors)):
        weight = features.weights[word]
        for place in range(features.rows[word], features.rows[word + 1]):
            row = table[features.columns[place]]
            for dimension in range(vectors.shape[1]):
                vectors[word, dimension] += weight * row[dimension]
