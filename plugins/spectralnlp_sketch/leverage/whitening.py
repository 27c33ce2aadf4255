"""Compute leverage scores ‖xᵀW‖² of rows x by a whitening matrix W, for which W Wᵀ = (XᵀX)⁺."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from spectralnlp_sketch.rows import Matrix

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
# Maximum relative error of exact scores.
TOLERANCE = 1e-6


class Whitener(NamedTuple):
    """Whitening matrix that maps rows to leverage scores.

    Args:
        matrix: whitening matrix W (d, r).
        triangular: whether W is upper triangular, which halves the work.
        rank: numerical rank, r.
        error: estimated relative error of the scores from rounding.
        condition: condition number σ₁/σ_r of the rows X from which W was computed, after scaling columns to
            equal length.
    """

    matrix: Floats
    triangular: bool
    rank: int
    error: float
    condition: float


def from_gram(gram: Floats) -> Whitener | None:
    """Return the whitening matrix for rows X from a Cholesky factor of XᵀX, or None if it is inaccurate.

    The relative error of scores, about κ(X)²·eps, must not exceed `TOLERANCE`; κ is the condition number.
    Columns are first scaled to equal length, which does not change scores but lowers κ (van der Sluis 1969).

    Args:
        gram: XᵀX (d, d).
    """
    lengths = np.sqrt(np.diagonal(gram))
    if not lengths.all():
        return None
    scaled = gram / np.outer(lengths, lengths)
    upper, failed = lapack.dpotrf(scaled, lower=0)
    if failed:
        return None
    reciprocal, _ = lapack.dpocon(upper, np.abs(scaled).sum(axis=0).max())
    if reciprocal * TOLERANCE < 10 * EPS:
        return None
    return _inverted(np.triu(upper), lengths, EPS / reciprocal, reciprocal**-0.5)


def from_triangle(triangle: Floats) -> Whitener | None:
    """Return the whitening matrix for rows X from the factor R of X = QR, or None if it is inaccurate.

    The relative error of scores, about κ(X)·eps, must not exceed `TOLERANCE`; κ is the condition number.

    Args:
        triangle: R (at most d, d), upper triangular.
    """
    d = triangle.shape[1]
    lengths = np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
    if len(triangle) < d or not lengths.all() or not np.diagonal(triangle).all():
        return None
    scaled = triangle / lengths
    reciprocal, _ = lapack.dtrcon(scaled)
    if reciprocal * TOLERANCE < 10 * EPS:
        return None
    return _inverted(scaled, lengths, EPS / reciprocal, 1 / reciprocal)


def _inverted(upper: Floats, lengths: Floats, error: float, condition: float) -> Whitener:
    inverse, _ = lapack.dtrtri(upper)
    return Whitener(np.asfortranarray(inverse / lengths[:, None]), True, len(upper), error, condition)


def from_rows(rows: Floats, truncate: float) -> Whitener:
    """Return the whitening matrix VΣ⁻¹ from the SVD B = UΣVᵀ, without small singular values.

    Chin and Liang 2019, algorithms 2 and 3. It gives the leverage scores of rows X if BᵀB is close to XᵀX.

    Args:
        rows: B (m, d), for example a sketch of X.
        truncate: singular values up to this share of the largest are treated as zero.
    """
    m, d = rows.shape
    if m > d:
        rows = np.asarray(np.linalg.qr(rows, mode="r"))
    _, sigma, vt = scipy.linalg.svd(rows, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    if not len(sigma) or sigma[0] == 0:
        return Whitener(np.zeros((d, 0)), False, 0, 0.0, 1.0)
    rank = int(np.count_nonzero(sigma > truncate * sigma[0]))
    condition = float(sigma[0] / sigma[rank - 1])
    return Whitener(vt[:rank].T / sigma[:rank], False, rank, condition * EPS, condition)


def row_scores(rows: Matrix, whitener: Whitener) -> Floats:
    """Return the leverage score ‖xᵀW‖² of each row x, float64 (n,)."""
    if sp.issparse(rows):
        whitened = np.asarray(rows @ whitener.matrix)
        return np.einsum("ij,ij->i", whitened, whitened)
    rows = rows.astype(np.float64, copy=False)
    if whitener.triangular and rows.flags.c_contiguous:
        return _triangular_scores(rows, whitener.matrix)
    whitened = rows @ whitener.matrix
    return np.einsum("ij,ij->i", whitened, whitened)


def _triangular_scores(rows: Floats, upper: Floats) -> Floats:
    """Return the leverage score of each row (n,), computed by the BLAS product for triangular matrices.

    Rows are processed in blocks that stay in the cache.

    Args:
        rows: rows (n, d).
        upper: upper triangular whitening matrix (d, d).
    """
    scores = np.empty(len(rows))
    work = np.empty((512, rows.shape[1]))
    for low in range(0, len(rows), len(work)):
        part = work[: len(rows) - low]
        np.copyto(part, rows[low : low + len(work)])
        whitened_t: Any = blas.dtrmm(1.0, upper, part.T, trans_a=1, overwrite_b=1)
        np.einsum("ij,ij->i", whitened_t.T, whitened_t.T, out=scores[low : low + len(work)])
    return scores
