"""Measure the energy and mutual information that a linear map preserves, under Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


@dataclass(frozen=True)
class StageReport:
    """Energy and mutual information of sequences after a stage.

    Attributes:
        stage: number of the stage, from 1.
        elements: number of elements of a sequence after the stage.
        energy: share of the sum of squares of TMPCA's centred input that is left after the stage (Su, Lin and
            Kuo 2019, section 4.2 and figure 5).
        mutual_information: mutual information, in nats, between an element after the stage and the signal in
            the input, if the input is a signal plus Gaussian noise of variance 1.
    """

    stage: int
    elements: int
    energy: float
    mutual_information: float


def mutual_information(covariance: Floats, noise: float = 1.0, rows: Floats | None = None) -> float:
    """Return how much information a projection keeps: I(Y; G) of a signal G and Y = U(G + noise).

    I(Y; G) = ½ ln(|V| / |σ² U Uᵀ|), where V is the covariance of Y, and the noise is Gaussian with the
    covariance σ² I (Su, Lin and Kuo 2019, equation 15; if U computes the mean of N elements, equation 17).

    Args:
        covariance: V (D, D).
        noise: standard deviation σ of the noise.
        rows: projection matrix U (D, N·D); None if its rows are orthonormal, as for PCA and TMPCA.

    Returns:
        Mutual information in nats; −inf if Y does not vary in some direction.
    """

    def log_determinant(matrix: Floats) -> float:
        sign, value = np.linalg.slogdet(matrix)
        return float(value) if sign > 0 else -math.inf

    carried = 0.0 if rows is None else log_determinant(rows @ rows.T)
    return 0.5 * (log_determinant(covariance) - carried) - len(covariance) * math.log(noise)


def report_of(stage: int, elements: int, kept: Floats, n_rows: int, energy: float) -> StageReport:
    """Return the `StageReport` of a stage, from the eigenvalues of its principal components.

    Args:
        stage: number of the stage, from 1.
        elements: number of elements of a sequence after the stage.
        kept: the D largest eigenvalues of the scatter matrix, (D,).
        n_rows: number of rows in the scatter matrix.
        energy: sum of squares of the centred input.
    """
    share = float(kept.sum()) / energy if energy else 0.0
    return StageReport(stage, elements, share, mutual_information(np.diag(kept / max(n_rows, 1))))
