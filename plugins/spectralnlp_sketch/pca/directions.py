"""The mean of rows exactly and their scatter by frequent directions: for matrices of many columns."""

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
# Entries of a dense batch of a file: 64 MB in float64.
_BATCH_ENTRIES = 2**23


class DirectionsMoments(RowMoments):
    """How many rows there are, their mean μ, and a sketch of S = Σ (x − μ)(x − μ)ᵀ.

    Dense rows are sketched less the mean of their batch, followed by one row that stands for the distance of
    that mean from μ. Sparse rows are sketched as they are, and n·μμᵀ is subtracted at the end. Both ways the
    error is that of the sketch, since μ is exact.

    Args:
        sketch_size: l.
        n_columns: d.
        dtype: ``float32`` or ``float64``: of the sketch and the arithmetic.
        sparse: whether the rows are.
        seed: of the sketch.
    """

    fan_in = FrequentDirectionsMoments.fan_in

    def __init__(
        self, sketch_size: int, n_columns: int, dtype: str = "float64", sparse: bool = False, seed: int = 0
    ) -> None:
        super().__init__(n_columns)
        self.dtype, self.sparse, self.seed = dtype, sparse, seed
        self.directions = FrequentDirectionsMoments(
            sketch_size, n_columns, dtype=dtype, sparse=sparse, seed=seed
        )
        self.mean: NDArray[np.float64] = np.zeros(n_columns)
        self._n_rows = np.zeros((), dtype=np.int64)

    @property
    def batch_size(self) -> int:  # type: ignore[override]
        """Rows that are read at a time: fewer of wide dense ones."""
        return RowMoments.batch_size if self.sparse else _batch_rows(self.n_columns)

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self._n_rows)

    def observe(self, batch: Batch[Any]) -> None:
        """Add rows, dense or sparse; after an error nothing is added.

        Raises:
            MatrixError: another width, or a NaN or an infinity (which row).
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
        """The leading eigenvalues and eigenvectors of the sketched scatter Ŝ.

        Args:
            size: how many; fewer are given where the sketch has fewer directions.
        """
        sketch = self.directions.sketch
        squares, vectors = _squares_and_directions(sketch.rows)
        total = self.directions.squared_norm
        if self.sparse and self.n_rows:
            squares, vectors = _without_mean(squares, vectors, self.mean, self.n_rows)
            total -= self.n_rows * float(self.mean @ self.mean)
        return Spectrum(squares[:size], vectors[:size], total, sketch.bound)

    def parameters(self) -> dict[str, Any]:
        """All that `__init__` takes."""
        names = ("n_columns", "dtype", "sparse", "seed")
        return {"sketch_size": self.directions.sketch_size} | {name: getattr(self, name) for name in names}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``mean``: float64 (d,); ``n_rows``: int64 (); those of the sketch, after ``sketch.``."""
        sketched = {f"sketch.{name}": each for name, each in self.directions.arrays().items()}
        return {"mean": self.mean, "n_rows": self._n_rows, **sketched}

    def check_arrays(self, stored: StoredArrays) -> None:
        """The mean must be of the sketch's width; the rest is the sketch's business."""
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
        """Add m rows, which are in the sketch already, to the mean, and to the sketch how far they are."""
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
    """Squared lengths of orthogonal rows, the longest first, those above rounding, and unit rows."""
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    order = np.argsort(-squares, kind="stable")
    # The rows are made of eigenvectors of a matrix of the rows' own precision.
    noise = 16 * np.finfo(rows.dtype).eps * squares.max(initial=0.0)
    order = order[squares[order] > noise]
    squares, vectors = squares[order], rows[order]
    vectors /= np.sqrt(squares)[:, None].astype(rows.dtype)
    return squares, vectors


def _without_mean(
    squares: NDArray[np.float64], vectors: Floats, mean: NDArray[np.float64], n: int
) -> tuple[NDArray[np.float64], Floats]:
    """Eigenvalues and eigenvectors of VᵀΛV − n·μμᵀ, those that are positive.

    Args:
        squares: Λ (r,).
        vectors: V (r, d), orthonormal.
        mean: μ (d,).
        n: rows.
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
