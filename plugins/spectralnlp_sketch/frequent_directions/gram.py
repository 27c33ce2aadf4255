"""Moments (statistics that add up) for sketches of few columns: the exact Gram matrix XᵀX of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.frequent_directions.moments import Sketch
from spectralnlp_sketch.rows import RowMoments, check_finite, check_sums, gram_of, matrix_of

Floats = NDArray[np.float64]


class GramMoments(RowMoments):
    """Gram matrix XᵀX (d, d), in float64, of a stream of rows X (n, d), and the number n of rows.

    An exact sketch is computed from the Gram matrix at any time; memory grows with d², not with n.

    Args:
        n_columns: number of columns, d.
        dtype: ``float64`` or ``float32``, the dtype of products of a batch; their sums are float64.
    """

    # Subtraction is exact for integers such as counts, and exact up to rounding for other numbers.
    subtractable = True

    def __init__(self, n_columns: int, dtype: str = "float64") -> None:
        if n_columns < 1:
            raise SizeError(f"a matrix needs a column, and n_columns is {n_columns}")
        super().__init__(n_columns)
        self.dtype = dtype
        self.gram: Floats = np.zeros((n_columns, n_columns))

    @property
    def squared_norm(self) -> float:
        """Squared Frobenius norm ‖X‖²_F of the rows so far."""
        return float(np.trace(self.gram))

    def leading_rows(self, size: int) -> Sketch:
        """Return the sketch B of at most ``size`` rows with the smallest error ‖XᵀX − BᵀB‖₂."""
        check_sums(self.gram)
        return leading_rows(self.gram, size)

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, to the Gram matrix.

        Raises:
            MatrixError: the width differs, a row holds NaN or infinity, or squares overflow float64.
        """
        matrix = matrix_of(batch, self.n_columns)
        if sp.issparse(matrix):
            check_finite(matrix, batch.start, batch.document)
            add_gram(matrix.indptr, matrix.indices, matrix.data.astype(np.float64), self.gram)
            check_sums(np.diagonal(self.gram), batch.document)
        else:
            self.gram += gram_of(matrix.astype(self.dtype, copy=False), batch)
        self._n_rows += matrix.shape[0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save: ``gram``, the matrix XᵀX, float64 (d, d), and ``n_rows``, int64 ()."""
        return {"gram": self.gram, "n_rows": self._n_rows}


def leading_rows(gram: Floats, size: int) -> Sketch:
    """Return the sketch B of at most ``size`` rows with the smallest error ‖G − BᵀB‖₂, for a Gram matrix G.

    The smallest error is the (size + 1)-th largest eigenvalue of G; it is returned as the sketch's bound.

    Args:
        gram: G (d, d), symmetric and positive semi-definite.
        size: maximum number of rows of B.
    """
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    noise = len(squares) * np.finfo(np.float64).eps * squares[0]
    kept = int(np.count_nonzero(squares[:size] > noise))
    bound = float(squares[size]) if len(squares) > size else 0.0
    return Sketch(np.sqrt(squares[:kept, None]) * vectors[:, :kept].T, bound)
