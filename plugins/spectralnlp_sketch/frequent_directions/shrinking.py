"""Shrinking a buffer of rows A to at most l rows B with 0 ⪯ AᵀA − BᵀB ⪯ δI."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[Any]


class Shrunk(NamedTuple):
    """Rows that stand for more rows.

    Args:
        rows: B (at most l, d), orthogonal, the longest first.
        shrinkage: δ, at least ‖AᵀA − BᵀB‖₂.
    """

    rows: Floats
    shrinkage: float

    def times_two_to(self, exponent: int) -> Shrunk:
        """Scale to rows 2^exponent times as long."""
        if not exponent:
            return self
        return Shrunk(np.ldexp(self.rows, exponent), self.shrinkage * 4.0**exponent)


def shrink(rows: Floats, size: int) -> Shrunk:
    """Subtract the (size + 1)-th eigenvalue of AᵀA from all, and keep what is left.

    Liberty 2013, *Simple and deterministic matrix sketching*, with the threshold of Ghashami, Liberty,
    Phillips and Woodruff 2016, section 1.2: every shrink takes (size + 1)·δ out of ‖A‖²_F, so that in all
    ‖XᵀX − BᵀB‖₂ ≤ ‖X − X_k‖²_F/(size + 1 − k) for every k. By the smaller of the two Gram matrices instead of
    an SVD: exact to the rounding of AᵀA.

    Args:
        rows: A (m, d), float32 or float64.
        size: l.
    """
    m, d = rows.shape
    exponent = exponent_of(rows)
    rows = np.ldexp(rows, -exponent) if exponent else rows
    if m <= d:
        # Computed in the rows' own precision, decomposed in float64: eigh of float32 gains little.
        squares, vectors = _descending(rows @ rows.T)
        kept, shrinkage, weights = threshold(squares, size)
        result = (vectors[:, :kept] * weights).T.astype(rows.dtype) @ rows
    else:
        squares, vectors = _descending(rows.T @ rows)
        kept, shrinkage, _ = threshold(squares, size)
        lengths = np.sqrt(squares[:kept] - shrinkage)
        result = (vectors[:, :kept] * lengths).T.astype(rows.dtype)
    return Shrunk(np.ascontiguousarray(result), shrinkage).times_two_to(exponent)


def threshold(squares: NDArray[np.float64], size: int) -> tuple[int, float, NDArray[np.float64]]:
    """Subtract the threshold from eigenvalues of AᵀA in descending order.

    Returns:
        How many stay, δ, and for each that stays the factor √((λ − δ)/λ) by which its row uᵀA is scaled.
    """
    squares = np.maximum(squares, 0.0)
    shrinkage = float(squares[size]) if len(squares) > size else 0.0
    # Below this an eigenvalue is rounding, and so is its direction; λ − δ may come out below it too.
    noise = len(squares) * np.finfo(np.float64).eps * (squares[0] if len(squares) else 0.0)
    kept = int(np.count_nonzero(squares[:size] - shrinkage > noise))
    return kept, shrinkage, np.sqrt((squares[:kept] - shrinkage) / squares[:kept])


def _descending(gram: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    squares, vectors = np.linalg.eigh(gram.astype(np.float64, copy=False))
    return squares[::-1], vectors[:, ::-1]


def exponent_of(*parts: Floats) -> int:
    """The power of two that brings the largest entry near one, if its square is out of range; else 0."""
    largest = max((float(np.abs(part).max()) for part in parts if part.size), default=0.0)
    exponent = int(np.frexp(largest)[1])
    return 0 if -30 <= exponent <= 30 else exponent


def shrink_by_half(rows: Floats) -> Shrunk:
    """Step (b) of the paper's figure 1, as printed: an SVD, and the median square subtracted.

    Liberty 2013; Kim, Stratos and Sarikaya 2015, figure 1. Of l rows at least ⌈l/2⌉ become zero; the rest are
    given back. ‖XᵀX − BᵀB‖₂ ≤ 2‖X‖²_F/l.

    Args:
        rows: the full sketch, (l, d).
    """
    try:
        _, sigma, vt = np.linalg.svd(rows, full_matrices=False)
    except np.linalg.LinAlgError:  # gesdd fails on some matrices on which gesvd does not
        _, sigma, vt = scipy.linalg.svd(rows, full_matrices=False, lapack_driver="gesvd")
    middle = -(-len(rows) // 2) - 1
    median = sigma[middle] if middle < len(sigma) else sigma.dtype.type(0)
    # √(σ − μ)·√(σ + μ): σ² − μ² may come out slightly negative, and may overflow.
    lengths = np.sqrt(np.maximum(sigma - median, 0)) * np.sqrt(sigma + median)
    kept = np.count_nonzero(lengths)
    return Shrunk(lengths[:kept, None] * vt[:kept], float(median) ** 2)
