"""The word × context matrix, stored in memory or in files, with the products that an SVD needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.matrix_kernels import add_transposed_product
from spectralnlp.runtime import Longs, Memory, offsets_of, writing

Array32 = NDArray[np.float32]
# A block of rows, a scipy.sparse.csr_array.
Block: TypeAlias = Any
# A function of the index of a block's first row and the block that returns new values of the block.
Change: TypeAlias = Callable[[int, Block], NDArray[Any]]

# A block of rows takes at most one part in this many of the memory limit.
_SHARE = 16


class ContextMatrix(ABC):
    """Base class of sparse float32 matrices with the products that an SVD needs (`linalg.svd.sparse_svd`).

    Attributes:
        shape: number of rows and number of columns.
    """

    dtype = np.dtype(np.float32)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""

    @abstractmethod
    def mapped(self, change: Change) -> ContextMatrix:
        """Return a copy of the matrix with new values at the positions of the stored entries.

        Args:
            change: function that takes the index of the first row of a block of rows, and the block as a
                sparse matrix; it returns the new values of the block's entries, in the same order.
        """

    @abstractmethod
    def sum(self, axis: int) -> Array32:
        """Return the sum of each column (axis 0) or of each row (axis 1)."""

    @abstractmethod
    def multiply(self, x: Array32) -> Array32:
        """Return the product A x of this matrix A and a matrix x, float32 (n_rows, k)."""

    @abstractmethod
    def multiply_transposed(self, x: Array32) -> Array32:
        """Return the product Aᵀ x of this matrix A, transposed, and a matrix x, float32 (n_columns, k)."""


@dataclass(frozen=True, eq=False)
class MatrixInMemory(ContextMatrix):
    """A word × context matrix in memory.

    Args:
        rows: the matrix, a float32 ``scipy.sparse.csr_array``.
    """

    rows: Block

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        n_rows, n_columns = self.rows.shape
        return n_rows, n_columns

    @cached_property
    def _columns(self) -> Block:
        return self.rows.T.tocsr()

    def mapped(self, change: Change) -> MatrixInMemory:
        """Return a copy of the matrix with other values at the same positions; see `ContextMatrix.mapped`."""
        rows = self.rows
        changed = (change(0, rows), rows.indices, rows.indptr)
        return MatrixInMemory(scipy.sparse.csr_array(changed, shape=rows.shape))

    def sum(self, axis: int) -> Array32:
        """Return the sum of each column (axis 0) or of each row (axis 1)."""
        sums: Array32 = self.rows.sum(axis=axis)
        return sums

    def multiply(self, x: Array32) -> Array32:
        """Return the product A x of this matrix A and a matrix x, float32 (n_rows, k)."""
        product: Array32 = self.rows @ x
        return product

    def multiply_transposed(self, x: Array32) -> Array32:
        """Return the product Aᵀ x of this matrix A, transposed, and a matrix x, float32 (n_columns, k)."""
        product: Array32 = self._columns @ x
        return product


@dataclass(frozen=True, eq=False)
class StoredMatrix(ContextMatrix):
    """A word × context matrix on disk, in CSR format.

    Its products are identical to the byte with those of `MatrixInMemory`, because sums are taken in the same
    order.

    Args:
        memory: memory limit, and folder of the files.
        n_columns: number of columns.
        starts: int64 (n_rows + 1,); index of the first entry of each row.
        columns: file with the column of each entry, int32.
        values: file with the value of each entry, float32.
    """

    memory: Memory
    n_columns: int
    starts: Longs
    columns: Path
    values: Path

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return len(self.starts) - 1, self.n_columns

    @classmethod
    def write(
        cls, memory: Memory, shape: tuple[int, int], entries: Iterable[tuple[Longs, Longs]]
    ) -> StoredMatrix:
        """Write a sparse matrix to new files, and return it.

        Args:
            memory: memory limit, and folder of the files.
            shape: number of rows and number of columns.
            entries: chunks of entries, each with an array of keys and an array of values; the key of an entry
                is row · 2³² + column, and keys ascend within and across chunks.
        """
        columns, values = memory.new_file("columns"), memory.new_file("values")
        lengths = np.zeros(shape[0], np.int64)
        with writing(columns) as write_columns, writing(values) as write_values:
            for keys, counts in entries:
                rows = keys >> 32
                first = int(rows[0])
                here = np.bincount(rows - first)
                lengths[first : first + len(here)] += here
                write_columns((keys & 0xFFFFFFFF).astype(np.int32))
                write_values(counts.astype(np.float32))
        starts = offsets_of(lengths)
        return cls(memory=memory, n_columns=shape[1], starts=starts, columns=columns, values=values)

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Yield the matrix in blocks of rows, each preceded by the index of its first row."""
        most = self.memory.size // _SHARE // 8
        first, n_rows = 0, self.shape[0]
        while first < n_rows:
            last = int(np.searchsorted(self.starts, self.starts[first] + most, side="right")) - 1
            last = min(max(last, first + 1), n_rows)
            start, end = int(self.starts[first]), int(self.starts[last])
            data = np.fromfile(self.values, np.float32, end - start, offset=4 * start)
            indices = np.fromfile(self.columns, np.int32, end - start, offset=4 * start)
            indptr = self.starts[first : last + 1] - start
            yield first, scipy.sparse.csr_array((data, indices, indptr), shape=(last - first, self.shape[1]))
            first = last

    def mapped(self, change: Change) -> StoredMatrix:
        """Return the matrix with other values at the same positions; see `ContextMatrix.mapped`.

        The new values are written to a new file.
        """
        values = self.memory.new_file("values")
        with writing(values) as write:
            for first, block in self.blocks():
                write(change(first, block).astype(np.float32, copy=False))
        return replace(self, values=values)

    def sum(self, axis: int) -> Array32:
        """Return the sum of each column (axis 0) or of each row (axis 1)."""
        if axis == 1:
            return np.concatenate([block.sum(axis=1) for _, block in self.blocks()])
        return self.multiply_transposed(np.ones((self.shape[0], 1), np.float32))[:, 0]

    def multiply(self, x: Array32) -> Array32:
        """Return the product A x of this matrix A and a matrix x, float32 (n_rows, k)."""
        product = np.empty((self.shape[0], x.shape[1]), np.float32)
        for first, block in self.blocks():
            product[first : first + block.shape[0]] = block @ x
        return product

    def multiply_transposed(self, x: Array32) -> Array32:
        """Return the product Aᵀ x of this matrix A, transposed, and a matrix x, float32 (n_columns, k)."""
        product = np.zeros((self.shape[1], x.shape[1]), np.float32)
        for first, block in self.blocks():
            rows = np.ascontiguousarray(x[first : first + block.shape[0]])
            add_transposed_product(block.indptr, block.indices, block.data, rows, product)
        return product
