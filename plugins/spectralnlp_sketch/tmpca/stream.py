"""Corpus of sequences of equal length in memory, the input of the stages of TMPCA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Corpus, Partition
from spectralnlp_sketch.tmpca.moments import BATCH, centred
from spectralnlp_sketch.tmpca.segments import Elements

Floats = NDArray[Any]


class ElementsCorpus(Corpus[Any]):
    """Corpus of sequences of vectors in memory, as one document.

    Args:
        elements: the sequences, as one block of memory.
    """

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    def partitions(self) -> Sequence[MemoryPartition]:
        """Return a single partition with all sequences."""
        return [MemoryPartition("memory", 0, 0, self.elements.__iter__, self.elements)]

    def through(self, stage: Floats, means: Floats) -> ElementsCorpus:
        """Return the sequences after a stage of TMPCA, which reduces their number of elements by a factor P.

        Args:
            stage: U^s (D, P·D).
            means: mean of each position (N, D), which is subtracted first.
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
    """Partition of sequences of vectors in memory, whose batches are slices of one block.

    Args:
        elements: the block of sequences.
    """

    elements: Elements

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """Yield the sequences in batches of ``size``."""
        for start in range(0, len(self.elements), size):
            yield Batch(self.elements[start : start + size], self.document, self.document_index, start)
