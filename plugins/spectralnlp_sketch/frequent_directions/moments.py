"""Moments (state that can be merged) of frequent directions: a sketch, buffered rows, and an error bound."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp.storage import StoredArrays, float_array, int_array, offset_array
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.frequent_directions.randomised import OVERSAMPLING, WIDE, Stack, shrink_by_directions
from spectralnlp_sketch.frequent_directions.shrinking import Shrunk, shrink, shrink_by_half
from spectralnlp_sketch.linear.moments import check_size
from spectralnlp_sketch.rows import Matrix, RowMoments, sum_of_squares

Floats = NDArray[Any]
METHODS = ("figure-1", "randomised")
# Maximum number of entries in pending sparse rows: 64 MB in float32.
MAX_ENTRIES = 2**23


class Sketch(NamedTuple):
    """Sketch of many rows X (n, d): few rows B for which BᵀB is close to XᵀX.

    Args:
        rows: B (k, d), with k much smaller than n.
        bound: upper bound of ‖XᵀX − BᵀB‖₂.
    """

    rows: Floats
    bound: float


class FrequentDirectionsMoments(RowMoments):
    """Frequent-directions sketch B of a stream of rows X (n, d), in memory that does not depend on n.

    It guarantees 0 ⪯ XᵀX − BᵀB ⪯ bound·I, with a bound that is known at any time. Rows are buffered, and
    shrunk when the buffer is full, so the result does not depend on batch sizes. Merging shrinks
    both sketches together and adds their bounds, so a merged sketch has the same guarantee as a single one.

    Args:
        sketch_size: maximum number of rows of the sketch, l.
        n_columns: number of columns, d.
        method: ``figure-1``, Liberty's algorithm as printed in Kim, Stratos and Sarikaya 2015, with an SVD
            whenever l rows are full; or ``randomised``, which shrinks large buffers through their leading
            directions.
        dtype: ``float32`` or ``float64``, the dtype of the sketch and of the arithmetic.
        sparse: whether buffered rows are stored in CSR.
        buffer_rows: number of rows to shrink at a time; None for `default_buffer`. ``figure-1`` ignores it.
        seed: seed of ``randomised``.
    """

    # Parts are merged one after the other: each sketch is large however few its rows, so only one is held.
    fan_in = sys.maxsize

    def __init__(
        self,
        sketch_size: int,
        n_columns: int,
        method: str = "randomised",
        dtype: str = "float64",
        sparse: bool = False,
        buffer_rows: int | None = None,
        seed: int = 0,
    ) -> None:
        check_size(sketch_size)
        if method not in METHODS:
            raise SizeError(f"no method is called {method!r}", hint=f"there are {', '.join(METHODS)}")
        if buffer_rows is not None and buffer_rows < 1:
            raise SizeError(f"buffer_rows must be 1 or more, not {buffer_rows}")
        super().__init__(n_columns)
        self.sketch_size, self.method, self.seed = sketch_size, method, seed
        self.dtype, self.sparse = dtype, sparse
        self.buffer_rows = buffer_rows or default_buffer(sketch_size, n_columns, method, sparse)
        self._sketch = np.zeros((0, n_columns), dtype=dtype)
        self._pending: list[Matrix] = []
        self._n_pending = 0
        # Number of rows seen, ‖X‖²_F, the bound so far, and the number of shrinks.
        self._totals = np.zeros(4)

    @property
    def n_rows(self) -> int:
        """Number of rows observed so far."""
        return int(self._totals[0])

    @property
    def squared_norm(self) -> float:
        """Squared Frobenius norm ‖X‖²_F of the rows so far."""
        return float(self._totals[1])

    @property
    def sketch(self) -> Sketch:
        """Current sketch and error bound, buffered rows included; reading this property changes nothing."""
        if self.method == "figure-1":
            rows = np.concatenate([self._sketch, self._dense_pending()])
            return Sketch(rows, float(self._totals[2]))
        shrunk = self._shrunk()
        rows = shrunk.rows.copy() if shrunk.rows is self._sketch else shrunk.rows
        return Sketch(rows, float(self._totals[2]) + shrunk.shrinkage)

    def leading_rows(self, size: int) -> Sketch:
        """Return the sketch, which has at most ``sketch_size`` rows; ``size`` is ignored."""
        return self.sketch

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse, to the sketch.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = self.checked_rows(batch)
        matrix = matrix.astype(self.dtype, copy=False)
        self._totals[0] += matrix.shape[0]
        self._totals[1] += sum_of_squares(matrix)
        self._take(matrix)

    def _take(self, matrix: Matrix) -> None:
        """Append rows to the buffer; whenever the buffer is full, shrink it together with the sketch."""
        if self.method == "figure-1":
            # Rows of zeros take no place in the sketch.
            matrix = matrix[np.flatnonzero((matrix != 0).sum(axis=1))]
        while matrix.shape[0]:
            free = self._free(matrix)
            self._pending.append(self._buffered_copy(matrix[:free]))
            self._n_pending += min(free, matrix.shape[0])
            matrix = matrix[free:]
            if self._n_pending >= self._capacity() or self._entries() >= MAX_ENTRIES:
                self._shrink()

    def _free(self, matrix: Matrix) -> int:
        """Return how many rows of a matrix can be appended before the buffer is full.

        The buffer is limited in its number of rows and, if they are sparse, in its number of stored entries.
        """
        free = self._capacity() - self._n_pending
        if sp.issparse(matrix):
            ends = matrix.indptr[1:] - matrix.indptr[0]
            free = min(free, int(np.searchsorted(ends, MAX_ENTRIES - self._entries())) + 1)
        return free

    def _entries(self) -> int:
        """Return the number of stored entries of sparse rows in the buffer; 0 if rows are dense."""
        return sum(each.nnz for each in self._pending) if self.sparse else 0

    def _buffered_copy(self, matrix: Matrix) -> Matrix:
        """Return a copy of rows, dense if the buffer is dense, or else CSR."""
        if self.sparse == sp.issparse(matrix):
            return matrix.copy()
        return sp.csr_matrix(matrix) if self.sparse else matrix.toarray()

    def _capacity(self) -> int:
        return self.sketch_size - len(self._sketch) if self.method == "figure-1" else self.buffer_rows

    def _shrink(self) -> None:
        if self.method == "figure-1":
            shrunk = shrink_by_half(np.concatenate([self._sketch, self._dense_pending()]))
        else:
            shrunk = self._shrunk()
        self._sketch = shrunk.rows
        self._totals[2] += shrunk.shrinkage
        self._totals[3] += 1
        self._pending, self._n_pending = [], 0

    def _shrunk(self) -> Shrunk:
        """Return the sketch and buffered rows shrunk to ``sketch_size`` rows; the buffer is not changed."""
        if not self._n_pending:
            return Shrunk(self._sketch, 0.0)
        rng = np.random.default_rng((self.seed, int(self._totals[3])))
        return shrink_by_directions(Stack(self._sketch, self._stacked_pending()), self.sketch_size, rng)

    def _stacked_pending(self) -> Matrix:
        if not self._pending:
            return sp.csr_matrix(self._empty()) if self.sparse else self._empty()
        if len(self._pending) > 1:
            stacked = sp.vstack(self._pending, format="csr") if self.sparse else np.concatenate(self._pending)
            self._pending = [stacked]
        return self._pending[0]

    def _dense_pending(self) -> Floats:
        waiting = self._stacked_pending()
        return waiting.toarray() if sp.issparse(waiting) else waiting

    def _empty(self) -> Floats:
        return np.zeros((0, self.n_columns), dtype=self.dtype)

    def _add(self, other: Self) -> None:
        self._totals += other._totals
        if len(other._sketch):
            if not len(self._sketch) and not (self.method == "figure-1" and self._n_pending):
                self._sketch = other._sketch.copy()
            elif self.method == "figure-1":
                self._take(other._sketch)
            else:
                both = shrink(np.concatenate([self._sketch, other._sketch]), self.sketch_size)
                self._sketch = both.rows
                self._totals[2] += both.shrinkage
        self._take(other._stacked_pending())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save.

        Returns:
            ``sketch``, B (at most ``sketch_size``, d); ``totals``, float64 (4,): row count, squared norm of
            the rows, error bound and number of times that the buffer was shrunk; and the buffered rows, dense
            as ``waiting`` or as CSR arrays ``waiting_indptr``, ``waiting_indices`` and ``waiting_data``.
        """
        waiting = self._stacked_pending()
        arrays = {"sketch": self._sketch, "totals": self._totals}
        if not self.sparse:
            return {**arrays, "waiting": waiting}
        return {
            **arrays,
            "waiting_indptr": waiting.indptr.astype(np.int64),
            "waiting_indices": waiting.indices.astype(np.int64),
            "waiting_data": waiting.data,
        }

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check the shapes and values of saved arrays, and the column indices of buffered rows."""
        sized = stored.part(n_columns=self.n_columns)
        number = float_array(dtype=self.dtype, stored=(self.dtype,), most=None)
        sketch = sized.take("sketch", replace(number, shape=("n_rows", "n_columns")))
        if len(sketch) > self.sketch_size:
            raise stored.error("sketch", f"has {len(sketch)} rows, more than {self.sketch_size}")
        sized.take("totals", float_array(4, stored=("float64",), least=0.0, most=None))
        if not self.sparse:
            sized.take("waiting", replace(number, shape=("n_waiting", "n_columns")))
            return
        sized.take("waiting_indptr", offset_array("n_waiting + 1", into="n_entries"))
        sized.take("waiting_indices", int_array("n_entries", dtype="int64", below="n_columns"))
        sized.take("waiting_data", replace(number, shape=("n_entries",)))

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._sketch, self._totals = arrays["sketch"].copy(), arrays["totals"].copy()
        if self.sparse:
            indptr = arrays["waiting_indptr"]
            parts = (arrays["waiting_data"].copy(), arrays["waiting_indices"].copy(), indptr.copy())
            waiting: Matrix = sp.csr_matrix(parts, shape=(len(indptr) - 1, self.n_columns))
        else:
            waiting = arrays["waiting"].copy()
        self._n_pending = int(waiting.shape[0])
        self._pending = [waiting] if self._n_pending else []


def default_buffer(sketch_size: int, n_columns: int, method: str, sparse: bool) -> int:
    """Return the default number of rows that a sketch buffers before it shrinks them.

    Larger buffers make the sketch more accurate but need more memory; sparse rows need little memory.

    Args:
        sketch_size: number of rows of the sketch.
        n_columns: number of columns.
        method: ``figure-1`` or ``randomised``.
        sparse: whether rows are sparse.
    """
    if method == "figure-1":
        return sketch_size
    if sparse:
        return max(4 * (sketch_size + OVERSAMPLING), min(max(4 * n_columns, 2**14), 2**18))
    if n_columns >= WIDE:
        return 2 * sketch_size
    return max(8 * (sketch_size + OVERSAMPLING), 2**23 // n_columns)
