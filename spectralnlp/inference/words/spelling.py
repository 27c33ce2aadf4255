"""Predict the vectors of unseen words from hashed features of their spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.kernels import add_spelled, spelling_features
from spectralnlp.parameters import Spelling
from spectralnlp.runtime import offsets_of

Bytes = NDArray[np.uint8]
Vectors = NDArray[np.float32]
BITS = 15


def as_bytes(text: bytes) -> Bytes:
    """Return a copy of encoded text as a uint8 array (n_bytes,).

    The array is writable, because numba would compile each kernel a second time for read-only arrays.
    """
    return np.frombuffer(bytearray(text), np.uint8)


class SpellingFeatures(NamedTuple):
    """Hashed features of words; a word's features have equal weights, whose squares sum to 1.

    Attributes:
        rows: int64 (n_words + 1,); start of each word's features in ``columns``.
        columns: int32 (n_features,); feature ids, for each word in the order of its letters.
        weights: float32 (n_words,); weight of each of a word's features.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: NDArray[np.float32]


def features_of(words: Sequence[str], bits: int = BITS) -> SpellingFeatures:
    """Return hashed spelling features of words: prefixes, suffixes, trigrams, shape and length.

    Prefixes have up to 4 characters, suffixes up to 5; the length is cut off at 12. The shape is the sequence
    of character classes (capital, small, digit, mark, non-ASCII), each run of one class written once.

    Args:
        words: the words.
        bits: number of bits of a feature id; ids are below 2^bits.
    """
    letters = [word.encode("utf-8", "replace") for word in words]
    text = as_bytes(b"".join(letters) or b" ")
    bounds = offsets_of([len(each) for each in letters])
    columns = np.empty(int(bounds[-1]) + _FEATURES_BESIDE_TRIGRAMS * len(words), np.int32)
    rows = np.zeros(len(words) + 1, np.int64)
    n = spelling_features(text, bounds, bits, rows, columns)
    norms = np.sqrt(np.maximum(np.diff(rows), 1)).astype(np.float32)
    return SpellingFeatures(rows, columns[:n], np.float32(1) / norms)


_FEATURES_BESIDE_TRIGRAMS = 16


def spell_vectors(spelling: Spelling, words: Sequence[str]) -> Vectors:
    """Return the vectors of words that a spelling model predicts, float32 (n_words, n_dimensions)."""
    vectors = np.zeros((len(words), spelling.weights.shape[1]), np.float32)
    add_spelled(features_of(words, int(np.log2(len(spelling.weights)))), spelling.weights, vectors)
    return vectors + spelling.mean
