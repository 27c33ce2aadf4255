"""Vectors of unseen words from how they are written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.inference.words.hashing import as_bytes
from spectralnlp.inference.words.kernels import spelling_features
from spectralnlp.parameters import Spelling

Vectors = NDArray[np.float32]
BITS = 15


def features_of(words: Sequence[str], bits: int = BITS) -> scipy.sparse.csr_array:
    """Features of spelling, hashed: prefixes up to 4 letters, suffixes up to 5, all trigrams, and the shape.

    The shape is the classes of its characters (capital, small, digit, mark, others), runs cut to one, and the
    length up to 12.

    Args:
        words: the words.
        bits: there are 2^bits columns.

    Returns:
        float32 (n_words, 2^bits); each row has norm 1.
    """
    letters = [word.encode("utf-8", "replace") for word in words]
    text = as_bytes(b"".join(letters) or b" ")
    bounds = np.zeros(len(letters) + 1, np.int64)
    np.cumsum([len(each) for each in letters], out=bounds[1:])
    columns = np.empty(int(bounds[-1]) + _FEATURES_BESIDE_TRIGRAMS * len(words), np.int32)
    rows = np.zeros(len(words) + 1, np.int64)
    n = spelling_features(text, bounds, bits, rows, columns)
    matrix = scipy.sparse.csr_array(
        (np.ones(n, np.float32), columns[:n], rows), shape=(len(words), 1 << bits)
    )
    lengths = np.sqrt(np.maximum(np.diff(rows), 1)).astype(np.float32)
    matrix.data /= np.repeat(lengths, np.diff(rows))
    return matrix


_FEATURES_BESIDE_TRIGRAMS = 16


def spell_vectors(spelling: Spelling, words: Sequence[str]) -> Vectors:
    """Vectors of words from their spelling alone, float32 (n_words, d)."""
    bits = int(np.log2(len(spelling.weights)))
    return (features_of(words, bits) @ spelling.weights + spelling.mean).astype(np.float32)
