"""A second layer: what the scores of all labels together say of each label.

How much a text is like *every* label tells more than how much it is like one: texts of ``exchange_rate`` are
a little like ``fiat_currency_support``, and those that are also like ``card_arrival`` are neither's. A second
layer learns so from the scores of texts that the first has not learned from (Wolpert 1992, *Stacked
generalization*), which are what those of new texts will be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import map_kernels
from spectralnlp_sketch.intent.calibration import HeldOut
from spectralnlp_sketch.intent.kernels import STEEPNESS

Array32 = NDArray[np.float32]

# With fewer labels their scores tell nothing of each other.
LEAST_LABELS = 3
# Weight of the loss against half the squared weights: chosen inside training sets.
C = 0.15
# The search ends where a step gains less than this share: sums of single precision tell little more.
TOLERANCE = 1e-5


class SecondLayer(NamedTuple):
    """Corrections of scores: s + Wᵀ squashed(2 (s − m)).

    Args:
        centers: m, float32 (n_labels,); mean scores.
        weights: W, float32 (n_labels, n_labels); without rows if nothing is corrected.
    """

    centers: Array32
    weights: Array32

    @classmethod
    def none(cls, n_labels: int) -> SecondLayer:
        """The layer that leaves scores as they are."""
        return cls(np.zeros(0, np.float32), np.zeros((0, n_labels), np.float32))

    def squashed(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """How like each label texts are, from −1 to 1; (n, n_labels), or (n, 0) if nothing is corrected."""
        return squash(STEEPNESS * (scores[..., : len(self.centers)] - self.centers))

    def corrected(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Scores (n, n_labels) after correction."""
        return scores + self.squashed(scores) @ self.weights


def squash(x: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return tanh by its Padé approximant x (27 + x²)/(27 + 9x²), which is ±1 from ±3 on."""
    x = np.clip(x, -3.0, 3.0)
    return x * (27.0 + x * x) / (27.0 + 9.0 * x * x)


def learn_second_layer(
    scores: Array32, labels: NDArray[np.int64], tolerance: float = TOLERANCE
) -> SecondLayer:
    """Minimise C Σᵢ Σ_c max(0, 1 − y_ic f_c(xᵢ))² + ½‖W‖² over W, f being the corrected scores.

    y_ic is 1 for a text's label and −1 else. Squashed scores have a mean squared length of 1 in this.

    Args:
        scores: float32 (n, n_labels); of texts that these scores were not learned from.
        labels: int64 (n,).
        tolerance: stop where a step gains less than this share of what is minimised.
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
        found = minimize(
            objective, np.zeros(n_labels**2), jac=True, method="L-BFGS-B", options={"ftol": tolerance}
        )
    weights = found.x.reshape(n_labels, n_labels).astype(np.float32)
    return SecondLayer(centers, weights * scale)


def corrected_in_turn(held_out: HeldOut) -> Array32:
    """Scores after correction, float32 (n, n_labels); those of a fold by what the other folds teach."""
    scores, labels, corrected = held_out.scores, held_out.labels, held_out.scores.copy()

    def one_fold(fold: int) -> None:
        here = held_out.folds == fold
        if not here.all():
            corrected[here] = learn_second_layer(scores[~here], labels[~here]).corrected(scores[here])

    list(map_kernels(one_fold, np.unique(held_out.folds).tolist()))
    return corrected
