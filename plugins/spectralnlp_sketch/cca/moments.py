"""Moments for CCA (statistics of the data that add up): sums and products of the columns of two views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from spectralnlp.linalg.cca import View
from spectralnlp.runtime import Batch
from spectralnlp.storage import StoredArrays, StoredValues, float_array, int_array, offset_array
from spectralnlp_sketch.cca.pairs import Pairs
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.rows import Matrix, RowMoments, check_sums

Floats = NDArray[np.float64]
_Width = Annotated[int, Ge(1), Lt(1 << 30)]

# A squared mean of this many variances costs four of 16 digits of the variance; beyond, columns are centred.
_FAR = 1e4
# Sums of integers up to this one are exact, so they need no centring.
_SMALL = 2**10


class PairMoments(RowMoments):
    """Gram matrix ZᵀZ of the rows Z = [1 | X − c | Y − d]: row count, column sums, XᵀX, XᵀY and YᵀY.

    The constants c and d are chosen from the first rows, so that no digits are lost where a column's mean is
    many times its deviation. They are zero for all other columns, and for small integers, such as counts.

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
        self.pivot: Floats = np.zeros(n_x + n_y)

    @property
    def n_rows(self) -> int:
        """Number of pairs of rows observed so far."""
        return int(self.gram[0, 0])

    def views(self, regularisation: float = 0.0) -> tuple[View, View, Any]:
        """Return the first and second moments of X − c and Y − d, and (X − c)ᵀ(Y − d) / n, for n rows.

        Args:
            regularisation: amount to add to the variance of each column, as a multiple of the mean variance
                of the view's columns.
        """
        gram, n, cut = self.gram, self.n_rows, 1 + self.n_x
        sums = np.asarray(gram[[0]].todense()).ravel() if self.sparse else gram[0]
        c, d = self.pivot[: self.n_x], self.pivot[self.n_x :]
        x = View(gram[1:cut, 1:cut] / n, sums[1:cut] / n, regularisation, c)
        y = View(gram[cut:, cut:] / n, sums[cut:] / n, regularisation, d)
        return x, y, gram[1:cut, cut:] / n

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of pairs of rows, dense or sparse, to the sums.

        Raises:
            MatrixError: a width differs, a row holds NaN or infinity, or squares overflow float64.
        """
        if not len(batch):
            return
        pairs = Pairs.of(batch.examples)
        pairs.check((self.n_x, self.n_y), batch.start)
        matrix = pairs.joined()
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.n_rows:
                self.pivot = _pivot(matrix)
            rows = _with_ones(_less(matrix, self.pivot))
            if self.sparse:
                rows = sp.csr_array(rows)
                self.gram = _tidy(self.gram + rows.T @ rows)
            elif sp.issparse(rows):
                add_gram(rows.indptr, rows.indices, rows.data, self.gram)
            else:
                self.gram += rows.T @ rows
        check_sums(self.gram.diagonal(), batch.document)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save: the matrix ZᵀZ, and the constants c and d.

        Returns:
            ``pivot``, float64 (p + q,), and ``gram``, float64 (1 + p + q, 1 + p + q); if the matrix is
            sparse, its CSR arrays ``indptr``, ``indices`` and ``data`` instead.
        """
        if not self.sparse:
            return {"gram": self.gram, "pivot": self.pivot}
        indptr, indices = (each.astype(np.int64) for each in (self.gram.indptr, self.gram.indices))
        return {"indptr": indptr, "indices": indices, "data": self.gram.data, "pivot": self.pivot}

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
        sized.take("pivot", float_array(f"{size - 1}", stored=("float64",), most=None))

    def with_stored_parameters(self, values: StoredValues) -> Self:
        """Return empty moments with the widths that were stored, which depend on the data alone.

        Raises:
            ModelError: a parameter is missing or invalid.
        """
        sizes = {name: values.take(name, _Width) for name in ("n_x", "n_y")}
        return type(self)(**sizes, sparse=values.take("sparse", bool))

    def _add(self, other: Self) -> None:
        if not self.n_rows:
            self.pivot = other.pivot.copy()
        self.gram = self._tidied(self.gram + other._about(self.pivot))

    def _remove(self, other: Self) -> None:
        self.gram = self._tidied(self.gram - other._about(self.pivot))

    def _about(self, pivot: Floats) -> Any:
        """Return the matrix ZᵀZ of the same rows with other constants."""
        shift = self.pivot - pivot
        if not shift.any():
            return self.gram
        moved = sp.lil_array(sp.eye_array(len(shift) + 1))
        moved[1:, 0] = shift[:, None]
        moved = moved.tocsr()
        return moved @ self.gram @ moved.T

    def _tidied(self, gram: Any) -> Any:
        return _tidy(gram) if self.sparse else gram

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.pivot = arrays["pivot"].copy()
        if not self.sparse:
            self.gram = arrays["gram"].copy()
            return
        parts = (arrays["data"].copy(), arrays["indices"].copy(), arrays["indptr"].copy())
        self.gram = _tidy(sp.csr_array(parts, shape=self.gram.shape))


def _pivot(matrix: Matrix) -> Floats:
    """Return what to subtract from the columns of rows, before they are squared; see `PairMoments`.

    Args:
        matrix: the first rows, float64 (n, d), dense or CSR.
    """
    n = matrix.shape[0]
    squares = matrix.multiply(matrix) if sp.issparse(matrix) else matrix * matrix
    mean, square = (np.asarray(each.sum(axis=0)).ravel() / n for each in (matrix, squares))
    # Rounding errors of the variance do not matter here: they are far below the bound.
    far = np.flatnonzero(mean**2 > _FAR * np.maximum(square - mean**2, 0))
    pivot = np.zeros_like(mean)
    if len(far):
        columns = matrix[:, far].toarray() if sp.issparse(matrix) else matrix[:, far]
        whole = (columns == np.rint(columns)).all(axis=0)
        small = whole & (np.abs(columns).max(axis=0) <= _SMALL)
        pivot[far] = np.where(small, 0.0, np.where(whole, np.rint(mean[far]), mean[far]))
    return pivot


def _less(matrix: Matrix, pivot: Floats) -> Matrix:
    """Subtract a constant from each column; of sparse rows, only columns with a constant become dense."""
    if not pivot.any():
        return matrix
    if sp.issparse(matrix):
        return (matrix - sp.csr_array(np.ones((matrix.shape[0], 1))) @ sp.csr_array(pivot[None])).tocsr()
    return matrix - pivot


def _with_ones(matrix: Matrix) -> Matrix:
    """Return rows with a column of ones in front."""
    ones = np.ones((matrix.shape[0], 1))
    return sp.hstack([ones, matrix], format="csr") if sp.issparse(matrix) else np.hstack([ones, matrix])


def _tidy(matrix: Any) -> Any:
    """Convert a matrix to canonical CSR form: sorted column indices, no stored zeros."""
    matrix = sp.csr_array(matrix)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
