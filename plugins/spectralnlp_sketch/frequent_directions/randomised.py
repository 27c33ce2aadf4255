"""Shrink a large buffer of rows A (m, d) to a few rows B, by a randomised decomposition of AᵀA.

Ghashami, Liberty and Phillips 2016, *Efficient frequent directions algorithm for sparse matrices*. AᵀA is
approximated by the Nyström method: for any matrix V (d, k) of directions, let Y = AᵀAV and
W = Y(VᵀY)^(−1/2); then WWᵀ ⪯ AᵀA. How close WWᵀ is to AᵀA depends on chance, so `shrink_by_directions`
estimates the difference. No intermediate matrix has m rows, so buffers of sparse rows may be large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.jit import LANES
from spectralnlp_sketch.frequent_directions.kernels import (
    add_gram_times_lanes,
    add_transposed_times,
    times,
)
from spectralnlp_sketch.frequent_directions.shrinking import Shrunk, exponent_of, shrink, threshold
from spectralnlp_sketch.rows import Matrix, sum_of_squares

Floats = NDArray[Any]

OVERSAMPLING = 16
ATTEMPTS = 4  # attempts to find the directions, each with a product AᵀAV
PROBES = LANES
POWER_STEPS = (4, 8, 12)  # steps after which the residual's estimate is tested
DENSE_ENTRIES = 2**25
WIDE = 2**17  # from this many columns on, only few dense rows (such as images) are buffered
BLOCK_ROWS = 2**12  # rows of a product that stays in the cache, or overwrites a factor


class Stack:
    """Linear operator A = [B; X]: a dense matrix stacked on one that may be sparse.

    Args:
        sketch: B (r, d).
        rows: X (n, d), dense or CSR, of the same dtype.
    """

    def __init__(self, sketch: Floats, rows: Matrix) -> None:
        self.sketch, self.rows = sketch, rows
        self.shape = (len(sketch) + rows.shape[0], rows.shape[1])

    def times_two_to(self, exponent: int) -> Stack:
        """Return the stacked matrix A scaled by 2^exponent."""
        factor = self.sketch.dtype.type(2.0**exponent)
        return Stack(self.sketch * factor, self.rows * factor)

    def squared_norm(self) -> float:
        """Return the squared Frobenius norm ‖A‖²_F of the stacked matrix."""
        return sum_of_squares(self.sketch) + sum_of_squares(self.rows)

    def gram_times(self, right: Floats) -> Floats:
        """Return the product AᵀA R of the stacked matrix's Gram matrix with R = ``right`` (d, k)."""
        result = self.sketch.T @ (self.sketch @ right)
        rows = self.rows
        if not sp.issparse(rows):
            result += rows.T @ (rows @ right)
            return result
        if right.shape[1] == LANES:  # bound by memory, not by arithmetic
            add_gram_times_lanes(rows.indptr, rows.indices, rows.data, right.ravel(), result.ravel())
            return result
        product = np.empty((BLOCK_ROWS, right.shape[1]), right.dtype)
        for start in range(0, rows.shape[0], BLOCK_ROWS):
            offsets = rows.indptr[start : start + BLOCK_ROWS + 1]
            times(offsets, rows.indices, rows.data, right, product)
            add_transposed_times(offsets, rows.indices, rows.data, product, result)
        return result

    def dense(self) -> Floats:
        """Return the stacked matrix A as one dense matrix."""
        rows = self.rows.toarray() if sp.issparse(self.rows) else self.rows
        return np.concatenate([self.sketch, rows])


def shrink_by_directions(stack: Stack, size: int, rng: np.random.Generator) -> Shrunk:
    """Shrink rows A to at most ``size`` rows B by subspace iteration; return B and a bound of the error.

    Subspace iteration finds ``size + OVERSAMPLING`` directions, from which an approximation WWᵀ of AᵀA is
    computed. The eigenvalues of WWᵀ are reduced by δ, which gives BᵀB. Hence the error ‖AᵀA − BᵀB‖₂ is at
    most δ + ‖AᵀA − WWᵀ‖₂. The second norm is estimated; the estimate is too low with a probability of at most
    1e-6.

    If this bound is at most (‖A‖²_F − ‖B‖²_F)/(size + 1), frequent directions keep their guarantee. Otherwise
    the estimate and then the directions are improved. If the bound stays larger, a small A is shrunk exactly,
    and for a large A the larger bound is returned.

    Args:
        stack: A (m, d).
        size: maximum number of rows of B.
        rng: generator of random starting vectors.
    """
    exponent = exponent_of(stack.sketch, stack.rows.data if sp.issparse(stack.rows) else stack.rows)
    if exponent:
        return shrink_by_directions(stack.times_two_to(-exponent), size, rng).times_two_to(exponent)
    width = size + OVERSAMPLING
    if stack.shape[1] >= WIDE and not sp.issparse(stack.rows) and stack.shape[0] <= 4 * width:
        return _shrink_wide(stack, size)
    if min(stack.shape) <= 2 * width and _is_small(stack):
        return shrink(stack.dense(), size)
    basis, total = _start(stack, width, rng), stack.squared_norm()
    if not len(stack.sketch):  # no sketch to start from, so a sample of the rows improves the basis
        basis = orthonormal(Stack(stack.sketch, stack.rows[::4]).gram_times(basis))
    for attempt in range(ATTEMPTS):
        approximation = nystrom(basis, stack.gram_times(basis))
        shrunk, shrinkage = _project(approximation, size)
        rounding = float(np.finfo(basis.dtype).eps) * total
        promised = (total - sum_of_squares(shrunk)) / (size + 1) + rounding
        for residual in _residual_norms(stack, approximation, rng):
            bound = shrinkage + residual
            if bound <= promised:
                return Shrunk(shrunk, bound)
        if attempt + 1 < ATTEMPTS:
            basis = orthonormal(approximation.image)
    return shrink(stack.dense(), size) if _is_small(stack) else Shrunk(shrunk, bound)


def _shrink_wide(stack: Stack, size: int) -> Shrunk:
    """Shrink a few very wide rows exactly, like `shrink`, but without copying them into one matrix.

    Args:
        stack: rows A (m, d), a dense sketch and dense new rows.
        size: maximum number of rows to return.
    """
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


def _start(stack: Stack, width: int, rng: np.random.Generator) -> Floats:
    """Return a starting basis for subspace iteration (d, width).

    It consists of the normalised rows of the sketch, with which new rows are likely to be correlated, and of
    a few random directions.
    """
    known, d = len(stack.sketch), stack.shape[1]
    basis = np.empty((d, width), dtype=stack.rows.dtype)
    lengths = np.sqrt(np.einsum("ij,ij->i", stack.sketch, stack.sketch))
    np.divide(stack.sketch.T, np.where(lengths > 0, lengths, 1), out=basis[:, :known])
    basis[:, known:] = rng.standard_normal((d, width - known), dtype=basis.dtype.type)
    basis[:, known:] /= np.sqrt(d)
    return basis


def orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of the span of columns (d, k), computed from their Gram matrix.

    Linearly dependent columns are dropped. The columns are overwritten to save memory.
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns, dtype=columns.dtype)).astype(np.float64)
    lengths[lengths == 0] = 1.0
    gram = (columns.T @ columns).astype(np.float64) / np.outer(lengths, lengths)
    squares, vectors = np.linalg.eigh(gram)
    # After an iteration, all columns are close to the leading direction; weak directions are mostly rounding.
    kept = squares > squares[-1] * np.finfo(columns.dtype).eps
    weights = (vectors[:, kept] / np.sqrt(squares[kept]) / lengths[:, None]).astype(columns.dtype)
    basis = columns[:, : weights.shape[1]]
    for start in range(0, len(columns), BLOCK_ROWS):
        basis[start : start + BLOCK_ROWS] = columns[start : start + BLOCK_ROWS] @ weights
    return np.ascontiguousarray(basis)


class Nystrom(NamedTuple):
    """Nyström approximation WWᵀ of AᵀA, which is computed from the product Y = AᵀAV with directions V (d, k).

    W itself is not stored; it is the product of the two factors below.

    Args:
        image: Y (d, k).
        root: R (k, r), float64, such that RRᵀ is the pseudo-inverse of VᵀY; W = YR.
    """

    image: Floats
    root: NDArray[np.float64]


def nystrom(basis: Floats, image: Floats) -> Nystrom:
    """Compute the Nyström approximation of AᵀA from a basis V and the product AᵀAV.

    Args:
        basis: V (d, k), with orthonormal columns or random ones.
        image: AᵀAV (d, k).
    """
    core = (basis.T @ image).astype(np.float64)
    values, vectors = np.linalg.eigh((core + core.T) / 2)
    # Smaller eigenvalues are rounding errors, and must not be divided by.
    kept = values > len(values) * np.finfo(image.dtype).eps * values[-1]
    return Nystrom(image, vectors[:, kept] / np.sqrt(values[kept]))


def _project(approximation: Nystrom, size: int) -> tuple[Floats, float]:
    """Shrink an approximation WWᵀ to at most ``size`` directions; return the rows B and the shrinkage δ."""
    image, root = approximation
    gram = root.T @ (image.T @ image).astype(np.float64) @ root
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = squares[::-1], root @ vectors[:, ::-1]
    kept, shrinkage, weights = threshold(squares, size)
    return (vectors[:, :kept] * weights).T.astype(image.dtype) @ image.T, shrinkage


def _residual_norms(stack: Stack, approximation: Nystrom, rng: np.random.Generator) -> Iterator[float]:
    """Yield estimates of ‖C‖₂ from above for the residual C = AᵀA − WWᵀ, each tighter than the last.

    The power method multiplies random unit vectors z by C, p times. The inequality ‖C‖²ᵖ ≤ θ·d·‖Cᵖz‖² is
    false with a probability of at most 0.8/√θ (Dixon 1983, theorem 1). The largest ‖Cᵖz‖ of eight vectors
    (`PROBES`) is used, with θ = 20; so the estimate is too low with a probability of at most 0.18⁸ ≈ 1e-6.

    Args:
        stack: A (m, d).
        approximation: the Nyström approximation WWᵀ of AᵀA.
        rng: generator of the vectors z.
    """
    d, kind = stack.shape[1], approximation.image.dtype
    inverse = (approximation.root @ approximation.root.T).astype(kind)
    probes = rng.standard_normal((d, PROBES), dtype=kind.type)
    probes /= np.sqrt(np.einsum("ij,ij->j", probes, probes))
    scale = 0.0
    for step in range(1, POWER_STEPS[-1] + 1):
        shown = approximation.image @ (inverse @ (approximation.image.T @ probes))
        probes = stack.gram_times(probes) - shown
        largest = float(np.sqrt(np.einsum("ij,ij->j", probes, probes).max()))
        if largest == 0:
            yield 0.0
            return
        probes /= largest
        scale += np.log(largest)
        if step in POWER_STEPS:
            yield float((20.0 * d) ** (0.5 / step) * np.exp(scale / step))
