"""Corpora of matrix rows, from a matrix in memory or converted batch by batch from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import scipy.sparse as sp

from spectralnlp.runtime import Batch, Corpus, Partition
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.rows import Matrix, Rows, check_structure


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
        check_structure(matrix)
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


def slices(matrix: Matrix, size: int) -> Iterator[Rows]:
    """Yield the rows of a matrix in slices of ``size`` rows."""
    for start in range(0, matrix.shape[0], size):
        yield Rows(matrix[start : start + size])


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Split n rows into ranges (start, end) of nearly equal length, without empty ones."""
    bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
    return [(start, end) for start, end in bounds if start < end]
