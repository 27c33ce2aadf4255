"""Second layer of a classifier: correct the score of each label by the scores of all labels.

The scores of all labels are more informative than a label's own score: texts of ``exchange_rate`` also score
for ``fiat_currency_support``, but a text that also scores for ``card_arrival`` has neither label. The second
layer learns from scores of held-out texts, which are distributed like those of new texts (Wolpert 1992,
*Stacked generalization*).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import map_kernels
from spectralnlp_sketch.intent.kernels import STEEPNESS

Array32 = NDArray[np.float32]

# With fewer labels, scores of other labels carry no further information.
MIN_LABELS = 3
# Weight of the loss relative to half the squared weights; chosen inside training sets.
C = 0.15
# Optimisation ends when a step gains less than this share; single precision allows little more.
TOLERANCE = 1e-5


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


class SecondLayer(NamedTuple):
    """Second layer of a classifier: replaces scores s by s + Wᵀ squash(2 (s − m)).

    Args:
        centers: mean scores m, float32 (n_labels,); empty without corrections.
        weights: weights W, float32 (n_labels, n_labels); without rows if there are no corrections.
    """

    centers: Array32
    weights: Array32

    @classmethod
    def none(cls, n_labels: int) -> SecondLayer:
        """Return a second layer without corrections, which leaves scores unchanged."""
        return cls(np.zeros(0, np.float32), np.zeros((0, n_labels), np.float32))

    def squashed(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return centred scores, squashed to −1 to 1; (n, n_labels), or (n, 0) without corrections."""
        return squash(STEEPNESS * (scores[..., : len(self.centers)] - self.centers))

    def corrected(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return scores after correction, (n, n_labels)."""
        return scores + self.squashed(scores) @ self.weights


def squash(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Squash numbers to the range −1 to 1: x (27 + x²)/(27 + 9x²) up to |x| = 3, an approximation of tanh."""
    x = np.clip(x, -3.0, 3.0)
    return x * (27.0 + x * x) / (27.0 + 9.0 * x * x)


def learn_second_layer(
    scores: Array32, labels: NDArray[np.int64], tolerance: float = TOLERANCE
) -> SecondLayer:
    """Learn a second layer from the scores of held-out texts, by one-against-rest squared hinge loss.

    The weights W minimise C Σᵢ Σ_c max(0, 1 − y_ic f_ic)² + ½‖W‖², where f_ic is the corrected score of text
    i for label c, y_ic is 1 if c is its true label, else −1, and `C` is a constant. During training, squashed
    scores are scaled to a mean squared length of 1.

    Args:
        scores: scores of held-out texts, float32 (n, n_labels).
        labels: numbers of the true labels, int64 (n,).
        tolerance: stop when a step reduces the objective by less than this share.
    """
    n, n_labels = scores.shape
    centers = scores.mean(axis=0)
    features = squash(STEEPNESS * (scores - centers)).astype(np.float32)
    scale = np.float32(1.0 / max(float(np.sqrt((features**2).sum(axis=1).mean())), 1e-6))
    features *= scale
    signs = np.full((n, n_labels), -1.0, np.float32)
    signs[np.arange(n), labels] = 1.0

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(n_labels, n_labels).astype(np.float32)
        short = np.maximum(1.0 - signs * (scores + features @ weights), np.float32(0.0))
        slope = features.T @ (signs * short)
        value = C * float(np.vdot(short, short)) + 0.5 * float(flat @ flat)
        return value, flat - 2.0 * C * slope.ravel().astype(np.float64)

    with one_blas_thread():
        optimum = minimize(
            objective, np.zeros(n_labels**2), jac=True, method="L-BFGS-B", options={"ftol": tolerance}
        )
    weights = optimum.x.reshape(n_labels, n_labels).astype(np.float32)
    return SecondLayer(centers, weights * scale)


def corrected_in_turn(held_out: HeldOut) -> Array32:
    """Correct the scores of each fold by a second layer that is learned from all other folds.

    Args:
        held_out: scores of n held-out texts, with their labels and folds.

    Returns:
        Corrected scores, float32 (n, n_labels).
    """
    scores, labels, corrected = held_out.scores, held_out.labels, held_out.scores.copy()

    def one_fold(fold: int) -> None:
        here = held_out.folds == fold
        if not here.all():
            corrected[here] = learn_second_layer(scores[~here], labels[~here]).corrected(scores[here])

    list(map_kernels(one_fold, np.unique(held_out.folds).tolist()))
    return corrected
