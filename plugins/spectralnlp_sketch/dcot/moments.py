"""Moments of dCoT (statistics that add up): column sums, Gram matrices of layer outputs, or all rows."""

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
from spectralnlp_sketch.rows import RowMoments, gram_of

Floats = NDArray[Any]


# Number of rows whose products are added at a time, so that their reconstructions stay in the cache.
BATCH_ROWS = 2048


class TermMoments(ColumnMoments):
    """Sums of squares and document frequencies of terms, from which prototypes are chosen."""

    pass_name = "terms"
    batch_size = BATCH_ROWS


class RowLog(RowMoments):
    """Sparse matrix of all rows seen, ordered by document, for solvers that need the rows themselves.

    Args:
        n_columns: number of columns, d.
        dtype: dtype of the entries.
    """

    pass_name = "first layer"
    batch_size = BATCH_ROWS

    def __init__(self, n_columns: int, dtype: str = "float64") -> None:
        super().__init__(n_columns)
        self.dtype = dtype
        self._chunks: list[tuple[NDArray[np.int64], sp.csr_matrix]] = []

    def observe(self, batch: Batch[Any]) -> None:
        """Append a batch of rows, dense or sparse, to the stored rows.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = self.checked_rows(batch)
        n = matrix.shape[0]
        keys = np.column_stack([np.full(n, batch.document_index), np.arange(batch.start, batch.start + n)])
        self._chunks.append((keys.astype(np.int64), sp.csr_matrix(matrix, dtype=self.dtype)))

    @property
    def n_rows(self) -> int:
        """Number of rows observed so far."""
        return sum(len(keys) for keys, _ in self._chunks)

    def rows(self) -> sp.csr_matrix:
        """Return all stored rows X (n, d), ordered by document and row."""
        return self._ordered()[1]

    def layer(self, prototypes: Any, corruption: Corruption, solver: str) -> Reconstruction:
        """Return the first layer of dCoT, computed from the stored rows.

        Args:
            prototypes: indices (r,) of the features to reconstruct.
            corruption: how features are removed at random from the rows, and how much to regularise.
            solver: ``documents`` for `solve_by_documents`, ``iteration`` for `solve_by_iteration`.
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

    def arrays(self) -> dict[str, Floats]:
        """Return copies of the state to save: the rows X, and where each comes from.

        Returns:
            ``keys``, the document and row number of each row, int64 (n, 2); ``indptr``, ``indices`` and
            ``data``, the CSR arrays of X.
        """
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
    """Moments from which the next dCoT layer is learned: the sum of [z; 1][z; 1]ᵀ over all rows.

    Here z is the output of the layers learned so far for a row x, or x itself before the first layer. Each
    layer maps its input v to tanh(W v + b).

    Args:
        n_columns: number of columns of x, d.
        weights: transposed weights of the layers so far, stacked: Wᵀ (d, r) of the first layer, then Wᵀ
            (r, r) of each later one.
        biases: biases of the layers so far (n_layers, r).
    """

    batch_size = BATCH_ROWS

    @property
    def pass_name(self) -> str:  # type: ignore[override]
        """Name of this pass over the data in progress messages, such as ``layer 2``."""
        return "first layer" if self.biases is None else f"layer {len(self.biases) + 1}"

    def __init__(self, n_columns: int, weights: Floats | None = None, biases: Floats | None = None) -> None:
        super().__init__(n_columns)
        self.weights, self.biases = weights, biases
        width = n_columns if biases is None else biases.shape[1]
        self.gram: NDArray[np.float64] = np.zeros((width + 1, width + 1))

    @classmethod
    def after(cls, layers: Sequence[Reconstruction]) -> Self:
        """Return empty moments for the pass that learns the next layer.

        Args:
            layers: the layers learned so far, at least one.
        """
        first, *others = layers
        weights = np.concatenate([layer.weights for layer in layers]) if others else first.weights
        return cls(len(first.weights), weights, np.stack([layer.bias for layer in layers]))

    def _layers(self) -> Iterator[Reconstruction]:
        if self.weights is None or self.biases is None:
            return
        start, height = 0, self.n_columns
        for bias in self.biases:
            yield Reconstruction(self.weights[start : start + height], bias)
            start, height = start + height, len(bias)

    def layer(self, prototypes: Any, corruption: Corruption, solver: str) -> Reconstruction:
        """Return the next layer of dCoT, computed from the sums by `solve_by_terms`.

        Args:
            prototypes: indices (r,) of the features to reconstruct, or a slice.
            corruption: how features are removed at random from the rows, and how much to regularise.
            solver: ignored.
        """
        return solve_by_terms(self.gram, self.n_rows, prototypes, corruption)

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, to the sums.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = self.checked_rows(batch)
        for layer in self._layers():
            matrix = reconstruct(layer, matrix)
        if sp.issparse(matrix):
            add_gram(matrix.indptr, matrix.indices, matrix.data.astype(np.float64), self.gram[:-1, :-1])
        else:
            self.gram[:-1, :-1] += gram_of(matrix, batch)
        sums = np.asarray(matrix.sum(axis=0, dtype=np.float64)).reshape(-1)
        self.gram[-1, :-1] += sums
        self.gram[:-1, -1] += sums
        self.gram[-1, -1] += matrix.shape[0]
        self._n_rows += matrix.shape[0]

    def arrays(self) -> dict[str, Floats]:
        """Return the state to save.

        Returns:
            ``gram``, the sum Σ [z; 1][z; 1]ᵀ, float64 (r + 1, r + 1); ``n_rows``, the number of rows, int64
            ().
        """
        return {"gram": self.gram, "n_rows": self._n_rows}


def reconstruct(layer: Reconstruction, rows: Any) -> Floats:
    """Return a layer's output Z = tanh(W x + b) (n, r), equation 7 of Xu et al. 2012.

    Args:
        layer: weights W and bias b.
        rows: rows x (n, d), dense or CSR.
    """
    z = layer(rows)
    return np.tanh(z, out=z)
