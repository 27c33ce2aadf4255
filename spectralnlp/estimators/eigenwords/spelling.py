"""Vectors of unseen words from how they are written: ridge regression in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.spelling import Vectors, features_of
from spectralnlp.linalg.solve import ridge
from spectralnlp.parameters import Spelling

_TOLERANCE = 0.01  # of the normal equations; a hundred times less takes four times as long for nothing


def fit_spelling(
    words: Sequence[str], vectors: Vectors, weights: NDArray[np.float64], penalty: float
) -> Spelling:
    """The linear function of features that is nearest to the words' vectors.

    Args:
        words: known words.
        vectors: float32 (n_words, d); theirs.
        weights: float64 (n_words,); how much each counts.
        penalty: of the squared coefficients, relative to the mean weight of a feature.
    """
    features = features_of(words)
    mean = (weights @ vectors / weights.sum()).astype(np.float32)
    coefficients = ridge(features, vectors - mean, weights / weights.mean(), penalty, tolerance=_TOLERANCE)
    return Spelling(weights=coefficients.astype(np.float32), mean=mean)
