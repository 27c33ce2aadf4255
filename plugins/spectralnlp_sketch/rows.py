"""Represent and check batches of matrix rows; base class of statistics (moments) of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeAlias, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Corpus, Moments
from spectralnlp_sketch.errors import MatrixError

Floats: TypeAlias = NDArray[Any]
# A dense matrix (n, d) or a CSR one, of float32 or float64.
Matrix: TypeAlias = Any


# Sums of squares of float32 that are smaller may have lost digits, since some squares are below 2⁻¹²⁶.
_LEAST_SQUARES = 2.0**-100


class Rows(Sequence[Any]):
    """Sequence of the rows of a matrix, so that a batch of rows stays one block of memory.

    Args:
        matrix: matrix (n, d), dense or scipy sparse.
    """

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = sp.csr_matrix(matrix) if sp.issparse(matrix) else matrix

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return one row, or a slice of rows as `Rows`."""
        return Rows(self.matrix[index]) if isinstance(index, slice) else self.matrix[index]

    def __iter__(self) -> Iterator[Any]:
        return (self.matrix[i] for i in range(len(self)))


def matrix_of(batch: Batch[Any], n_columns: int) -> Matrix:
    """Return the rows of a batch as one matrix of floats (n, d), dense or CSR.

    Args:
        batch: batch whose examples are `Rows` or single rows, vectors (d,) or sparse matrices (1, d).
        n_columns: expected width d.

    Raises:
        MatrixError: the width differs.
    """
    examples = batch.examples
    if isinstance(examples, Rows):
        matrix = examples.matrix
    elif not len(examples):
        matrix = np.empty((0, n_columns))
    elif sp.issparse(examples[0]):
        matrix = sp.vstack(list(examples), format="csr")
    else:
        matrix = _stacked([np.asarray(row) for row in examples], n_columns)
    if matrix.shape[1] != n_columns:
        raise other_width(matrix.shape[1], n_columns)
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


class RowMoments(Moments[Any]):
    """Base class of moments (statistics that add up) of the rows of a matrix, read block by block.

    Args:
        n_columns: number of columns, d.
    """

    pass_name = "rows"
    batch_size: ClassVar[int] = 8192

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self._n_rows = np.zeros((), np.int64)

    @property
    def n_rows(self) -> int:
        """Number of rows observed so far."""
        return int(self._n_rows)

    def checked_rows(self, batch: Batch[Any]) -> Matrix:
        """Return the rows of a batch (n, d), dense or CSR, after checking them.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = matrix_of(batch, self.n_columns)
        check_finite(matrix, batch.start, batch.document)
        return matrix


def describe_rows(corpus: Corpus[Any]) -> dict[str, Any]:
    """Return ``n_columns``, ``dtype`` and ``sparse`` of the rows of a corpus, from its first row.

    Raises:
        MatrixError: the corpus has no rows.
    """
    if hasattr(corpus, "row_type"):  # a stream that may be read only once
        return dict(corpus.row_type)
    first = next(iter(corpus.batches(1)), None)
    if first is None:
        raise no_rows()
    return row_type_of(first.examples.matrix)  # type: ignore[attr-defined]


def row_type_of(matrix: Matrix) -> dict[str, Any]:
    """Return ``n_columns``, ``dtype`` and ``sparse`` of the rows of a matrix."""
    dtype = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return {"n_columns": int(matrix.shape[1]), "dtype": dtype.name, "sparse": sp.issparse(matrix)}


def no_rows() -> MatrixError:
    """Return the error for a stream without rows."""
    return MatrixError("the stream holds no rows")


def _stacked(rows: list[Floats], n_columns: int) -> Floats:
    for row in rows:
        if row.shape != (n_columns,):
            raise other_width(row.size, n_columns)
    return np.stack(rows)


def other_width(width: int, expected: int) -> MatrixError:
    """Return the error for rows of another width than the expected one."""
    what = f"rows of {width} columns where {expected} are expected"
    return MatrixError(what, hint="all batches must be of one width")


def check_matrix(matrix: Any) -> None:
    """Refuse what conversion to an array would take for numbers: masked values, dates, damaged sparse rows.

    Args:
        matrix: any value; what has none of these is accepted.

    Raises:
        MatrixError: a value is masked, a column holds dates or durations, or an index or offset of a sparse
            matrix, which kernels do not check, is out of range.
    """
    if np.ma.is_masked(matrix):
        raise MatrixError("the matrix has masked values", hint="fill them, or leave out their rows")
    dtypes = {"the matrix": getattr(matrix, "dtype", None)}
    if hasattr(matrix, "dtypes"):  # of a data frame
        named = zip(matrix.columns, matrix.dtypes, strict=True)
        dtypes = {f"column {name!r}": dtype for name, dtype in named}
    for place, dtype in dtypes.items():
        if _holds_dates(dtype):
            what = f"{place} holds dates or durations, not numbers"
            raise MatrixError(what, hint="convert them, or leave them out")
    if not sp.issparse(matrix):
        return
    try:
        if hasattr(matrix, "check_format"):
            offsets = matrix.indptr
            if (offsets[1:] < offsets[:-1]).any():  # scipy checks this only if the last offset is not 0
                raise ValueError("offsets of rows are not in order")
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            for places, size in zip(matrix.coords, matrix.shape, strict=True):
                if len(places) and not 0 <= places.min() <= places.max() < size:
                    raise ValueError("indices are outside of its shape")
    except (ValueError, IndexError) as error:
        hint = "build it again from its entries"
        raise MatrixError(f"a damaged sparse matrix: {error}", hint=hint) from error


def _holds_dates(dtype: Any) -> bool:
    """Return whether a type of numpy, pandas or polars is one of dates or durations."""
    return getattr(dtype, "kind", "") in ("m", "M") or bool(getattr(dtype, "is_temporal", bool)())


def check_finite(matrix: Matrix, start: int, document: str = "") -> None:
    """Check that a matrix holds no NaN or infinity.

    Args:
        matrix: dense or CSR matrix.
        start: number of the first row.
        document: source of the rows for error messages; empty for none.

    Raises:
        MatrixError: a value is not finite; the message names row and column.
    """
    values = matrix.data if sp.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    if sp.issparse(matrix):
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        row, column = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
    else:
        row, column = (int(each) for each in np.argwhere(~np.isfinite(values))[0])
    value = "NaN" if np.isnan(values[at] if sp.issparse(matrix) else values[row, column]) else "infinity"
    what = f"row {start + row} holds {value} in column {column} (both counted from 0)"
    raise MatrixError(what, path=document or None, hint="drop or repair the row")


def check_sums(sums: Floats, document: str = "") -> None:
    """Check that sums over finite rows have not overflowed to infinity.

    Args:
        sums: sums over finite rows.
        document: source of the rows for error messages; empty for none.

    Raises:
        MatrixError: a sum is not finite.
    """
    if not np.isfinite(sums).all():
        what = "squares of the rows overflow float64"
        raise MatrixError(what, path=document or None, hint="divide the matrix by a power of ten")


def squares_fit(sums: Floats) -> bool:
    """Return whether sums of squares have neither overflowed nor, in float32, vanished.

    Args:
        sums: sums of squares of columns (d,).
    """
    least = 0.0 if sums.dtype == np.float64 else _LEAST_SQUARES
    return bool(np.isfinite(sums).all() and sums.max(initial=0.0) >= least)


def gram_of(matrix: Floats, batch: Batch[Any]) -> Floats:
    """Return XᵀX (d, d) of the dense rows of a batch, in float64 if float32 cannot hold the squares.

    Raises:
        MatrixError: a row holds NaN or infinity, or squares overflow float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        gram = matrix.T @ matrix
        if squares_fit(np.diagonal(gram)):
            return np.asarray(gram)
        check_finite(matrix, batch.start, batch.document)
        wide = matrix.astype(np.float64)
        gram = wide.T @ wide
    check_sums(gram, batch.document)
    return np.asarray(gram)


def sum_of_squares(matrix: Matrix) -> float:
    """Return the squared Frobenius norm of a matrix, accumulated in float64."""
    values = matrix.data if sp.issparse(matrix) else np.ascontiguousarray(matrix).reshape(-1)
    return float(np.dot(values, values)) if values.dtype == np.float64 else float(_exact_dot(values))


def _exact_dot(values: Floats) -> float:
    total = 0.0
    for start in range(0, values.size, 2**16):
        part = values[start : start + 2**16].astype(np.float64)
        total += float(np.dot(part, part))
    return total
