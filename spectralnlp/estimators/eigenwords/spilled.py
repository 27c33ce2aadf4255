"""Counts of pairs on disk: epochs of a text, each with its own numbers for words, and what becomes of them.

An epoch ends when its words take too much memory. Its words are written down in the order of their hashes,
so that the words of all epochs can be put together a range of hashes at a time; two words of one 64-bit hash
would be taken for one, which is not to be expected among fewer than a hundred million. Then every run of
pairs becomes a run of entries of the word × context matrix, and these merge to the matrix's rows as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.matrix_kernels import pair_entries
from spectralnlp.estimators.eigenwords.words import NamedWords
from spectralnlp.moments import Array
from spectralnlp.spill import Longs, Memory, Run, merge_runs, sum_by_key, writing

_RANGES = 64  # of hashes, that words are put together in
_AT_A_TIME = 32  # bytes for an entry while it is merged


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
    def write(cls, memory: Memory, words: NamedWords, runs: Sequence[Run]) -> Epoch:
        """Write the words of an epoch."""
        letters, bounds, hashes = words.table()
        order = np.argsort(hashes[1:], kind="stable") + 1
        files = memory.new_file("words"), memory.new_file("letters")
        with writing(files[0]) as write:
            for column in (hashes[order], order, words.counts[order]):
                write(column)
        with writing(files[1]) as write:
            write(bounds)
            write(letters)
        n_sentences = int(words.counts[0])
        return cls(*files, words.n_words, n_sentences, int(words.counts[1:].sum()), tuple(runs))

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

    def parts(self) -> Iterator[dict[str, Array]]:
        """The epoch as arrays of `PairCounts`: the words, then the pairs of each run."""
        numbers = np.arange(self.n_words)
        counts = np.zeros(self.n_words, np.int64)
        counts[self.numbers()] = self.counts()
        counts[0] = self.n_sentences
        words = np.frombuffer(b"\n".join(self.names(numbers)[1:]), np.uint8)
        nothing = np.empty(0, np.int64)
        for pairs, pair_counts in [(nothing, nothing), *(run.read() for run in self.runs)]:
            yield {
                "words": words, "numbers": numbers, "word_counts": counts, "pairs": pairs,
                "pair_counts": pair_counts, "dropped": np.zeros(2, np.int64),
            }  # fmt: skip
            counts = np.zeros_like(counts)


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

    hashes: NDArray[np.uint64]
    counts: Longs
    epoch: Longs
    number: Longs
    n_types: int
    most: int


def take_census(epochs: Sequence[Epoch], min_count: int) -> Census:
    """Put the words of all epochs together, a range of hashes at a time."""
    bounds = [np.uint64(i << 58) for i in range(1, _RANGES)]
    cuts = [[0, *np.searchsorted(epoch.hashes(), bounds).tolist(), epoch.n_words - 1] for epoch in epochs]
    found: list[tuple[NDArray[np.uint64], Longs, Longs, Longs]] = []
    n_types = most = 0
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
        sums = np.add.reduceat(counts[order], starts)
        n_types, most = n_types + len(sums), max(most, int(sums.max()))
        kept = sums >= min_count
        first = order[starts[kept]]
        found.append((hashes[starts[kept]], sums[kept], sources[first], numbers[first]))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    return Census(columns[0], columns[1], columns[2], columns[3], n_types, most)


def _slice_of_hashes(epoch: Epoch, start: int, end: int) -> NDArray[np.uint64]:
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


def entry_runs(
    epochs: Sequence[Epoch], hashes: NDArray[np.uint64], n_contexts: int, left_block: Longs,
    right_block: Longs, memory: Memory,
) -> Iterator[Run]:  # fmt: skip
    """Each run of pairs as a run of entries of the word × context matrix.

    Args:
        epochs: the counts.
        hashes: uint64 (n_rows,); of the words that are rows, in their order.
        n_contexts: columns of a block: the sentence's end, then the first words.
        left_block, right_block: see `pair_entries`.
        memory: where the runs go.

    Yields:
        Runs with keys row · 2³² + column.
    """
    order = np.argsort(hashes)
    in_order = hashes[order]
    for epoch in epochs:
        theirs = epoch.hashes()
        at = np.minimum(np.searchsorted(in_order, theirs), len(in_order) - 1)
        known = in_order[at] == theirs
        row_of = np.full(epoch.n_words, -1, np.int32)
        row_of[epoch.numbers()[known]] = order[at[known]]
        for run in epoch.runs:
            keys, counts = run.read()
            entries, values = np.empty(2 * len(keys), np.int64), np.empty(2 * len(keys), np.int64)
            n = pair_entries(keys, counts, row_of, left_block, right_block, n_contexts, entries, values)
            if n:
                yield Run.write(memory.new_file("entries"), *sum_by_key(entries[:n], values[:n]))


def merged_entries(runs: Sequence[Run], memory: Memory) -> Iterator[tuple[Longs, Longs]]:
    """Keys and values of all entries, row by row."""
    return merge_runs(runs, memory.size // 8 // _AT_A_TIME)
