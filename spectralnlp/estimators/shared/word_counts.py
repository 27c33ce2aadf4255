"""Word counts for choosing a vocabulary of the most frequent words, on disk if memory is limited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Self

import numpy as np

from spectralnlp.estimators.shared.spill_segments import (
    SpillSegment,
    WordTable,
    count_to_be_among,
    most_frequent,
    take_census,
)
from spectralnlp.runtime import (
    Array,
    Batch,
    Counts,
    Key,
    Memory,
    Symbol,
    current_memory,
    offsets_of,
    symbol_names,
)

# Memory per word, in bytes, with the several tables held during a merge.
BYTES_FOR_A_WORD = 4096


class WordCounts(Counts[Any]):
    """Counts of words or other symbols; within `spectralnlp.runtime.use_memory`, those beyond go to disk.

    Integers and Booleans are counted under their names (`spectralnlp.runtime.symbol_names`).

    Attributes:
        segments: parts of the counts on disk (spill segments), with their own word ids.
    """

    pass_name = "symbols"

    def __init__(self) -> None:
        super().__init__()
        self.memory: Memory | None = current_memory()
        self.segments: list[SpillSegment] = []

    @property
    def is_spilled(self) -> bool:
        """Whether some of the counts are on disk."""
        return bool(self.segments)

    def empty_like(self) -> Self:
        """Return empty counts with the same memory limit."""
        empty = type(self)()
        empty.memory = self.memory
        return empty

    def events(self, example: Sequence[Symbol]) -> Iterable[Key]:
        """Return the name of each symbol of an example."""
        return symbol_names(example)

    def observe(self, batch: Batch[Sequence[Symbol]]) -> None:
        """Count the words of each example."""
        super().observe(batch)
        self._spill_if_full()

    def total(self) -> int:
        """Return the total number of tokens counted."""
        return super().total() + sum(segment.n_tokens for segment in self.segments)

    def __getitem__(self, word: Key) -> int:
        return super().__getitem__(word) + sum(_count_in(segment, str(word)) for segment in self.segments)

    def __len__(self) -> int:
        return len(self.in_memory()) if self.is_spilled else super().__len__()

    def items(self) -> Iterator[tuple[Key, int]]:
        """Return an iterator over (word, count), sorted by word, including words on disk."""
        return self.in_memory().items() if self.is_spilled else super().items()

    def most_frequent(self, n: int, least: int = 1, most: int | None = None) -> list[str]:
        """Return the ``n`` most frequent words with counts from ``least`` to ``most``."""
        if self.is_spilled:
            return self._most_frequent_on_disk(n, least, self.total() if most is None else most)
        words: list[str] = []
        for word in self.top():
            count = self[word]
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
        whole.add(self._counter)
        for segment in self.segments:
            counts = segment.counts_by_number()
            names = (_text(name) for name in segment.names(np.arange(1, segment.n_words)))
            whole.add(dict(zip(names, counts[1:].tolist(), strict=True)))
        return whole

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        super()._restore(arrays)
        self.segments = []
        self._spill_if_full()

    def _add(self, other: Self) -> None:
        super()._add(other)
        self.segments += other.segments
        self._spill_if_full()

    def _remove(self, other: Self) -> None:
        if self.is_spilled or other.is_spilled:
            whole = self.in_memory()
            whole._remove(other.in_memory())
            self._counter, self.segments = whole._counter, []
            self._spill_if_full()
        else:
            super()._remove(other)

    def _spill_if_full(self) -> None:
        if self.memory is not None and len(self._counter) > self.memory.size // BYTES_FOR_A_WORD:
            self._close_segment()

    def _close_segment(self) -> None:
        """Write all counts in memory to disk, as a new part with its own word ids (a spill segment)."""
        assert self.memory is not None
        if not self._counter:
            return
        words, counts = zip(*super().items(), strict=True)
        names = [b"", *(_utf8(str(word)) for word in words)]
        table = WordTable(
            letters=np.frombuffer(b"".join(names), np.uint8),
            bounds=offsets_of([*map(len, names)]),
            hashes=np.array([0, *(_hash(name) for name in names[1:])], np.uint64),
        )
        self.segments.append(SpillSegment.write(self.memory, table, np.array([0, *counts])))
        self._counter = Counter()


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
