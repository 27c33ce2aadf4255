"""Moments of columns (statistics that add up): sums, sums of squares, and numbers of nonzero rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.hashing.ngrams import smoothed_idf
from spectralnlp_sketch.rows import RowMoments

Floats = NDArray[np.float64]


class ColumnMoments(RowMoments):
    """Moments of columns: sum, sum of squares, and number of rows in which the column is nonzero.

    Args:
        n_columns: number of columns, d.
    """

    subtractable = True

    def __init__(self, n_columns: int) -> None:
        super().__init__(n_columns)
        self.sums: Floats = np.zeros(n_columns)
        self.squares: Floats = np.zeros(n_columns)
        self.nonzeros = np.zeros(n_columns, dtype=np.int64)

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, to the sums.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = self.checked_rows(batch)
        wide = matrix.astype(np.float64, copy=False)
        if sp.issparse(wide):
            self.sums += np.bincount(wide.indices, wide.data, self.n_columns)
            self.squares += np.bincount(wide.indices, wide.data**2, self.n_columns)
            self.nonzeros += np.bincount(wide.indices[wide.data != 0], minlength=self.n_columns)
        else:
            self.sums += wide.sum(axis=0)
            self.squares += np.einsum("ij,ij->j", wide, wide)
            self.nonzeros += np.count_nonzero(wide, axis=0)
        self._n_rows += wide.shape[0]

    @property
    def means(self) -> Floats:
        """Column means, float64 (d,)."""
        return self.sums / max(self.n_rows, 1)

    @property
    def deviations(self) -> Floats:
        """Standard deviations of columns, float64 (d,), with divisor n."""
        n = max(self.n_rows, 1)
        return np.sqrt(np.maximum(self.squares / n - self.means**2, 0.0))

    @property
    def idf(self) -> Floats:
        """Smoothed inverse document frequencies, ln((1 + rows) / (1 + nonzero rows)) + 1, float64 (d,)."""
        return smoothed_idf(self.n_rows, self.nonzeros)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save.

        Returns:
            ``sums`` and ``squares``, the sums of each column's values and of their squares, float64 (d,);
            ``nonzeros``, the number of rows in which it is nonzero, int64 (d,); ``n_rows``, the number of
            rows, int64 ().
        """
        return {
            "sums": self.sums,
            "squares": self.squares,
            "nonzeros": self.nonzeros,
            "n_rows": self._n_rows,
        }
