"""Convert sequences of vectors to a fixed length: average segments of long ones, pad short ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Batch

Floats = NDArray[Any]
Mask = NDArray[np.bool_]


class Elements(Sequence[Any]):
    """Sequences of N vectors each, as one block of memory.

    Args:
        values: vectors (m, N, D); zero for padding.
        real: mask (m, N), False for padding.
    """

    def __init__(self, values: Floats, real: Mask) -> None:
        self.values, self.real = values, real

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> tuple[Floats, Mask]: ...
    @overload
    def __getitem__(self, index: slice) -> Elements: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return one sequence as values (N, D) and mask (N,), False for padding; or a slice as `Elements`."""
        values, real = self.values[index], self.real[index]
        return Elements(values, real) if isinstance(index, slice) else (values, real)

    def __iter__(self) -> Iterator[tuple[Floats, Mask]]:
        return zip(self.values, self.real, strict=True)

    @classmethod
    def of(cls, batch: Batch[Any], length: int, size: int) -> Elements:
        """Return the sequences of a batch as one block.

        Args:
            batch: examples that are `Elements` or pairs of values and a mask.
            length: length of the sequences, N.
            size: vector size, D.
        """
        examples = batch.examples
        if isinstance(examples, Elements):
            return examples
        if not len(examples):
            return cls(np.zeros((0, length, size)), np.zeros((0, length), bool))
        values, real = zip(*examples, strict=True)
        return cls(np.stack(values), np.stack(real))


def segment_sizes(n: int, length: int) -> list[int]:
    """Return the sizes of the ``length`` segments into which a sequence of n ≥ length elements is split.

    Su, Lin and Kuo 2019, section 4.2: each of the N = ``length`` segments gets ⌊n/N⌋ elements, and every
    ⌊N/r⌋-th segment gets one of the r remaining elements. Ten elements make four segments of 3, 2, 3 and 2.
    """
    each, rest = divmod(n, length)
    sizes = [each] * length
    for i in range(rest):
        sizes[i * (length // rest)] += 1
    return sizes


@lru_cache(maxsize=4096)
def _places(n: int, length: int) -> NDArray[np.int64]:
    """Return the index of the segment to which each of n elements belongs, int64 (n,)."""
    return np.arange(n) if n <= length else np.repeat(np.arange(length), segment_sizes(n, length))


def to_length(sequences: Sequence[Floats], length: int, size: int, dtype: Any) -> Elements:
    """Convert sequences of vectors to sequences of ``length`` elements.

    Longer sequences become the means of N segments; shorter ones are padded with zeros at the end.

    Args:
        sequences: arrays of vectors, (n_i, D) each.
        length: length of the results, N.
        size: vector size, D.
        dtype: dtype of the result.
    """
    values = np.zeros((len(sequences) * length, size), dtype)
    real = np.zeros(len(values), bool)
    places = [i * length + _places(len(rows), length) for i, rows in enumerate(sequences)]
    target = np.concatenate(places) if places else np.empty(0, np.int64)
    if len(target):
        starts = np.flatnonzero(np.diff(target, prepend=-1))
        counts = np.diff(starts, append=len(target))
        sums = np.add.reduceat(np.concatenate(sequences).astype(dtype, copy=False), starts, axis=0)
        values[target[starts]] = sums / counts[:, None].astype(dtype)
        real[target[starts]] = True
    return Elements(values.reshape(-1, length, size), real.reshape(-1, length))
