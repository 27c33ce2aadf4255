"""What dCoT adds up: the rows themselves where terms are many, and products of reconstructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Moments
from spectralnlp_sketch.dcot.solve import Reconstruction
from spectralnlp_sketch.frequent_directions.kernels import add_gram
from spectralnlp_sketch.rows import check_finite, matrix_of

Floats = NDArray[Any]


class RowLog(Moments[Any]):
    """The rows seen so far, sparse, in the order of their documents: the compact log that a solution by
    documents needs, and that a replay runs from.

    Args:
        n_columns: d.
        dtype: of the entries.
    """

    def __init__(self, n_columns: int, dtype: str = "float64") -> None:
        self.n_columns, self.dtype = n_columns, dtype
        self._chunks: list[tuple[NDArray[np.int64], sp.csr_matrix]] = []

    def observe(self, batch: Batch[Any]) -> None:
        """Add rows, dense or sparse.

        Raises:
            MatrixError: another width, a NaN or an infinity (which row).
        """
        matrix = matrix_of(batch, self.n_columns)
        check_finite(matrix, batch.start, batch.document)
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


class ReconstructionMoments(Moments[Any]):
    """Σ [z; 1][z; 1]ᵀ over rows x, where z = tanh(W … tanh(W₁ x)) is what the layers so far make of x.

    Without layers, z = x: the scatter matrix of the rows and their sum.

    Args:
        n_columns: d, of x.
        weights: of the layers so far, one below the other: Wᵀ (d, r) of the first, (r, r) of others.
        biases: of the layers so far (n_layers, r).
    """

    def __init__(self, n_columns: int, weights: Floats | None = None, biases: Floats | None = None) -> None:
        self.n_columns, self.weights, self.biases = n_columns, weights, biases
        width = n_columns if biases is None else biases.shape[1]
        self.gram: NDArray[np.float64] = np.zeros((width + 1, width + 1))
        self._n_rows = np.zeros((), np.int64)

    @classmethod
    def after(cls, layers: Sequence[Reconstruction]) -> Self:
        """Empty moments of what these layers give."""
        weights = np.concatenate([each.weights for each in layers])
        return cls(len(layers[0].weights), weights, np.stack([each.bias for each in layers]))

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

    def observe(self, batch: Batch[Any]) -> None:
        """Add rows, dense or sparse.

        Raises:
            MatrixError: another width, a NaN or an infinity (which row).
        """
        matrix = matrix_of(batch, self.n_columns)
        check_finite(matrix, batch.start, batch.document)
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
