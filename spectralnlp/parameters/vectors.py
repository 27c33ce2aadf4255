"""Vectors of words, and of words that were never seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters.arrays import Ints, Offsets


@dataclass(frozen=True, eq=False)
class Spelling:
    """Vectors of words from how they are written: a linear function of hashed features.

    Attributes:
        weights: float32 (2^bits, n_dimensions); a word's vector is the sum over its features.
        mean: float32 (n_dimensions,); added to it.
    """

    weights: NDArray[np.float32]
    mean: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their contexts as points of one space.

    Attributes:
        words: the vocabulary, the most frequent first.
        counts: int64 (n_words,).
        vectors: float32 (n_words, n_dimensions).
        singular_values: float32 (n_dimensions,), descending; canonical correlations if the variant was CCA.
        contexts: words that can be contexts; the empty one is the end of a sentence.
        blocks: groups of positions relative to the word whose contexts share vectors, ``((-1,), (1,))``.
        context_vectors: float32 (n_blocks, n_contexts, n_dimensions).
        lowercase: whether words were counted in small letters.
        hash_bits: how words were numbered, see ``PairCounts``; None if by name.
        numbers: int32 (n_words,); the numbers, if by hashing.
        spelling: makes vectors of other words; None if there is none.
        clusters: int32 (n_words,); None if there are none.
    """

    words: tuple[str, ...]
    counts: Offsets
    vectors: NDArray[np.float32]
    singular_values: NDArray[np.float32]
    contexts: tuple[str, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()
    context_vectors: NDArray[np.float32] | None = None
    lowercase: bool = False
    hash_bits: int | None = None
    numbers: Ints | None = None
    spelling: Spelling | None = None
    clusters: Ints | None = None
