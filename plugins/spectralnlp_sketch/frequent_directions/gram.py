"""XᵀX itself, for matrices of few columns: a sketch that loses nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.frequent_directions.moments import Sketch
from spectralnlp_sketch.rows import RowMoments, check_finite, check_sums, matrix_of

Floats = NDArray[np.float64]


class GramMoments(RowMoments):
    """XᵀX (d, d) in float64, and the number of rows.

    Args:
        n_columns: d.
        dtype: ``float64``, or ``float32``: of the products of a batch; their sums are float64.
    """

    # Sums of integers are exact, as counts are; others undo to rounding.
    subtractable = True

    def __init__(self, n_columns: int, dtype: str = "float64") -> None:
        if n_columns < 1:
            raise SizeError(f"a matrix needs a column, and n_columns is {n_columns}")
        super().__init__(n_columns)
        self.dtype = dtype
        self.gram: Floats = np.zeros((n_columns, n_columns))
        self._n_rows = np.zeros((), dtype=np.int64)

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self._n_rows)

    @property
    def squared_norm(self) -> float:
        """‖X‖²_F so far."""
        return float(np.trace(self.gram))

    def leading_rows(self, size: int) -> Sketch:
        """The ``size`` rows that come closest."""
        check_sums(self.gram)
        return leading_rows(self.gram, size)

    def observe(self, batch: Batch[Any]) -> None:
        """Add rows, dense or sparse.

        Raises:
            MatrixError: another width, a NaN or an infinity (which row), or squares that overflow float64.
        """
        matrix = matrix_of(batch, self.n_columns)
        if sp.issparse(matrix):
            check_finite(matrix, batch.start, batch.document)
            add_gram(matrix.indptr, matrix.indices, matrix.data.astype(np.float64), self.gram)
            check_sums(np.diagonal(self.gram), batch.document)
        else:
            self.gram += _gram(matrix.astype(self.dtype, copy=False), batch)
        self._n_rows += matrix.shape[0]

    def parameters(self) -> dict[str, Any]:
        """Width and dtype."""
        return {"n_columns": self.n_columns, "dtype": self.dtype}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``gram``: float64 (d, d); ``n_rows``: int64 ()."""
        return {"gram": self.gram, "n_rows": self._n_rows}


def _gram(matrix: NDArray[Any], batch: Batch[Any]) -> NDArray[Any]:
    """XᵀX of a batch. A NaN or an infinity shows on the diagonal, which spares a look at every entry."""
    with np.errstate(over="ignore", invalid="ignore"):
        gram = matrix.T @ matrix
        if np.isfinite(np.diagonal(gram)).all():
            return gram
        check_finite(matrix, batch.start, batch.document)
        wide = matrix.astype(np.float64)
        gram = wide.T @ wide
    check_sums(gram, batch.document)
    return gram


def leading_rows(gram: Floats, size: int) -> Sketch:
    """The ``size`` rows B that come closest to a Gram matrix G: ‖G − BᵀB‖₂ = λ_{size + 1}."""
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    noise = len(squares) * np.finfo(np.float64).eps * squares[0]
    kept = int(np.count_nonzero(squares[:size] > noise))
    bound = float(squares[size]) if len(squares) > size else 0.0
    return Sketch(np.sqrt(squares[:kept, None]) * vectors[:, :kept].T, bound)
