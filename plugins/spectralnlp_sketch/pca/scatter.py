"""Moments (statistics that add up) for PCA of few columns: the mean of rows, and their scatter matrix."""

from __future__ import annotations

from functools import partial
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dsyr

from spectralnlp.linalg import map_in_threads
from spectralnlp.runtime import Batch
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.pca.spectrum import Spectrum
from spectralnlp_sketch.rows import (
    Matrix,
    RowMoments,
    check_finite,
    check_sums,
    matrix_of,
    squares_fit,
    sum_of_squares,
)

Floats = NDArray[np.float64]

# Maximum number of columns; their scatter takes 8 GiB.
MAX_COLUMNS = 2**15
# Number of entries of rows to centre at a time, so that they stay in the cache until they are multiplied.
_BLOCK_ENTRIES = 3 * 2**18
# A squared mean of this many variances costs one digit of the scatter.
_NEAR = 10.0
# Four panels of columns make ten products, which keep up to eight threads at work.
_PANELS = 4
_MIN_PANEL = 128


class ScatterMoments(RowMoments):
    """State of PCA for few columns: number of rows x, their mean μ, and scatter S = Σ (x − μ)(x − μ)ᵀ.

    Chan, Golub and LeVeque 1983: each batch is centred about a value close to its mean, and parts are merged
    by a rank-one correction, so no precision is lost for rows far from zero. Sparse rows are not centred, and
    their scatter is corrected afterwards.

    Args:
        n_columns: number of columns d, at most 32,768.
        dtype: ``float64`` or ``float32``, the dtype of products of a dense batch; their sums are float64.
    """

    def __init__(self, n_columns: int, dtype: str = "float64") -> None:
        if not 1 <= n_columns <= MAX_COLUMNS:
            what = f"the scatter of {n_columns:,} columns does not fit into memory"
            raise SizeError(what, hint=f"give at most {MAX_COLUMNS:,} columns, or use method='sketch'")
        super().__init__(n_columns)
        self.dtype = dtype
        self.mean: Floats = np.zeros(n_columns)
        # Only the upper triangle is updated and read.
        self.scatter: Floats = np.zeros((n_columns, n_columns))

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, to mean and scatter; after an error nothing is added.

        Raises:
            MatrixError: the width differs, a row holds NaN or infinity, or squares overflow.
        """
        matrix = matrix_of(batch, self.n_columns)
        if not matrix.shape[0]:
            return
        if sp.issparse(matrix):
            self._observe_sparse(matrix, batch)
        else:
            self._observe_dense(matrix, batch)

    def _observe_dense(self, matrix: NDArray[Any], batch: Batch[Any]) -> None:
        m = matrix.shape[0]
        block = max(1, _BLOCK_ENTRIES // self.n_columns)
        with np.errstate(over="ignore", invalid="ignore"):
            centre = self._centre(matrix[:block])
            sums, scatter = _about(centre, matrix.astype(self.dtype, copy=False), block)
            if not squares_fit(scatter.diagonal()):
                check_finite(matrix, batch.start, batch.document)
                # Squares beyond float32, or too small for it, may fit float64.
                sums, scatter = _about(centre, matrix.astype(np.float64, copy=False), block)
        check_sums(scatter.diagonal(), batch.document)
        self.scatter += scatter
        shift = sums / m
        _add_outer(self.scatter, -float(m), shift)
        self._join(m, centre.astype(scatter.dtype) + shift)

    def _centre(self, rows: NDArray[Any]) -> Floats:
        """Return a point to subtract from new rows, to reduce rounding errors: a mean, or zero.

        This is the mean of all rows so far or, for the first batch, the mean of its first rows. If this mean
        is small relative to the standard deviation, zero is returned, since subtraction would gain nothing.

        Args:
            rows: the first rows of a batch (n, d).
        """
        if self.n_rows:
            mean, variance = self.mean, self.scatter.diagonal().max() / self.n_rows
        else:
            mean, variance = rows.mean(axis=0, dtype=np.float64), rows.var(axis=0, dtype=np.float64).max()
        return np.zeros_like(mean) if mean @ mean <= _NEAR * variance else mean

    def _observe_sparse(self, matrix: Matrix, batch: Batch[Any]) -> None:
        check_finite(matrix, batch.start, batch.document)
        wide = matrix.data.astype(np.float64)
        m = matrix.shape[0]
        with np.errstate(over="ignore"):
            total = sum_of_squares(matrix.astype(np.float64)) + float(np.trace(self.scatter))
        check_sums(np.asarray(total), batch.document)
        mean = np.bincount(matrix.indices, wide, self.n_columns) / m
        add_gram(matrix.indptr, matrix.indices, wide, self.scatter)
        _add_outer(self.scatter, -float(m), mean)
        self._join(m, mean)

    def forget(self, other: Self) -> None:
        """Remove rows that were added before; the result is exact up to rounding errors.

        Args:
            other: moments of the rows to remove.

        Raises:
            ConfigError: ``other`` has another number of columns or another dtype.
            MatrixError: no row would be left, or the rows were never added; nothing is changed.
        """
        self._check_mergeable(other)
        m, left = other.n_rows, self.n_rows - other.n_rows
        if left < 1:
            what = f"cannot forget {m} rows: only {self.n_rows} were learned from"
            raise MatrixError(what, hint="at least one row must be left")
        mean = self.mean + (self.mean - other.mean) * (m / left)
        scatter = self.scatter - other.scatter
        _add_outer(scatter, -m * (left / (left + m)), mean - other.mean)
        if scatter.diagonal().min() < -1e-8 * self.scatter.diagonal().max():
            raise MatrixError(
                "rows to forget that were never learned from", hint="give those of `partial_fit`"
            )
        self.scatter, self.mean, self._n_rows = scatter, mean, self._n_rows - m

    def leading(self, size: int) -> Spectrum:
        """Return the exact leading eigenvalues and eigenvectors of the scatter.

        Args:
            size: maximum number of eigenvalues; fewer are returned if there are fewer columns.
        """
        d = self.n_columns
        chosen = (max(d - size, 0), d - 1)
        # Only the upper triangle is read.
        squares, vectors = eigh(self.scatter, lower=False, subset_by_index=chosen, check_finite=False)
        return Spectrum(squares[::-1], vectors.T[::-1], float(np.trace(self.scatter)), 0.0)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save.

        Returns:
            ``scatter``, the upper triangle of S, float64 (d, d); ``mean``, the mean of the rows, float64
            (d,); ``n_rows``, the number of rows, int64 ().
        """
        return {"scatter": self.scatter, "mean": self.mean, "n_rows": self._n_rows}

    def _add(self, other: Self) -> None:
        if other.n_rows:
            self.scatter += other.scatter
            self._join(other.n_rows, other.mean)

    def _join(self, m: int, mean: Floats) -> None:
        """Update number, mean and scatter for m new rows, after their own scatter has been added.

        This adds the part of the scatter that is due to the difference between the old and the new mean.

        Args:
            m: number of new rows.
            mean: mean of the new rows (d,).
        """
        n = self.n_rows
        if not n:
            self.mean = mean.copy()
        else:
            difference = mean - self.mean
            _add_outer(self.scatter, n * (m / (n + m)), difference)
            self.mean = self.mean + difference * (m / (n + m))
        self._n_rows += m


def _add_outer(scatter: Floats, factor: float, vector: Floats) -> None:
    """Add factor·vvᵀ to the upper triangle of a scatter matrix, in place.

    Args:
        scatter: (d, d), of which the upper triangle is used.
        factor: factor of the product.
        vector: v (d,).
    """
    dsyr(factor, vector, lower=1, a=scatter.T, overwrite_a=1)


def _about(centre: NDArray[Any], matrix: NDArray[Any], block: int) -> tuple[Floats, NDArray[Any]]:
    """Return sums about a centre c: Σ (x − c), float64 (d,), and Σ (x − c)(x − c)ᵀ (d, d), upper triangle.

    Args:
        centre: c (d,).
        matrix: rows x (n, d), dense or sparse.
        block: number of rows to process at a time.
    """
    d = matrix.shape[1]
    centre = centre.astype(matrix.dtype)
    gram, sums = np.zeros((d, d), matrix.dtype), np.zeros(d)
    # Skip the subtraction if the centre is zero, which saves time.
    centred = np.empty((min(block, len(matrix)), d), matrix.dtype) if centre.any() else None
    # Products are allocated once: in a Dask worker, malloc returns freed memory to the system each time.
    panels = [(gram[pair], *pair, np.empty_like(gram[pair])) for pair in _pairs_of_panels(d)]
    with map_in_threads() as each:
        for start in range(0, len(matrix), block):
            rows = matrix[start : start + block]
            if centred is not None:
                rows = np.subtract(rows, centre, out=centred[: len(rows)])
            sums += np.ones(len(rows), rows.dtype) @ rows
            list(each(partial(_add_panel, rows), panels))
    return sums, gram


def _pairs_of_panels(d: int) -> list[tuple[slice, slice]]:
    """Return pairs of column ranges (panels) whose products make up the upper triangle of XᵀX.

    The pairs depend only on d, so sums are the same to the byte with any number of threads.
    """
    width = max(_MIN_PANEL, -(-d // _PANELS))
    panels = [slice(start, start + width) for start in range(0, d, width)]
    return list(combinations_with_replacement(panels, 2))


@np.errstate(over="ignore", invalid="ignore")  # a thread has its own
def _add_panel(rows: NDArray[Any], panel: tuple[NDArray[Any], slice, slice, NDArray[Any]]) -> None:
    """Add the product of two panels (ranges of columns) to their part of the Gram matrix.

    Args:
        rows: centred rows (n, d).
        panel: the part of the Gram matrix (w, v), the column ranges of the two panels, and memory (w, v) for
            the product.
    """
    gram, left, right, product = panel
    np.matmul(rows[:, left].T, rows[:, right], out=product)
    gram += product
