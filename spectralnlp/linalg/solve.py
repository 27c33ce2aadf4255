"""Least squares with a penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Product = Callable[[Array], Array]  # X to A X, for a matrix A that is never written out

# Of conjugate gradients, at most.
_ITERATIONS = 100


def ridge(
    features: Any,
    targets: Array,
    weights: Array,
    penalty: float,
    *,
    tolerance: float = 1e-4,
) -> Array:
    """The B that makes Σ w_i ‖x_i B − y_i‖² + p ‖D^½ B‖² least, D the mean diagonal of XᵀWX.

    The normal equations (XᵀWX + pD) B = XᵀWY are solved by conjugate gradients.

    Args:
        features: X, scipy.sparse or dense, (n, m).
        targets: Y (n, d).
        weights: w (n,), not negative.
        penalty: p, positive.
        tolerance: of the residual, relative to the right-hand side.

    Returns:
        B (m, d), of the features' type.
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
    """Solve A X = R, a column at a time but all at once.

    Conjugate gradients with the diagonal as preconditioner (Golub and Van Loan, algorithm 11.5.1).

    Args:
        multiply: X to A X; A symmetric and positive definite.
        right: R (m, d).
        diagonal: (m, 1); of A.
        tolerance: of each column's residual, relative to that of R.
        iterations: at most.
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
