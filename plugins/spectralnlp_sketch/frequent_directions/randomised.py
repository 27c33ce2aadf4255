"""Shrinking a large buffer of rows through its leading directions only.

Ghashami, Liberty and Phillips 2016, *Efficient frequent directions algorithm for sparse matrices*, with
block subspace iteration in the space of rows: with orthonormal Q (m, k) and W = AᵀQ, WWᵀ ⪯ AᵀA whatever Q is.
So only the other side of the promise depends on chance, and `shrink_by_directions` verifies it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp_sketch.frequent_directions.kernels import add_transposed_times, times
from spectralnlp_sketch.frequent_directions.shrinking import Shrunk, exponent_of, shrink, threshold
from spectralnlp_sketch.rows import Matrix, sum_of_squares

Floats = NDArray[Any]

OVERSAMPLING = 16
ITERATIONS = 2
PROBES = 8
POWER_STEPS = (4, 8, 12)  # of the estimate, until it is sharp enough
DENSE_ENTRIES = 2**25
WIDE = 2**17  # columns of dense rows, such as images, of which few can wait
BLOCK_ROWS = 2**12  # of a product that is written over a factor


class Stack:
    """A = [B; X]: a dense matrix above one that may be sparse, as an operator.

    Args:
        sketch: B (r, d).
        rows: X (n, d), dense or CSR, of the same dtype.
    """

    def __init__(self, sketch: Floats, rows: Matrix) -> None:
        self.sketch, self.rows = sketch, rows
        self.shape = (len(sketch) + rows.shape[0], rows.shape[1])
        self._workspace: Floats | None = None

    def times_two_to(self, exponent: int) -> Stack:
        """2^exponent·A."""
        factor = self.sketch.dtype.type(2.0**exponent)
        return Stack(self.sketch * factor, self.rows * factor)

    def squared_norm(self) -> float:
        """‖A‖²_F."""
        return sum_of_squares(self.sketch) + sum_of_squares(self.rows)

    def times(self, right: Floats, out: Floats | None = None) -> Floats:
        """A ``right`` (m, k), written to ``out`` where it is given."""
        top = len(self.sketch)
        result = np.empty((self.shape[0], right.shape[1]), right.dtype) if out is None else out
        np.matmul(self.sketch, right, out=result[:top])
        if sp.issparse(self.rows):
            times(self.rows.indptr, self.rows.indices, self.rows.data, right, result[top:])
        else:
            np.matmul(self.rows, right, out=result[top:])
        return result

    def transposed_times(self, right: Floats) -> Floats:
        """Aᵀ ``right`` (d, k), valid until the next call."""
        top = len(self.sketch)
        shape = (self.shape[1], right.shape[1])
        # A fresh array of this size costs as much as the product: the system has to clear its pages.
        if self._workspace is None or self._workspace.shape != shape:
            self._workspace = np.empty(shape, right.dtype)
        result = self._workspace
        if sp.issparse(self.rows):
            np.matmul(self.sketch.T, right[:top], out=result)
            add_transposed_times(self.rows.indptr, self.rows.indices, self.rows.data, right[top:], result)
        else:
            np.matmul(self.rows.T, right[top:], out=result)
            if top:
                result += self.sketch.T @ right[:top]
        return result

    def dense(self) -> Floats:
        """A itself."""
        rows = self.rows.toarray() if sp.issparse(self.rows) else self.rows
        return np.concatenate([self.sketch, rows])


def shrink_by_directions(stack: Stack, size: int, rng: np.random.Generator) -> Shrunk:
    """Shrink A to ``size`` rows through ``size + OVERSAMPLING`` random directions, iterated upon.

    ‖AᵀA − BᵀB‖₂ ≤ δ + ‖Aᵀ(I − QQᵀ)A‖₂, and the second term is estimated from above, with a probability of
    failure under 1e-6. If the sum is at most (‖A‖²_F − ‖B‖²_F)/(size + 1), all bounds of frequent
    directions follow. If it is not, the estimate is sharpened, then the directions are; at last A is shrunk
    exactly, if it is small enough for that.

    Args:
        stack: A (m, d).
        size: l.
        rng: of the starting vectors.
    """
    exponent = exponent_of(stack.sketch, stack.rows.data if sp.issparse(stack.rows) else stack.rows)
    if exponent:
        return shrink_by_directions(stack.times_two_to(-exponent), size, rng).times_two_to(exponent)
    width = size + OVERSAMPLING
    if stack.shape[1] >= WIDE and not sp.issparse(stack.rows) and stack.shape[0] <= 4 * width:
        return _shrink_few(stack, size)
    if min(stack.shape) <= 2 * width and _is_small(stack):
        return shrink(stack.dense(), size)
    basis, needed = _start(stack, width, rng)
    for iterations in (needed, ITERATIONS, 2 * ITERATIONS):
        for _ in range(iterations):
            basis = orthonormal(stack.times(stack.transposed_times(basis), out=basis))
        shrunk, shrinkage = _project(stack, basis, size)
        promised = (stack.squared_norm() - sum_of_squares(shrunk)) / (size + 1)
        for steps in POWER_STEPS:
            bound = shrinkage + _residual_norm(stack, basis, rng, steps)
            if bound <= promised:
                return Shrunk(shrunk, bound)
    return shrink(stack.dense(), size) if _is_small(stack) else Shrunk(shrunk, bound)


def _shrink_few(stack: Stack, size: int) -> Shrunk:
    """The same as `shrink`, of few rows that are too wide to be copied below one another."""
    sketch, rows = stack.sketch, stack.rows
    across = sketch @ rows.T
    gram = np.block([[sketch @ sketch.T, across], [across.T, rows @ rows.T]]).astype(np.float64)
    squares, vectors = np.linalg.eigh(gram)
    kept, shrinkage, weights = threshold(squares[::-1], size)
    turns = (vectors[:, ::-1][:, :kept] * weights).T.astype(rows.dtype)
    result = turns[:, len(sketch) :] @ rows
    if len(sketch):
        result += turns[:, : len(sketch)] @ sketch
    return Shrunk(result, shrinkage)


def _is_small(stack: Stack) -> bool:
    return stack.shape[0] * stack.shape[1] <= DENSE_ENTRIES and min(stack.shape) <= 4096


def _start(stack: Stack, width: int, rng: np.random.Generator) -> tuple[Floats, int]:
    """A first basis (m, width), and how many iterations it needs.

    What the sketch holds is where the next rows are likely to point: A times its directions, and a few random
    ones for what is new, is half an iteration that starts well.
    """
    kind, known = stack.rows.dtype.type, len(stack.sketch)
    if not known:
        return rng.standard_normal((stack.shape[0], width), dtype=kind), ITERATIONS
    directions = np.empty((stack.shape[1], width), dtype=kind)
    lengths = np.sqrt(np.einsum("ij,ij->i", stack.sketch, stack.sketch))
    np.divide(stack.sketch.T, np.where(lengths > 0, lengths, 1), out=directions[:, :known])
    directions[:, known:] = rng.standard_normal((stack.shape[1], width - known), dtype=kind)
    directions[:, known:] /= np.sqrt(stack.shape[1])
    return orthonormal(stack.times(directions)), ITERATIONS - 1


def orthonormal(columns: Floats) -> Floats:
    """An orthonormal basis of the span of columns, by their Gram matrix; nearly dependent ones drop out.

    The basis takes the place of the columns, which may be most of the memory.
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns, dtype=columns.dtype)).astype(np.float64)
    lengths[lengths == 0] = 1.0
    gram = (columns.T @ columns).astype(np.float64) / np.outer(lengths, lengths)
    squares, vectors = np.linalg.eigh(gram)
    # After an iteration all columns lean to the strongest direction; weak ones come near to rounding.
    kept = squares > squares[-1] * np.finfo(columns.dtype).eps
    weights = (vectors[:, kept] / np.sqrt(squares[kept]) / lengths[:, None]).astype(columns.dtype)
    basis = columns[:, : weights.shape[1]]
    for start in range(0, len(columns), BLOCK_ROWS):
        basis[start : start + BLOCK_ROWS] = columns[start : start + BLOCK_ROWS] @ weights
    return np.ascontiguousarray(basis)


def _project(stack: Stack, basis: Floats, size: int) -> tuple[Floats, float]:
    """B and δ from W = AᵀQ. What Q lacks of orthonormality is made up for in the small matrices."""
    w = stack.transposed_times(basis)
    squares, vectors = np.linalg.eigh((basis.T @ basis).astype(np.float64))
    correction = (vectors / np.sqrt(squares)) @ vectors.T
    gram = correction @ (w.T @ w).astype(np.float64) @ correction
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = squares[::-1], correction @ vectors[:, ::-1]
    kept, shrinkage, weights = threshold(squares, size)
    return (vectors[:, :kept] * weights).T.astype(w.dtype) @ w.T, shrinkage


def _residual_norm(stack: Stack, basis: Floats, rng: np.random.Generator, steps: int) -> float:
    """An upper estimate of ‖Aᵀ(I − QQᵀ)A‖₂, by steps of the power method from `PROBES` random vectors.

    For a positive semi-definite C of order m and a random z on the sphere, ‖C‖²ᵖ ≤ θ·m·‖Cᵖz‖² but with
    probability 0.8/√θ (Dixon 1983, theorem 1). With θ = 20, the chance that all eight fail is 0.18⁸ ≈ 1e-6.
    """
    probes = rng.standard_normal((stack.shape[0], PROBES), dtype=stack.rows.dtype.type)
    probes /= np.sqrt(np.einsum("ij,ij->j", probes, probes))
    probes -= basis @ (basis.T @ probes)
    scale = 1.0
    for _ in range(steps):
        probes = stack.times(stack.transposed_times(probes).copy())
        probes -= basis @ (basis.T @ probes)
        largest = float(np.sqrt(np.einsum("ij,ij->j", probes, probes).max()))
        if largest == 0:
            return 0.0
        probes /= largest
        scale *= largest
    return float(((20.0 * stack.shape[0]) ** 0.5 * scale) ** (1 / steps))
