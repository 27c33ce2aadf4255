"""Vectors of unseen words from how they are written: ridge regression in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.spelling import Vectors, features_of
from spectralnlp.linalg.solve import ridge
from spectralnlp.parameters import Spelling
from spectralnlp.runtime import current_memory

# Tolerance of the normal equations; a hundred times less takes four times as long for nothing.
_TOLERANCE = 0.01
# Columns that are held for a dimension, of words or features; part of the memory, one of so many, for them.
_DENSE, _SHARE = 6, 4


def fit_spelling(
    words: Sequence[str], vectors: Vectors, weights: NDArray[np.float64], penalty: float
) -> Spelling:
    """Fit the linear function of features that is nearest to the words' vectors.

    Args:
        words: known words.
        vectors: float32 (n_words, d); of the words.
        weights: float64 (n_words,); how much each counts.
        penalty: of the squared coefficients, relative to the mean weight of a feature.
    """
    features = features_of(words)
    mean = (weights @ vectors / weights.sum()).astype(np.float32)
    d = vectors.shape[1]
    coefficients = np.empty((features.shape[1], d), np.float32)
    # Each dimension is solved for itself, so that it is the same with any number of others.
    at_once = _dimensions_at_once(sum(features.shape), d)
    for first in range(0, d, at_once):
        here = slice(first, first + at_once)
        targets = vectors[:, here] - mean[here]
        coefficients[:, here] = ridge(
            features, targets, weights / weights.mean(), penalty, tolerance=_TOLERANCE
        )
    return Spelling(weights=coefficients, mean=mean)


def _dimensions_at_once(length: int, d: int) -> int:
    """How many dimensions the memory has room for."""
    memory = current_memory()
    return d if memory is None else min(max(memory.size // _SHARE // (_DENSE * 4 * length), 1), d)
