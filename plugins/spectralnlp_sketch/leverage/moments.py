"""Moments (state that can be merged) for leverage scores: the factor R of X = QR, more accurate than XᵀX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.rows import RowMoments

Floats = NDArray[np.float64]


class TriangleMoments(RowMoments):
    """Triangular factor R (at most d, d) of the QR decomposition of a stream of rows X (n, d).

    For each batch, R becomes the factor of R stacked on the new rows; its diagonal is not negative (Demmel,
    Grigori, Hoemmen and Langou 2012, *Communication-optimal parallel and sequential QR*, section 4).

    Args:
        n_columns: number of columns, d.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__(n_columns)
        self.triangle: Floats = np.zeros((0, n_columns))

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, and update the factor R.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = self.checked_rows(batch)
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        self._take(dense.astype(np.float64, copy=False))
        self._n_rows += matrix.shape[0]

    def _take(self, rows: Floats) -> None:
        if not len(rows):
            return
        triangle = np.linalg.qr(np.concatenate([self.triangle, rows]), mode="r")
        signs = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
        self.triangle = np.triu(triangle) * signs[:, None]

    def _add(self, other: Self) -> None:
        if len(self.triangle):
            self._take(other.triangle)
        else:
            self.triangle = other.triangle.copy()
        self._n_rows += other.n_rows

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.triangle = arrays["triangle"].copy()
        self._n_rows[...] = arrays["n_rows"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save: the factor R as ``triangle``, float64 (at most d, d), and the row count.

        The count is ``n_rows``, int64 ().
        """
        return {"triangle": self.triangle, "n_rows": self._n_rows}
