"""Corpora of matrix rows: of a matrix in memory, a stream of batches, or texts that are converted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from spectralnlp.runtime import Batch, Corpus, Location, Partition
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.rows import Matrix, Rows, check_matrix, no_rows, row_type_of


@dataclass(frozen=True)
class BlockPartition(Partition[Any]):
    """Partition of consecutive examples that are read in blocks of memory, such as `Rows`, not one by one.

    Args:
        read: function that yields all examples in blocks of a given size, sequences such as `Rows`; each call
            starts anew.
    """

    read: Callable[..., Iterator[Sequence[Any]]]

    def __iter__(self) -> Iterator[Any]:
        for block in self.read(1024):
            yield from block

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """Yield the examples in batches, one for each block of ``size`` examples."""
        start = self.start
        for block in self.read(size):
            yield Batch(block, self.document, self.document_index, start)
            start += len(block)


class MatrixCorpus(Corpus[Any]):
    """Corpus of the rows of a matrix in memory.

    Args:
        matrix: matrix (n, d), dense or sparse.
        n_partitions: number of row ranges into which the matrix is split for workers.
        document: name of the matrix in error messages.
        first_row: number of the first row, if the matrix is a part of a larger one.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import FrequentDirections, MatrixCorpus
        >>> X = np.random.default_rng(0).normal(size=(100, 8))
        >>> FrequentDirections(sketch_size=4).fit(MatrixCorpus(X, n_partitions=3)).sketch_.shape
        (4, 8)
    """

    def __init__(self, matrix: Matrix, n_partitions: int = 1, document: str = "", first_row: int = 0) -> None:
        if n_partitions < 1:
            raise SizeError(f"n_partitions must be 1 or more, not {n_partitions}")
        check_matrix(matrix)
        self.matrix = sp.csr_matrix(matrix) if sp.issparse(matrix) else matrix
        self.n_partitions, self.document, self.first_row = n_partitions, document, first_row

    @property
    def n_columns(self) -> int:
        """Number of columns of the matrix."""
        return int(self.matrix.shape[1])

    def partitions(self) -> Sequence[BlockPartition]:
        """Return partitions: ranges of rows of nearly equal length, without empty ones."""
        return [
            BlockPartition(self.document, 0, self.first_row + start, partial(slices, self.matrix[start:end]))
            for start, end in ranges(self.matrix.shape[0], self.n_partitions)
        ]


# Converts the examples of a batch, and the number of the first, to one block of memory.
Convert = Callable[[Sequence[Any], int], Sequence[Any]]


class ConvertedCorpus(Corpus[Any]):
    """Corpus that converts another corpus batch by batch while it is read, for example texts to rows.

    Args:
        source: the corpus to convert.
        convert: function that takes the examples of a batch and the number of the first example, and returns
            one block of converted examples, such as `Rows`. It must be picklable, for worker processes.
        row_type: width, dtype and sparsity of the rows, as `describe_rows` returns them, if the examples are
            converted to rows.
    """

    def __init__(
        self, source: Corpus[Any], convert: Convert, row_type: Mapping[str, Any] | None = None
    ) -> None:
        self.source, self.convert = source, convert
        if row_type is not None:
            self.row_type, self.n_columns = row_type, int(row_type["n_columns"])

    def partitions(self) -> Sequence[BlockPartition]:
        """Return the converted partitions of the corpus."""
        return [
            BlockPartition(
                each.document, each.document_index, each.start, partial(_converted, each, self.convert)
            )
            for each in self.source.partitions()
        ]


def _converted(source: Partition[Any], convert: Convert, size: int) -> Iterator[Sequence[Any]]:
    for batch in source.batches(size):
        yield convert(batch.examples, batch.start)


class BlockCorpus(Corpus[Any]):
    """Corpus of a stream of batches of rows; the stream may be an iterator that can be read only once.

    Args:
        batches: batches that `block_of` accepts, all of one width.

    Attributes:
        row_type: width, dtype and sparsity of the first batch, as `describe_rows` returns them.

    Raises:
        MatrixError: no batch has rows.
    """

    def __init__(self, batches: Iterable[Any]) -> None:
        self._source = batches
        blocks = self._checked(iter(batches))
        first = next(blocks, None)
        if first is None:
            raise no_rows()
        self.row_type = row_type_of(first)
        self.n_columns = int(first.shape[1])
        self._begun: Iterator[Matrix] | None = chain([first], blocks)

    def partitions(self) -> Sequence[BlockPartition]:
        """Return one partition with all rows, because a stream cannot be read in parts."""
        return [BlockPartition("", 0, 0, self._blocks)]

    def _blocks(self, size: int) -> Iterator[Rows]:
        blocks, self._begun = self._begun, None
        if blocks is None:
            again = iter(self._source)
            if again is self._source:
                raise MatrixError("the batches can be read only once", hint="give a list of them, or files")
            blocks = self._checked(again)
        for block in _gathered(blocks, size):
            yield from slices(block, size)

    def _checked(self, batches: Iterator[Any]) -> Iterator[Matrix]:
        """Yield the non-empty batches as matrices.

        Raise MatrixError if a batch's width differs from the first's.
        """
        width = None
        for number, batch in enumerate(batches):
            block = block_of(batch, f"batch {number}")
            width = width or block.shape[1]
            if block.shape[1] != width:
                what = f"batch {number} has {block.shape[1]} columns, and those before have {width}"
                raise MatrixError(what, hint="all batches must be of one width")
            if block.shape[0]:
                yield block


def _gathered(blocks: Iterator[Matrix], size: int) -> Iterator[Matrix]:
    """Join consecutive matrices of one type into matrices of at least ``size`` rows.

    Matrix products over many small matrices would be slow.
    """
    waiting: list[Matrix] = []
    n = 0
    for block in blocks:
        if waiting and (type(block), block.dtype) != (type(waiting[0]), waiting[0].dtype):
            yield _stacked(waiting)
            waiting, n = [], 0
        waiting.append(block)
        n += block.shape[0]
        if n >= size:
            yield _stacked(waiting)
            waiting, n = [], 0
    if waiting:
        yield _stacked(waiting)


def _stacked(blocks: list[Matrix]) -> Matrix:
    if len(blocks) == 1:
        return blocks[0]
    return sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.concatenate(blocks)


def block_of(batch: Any, name: str = "the batch") -> Matrix:
    """Convert a batch of rows to a matrix of numbers, dense or CSR.

    Args:
        batch: an array of any library that numpy can read, a data frame, a scipy sparse matrix, or an Arrow
            table or record batch.
        name: name of the batch in error messages.

    Raises:
        MatrixError: the batch is not two-dimensional, or holds values that are not real numbers.
    """
    if comes_from(batch, "pyarrow"):
        return arrow_block(batch)
    check_matrix(batch)
    try:
        block = sp.csr_matrix(batch) if sp.issparse(batch) else np.asarray(batch)
    except Exception as error:  # other libraries raise errors of any class
        raise MatrixError(f"{name} is not a matrix: {str(error).splitlines()[0]}") from error
    if block.ndim != 2:
        hint = "give two-dimensional batches of rows"
        raise MatrixError(f"{name} has {block.ndim} dimensions, and a matrix has 2", hint=hint)
    if block.dtype.kind not in "fiub":
        hint = "convert it to numbers first"
        raise MatrixError(f"{name} holds values of type {block.dtype}, not real numbers", hint=hint)
    return block


def arrow_block(batch: Any, path: Location | None = None) -> Matrix:
    """Convert an Arrow table or record batch to a dense matrix; missing values become NaN.

    Args:
        batch: an Arrow table or record batch whose columns are numbers.
        path: the file that the batch comes from, for error messages.

    Returns:
        (n, d), float32 if all columns are float32, else float64.

    Raises:
        MatrixError: a column does not hold numbers; the message names the column.
    """
    import pyarrow

    kinds = pyarrow.types
    for field in batch.schema:
        kind = field.type
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
            what = f"column {field.name!r} holds values of type {kind}, not numbers"
            raise MatrixError(what, path=path, hint="leave it out")
    narrow = all(kinds.is_float32(field.type) for field in batch.schema)
    block = np.empty((batch.num_rows, batch.num_columns), np.float32 if narrow else np.float64)
    for place, column in enumerate(batch.columns):
        if kinds.is_boolean(column.type):
            column = column.cast(pyarrow.int8())
        block[:, place] = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(False)
    return block


def comes_from(value: object, library: str) -> bool:
    """Return whether a value's class is defined in a library, without importing the library."""
    return type(value).__module__.partition(".")[0] == library


def slices(matrix: Matrix, size: int) -> Iterator[Rows]:
    """Yield the rows of a matrix in slices of ``size`` rows."""
    for start in range(0, matrix.shape[0], size):
        yield Rows(matrix[start : start + size])


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Split n rows into ranges (start, end) of nearly equal length, without empty ones."""
    bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
    return [(start, end) for start, end in bounds if start < end]
