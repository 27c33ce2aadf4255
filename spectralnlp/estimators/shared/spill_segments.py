"""Words on disk: epochs of a text, each with its own numbers for words, and the words of all of them.

An epoch ends when its words take too much memory. They are written down in the order of their hashes, so that
the words of all epochs can be put together a range of hashes at a time; two words of one 64-bit hash would be
taken for one, which is not to be expected among fewer than a hundred million.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Longs, Memory, Run, writing

Hashes = NDArray[np.uint64]

_RANGES = 64  # of hashes, that words are put together in


@dataclass(frozen=True)
class Epoch:
    """A part of a text whose words share a numbering.

    Args:
        words: file of hashes in ascending order, and the number and count of each; not of the sentence's end.
        letters: file of the words' letters, those of number n from ``bounds[n]`` to ``bounds[n + 1]``.
        n_words: how many, with the sentence's end (0).
        n_sentences: ends of sentences.
        n_tokens: words counted.
        runs: its pairs.
    """

    words: Path
    letters: Path
    n_words: int
    n_sentences: int
    n_tokens: int
    runs: tuple[Run, ...]

    @classmethod
    def write(
        cls, memory: Memory, letters: NDArray[np.uint8], bounds: Longs, hashes: Hashes, counts: Longs,
        runs: Sequence[Run] = (),
    ) -> Epoch:  # fmt: skip
        """Write the words of an epoch.

        Args:
            memory: where to.
            letters: the words' bytes, those of number n from ``bounds[n]`` to ``bounds[n + 1]``; 0 has none.
            bounds: (n_words + 1,).
            hashes, counts: (n_words,); that of 0 counts for nothing, its count is that of sentences.
            runs: what else belongs to it.
        """
        order = np.argsort(hashes[1:], kind="stable") + 1
        files = memory.new_file("words"), memory.new_file("letters")
        with writing(files[0]) as write:
            for column in (hashes[order], order, counts[order]):
                write(column)
        with writing(files[1]) as write:
            write(bounds)
            write(letters)
        return cls(*files, len(hashes), int(counts[0]), int(counts[1:].sum()), tuple(runs))

    def hashes(self) -> NDArray[np.uint64]:
        """uint64 (n_words - 1,), ascending."""
        return np.fromfile(self.words, np.uint64, self.n_words - 1)

    def numbers(self, start: int = 0, end: int | None = None) -> Longs:
        """The numbers of the words in the order of hashes."""
        return self._column(1, start, end)

    def counts(self, start: int = 0, end: int | None = None) -> Longs:
        """The counts of the words in the order of hashes."""
        return self._column(2, start, end)

    def _column(self, which: int, start: int, end: int | None) -> Longs:
        n = self.n_words - 1
        offset = 8 * (which * n + start)
        return np.fromfile(self.words, np.int64, (n if end is None else end) - start, offset=offset)

    def names(self, numbers: Longs) -> list[bytes]:
        """The words of some numbers."""
        bounds = np.fromfile(self.letters, np.int64, self.n_words + 1)
        letters = self.letters.read_bytes()[8 * (self.n_words + 1) :]
        return [letters[bounds[n] : bounds[n + 1]] for n in numbers.tolist()]

    def counts_by_number(self) -> Longs:
        """int64 (n_words,); of each number, 0 without."""
        counts = np.zeros(self.n_words, np.int64)
        counts[self.numbers()] = self.counts()
        return counts


@dataclass(frozen=True)
class Census:
    """The words of all epochs that occur often enough.

    Attributes:
        hashes: uint64 (n,), ascending.
        counts: int64 (n,).
        epoch, number: int64 (n,); where the name of each is found.
        n_types: how many words there are, rare ones too.
        most: the count of the commonest.
    """

    hashes: Hashes
    counts: Longs
    epoch: Longs
    number: Longs
    n_types: int
    most: int

    def up_to(self, most: int) -> Census:
        """Without the words that occur more often."""
        kept = self.counts <= most
        columns = (self.hashes[kept], self.counts[kept], self.epoch[kept], self.number[kept])
        return Census(*columns, self.n_types, self.most)


@dataclass(frozen=True)
class _Range:
    """The words of all epochs whose hashes lie in a range, each once: its count, and where its name is."""

    hashes: Hashes
    counts: Longs
    epoch: Longs
    number: Longs


def take_census(epochs: Sequence[Epoch], min_count: int) -> Census:
    """Put the words of all epochs together, those that occur often enough."""
    found: list[tuple[Hashes, Longs, Longs, Longs]] = []
    n_types = most = 0
    for part in _ranges(epochs):
        n_types, most = n_types + len(part.counts), max(most, int(part.counts.max()))
        kept = part.counts >= min_count
        found.append((part.hashes[kept], part.counts[kept], part.epoch[kept], part.number[kept]))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    return Census(columns[0], columns[1], columns[2], columns[3], n_types, most)


def count_to_be_among(epochs: Sequence[Epoch], n: int, least: int, most: int) -> int:
    """The count from which on a word is among the ``n`` most frequent with ``least`` to ``most``."""
    of_count: Counter[int] = Counter()
    for part in _ranges(epochs):
        counts = part.counts[(part.counts >= least) & (part.counts <= most)]
        values, numbers = np.unique(counts, return_counts=True)
        of_count.update(dict(zip(values.tolist(), numbers.tolist(), strict=True)))
    for count in sorted(of_count, reverse=True):
        n -= of_count[count]
        if n <= 0:
            return count
    return least


def _ranges(epochs: Sequence[Epoch]) -> Iterator[_Range]:
    """The words of all epochs, a range of hashes at a time; ranges without words are passed over."""
    bounds = [np.uint64(i << 58) for i in range(1, _RANGES)]
    cuts = [[0, *np.searchsorted(epoch.hashes(), bounds).tolist(), epoch.n_words - 1] for epoch in epochs]
    for i in range(_RANGES):
        spans = [(epoch, cut[i], cut[i + 1]) for epoch, cut in zip(epochs, cuts, strict=True)]
        hashes = np.concatenate([_slice_of_hashes(*span) for span in spans])
        counts = np.concatenate([epoch.counts(start, end) for epoch, start, end in spans])
        numbers = np.concatenate([epoch.numbers(start, end) for epoch, start, end in spans])
        sources = np.repeat(np.arange(len(epochs)), [end - start for _, start, end in spans])
        if not len(hashes):
            continue
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
        first = order[starts]
        yield _Range(hashes[starts], np.add.reduceat(counts[order], starts), sources[first], numbers[first])


def _slice_of_hashes(epoch: Epoch, start: int, end: int) -> Hashes:
    return np.fromfile(epoch.words, np.uint64, end - start, offset=8 * start)


def most_frequent(
    census: Census, epochs: Sequence[Epoch], n: int | None
) -> tuple[NDArray[np.int64], list[bytes]]:
    """The most frequent words, ties in the order of their letters.

    Returns:
        int64 (n,), their places in the census, and their names.
    """
    places = np.arange(len(census.counts))
    if n is not None and n < len(places):
        least = np.partition(census.counts, -n)[-n]
        places = np.flatnonzero(census.counts >= least)
    names: list[bytes] = [b""] * len(places)
    for index, epoch in enumerate(epochs):
        here = np.flatnonzero(census.epoch[places] == index)
        for at, name in zip(here.tolist(), epoch.names(census.number[places[here]]), strict=True):
            names[at] = name
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    order = by_name[np.argsort(-census.counts[places[by_name]], kind="stable")][:n]
    return places[order], [names[i] for i in order.tolist()]
