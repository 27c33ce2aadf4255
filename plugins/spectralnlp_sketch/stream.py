"""Corpora of matrix rows, from a matrix in memory or converted batch by batch from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import scipy.sparse as sp

from spectralnlp.runtime import Batch, Corpus, Partition
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.rows import Matrix, Rows, check_structure

Blocks = Callable[[int], Iterator[Matrix]]


@dataclass(frozen=True)
class MatrixPartition(Partition[Any]):
    """Partition of consecutive rows whose batches are blocks of a matrix, not lists of rows.

    Args:
        blocks: function that yields all rows in blocks of a given size; each call starts anew.
    """

    blocks: Blocks

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """Yield the rows in batches of `Rows` with ``size`` rows each."""
        start = self.start
        for block in self.blocks(size):
            yield Batch(Rows(block), self.document, self.document_index, start)
            start += block.shape[0]


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

    def partitions(self) -> Sequence[MatrixPartition]:
        """Return partitions: ranges of rows of nearly equal length, without empty ones."""
        return [
            matrix_partition(
                self.document, 0, self.first_row + start, partial(slices, self.matrix[start:end])
            )
            for start, end in ranges(self.matrix.shape[0], self.n_partitions)
        ]


# Converts the examples of a batch, and the number of the first, to one block of memory.
Convert = Callable[[Sequence[Any], int], Sequence[Any]]


@dataclass(frozen=True)
class ConvertedPartition(Partition[Any]):
    """Partition of a `ConvertedCorpus`: reads another partition and converts each of its batches.

    Args:
        source: the partition to convert.
        convert: function that takes the examples of a batch and the number of the first example, and returns
            one block of converted examples, such as `Rows`.
    """

    source: Partition[Any]
    convert: Convert

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """Yield converted batches of ``size`` examples; the last may have fewer."""
        for batch in self.source.batches(size):
            block = self.convert(batch.examples, batch.start)
            yield Batch(block, batch.document, batch.document_index, batch.start)


class ConvertedCorpus(Corpus[Any]):
    """Corpus that converts another corpus batch by batch while it is read, for example texts to rows.

    Args:
        source: the corpus to convert.
        convert: function that takes the examples of a batch and the number of the first example, and returns
            one block of converted examples, such as `Rows`. It must be picklable, for worker processes.
    """

    def __init__(self, source: Corpus[Any], convert: Convert) -> None:
        self.source, self.convert = source, convert

    def partitions(self) -> Sequence[ConvertedPartition]:
        """Return the converted partitions of the corpus."""
        return [
            ConvertedPartition(each.document, each.document_index, each.start, each.read, each, self.convert)
            for each in self.source.partitions()
        ]


def matrix_partition(document: str, index: int, start: int, blocks: Blocks) -> MatrixPartition:
    """Make a partition of a document from a function that yields blocks of rows.

    Args:
        document: name of the document.
        index: number of the document.
        start: number of the partition's first row in the document.
        blocks: function that yields all rows in blocks of a given size.
    """
    return MatrixPartition(document, index, start, partial(_rows, blocks), blocks)


def _rows(blocks: Blocks) -> Iterator[Any]:
    for block in blocks(1024):
        yield from Rows(block)


def slices(matrix: Matrix, size: int) -> Iterator[Matrix]:
    """Yield the rows of a matrix in slices of ``size`` rows."""
    for start in range(0, matrix.shape[0], size):
        yield matrix[start : start + size]


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Split n rows into ranges (start, end) of nearly equal length, without empty ones."""
    bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
    return [(start, end) for start, end in bounds if start < end]
