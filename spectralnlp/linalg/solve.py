"""Ridge regression and conjugate gradients for large, sparse systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Product = Callable[[Array], Array]  # maps X to A X, for a matrix A that is never formed

# Maximum number of conjugate-gradient iterations of `ridge`.
_ITERATIONS = 100


def ridge(
    features: Any,
    targets: Array,
    weights: Array,
    penalty: float,
    *,
    tolerance: float = 1e-4,
) -> Array:
    """Solve a weighted ridge regression by conjugate gradients.

    Minimises Σ w_i ‖x_i B − y_i‖² + p c ‖B‖², where x_i and y_i are rows of X and Y, and c is the mean of the
    diagonal of XᵀWX with W = diag(w), by solving the normal equations (XᵀWX + p c I) B = XᵀWY.

    Args:
        features: X, (n, m), scipy.sparse or dense.
        targets: Y, (n, d).
        weights: w, (n,), not negative.
        penalty: p, positive.
        tolerance: residual norm at which iteration stops, relative to that of the right-hand side.

    Returns:
        B (m, d), with the dtype of the features.
    """
    w = weights.astype(features.dtype)[:, None]
    squares = features.multiply(features) if hasattr(features, "multiply") else features**2
    diagonal = np.asarray(squares.T @ w)
    added = penalty * diagonal.mean()
    transposed = features.T.tocsr() if hasattr(features, "tocsr") else features.T

    def multiply(x: Array) -> Array:
        return transposed @ (w * (features @ x)) + added * x

    return conjugate_gradients(
        multiply, transposed @ (w * targets), diagonal + added, tolerance=tolerance, iterations=_ITERATIONS
    )


def conjugate_gradients(
    multiply: Product, right: Array, diagonal: Array, *, tolerance: float = 1e-10, iterations: int = 1000
) -> Array:
    """Solve A X = R for all columns of R simultaneously.

    Uses conjugate gradients with a Jacobi (diagonal) preconditioner (Golub and Van Loan, algorithm 11.5.1).

    Args:
        multiply: function that maps X to A X, where A is symmetric and positive definite.
        right: R, (m, d).
        diagonal: diagonal of A, (m, 1).
        tolerance: residual norm at which a column is solved, relative to the norm of its right-hand side.
        iterations: maximum number of iterations.

    Returns:
        X (m, d), with the dtype of R.
    """
    x = np.zeros_like(right)
    residual = right.copy()
    z = residual / diagonal
    direction = z.copy()
    energy = np.einsum("md,md->d", residual, z)
    goal = tolerance * np.linalg.norm(right, axis=0)
    for _ in range(iterations):
        going = np.linalg.norm(residual, axis=0) > goal
        if not going.any():
            break
        image = multiply(direction)
        curvature = np.einsum("md,md->d", direction, image)
        step = np.where(going, energy / np.where(curvature > 0, curvature, 1), 0).astype(right.dtype)
        x += step * direction
        residual -= step * image
        z = residual / diagonal
        new = np.einsum("md,md->d", residual, z)
        direction = z + (new / np.where(energy > 0, energy, 1)).astype(right.dtype) * direction
        energy = new
    return x
