"""Moments for CCA (statistics of the data that add up): sums and products of the columns of two views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.linalg.cca import View
from spectralnlp.runtime import Batch
from spectralnlp.storage import StoredArrays, float_array, int_array, offset_array
from spectralnlp_sketch.cca.pairs import side_by_side
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.rows import RowMoments, check_sums

Floats = NDArray[np.float64]


class PairMoments(RowMoments):
    """Gram matrix ZᵀZ of the rows Z = [1 | X | Y]: row count, column sums, XᵀX, XᵀY and YᵀY.

    Args:
        n_x: number of columns of X.
        n_y: number of columns of Y.
        sparse: whether to store only pairs of columns that occur in the same row, for wide views of text.
    """

    # Subtraction is exact for integers such as counts, and exact up to rounding for other numbers.
    subtractable = True

    def __init__(self, n_x: int, n_y: int, sparse: bool = False) -> None:
        super().__init__(n_x + n_y)
        self.n_x, self.n_y, self.sparse = n_x, n_y, sparse
        size = 1 + n_x + n_y
        self.gram: Any = sp.csr_array((size, size)) if sparse else np.zeros((size, size))

    @property
    def n_rows(self) -> int:
        """Number of pairs of rows observed so far."""
        return int(self.gram[0, 0])

    def views(self, regularisation: float = 0.0) -> tuple[View, View, Any]:
        """Return the first and second moments of X and of Y, and XᵀY / n, float64 (p, q), for n rows.

        Args:
            regularisation: amount to add to the variance of each column, as a multiple of the mean variance
                of the view's columns.
        """
        gram, n, cut = self.gram, self.n_rows, 1 + self.n_x
        sums = np.asarray(gram[[0]].todense()).ravel() if self.sparse else gram[0]
        x = View(gram[1:cut, 1:cut] / n, sums[1:cut] / n, regularisation)
        y = View(gram[cut:, cut:] / n, sums[cut:] / n, regularisation)
        return x, y, gram[1:cut, cut:] / n

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of joined rows [x | y], dense or sparse, to the sums.

        Raises:
            MatrixError: the width differs, a row holds NaN or infinity, or squares overflow float64.
        """
        matrix = self.checked_rows(batch)
        rows = side_by_side(np.ones((matrix.shape[0], 1)), matrix)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.sparse:
                rows = sp.csr_array(rows)
                self.gram = _tidy(self.gram + rows.T @ rows)
            elif sp.issparse(rows):
                add_gram(rows.indptr, rows.indices, rows.data, self.gram)
            else:
                self.gram += rows.T @ rows
        check_sums(self.gram.diagonal(), batch.document)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save: the matrix ZᵀZ.

        Returns:
            ``gram``, float64 (1 + p + q, 1 + p + q); if the matrix is sparse, its CSR arrays ``indptr``,
            ``indices`` and ``data``.
        """
        if not self.sparse:
            return {"gram": self.gram}
        indptr, indices = (each.astype(np.int64) for each in (self.gram.indptr, self.gram.indices))
        return {"indptr": indptr, "indices": indices, "data": self.gram.data}

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check that saved sums form a valid matrix over the columns of both views."""
        if not self.sparse:
            super().check_arrays(stored)
            return
        size = self.gram.shape[0]
        sized = stored.part(size=size)
        sized.take("indptr", offset_array(f"{size + 1}", into="n_entries"))
        sized.take("indices", int_array("n_entries", dtype="int64", below="size"))
        sized.take("data", float_array("n_entries", stored=("float64",), most=None))

    def _add(self, other: Self) -> None:
        self.gram = _tidy(self.gram + other.gram) if self.sparse else self.gram + other.gram

    def _remove(self, other: Self) -> None:
        self.gram = _tidy(self.gram - other.gram) if self.sparse else self.gram - other.gram

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if not self.sparse:
            super()._restore(arrays)
            return
        parts = (arrays["data"].copy(), arrays["indices"].copy(), arrays["indptr"].copy())
        self.gram = _tidy(sp.csr_array(parts, shape=self.gram.shape))


def _tidy(matrix: Any) -> Any:
    """Convert a matrix to canonical CSR form: sorted column indices, no stored zeros."""
    matrix = sp.csr_array(matrix)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
