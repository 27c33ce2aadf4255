"""Moments (state that can be merged) for PCA of many columns: mean of rows, and a sketch of their scatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp.storage import StoredArrays, float_array, int_array
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.pca.spectrum import Spectrum
from spectralnlp_sketch.rows import Matrix, RowMoments, Rows, check_finite, matrix_of

Floats = NDArray[Any]
# Maximum number of entries in a dense batch of a file: 64 MB in float64.
_BATCH_ENTRIES = 2**23


class DirectionsMoments(RowMoments):
    """State of PCA for many columns: number of rows x, their mean μ, and a sketch of their scatter.

    The scatter is S = Σ (x − μ)(x − μ)ᵀ. From each batch of dense rows, the batch's mean is subtracted; then
    a multiple of the difference between this mean and the mean of all rows before is added to the sketch as a
    further row. Sparse rows are sketched unchanged, and n·μμᵀ is subtracted at the end, for n rows. In both
    cases the only error is that of the sketch, since μ is exact.

    Args:
        sketch_size: number of rows of the sketch, l.
        n_columns: number of columns, d.
        dtype: ``float32`` or ``float64``, the dtype of the sketch and of the arithmetic.
        sparse: whether the rows are sparse.
        seed: seed of the sketch.
    """

    fan_in = FrequentDirectionsMoments.fan_in

    def __init__(
        self, sketch_size: int, n_columns: int, dtype: str = "float64", sparse: bool = False, seed: int = 0
    ) -> None:
        super().__init__(n_columns)
        self.sketch_size = sketch_size
        self.dtype, self.sparse, self.seed = dtype, sparse, seed
        self.directions = FrequentDirectionsMoments(
            sketch_size, n_columns, dtype=dtype, sparse=sparse, seed=seed
        )
        self.mean: NDArray[np.float64] = np.zeros(n_columns)

    @property
    def batch_size(self) -> int:  # type: ignore[override]
        """Number of rows to read at a time; fewer for wide dense rows."""
        return RowMoments.batch_size if self.sparse else _batch_rows(self.n_columns)

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, to mean and sketch; after an error nothing is added.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        with np.errstate(over="ignore"):
            matrix = matrix_of(batch, self.n_columns).astype(self.dtype, copy=False)
        check_finite(matrix, batch.start, batch.document)
        if not matrix.shape[0]:
            return
        mean = np.asarray(matrix.mean(axis=0, dtype=np.float64)).reshape(-1)
        if self.sparse:
            self._sketch(matrix)
        else:
            dense = matrix.toarray() if sp.issparse(matrix) else matrix
            self._sketch(dense - mean.astype(self.dtype))
        self._join(matrix.shape[0], mean)

    def leading(self, size: int) -> Spectrum:
        """Return the leading eigenvalues and eigenvectors of the sketched scatter Ŝ.

        Args:
            size: maximum number of eigenvalues; fewer are returned if the sketch has fewer directions.
        """
        sketch = self.directions.sketch
        squares, vectors = _squares_and_directions(sketch.rows)
        total = self.directions.squared_norm
        if self.sparse and self.n_rows:
            squares, vectors = _without_mean(squares, vectors, self.mean, self.n_rows)
            total -= self.n_rows * float(self.mean @ self.mean)
        return Spectrum(squares[:size], vectors[:size], total, sketch.bound)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save.

        Returns:
            ``mean``, the mean of the rows, float64 (d,); ``n_rows``, the number of rows, int64 (); and the
            arrays of the sketch of the scatter, whose names begin with ``sketch.``.
        """
        sketched = {f"sketch.{name}": each for name, each in self.directions.arrays().items()}
        return {"mean": self.mean, "n_rows": self._n_rows, **sketched}

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check that a saved mean, row count and sketch have valid shapes and values."""
        stored.take("mean", float_array(f"{self.n_columns}", stored=("float64",), most=None, least=None))
        stored.take("n_rows", int_array(dtype="int64"))
        self.directions.check_arrays(stored.part("sketch."))

    def _sketch(self, matrix: Matrix) -> None:
        self.directions.observe(Batch(Rows(matrix), "", 0, 0))

    def _add(self, other: Self) -> None:
        if other.n_rows:
            self.directions.merge(other.directions)
            self._join(other.n_rows, other.mean)

    def _join(self, m: int, mean: NDArray[np.float64]) -> None:
        """Update number and mean of rows after m rows have been added to the sketch.

        If the rows are dense, a multiple of the difference between the old and the new mean is added to the
        sketch as a further row, since dense rows are sketched after subtracting the mean of their batch.

        Args:
            m: number of added rows.
            mean: mean of the added rows (d,).
        """
        n = self.n_rows
        difference = mean - self.mean
        if n and not self.sparse:
            between = np.sqrt(n * (m / (n + m))) * difference
            self._sketch(between.astype(self.dtype)[None])
        self.mean = self.mean + difference * (m / (n + m))
        self._n_rows += m

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.mean, self._n_rows = arrays["mean"].copy(), arrays["n_rows"].copy()
        start = "sketch."
        sketched = {name.removeprefix(start): each for name, each in arrays.items() if name.startswith(start)}
        self.directions = self.directions.restored(sketched)


def _batch_rows(n_columns: int) -> int:
    return max(1, min(RowMoments.batch_size, _BATCH_ENTRIES // n_columns))


def _squares_and_directions(rows: Floats) -> tuple[NDArray[np.float64], Floats]:
    """Return eigenvalues and eigenvectors of BᵀB for a sketch B whose rows are orthogonal.

    Rows so short that they may be rounding errors are left out.

    Args:
        rows: B (r, d).

    Returns:
        Eigenvalues, which are the squared lengths of the k remaining rows, descending, float64 (k,); and unit
        eigenvectors as rows (k, d).
    """
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    order = np.argsort(-squares, kind="stable")
    # The rows come from eigenvectors of a matrix with the precision of the rows.
    noise = 16 * np.finfo(rows.dtype).eps * squares.max(initial=0.0)
    order = order[squares[order] > noise]
    squares, vectors = squares[order], rows[order]
    vectors /= np.sqrt(squares)[:, None].astype(rows.dtype)
    return squares, vectors


def _without_mean(
    squares: NDArray[np.float64], vectors: Floats, mean: NDArray[np.float64], n: int
) -> tuple[NDArray[np.float64], Floats]:
    """Subtract the mean from a sketch of rows that were not centred: decompose VᵀΛV − n·μμᵀ.

    Args:
        squares: eigenvalues of the sketch, the diagonal of Λ (r,).
        vectors: eigenvectors of the sketch as orthonormal rows, V (r, d).
        mean: mean μ of the rows (d,).
        n: number of rows.

    Returns:
        The positive eigenvalues of the difference, descending (k,), and their eigenvectors as rows (k, d).
    """
    inside = vectors @ mean.astype(vectors.dtype)
    beyond = mean.astype(vectors.dtype) - inside @ vectors
    length = np.linalg.norm(beyond)
    basis = np.vstack([vectors, beyond / max(length, np.finfo(vectors.dtype).tiny)])
    along = np.append(inside, length).astype(np.float64)
    small = np.diag(np.append(squares, 0.0)) - n * np.outer(along, along)
    values, turns = np.linalg.eigh(small)
    kept = values > 0
    return values[kept][::-1], turns[:, kept].T[::-1].astype(vectors.dtype) @ basis
