"""Matrices as corpora: in memory, or made of other examples a batch at a time."""

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
    """Consecutive rows whose batches are blocks of a matrix, not lists of rows.

    Args:
        blocks: gives the rows, so many at a time, afresh at every call.
    """

    blocks: Blocks

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """The partition's rows, ``size`` at a time, as `Rows`."""
        start = self.start
        for block in self.blocks(size):
            yield Batch(Rows(block), self.document, self.document_index, start)
            start += block.shape[0]


class MatrixCorpus(Corpus[Any]):
    """The rows of a matrix in memory.

    Args:
        matrix: (n, d), dense or sparse.
        n_partitions: into how many ranges of rows it is split for workers.
        document: what errors call it.
        first_row: number of its first row, where it is a part of a larger matrix.

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
        """The width."""
        return int(self.matrix.shape[1])

    def partitions(self) -> Sequence[MatrixPartition]:
        """Ranges of rows of nearly equal length; empty ones are left out."""
        return [
            matrix_partition(
                self.document, 0, self.first_row + start, partial(slices, self.matrix[start:end])
            )
            for start, end in ranges(self.matrix.shape[0], self.n_partitions)
        ]


# Makes a batch of examples, and the number of the first, one block of memory.
Convert = Callable[[Sequence[Any], int], Sequence[Any]]


@dataclass(frozen=True)
class ConvertedPartition(Partition[Any]):
    """Consecutive examples whose batches are blocks that other examples are turned into.

    Args:
        source: gives the other examples, a batch at a time.
        convert: turns them into a block.
    """

    source: Partition[Any]
    convert: Convert

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """The partition's examples, ``size`` at a time."""
        for batch in self.source.batches(size):
            block = self.convert(batch.examples, batch.start)
            yield Batch(block, batch.document, batch.document_index, batch.start)


class ConvertedCorpus(Corpus[Any]):
    """A corpus of texts, tokens or arrays whose batches are turned into blocks whenever it is read.

    Args:
        source: the corpus.
        convert: turns a batch into a block; a function that workers can be sent.
    """

    def __init__(self, source: Corpus[Any], convert: Convert) -> None:
        self.source, self.convert = source, convert

    def partitions(self) -> Sequence[ConvertedPartition]:
        """The partitions of the corpus, turned into blocks."""
        return [
            ConvertedPartition(each.document, each.document_index, each.start, each.read, each, self.convert)
            for each in self.source.partitions()
        ]


def matrix_partition(document: str, index: int, start: int, blocks: Blocks) -> MatrixPartition:
    """A partition whose rows are those of blocks."""
    return MatrixPartition(document, index, start, partial(_rows, blocks), blocks)


def _rows(blocks: Blocks) -> Iterator[Any]:
    for block in blocks(1024):
        yield from Rows(block)


def slices(matrix: Matrix, size: int) -> Iterator[Matrix]:
    """The rows of a matrix, so many at a time."""
    for start in range(0, matrix.shape[0], size):
        yield matrix[start : start + size]


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Split n rows into ranges of nearly equal length; empty ones are left out."""
    bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
    return [(start, end) for start, end in bounds if start < end]
