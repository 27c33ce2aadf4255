"""Score held-out labelled texts, and learn from their scores: second layer, calibration, scope detector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from spectralnlp.progress import fit_pass
from spectralnlp.runtime import map_kernels
from spectralnlp_sketch.hashing.ngrams import Ngrams
from spectralnlp_sketch.intent.head import Examples, Learned, Weights
from spectralnlp_sketch.intent.head_learner import HeadLearner
from spectralnlp_sketch.intent.pseudo_labels import Unlabelled
from spectralnlp_sketch.intent.scope import Scope, learn_scope
from spectralnlp_sketch.intent.stacking import (
    MIN_LABELS,
    HeldOut,
    SecondLayer,
    corrected_in_turn,
    learn_second_layer,
)

Array32 = NDArray[np.float32]

# Up to this many examples, each is held out once; with more, one fold is enough.
MANY_TEXTS = 3000
N_FOLDS = 5


class Calibration(NamedTuple):
    """What is learned from scores of held-out texts.

    Args:
        layer: second layer, which corrects scores; None for no corrections.
        sharpness: factor by which scores are multiplied before the softmax.
        scope: detector of texts that belong to no label.
    """

    layer: SecondLayer | None = None
    sharpness: float = 1.0
    scope: Scope = Scope()


def learn_held_out(
    learner: HeadLearner,
    examples: Examples,
    n_labelled: int,
    unlabelled: Unlabelled | None,
    learned: Learned,
    ngrams: Ngrams,
    *,
    calibrates: bool,
    refused: float,
) -> Calibration:
    """Learn second layer, calibration and scope detector, as far as they are wanted.

    Args:
        learner: trainer of the head.
        examples: labelled texts, then names of labels.
        n_labelled: number of labelled texts.
        unlabelled: candidates for pseudo-labels; None for none.
        learned: the head trained on all examples.
        ngrams: vocabulary of the sparse features.
        calibrates: whether confidences are calibrated and texts out of scope detected.
        refused: share of in-scope texts that the detector may refuse.
    """
    seed = learner.random_state
    stacked = learner.settings.loss == "hinge" and examples.targets.shape[1] >= MIN_LABELS
    if not stacked and not calibrates:
        return Calibration()
    with fit_pass("calibration"):
        fit = partial(learner.without, examples, unlabelled, learned)
        held_out = hold_out(examples, n_labelled, fit, seed, every_text=stacked)
        layer = learn_second_layer(held_out.scores, held_out.labels) if stacked else None
        if not calibrates:
            return Calibration(layer)
        uncorrected = sharpness_of(held_out.scores, held_out.labels)
        sharpness = sharpness_of(corrected_in_turn(held_out), held_out.labels) if stacked else uncorrected
    with fit_pass("scope"):
        scope = learn_scope(
            examples,
            n_labelled,
            ngrams,
            learner.of_classes,
            sharpness=uncorrected,
            refused=refused,
            random_state=seed,
        )
    return Calibration(layer, sharpness, scope)


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
