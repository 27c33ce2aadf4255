"""Sparse symmetric matrices, stored as upper triangles to halve the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.parameters import Floats


class Triangle:
    """A running sum of sparse symmetric matrices, stored as its upper triangle, in blocks of rows.

    Because of the blocks, an addition needs extra memory for a single block only.

    Args:
        size: number V of rows and of columns.
    """

    ROWS = 512

    def __init__(self, size: int) -> None:
        self.size = size
        self._starts = range(0, max(size, 1), self.ROWS)
        self._blocks = [sp.csr_matrix((min(self.ROWS, size - start), size)) for start in self._starts]

    @property
    def n_entries(self) -> int:
        """Number of non-zero entries."""
        return sum(block.nnz for block in self._blocks)

    def add(self, matrix: sp.csr_matrix) -> None:
        """Add a symmetric matrix to the sum, given by its upper triangle, csr (V, V)."""
        for i, start in enumerate(self._starts):
            self._blocks[i] = _sorted(self._blocks[i] + matrix[start : start + self.ROWS])

    def merge(self, other: Self) -> None:
        """Add the sum that another `Triangle` of the same size holds."""
        for i, block in enumerate(other._blocks):
            self._blocks[i] = _sorted(self._blocks[i] + block)

    def whole(self) -> sp.csr_matrix:
        """Return the upper triangle of the sum of all matrices added, csr (V, V)."""
        return sp.vstack(self._blocks, format="csr")


def _sorted(matrix: sp.csr_matrix) -> sp.csr_matrix:
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


@dataclass(frozen=True)
class SymmetricMatrix:
    """Symmetric matrix, represented by its upper triangle, csr (V, V)."""

    upper: sp.csr_matrix

    def __matmul__(self, x: Floats) -> Floats:
        """Return the product of this matrix and a matrix x, float64 (V, k)."""
        product = self.upper @ x
        product += self.upper.T @ x
        product -= self.upper.diagonal()[:, None] * x
        return product

    def restricted(self, kept: NDArray[np.bool_]) -> SymmetricMatrix:
        """Return the submatrix of the rows and columns that a mask, bool (V,), selects."""
        return SymmetricMatrix(self.upper[kept][:, kept])

    def toarray(self) -> Floats:
        """Return the whole matrix as a dense array, float64 (V, V)."""
        return self @ np.eye(self.upper.shape[0])
