"""Score held-out labelled texts, and calibrate scores so that their softmax is a probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from spectralnlp.runtime import map_kernels
from spectralnlp_sketch.intent.head import Examples, Weights

Array32 = NDArray[np.float32]

# Up to this many examples, each is held out once; with more, one fold is enough.
MANY_TEXTS = 3000
N_FOLDS = 5


class HeldOut(NamedTuple):
    """Scores of labelled texts by linear classifiers (heads) that were not trained on these texts.

    Args:
        scores: scores of labels, float32 (n, n_labels).
        labels: numbers of the true labels, int64 (n,).
        folds: fold of each text, int64 (n,); texts of a fold were held out together.
    """

    scores: Array32
    labels: NDArray[np.int64]
    folds: NDArray[np.int64]


def hold_out(
    examples: Examples,
    n_labelled: int,
    fit: Callable[[NDArray[np.int64]], Weights],
    random_state: int,
    *,
    every_text: bool,
) -> HeldOut:
    """Score each fold of labelled texts with a linear classifier (head) trained on the other folds.

    Args:
        examples: training examples: labelled texts, then names of labels, which are never held out.
        n_labelled: number of labelled texts.
        fit: function that is called with the indices of the examples to hold out, and returns the weights
            learned from all other examples.
        random_state: seed of the folds.
        every_text: whether to hold out every text; if not, and there are more than `MANY_TEXTS` texts, only a
            fifth is held out.

    Returns:
        Scores of the held-out texts. A text is left out if no example of its label remains outside its fold,
        neither a text nor the label's name.
    """
    labels = examples.targets[:n_labelled].argmax(axis=1)
    fold = folds(labels, random_state)
    n_folds = N_FOLDS if every_text or n_labelled <= MANY_TEXTS else 1

    def one_fold(held_out: int) -> tuple[Array32, NDArray[np.int64]]:
        test, kept = np.flatnonzero(fold == held_out), np.flatnonzero(fold != held_out)
        learned = examples.targets[kept].sum(axis=0) + examples.targets[n_labelled:].sum(axis=0) > 0
        known = test[learned[labels[test]]]
        if not len(known):
            return np.zeros((0, examples.targets.shape[1]), np.float32), known
        return fit(test).scores(examples.features.rows(known)), known

    # Stacked heads are support vector machines, each of which uses threads itself.
    scored = list((map if every_text else map_kernels)(one_fold, range(n_folds)))
    texts = np.concatenate([known for _, known in scored])
    scores = np.vstack([scores for scores, _ in scored])
    return HeldOut(scores, labels[texts], fold[texts])


def folds(labels: NDArray[np.int64], random_state: int) -> NDArray[np.int64]:
    """Return a random fold number for each text, int64 (n,); the texts of each label are spread evenly.

    Args:
        labels: number of each text's label, int64 (n,).
        random_state: seed of the assignment.
    """
    order = np.random.default_rng(random_state).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % N_FOLDS
    return fold


def sharpness_of(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> float:
    """Return the factor by which to multiply scores so that their softmax gives calibrated probabilities.

    The factor maximises the probability of the true labels (temperature scaling, Guo et al. 2017).

    Args:
        scores: scores of held-out texts, float32 (n, n_labels).
        labels: numbers of the true labels, int64 (n,).

    Returns:
        The factor, the inverse of the temperature, between 1/20 and 20; 1 if there are no texts.
    """
    if not len(labels):
        return 1.0
    wide = scores.astype(np.float64)
    right = wide[np.arange(len(labels)), labels]
    wide -= wide.max(axis=1, keepdims=True)
    right -= scores.max(axis=1)

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float((np.log(np.exp(factor * wide).sum(axis=1)) - factor * right).mean())

    optimum = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(optimum.x))
