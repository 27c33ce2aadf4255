"""Word counts for choosing a vocabulary of the most frequent words, on disk if memory is limited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Self

import numpy as np

from spectralnlp.estimators.shared.spill_segments import (
    SpillSegment,
    WordTable,
    count_to_be_among,
    most_frequent,
    take_census,
)
from spectralnlp.runtime import Array, Batch, Counts, Memory, Moments, current_memory, offsets_of
from spectralnlp.storage import StoredArrays

# Memory per word, in bytes, with the several tables held during a merge.
BYTES_FOR_A_WORD = 4096


class WordCounts(Moments[Sequence[str]]):
    """Counts of words; within `spectralnlp.runtime.use_memory`, counts beyond the limit are written to disk.

    Attributes:
        here: the counts that are in memory.
        segments: parts of the counts on disk (spill segments), with their own word ids.
    """

    subtractable = True
    pass_name = "symbols"

    def __init__(self) -> None:
        self.memory: Memory | None = current_memory()
        self.here: Counts[Sequence[str]] = Counts()
        self.segments: list[SpillSegment] = []

    def events(self, example: Sequence[str]) -> Iterable[str]:
        """Return the words to count in an example, each as often as it occurs."""
        return example

    @property
    def is_spilled(self) -> bool:
        """Whether some of the counts are on disk."""
        return bool(self.segments)

    def empty_like(self) -> Self:
        """Return empty counts with the same memory limit."""
        empty = type(self)()
        empty.memory = self.memory
        return empty

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Count the words of each example."""
        for example in batch:
            self.here.add(self.events(example))
        self._spill_if_full()

    def total(self) -> int:
        """Return the total number of tokens counted."""
        return self.here.total() + sum(segment.n_tokens for segment in self.segments)

    def __getitem__(self, word: str) -> int:
        return self.here[word] + sum(_count_in(segment, word) for segment in self.segments)

    def most_frequent(self, n: int, least: int = 1, most: int | None = None) -> list[str]:
        """Return the ``n`` most frequent words with counts from ``least`` to ``most``."""
        if self.is_spilled:
            return self._most_frequent_on_disk(n, least, self.total() if most is None else most)
        words: list[str] = []
        for word in self.here.top():
            count = self.here[word]
            if count < least or len(words) == n:
                break
            if most is None or count <= most:
                words.append(str(word))
        return words

    def _most_frequent_on_disk(self, n: int, least: int, most: int) -> list[str]:
        self._close_segment()
        census = take_census(self.segments, count_to_be_among(self.segments, n, least, most)).up_to(most)
        _, names = most_frequent(census, self.segments, n)
        return [_text(name) for name in names]

    def in_memory(self) -> Self:
        """Return a copy of the counts that is entirely in memory, without a memory limit."""
        whole = self.empty_like()
        whole.memory = None
        whole.here.merge(self.here)
        for segment in self.segments:
            counts = segment.counts_by_number()
            names = (_text(name) for name in segment.names(np.arange(1, segment.n_words)))
            whole.here.add(dict(zip(names, counts[1:].tolist(), strict=True)))
        return whole

    def arrays(self) -> dict[str, Array]:
        """Return the counts, including those on disk, as arrays for storage, sorted by word.

        ``keys``: uint8, the words as JSON in UTF-8. ``counts``: int64, the count of each word.
        """
        return (self.in_memory() if self.is_spilled else self).here.arrays()

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored arrays: words must be distinct and valid, and counts must be positive."""
        self.here.check_arrays(stored)

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        self.here, self.segments = self.here.restored(arrays), []
        self._spill_if_full()

    def _add(self, other: Self) -> None:
        self.here.merge(other.here)
        self.segments += other.segments
        self._spill_if_full()

    def _remove(self, other: Self) -> None:
        whole, gone = self.in_memory(), other.in_memory()
        whole.here.subtract(gone.here)
        self.here, self.segments = whole.here, []
        self._spill_if_full()

    def _spill_if_full(self) -> None:
        if self.memory is not None and len(self.here) > self.memory.size // BYTES_FOR_A_WORD:
            self._close_segment()

    def _close_segment(self) -> None:
        """Write all counts in memory to disk, as a new part with its own word ids (a spill segment)."""
        assert self.memory is not None
        if not len(self.here):
            return
        words, counts = zip(*self.here.items(), strict=True)
        names = [b"", *(_utf8(str(word)) for word in words)]
        table = WordTable(
            letters=np.frombuffer(b"".join(names), np.uint8),
            bounds=offsets_of([*map(len, names)]),
            hashes=np.array([0, *(_hash(name) for name in names[1:])], np.uint64),
        )
        self.segments.append(SpillSegment.write(self.memory, table, np.array([0, *counts])))
        self.here = Counts()


def _count_in(segment: SpillSegment, word: str) -> int:
    hashes, wanted = segment.hashes(), np.uint64(_hash(_utf8(word)))
    at = int(np.searchsorted(hashes, wanted))
    return int(segment.counts(at, at + 1)[0]) if at < len(hashes) and hashes[at] == wanted else 0


def _utf8(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")


def _hash(name: bytes) -> int:
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
