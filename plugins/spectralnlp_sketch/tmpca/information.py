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
        energy: share of the sum of squares of the centred input (TMPCA, section 4.2 and figure 5).
        mutual_information: mutual information of an element and its signal in nats, for noise of variance 1.
    """

    stage: int
    elements: int
    energy: float
    mutual_information: float


def mutual_information(covariance: Floats, noise: float = 1.0, rows: Floats | None = None) -> float:
    """Compute the mutual information I(Y; G) of a signal G and its projection with noise, Y = U(G + n).

    I(Y; G) = ½ ln(|V| / |U B Uᵀ|), where B is the covariance of the noise n, of variance σ² (Su, Lin and Kuo
    2019, equation 15).

    Args:
        covariance: covariance V of Y (D, D).
        noise: standard deviation σ of the noise.
        rows: U (D, N·D); None if its rows are orthonormal, as for PCA and TMPCA. For the mean of N elements
            this is the paper's equation 17.

    Returns:
        Mutual information in nats; −inf if Y does not vary in some direction.
    """

    def log_determinant(matrix: Floats) -> float:
        sign, value = np.linalg.slogdet(matrix)
        return float(value) if sign > 0 else -math.inf

    carried = 0.0 if rows is None else log_determinant(rows @ rows.T)
    return 0.5 * (log_determinant(covariance) - carried) - len(covariance) * math.log(noise)


def report_of(stage: int, elements: int, kept: Floats, n_rows: int, energy: float) -> StageReport:
    """Make the report of a stage from the eigenvalues that it keeps.

    Args:
        stage: number of the stage, from 1.
        elements: number of elements of a sequence after the stage.
        kept: eigenvalues (D,) of the scatter matrix that are kept.
        n_rows: number of rows in the scatter matrix.
        energy: sum of squares of the centred input.
    """
    share = float(kept.sum()) / energy if energy else 0.0
    return StageReport(stage, elements, share, mutual_information(np.diag(kept / max(n_rows, 1))))
