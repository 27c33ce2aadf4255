"""Fit the spelling model, which predicts vectors of unknown words, by ridge regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.inference.words.spelling import BITS, SpellingFeatures, Vectors, features_of
from spectralnlp.linalg.solve import ridge
from spectralnlp.parameters import Spelling

# Ridge penalty, relative to the mean weight of a feature.
_PENALTY = 1.0
# Tolerance of the normal equations; a hundredth of it takes four times as long without benefit.
_TOLERANCE = 0.01
# Number of dimensions solved together; more take more memory, and the number affects the last bits of
# results.
_AT_ONCE = 8


def fit_spelling(words: Sequence[str], vectors: Vectors, weights: NDArray[np.float64]) -> Spelling:
    """Fit a linear function of spelling features to word vectors, by weighted ridge regression.

    Args:
        words: known words.
        vectors: float32 (n_words, d); vector of each word.
        weights: float64 (n_words,); weight of each word.
    """
    features = _as_matrix(features_of(words))
    mean = (weights @ vectors / weights.sum()).astype(np.float32)
    d = vectors.shape[1]
    coefficients = np.empty((features.shape[1], d), np.float32)
    for first in range(0, d, _AT_ONCE):
        here = slice(first, first + _AT_ONCE)
        targets = vectors[:, here] - mean[here]
        coefficients[:, here] = ridge(
            features, targets, weights / weights.mean(), _PENALTY, tolerance=_TOLERANCE
        )
    return Spelling(weights=coefficients, mean=mean)


def _as_matrix(features: SpellingFeatures) -> scipy.sparse.csr_array:
    """Return spelling features as a sparse matrix of words × hashed features, float32 (n_words, 2^`BITS`)."""
    values = np.repeat(features.weights, np.diff(features.rows))
    shape = (len(features.weights), 1 << BITS)
    return scipy.sparse.csr_array((values, features.columns, features.rows), shape=shape)
