"""Moments of dCoT: the rows themselves where terms are many, and products of reconstructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.columns import ColumnMoments
from spectralnlp_sketch.dcot.solve import (
    Corruption,
    Reconstruction,
    solve_by_documents,
    solve_by_iteration,
    solve_by_terms,
)
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.rows import RowMoments

Floats = NDArray[Any]


# Rows whose products are added up at a time: their reconstructions stay in the cache.
BATCH_ROWS = 2048


class TermMoments(ColumnMoments):
    """Sums of squares and document frequencies of terms, by which prototypes are chosen."""

    pass_name = "terms"
    batch_size = BATCH_ROWS


class RowLog(RowMoments):
    """Log of the rows so far, sparse, in the order of their documents, for a solution by documents.

    Args:
        n_columns: d.
        dtype: of the entries.
    """

    pass_name = "first layer"
    batch_size = BATCH_ROWS

    def __init__(self, n_columns: int, dtype: str = "float64") -> None:
        super().__init__(n_columns)
        self.dtype = dtype
        self._chunks: list[tuple[NDArray[np.int64], sp.csr_matrix]] = []

    def observe(self, batch: Batch[Any]) -> None:
        """Add rows, dense or sparse.

        Raises:
            MatrixError: another width, a NaN or an infinity (which row).
        """
        matrix = self.checked_rows(batch)
        n = matrix.shape[0]
        keys = np.column_stack([np.full(n, batch.document_index), np.arange(batch.start, batch.start + n)])
        self._chunks.append((keys.astype(np.int64), sp.csr_matrix(matrix, dtype=self.dtype)))

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return sum(len(keys) for keys, _ in self._chunks)

    def rows(self) -> sp.csr_matrix:
        """X (n, d), in the order of documents and their rows."""
        return self._ordered()[1]

    def layer(self, prototypes: Any, corruption: Corruption, solver: str) -> Reconstruction:
        """The first layer, by documents or by iteration.

        Args:
            prototypes: indices (r,) of the features to reconstruct.
            corruption: of the rows.
            solver: ``documents`` or ``iteration``.
        """
        solve = solve_by_documents if solver == "documents" else solve_by_iteration
        return solve(self.rows(), prototypes, corruption)

    def _ordered(self) -> tuple[NDArray[np.int64], sp.csr_matrix]:
        if not self._chunks:
            return np.empty((0, 2), np.int64), sp.csr_matrix((0, self.n_columns), dtype=self.dtype)
        keys = np.concatenate([keys for keys, _ in self._chunks])
        rows = sp.vstack([rows for _, rows in self._chunks], format="csr")
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        if not np.array_equal(order, np.arange(len(order))):
            keys, rows = keys[order], rows[order]
        self._chunks = [(keys, rows)]
        return keys, rows

    def parameters(self) -> dict[str, Any]:
        """Width and dtype."""
        return {"n_columns": self.n_columns, "dtype": self.dtype}

    def arrays(self) -> dict[str, Floats]:
        """``keys``: int64 (n, 2), document and row; the rest is X in CSR. They are copies."""
        keys, rows = self._ordered()
        return {
            "keys": keys.copy(),
            "indptr": rows.indptr.astype(np.int64),
            "indices": rows.indices.astype(np.int64),
            "data": rows.data.copy(),
        }

    def _restore(self, arrays: Mapping[str, Floats]) -> None:
        parts = (arrays["data"].copy(), arrays["indices"].copy(), arrays["indptr"].copy())
        rows = sp.csr_matrix(parts, shape=(len(arrays["keys"]), self.n_columns))
        self._chunks = [(arrays["keys"].copy(), rows)]

    def _add(self, other: Self) -> None:
        self._chunks += other._chunks


class ReconstructionMoments(RowMoments):
    """Σ [z; 1][z; 1]ᵀ over rows x, where z = tanh(W … tanh(W₁ x)) is what the layers so far make of x.

    Without layers, z = x: the scatter matrix of the rows and their sum.

    Args:
        n_columns: d, of x.
        weights: of the layers so far, one below the other: Wᵀ (d, r) of the first, (r, r) of others.
        biases: of the layers so far (n_layers, r).
    """

    batch_size = BATCH_ROWS

    @property
    def pass_name(self) -> str:  # type: ignore[override]
        """Name of the pass, by the number of layers so far."""
        return "first layer" if self.biases is None else f"layer {len(self.biases) + 1}"

    def __init__(self, n_columns: int, weights: Floats | None = None, biases: Floats | None = None) -> None:
        super().__init__(n_columns)
        self.weights, self.biases = weights, biases
        width = n_columns if biases is None else biases.shape[1]
        self.gram: NDArray[np.float64] = np.zeros((width + 1, width + 1))
        self._n_rows = np.zeros((), np.int64)

    @classmethod
    def after(cls, layers: Sequence[Reconstruction]) -> Self:
        """Empty moments of what these layers give."""
        first, *others = layers
        weights = np.concatenate([each.weights for each in layers]) if others else first.weights
        return cls(len(first.weights), weights, np.stack([each.bias for each in layers]))

    def _layers(self) -> Iterator[Reconstruction]:
        if self.weights is None or self.biases is None:
            return
        start, height = 0, self.n_columns
        for bias in self.biases:
            yield Reconstruction(self.weights[start : start + height], bias)
            start, height = start + height, len(bias)

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self._n_rows)

    def layer(self, prototypes: Any, corruption: Corruption, solver: str) -> Reconstruction:
        """The next layer, by terms.

        Args:
            prototypes: indices (r,) of the features to reconstruct, or a slice.
            corruption: of the rows.
            solver: ignored.
        """
        return solve_by_terms(self.gram, self.n_rows, prototypes, corruption)

    def observe(self, batch: Batch[Any]) -> None:
        """Add rows, dense or sparse.

        Raises:
            MatrixError: another width, a NaN or an infinity (which row).
        """
        matrix = self.checked_rows(batch)
        for layer in self._layers():
            matrix = reconstruct(layer, matrix)
        if sp.issparse(matrix):
            add_gram(matrix.indptr, matrix.indices, matrix.data.astype(np.float64), self.gram[:-1, :-1])
        else:
            self.gram[:-1, :-1] += matrix.T @ matrix
        sums = np.asarray(matrix.sum(axis=0, dtype=np.float64)).reshape(-1)
        self.gram[-1, :-1] += sums
        self.gram[:-1, -1] += sums
        self.gram[-1, -1] += matrix.shape[0]
        self._n_rows += matrix.shape[0]

    def parameters(self) -> dict[str, Any]:
        """Width and layers."""
        return {"n_columns": self.n_columns, "weights": self.weights, "biases": self.biases}

    def arrays(self) -> dict[str, Floats]:
        """``gram``: float64 (r + 1, r + 1); ``n_rows``: int64 ()."""
        return {"gram": self.gram, "n_rows": self._n_rows}


def reconstruct(layer: Reconstruction, rows: Any) -> Floats:
    """Z = tanh(W x + b) (n, r), dCoT's equation 7."""
    z = layer(rows)
    return np.tanh(z, out=z)
