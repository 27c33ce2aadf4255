"""Solve for the dCoT layer that reconstructs prototypes from corrupted rows, in closed form.

Let x (d,) be a row, x̄ (r,) its prototypes (some of its features), and x̂ the row after corruption, which
keeps each feature with probability p. In expectation over all corruptions (dCoT, equations 4 to 6), solve

    minimise  Σ_i E‖x̄_i − W x̂_i − b‖².

The bias is neither penalised nor corrupted: the best b makes the means agree, b = mean(x̄) − pW mean(x),
which leaves a problem in the centred rows. With C = Σ (x − mean)(x − mean)ᵀ, its rows C_P of the prototypes,
and s_j = Σ x_j²,

    W = p C_P (p² C + D)⁻¹,   D = p(1 − p) diag(s) + ridge.

(The factor q in the paper's E[R]_αβ is that of the corrupted feature, β.) As D is diagonal and C a product of
rows, there are three ways to compute the same W: by a matrix over terms (d × d), by a matrix over documents
(n × n), or by iteration, without either matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.linalg.solve import conjugate_gradients
from spectralnlp_sketch.frequent_directions.kernels import add_gram

Floats = NDArray[Any]


@dataclass(frozen=True)
class Corruption:
    """Settings of dCoT: how features are removed at random from rows, and how much to regularise.

    Args:
        keep: probability that a feature is not removed.
        ridge: weight of the ridge penalty, as a multiple of the mean sum of squares of a column.
    """

    keep: float
    ridge: float

    def diagonal(self, squares: Floats) -> Floats:
        """Return the diagonal (d,) of the penalty matrix D of the module docstring.

        Args:
            squares: sum of squares of each column (d,).
        """
        scale = float(squares.mean()) or 1.0
        return self.keep * (1 - self.keep) * squares + self.ridge * scale


@dataclass(frozen=True)
class Reconstruction:
    """Affine map x ↦ W x + b that reconstructs prototypes from a row x.

    Args:
        weights: transposed weight matrix Wᵀ (d, r).
        bias: bias b (r,).
    """

    weights: Floats
    bias: Floats

    def astype(self, dtype: Any) -> Reconstruction:
        """Return the affine map with weights and bias in another floating-point type."""
        return Reconstruction(self.weights.astype(dtype, copy=False), self.bias.astype(dtype, copy=False))

    def __call__(self, rows: Any) -> Floats:
        """Map rows (n, d), dense or CSR, to reconstructed prototypes (n, r)."""
        return np.asarray(rows @ self.weights) + self.bias


def solve_by_terms(gram: Floats, n: int, prototypes: Any, corruption: Corruption) -> Reconstruction:
    """Return the best reconstruction of prototypes, by a Cholesky factorisation of a d × d matrix.

    Args:
        gram: sum of [x; 1][x; 1]ᵀ over all rows x, (d + 1, d + 1).
        n: number of rows.
        prototypes: indices (r,) of the features to reconstruct, or a slice.
        corruption: how features are removed at random from the rows, and how much to regularise.
    """
    p, mean = corruption.keep, gram[:-1, -1] / n
    scatter = gram[:-1, :-1]
    centred = scatter - n * np.outer(mean, mean)
    right = p * centred[:, prototypes]
    q = centred
    q *= p * p
    q[np.diag_indices_from(q)] += corruption.diagonal(np.diagonal(scatter))
    factor = scipy.linalg.cho_factor(q, overwrite_a=True, check_finite=False)
    weights = scipy.linalg.cho_solve(factor, right, overwrite_b=True, check_finite=False)
    return _with_bias(weights, mean, prototypes, p)


def solve_by_documents(rows: sp.csr_matrix, prototypes: Any, corruption: Corruption) -> Reconstruction:
    """Compute the weights W (r, d) that reconstruct prototypes best, by Cholesky of an n × n matrix.

    By Woodbury's identity, W = X̄ᵀ(I + Y D⁻¹ Yᵀ)⁻¹ Y D⁻¹, where X are the centred rows, X̄ (n, r) the columns
    of X to reconstruct, Y = pX, and p and D are as in the module docstring.

    Args:
        rows: the rows (n, d), CSR, not centred.
        prototypes: indices (r,) of the features to reconstruct.
        corruption: how features are removed at random from the rows, and how much to regularise.
    """
    n, p = rows.shape[0], corruption.keep
    mean, squares = _means_and_squares(rows)
    diagonal = corruption.diagonal(squares)
    by_term = (rows @ sp.diags_array((p / np.sqrt(diagonal)).astype(rows.dtype))).T.tocsr()
    kernel = _products_of_columns(by_term)
    _centre_twice(kernel)
    kernel[np.diag_indices(n)] += 1
    targets = rows[:, prototypes].toarray(order="F")
    targets -= mean[prototypes].astype(rows.dtype)
    # The kernel is symmetric; its transpose has the memory order that LAPACK uses without a copy.
    factor = scipy.linalg.cho_factor(kernel.T, overwrite_a=True, check_finite=False)
    # Columns of the solution sum to zero, as those of the targets do, so X need not be centred.
    solution = scipy.linalg.cho_solve(factor, targets, overwrite_b=True, check_finite=False)
    weights = np.asarray(rows.T.tocsr() @ np.ascontiguousarray(solution))
    weights *= (p / diagonal).astype(rows.dtype)[:, None]
    return _with_bias(weights, mean, prototypes, p)


def solve_by_iteration(
    rows: sp.csr_matrix, prototypes: Any, corruption: Corruption, tolerance: float = 1e-6
) -> Reconstruction:
    """Return the best reconstruction of prototypes by conjugate gradients, without an n × n or d × d matrix.

    Args:
        rows: the rows (n, d), CSR.
        prototypes: indices (r,) of the features to reconstruct.
        corruption: how features are removed at random from the rows, and how much to regularise.
        tolerance: norm of the residual at which to stop, relative to the right-hand side.
    """
    n, p = rows.shape[0], corruption.keep
    mean, squares = _means_and_squares(rows)
    diagonal = corruption.diagonal(squares)
    transposed = rows.T.tocsr()
    narrow_mean = mean.astype(rows.dtype)

    def scatter(x: Floats) -> Floats:
        image: Floats = transposed @ (rows @ x)
        image -= np.outer(n * narrow_mean, narrow_mean @ x)
        return image

    def multiply(x: Floats) -> Floats:
        return p * p * scatter(x) + diagonal.astype(rows.dtype)[:, None] * x

    right = transposed @ rows[:, prototypes].toarray()
    right -= np.outer(n * narrow_mean, narrow_mean[prototypes])
    right *= p
    jacobi = p * p * (squares - n * mean**2) + diagonal
    weights = conjugate_gradients(multiply, right, jacobi.astype(rows.dtype)[:, None], tolerance=tolerance)
    return _with_bias(weights, mean, prototypes, p)


def _with_bias(weights: Floats, mean: Floats, prototypes: Any, keep: float) -> Reconstruction:
    bias = mean[prototypes] - keep * (mean.astype(weights.dtype) @ weights)
    return Reconstruction(weights, bias.astype(weights.dtype))


def _means_and_squares(rows: sp.csr_matrix) -> tuple[Floats, Floats]:
    n, d = rows.shape
    data = rows.data.astype(np.float64, copy=False)
    return np.bincount(rows.indices, data, d) / n, np.bincount(rows.indices, data * data, d)


def _products_of_columns(matrix: sp.csr_matrix) -> Floats:
    """Return AᵀA (n, n) for a CSR matrix A (d, n); rows with many entries are multiplied as dense ones."""
    n = matrix.shape[1]
    full = np.diff(matrix.indptr) > n / 32
    dense, sparse = matrix[full].toarray(), matrix[~full]
    products: Floats = dense.T @ dense
    add_gram(sparse.indptr, sparse.indices, sparse.data, products)
    return products


def _centre_twice(kernel: Floats) -> None:
    """Replace a symmetric kernel K by HKH in place, where H = I − 11ᵀ/n is the centring matrix."""
    means = kernel.mean(axis=0)
    kernel -= means
    kernel -= (means - means.mean())[:, None]
