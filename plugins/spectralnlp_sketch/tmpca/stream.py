"""Texts, tokens or arrays as a corpus of sequences of N elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Corpus, Partition
from spectralnlp_sketch.tmpca.moments import BATCH, centred
from spectralnlp_sketch.tmpca.segments import Elements

Floats = NDArray[Any]
ToElements = Callable[[Sequence[Any], int], Elements]


@dataclass(frozen=True)
class ElementsPartition(Partition[Any]):
    """Consecutive sequences whose batches are `Elements`.

    Args:
        source: gives the examples they are made of, a batch at a time.
        to_elements: examples and the number of the first, to `Elements`.
    """

    source: Partition[Any]
    to_elements: ToElements

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """The partition's sequences, ``size`` at a time."""
        for batch in self.source.batches(size):
            elements = self.to_elements(batch.examples, batch.start)
            yield Batch(elements, batch.document, batch.document_index, batch.start)


class SequenceCorpus(Corpus[Any]):
    """A corpus of texts, tokens or arrays, turned into elements whenever it is read.

    Args:
        source: the corpus.
        to_elements: examples and the number of the first, to `Elements`.
    """

    def __init__(self, source: Corpus[Any], to_elements: ToElements) -> None:
        self.source, self.to_elements = source, to_elements

    def partitions(self) -> Sequence[ElementsPartition]:
        """The partitions of the corpus, turned into elements."""
        return [
            ElementsPartition(
                each.document, each.document_index, each.start, each.read, each, self.to_elements
            )
            for each in self.source.partitions()
        ]


class ElementsCorpus(Corpus[Any]):
    """Sequences in memory, as one document.

    Args:
        elements: the sequences.
    """

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    def partitions(self) -> Sequence[MemoryPartition]:
        """One."""
        return [MemoryPartition("memory", 0, 0, self.elements.__iter__, self.elements)]

    def through(self, stage: Floats, means: Floats) -> ElementsCorpus:
        """Pass the sequences, less their means, through a stage: P times fewer elements, their means zero.

        Args:
            stage: U^s (D, P·D).
            means: (N, D), of each position.
        """
        values, real = self.elements.values, self.elements.real
        size, width = stage.shape
        result = np.empty((len(values), values.shape[1] * size // width, size), values.dtype)
        narrow = stage.T.astype(values.dtype)
        for start in range(0, len(values), BATCH):
            block = slice(start, start + BATCH)
            rows = centred(Elements(values[block], real[block]), means).reshape(-1, width)
            np.matmul(rows, narrow, out=result[block].reshape(-1, size))
        return ElementsCorpus(Elements(result, np.ones(result.shape[:2], bool)))


@dataclass(frozen=True)
class MemoryPartition(Partition[Any]):
    """Sequences in memory, whose batches are slices of one block.

    Args:
        elements: the block.
    """

    elements: Elements

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """The sequences, ``size`` at a time."""
        for start in range(0, len(self.elements), size):
            yield Batch(self.elements[start : start + size], self.document, self.document_index, start)
