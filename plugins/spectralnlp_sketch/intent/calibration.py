"""Calibration: how sharp scores must be for the softmax of them to be a probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from spectralnlp_sketch.intent.head import Examples, Weights

# Up to so many examples each is held out once; of more, one fold is enough.
FEW = 3000
N_FOLDS = 5


def calibrate(
    examples: Examples, n_labelled: int, fit: Callable[[Examples], Weights], random_state: int
) -> float:
    """The factor of scores that makes labels held out likeliest (Guo et al. 2017, temperature scaling).

    Args:
        examples: the first ``n_labelled`` have known labels; others are always learned from.
        n_labelled: how many those are.
        fit: learns weights.
        random_state: seed of the folds.

    Returns:
        The inverse of the temperature, between 1/20 and 20; 1 if there is nothing to hold out.
    """
    fold = folds(examples.targets[:n_labelled].argmax(axis=1), random_state)
    scores, wanted = [], []
    for held_out in range(N_FOLDS if n_labelled <= FEW else 1):
        test = np.flatnonzero(fold == held_out)
        if not len(test):
            continue
        train = np.append(np.flatnonzero(fold != held_out), np.arange(n_labelled, len(examples.weights)))
        learned = np.asarray(examples.targets[train].sum(axis=0) > 0)
        test = test[learned[examples.targets[test].argmax(axis=1)]]
        if len(test):
            scores.append(fit(examples.rows(train)).scores(examples.features.rows(test)))
            wanted.append(examples.targets[test].argmax(axis=1))
    if not scores:
        return 1.0
    return sharpness_of(np.vstack(scores), np.concatenate(wanted))


def folds(labels: NDArray[np.int64], random_state: int) -> NDArray[np.int64]:
    """int64 (n,); the examples of each label spread evenly over folds, in a random order."""
    order = np.random.default_rng(random_state).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % N_FOLDS
    return fold


def sharpness_of(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> float:
    """The factor of scores that makes these labels likeliest."""
    wide = scores.astype(np.float64)
    right = wide[np.arange(len(labels)), labels]
    wide -= wide.max(axis=1, keepdims=True)
    right -= scores.max(axis=1)

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float((np.log(np.exp(factor * wide).sum(axis=1)) - factor * right).mean())

    found = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))
