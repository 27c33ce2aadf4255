"""Energy and mutual information that a linear map keeps of its input, under Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


@dataclass(frozen=True)
class StageReport:
    """Measures of the sequences after a stage.

    Attributes:
        stage: from 1.
        elements: of a sequence after it.
        energy: share of the sum of squares of the centred input (TMPCA, section 4.2 and figure 5).
        mutual_information: nats between an element and the signal in it, for noise of unit variance.
    """

    stage: int
    elements: int
    energy: float
    mutual_information: float


def mutual_information(covariance: Floats, noise: float = 1.0, rows: Floats | None = None) -> float:
    """I(Y; G) = ½ ln(|V| / |U B Uᵀ|) in nats, for Y = U(G + n) and n of variance σ² (TMPCA, equation 15).

    Args:
        covariance: V (D, D), of Y.
        noise: σ.
        rows: U (D, N·D); None: its rows are orthonormal, as those of PCA and TMPCA. For the mean of
            N elements this is the paper's equation 17.

    Returns:
        −inf if Y does not vary in some direction.
    """

    def log_determinant(matrix: Floats) -> float:
        sign, value = np.linalg.slogdet(matrix)
        return float(value) if sign > 0 else -math.inf

    carried = 0.0 if rows is None else log_determinant(rows @ rows.T)
    return 0.5 * (log_determinant(covariance) - carried) - len(covariance) * math.log(noise)


def report_of(stage: int, elements: int, kept: Floats, n_rows: int, energy: float) -> StageReport:
    """The report of a stage, from the eigenvalues that it keeps.

    Args:
        stage: from 1.
        elements: of a sequence after it.
        kept: eigenvalues (D,) of the scatter matrix.
        n_rows: rows that were scattered.
        energy: sum of squares of the centred input.
    """
    share = float(kept.sum()) / energy if energy else 0.0
    return StageReport(stage, elements, share, mutual_information(np.diag(kept / max(n_rows, 1))))
