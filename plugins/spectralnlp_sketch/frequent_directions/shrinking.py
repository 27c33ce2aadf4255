"""Shrink a buffer of rows A to at most l rows B with 0 ⪯ AᵀA − BᵀB ⪯ δI, the step of frequent directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[Any]


class Shrunk(NamedTuple):
    """Result of shrinking rows A to fewer rows B.

    Args:
        rows: B (k, d), orthogonal, the longest row first.
        shrinkage: δ, an upper bound of ‖AᵀA − BᵀB‖₂.
    """

    rows: Floats
    shrinkage: float

    def times_two_to(self, exponent: int) -> Shrunk:
        """Return B and δ as they would be if the rows A were multiplied by 2^exponent."""
        if not exponent:
            return self
        return Shrunk(np.ldexp(self.rows, exponent), self.shrinkage * 4.0**exponent)


def shrink(rows: Floats, size: int) -> Shrunk:
    """Shrink rows A to at most ``size`` rows B, one step of frequent directions.

    The (size + 1)-th eigenvalue δ of AᵀA is subtracted from all its eigenvalues; the positive ones, with
    their eigenvectors, make up BᵀB. Liberty 2013, *Simple and deterministic matrix sketching*, with the
    threshold of Ghashami, Liberty, Phillips and Woodruff 2016, section 1.2. A step reduces ‖A‖²_F by at least
    (size + 1)·δ, so after a whole stream X, ‖XᵀX − BᵀB‖₂ ≤ ‖X − X_k‖²_F/(size + 1 − k), where X_k is the best
    approximation of rank k, for every k ≤ size. Instead of an SVD of A, the smaller one of the Gram matrices
    AᵀA and AAᵀ is decomposed; this is exact up to the rounding of these products.

    Args:
        rows: A (m, d), float32 or float64.
        size: maximum number of rows of B, l.
    """
    m, d = rows.shape
    exponent = exponent_of(rows)
    rows = np.ldexp(rows, -exponent) if exponent else rows
    if m <= d:
        # The product has the rows' precision, and is decomposed in float64: eigh in float32 gains little.
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
    """Subtract the (size + 1)-th largest eigenvalue δ of AᵀA from all its eigenvalues, to shrink rows A.

    Args:
        squares: eigenvalues λ of AᵀA or AAᵀ, descending.
        size: maximum number of eigenvalues to keep.

    Returns:
        The number k of eigenvalues that remain positive; δ, which is 0 if there are at most ``size``
        eigenvalues; and the factors √((λ − δ)/λ), float64 (k,), by which to multiply the rows uᵀA, for the
        eigenvectors u of AAᵀ.
    """
    squares = np.maximum(squares, 0.0)
    shrinkage = float(squares[size]) if len(squares) > size else 0.0
    # Eigenvalues below this, and their directions, are rounding errors; λ − δ may be below it too.
    noise = len(squares) * np.finfo(np.float64).eps * (squares[0] if len(squares) else 0.0)
    kept = int(np.count_nonzero(squares[:size] - shrinkage > noise))
    return kept, shrinkage, np.sqrt((squares[:kept] - shrinkage) / squares[:kept])


def _descending(gram: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    squares, vectors = np.linalg.eigh(gram.astype(np.float64, copy=False))
    return squares[::-1], vectors[:, ::-1]


def exponent_of(*parts: Floats) -> int:
    """Return the binary exponent by which matrices are scaled down before their entries are squared.

    The exponent is that of the largest entry, or 0 if squares can neither overflow nor underflow.
    """
    largest = max((float(np.abs(part).max()) for part in parts if part.size), default=0.0)
    exponent = int(np.frexp(largest)[1])
    return 0 if -30 <= exponent <= 30 else exponent


def shrink_by_half(rows: Floats) -> Shrunk:
    """Shrink a full sketch to at most half of its rows, by subtracting the median squared singular value.

    Liberty 2013; Kim, Stratos and Sarikaya 2015, figure 1, step (b). At least ⌈l/2⌉ of the l rows become zero
    and are left out. For a stream X that is sketched in this way, ‖XᵀX − BᵀB‖₂ ≤ 2‖X‖²_F/l.

    Args:
        rows: the full sketch (l, d).
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
