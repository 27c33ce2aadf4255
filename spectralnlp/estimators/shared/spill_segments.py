"""Word counts on disk, in spill segments: parts of a text, each with its own word ids.

A segment ends when its words take too much memory. They are stored in order of their hashes, so that the
words of all segments can be merged one range of hashes at a time. Two words with the same 64-bit hash would
be merged, which is unlikely with fewer than a hundred million words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Longs, Memory, Run, writing

Hashes = NDArray[np.uint64]

# Number of ranges of hashes in which words are merged.
_RANGES = 64


class WordTable(NamedTuple):
    """Words by id; id 0 stands for the end of a sentence, and has no letters.

    Attributes:
        letters: uint8; bytes of all words; word n is ``letters[bounds[n]:bounds[n + 1]]``.
        bounds: int64 (n_words + 1,); start of each word in ``letters``, and the total size.
        hashes: uint64 (n_words,); hash of each word; the hash of id 0 is ignored.
    """

    letters: NDArray[np.uint8]
    bounds: Longs
    hashes: Hashes


@dataclass(frozen=True, kw_only=True)
class SpillSegment:
    """Word counts of a part of a text, on disk, with its own word ids.

    Args:
        words: file with the hash, the id and the count of each word, except the end of a sentence, by
            ascending hash.
        letters: file with the bounds and the bytes of the words, by id; see `WordTable`.
        n_words: number of words, the end of a sentence (0) included.
        n_sentences: number of sentence ends.
        n_tokens: number of tokens, without sentence ends.
        runs: files with counts of word pairs, sorted by pair.
    """

    words: Path
    letters: Path
    n_words: int
    n_sentences: int
    n_tokens: int
    runs: tuple[Run, ...]

    @classmethod
    def write(cls, memory: Memory, table: WordTable, counts: Longs, runs: Sequence[Run] = ()) -> SpillSegment:
        """Write words and their counts to disk, as a segment.

        Args:
            memory: memory limit, and folder of the files.
            table: words by id.
            counts: int64 (n_words,); count of each word; the count of id 0 is the number of sentences.
            runs: files with counts of pairs of these words, sorted by pair.
        """
        order = np.argsort(table.hashes[1:], kind="stable") + 1
        words, letters = memory.new_file("words"), memory.new_file("letters")
        with writing(words) as write:
            for column in (table.hashes[order], order, counts[order]):
                write(column)
        with writing(letters) as write:
            write(table.bounds)
            write(table.letters)
        return cls(
            words=words,
            letters=letters,
            n_words=len(table.hashes),
            n_sentences=int(counts[0]),
            n_tokens=int(counts[1:].sum()),
            runs=tuple(runs),
        )

    def hashes(self, start: int = 0, end: int | None = None) -> Hashes:
        """Return the hashes of the segment's words, uint64, ascending.

        Args:
            start, end: range in the list of words sorted by hash, ``end`` exclusive; all words by default.
        """
        n = self.n_words - 1 if end is None else end
        return np.fromfile(self.words, np.uint64, n - start, offset=8 * start)

    def numbers(self, start: int = 0, end: int | None = None) -> Longs:
        """Return the ids of the segment's words, int64, sorted by hash; for the range see `hashes`."""
        return self._column(1, start, end)

    def counts(self, start: int = 0, end: int | None = None) -> Longs:
        """Return the counts of the segment's words, int64, sorted by hash; for the range see `hashes`."""
        return self._column(2, start, end)

    def _column(self, which: int, start: int, end: int | None) -> Longs:
        n = self.n_words - 1
        offset = 8 * (which * n + start)
        return np.fromfile(self.words, np.int64, (n if end is None else end) - start, offset=offset)

    def names(self, numbers: Longs) -> list[bytes]:
        """Return the words with the given ids, in UTF-8."""
        bounds = np.fromfile(self.letters, np.int64, self.n_words + 1)
        letters = self.letters.read_bytes()[8 * (self.n_words + 1) :]
        return [letters[bounds[n] : bounds[n + 1]] for n in numbers.tolist()]

    def counts_by_number(self) -> Longs:
        """Return the count of each word by id, int64 (n_words,); 0 for id 0, the end of a sentence."""
        counts = np.zeros(self.n_words, np.int64)
        counts[self.numbers()] = self.counts()
        return counts


@dataclass(frozen=True, kw_only=True)
class WordColumns:
    """Distinct words of all segments on disk, with their total counts, in order of their hashes.

    Attributes:
        hashes: uint64 (n,), ascending; hash of each word.
        counts: int64 (n,); total count of each word in all segments.
        segment: int64 (n,); index of a segment that contains each word.
        number: int64 (n,); id of each word in that segment.
    """

    hashes: Hashes
    counts: Longs
    segment: Longs
    number: Longs

    def where(self, chosen: NDArray[np.bool_]) -> WordColumns:
        """Return only the words for which ``chosen``, bool (n,), is True."""
        return WordColumns(
            hashes=self.hashes[chosen],
            counts=self.counts[chosen],
            segment=self.segment[chosen],
            number=self.number[chosen],
        )


@dataclass(frozen=True)
class Census:
    """Words that occur at least a minimum number of times in all segments on disk together.

    Attributes:
        words: the words that are kept, with their counts.
        n_types: number of distinct words, rare ones included.
        most: count of the most frequent word.
    """

    words: WordColumns
    n_types: int
    most: int

    def up_to(self, most: int) -> Census:
        """Return a copy without the words that occur more than ``most`` times."""
        return replace(self, words=self.words.where(self.words.counts <= most))


def take_census(segments: Sequence[SpillSegment], min_count: int) -> Census:
    """Return the words that occur at least ``min_count`` times in all segments, with their total counts."""
    parts: list[WordColumns] = []
    n_types = most = 0
    for part in _ranges(segments):
        n_types, most = n_types + len(part.counts), max(most, int(part.counts.max()))
        parts.append(part.where(part.counts >= min_count))
    words = WordColumns(
        hashes=np.concatenate([part.hashes for part in parts]),
        counts=np.concatenate([part.counts for part in parts]),
        segment=np.concatenate([part.segment for part in parts]),
        number=np.concatenate([part.number for part in parts]),
    )
    return Census(words, n_types, most)


def count_to_be_among(segments: Sequence[SpillSegment], n: int, least: int, most: int) -> int:
    """Return the minimum count of the ``n`` most frequent words.

    Only words with counts from ``least`` to ``most`` are considered. If there are fewer than ``n`` of them,
    ``least`` is returned.
    """
    of_count: Counter[int] = Counter()
    for part in _ranges(segments):
        counts = part.counts[(part.counts >= least) & (part.counts <= most)]
        values, numbers = np.unique(counts, return_counts=True)
        of_count.update(dict(zip(values.tolist(), numbers.tolist(), strict=True)))
    for count in sorted(of_count, reverse=True):
        n -= of_count[count]
        if n <= 0:
            return count
    return least


def _ranges(segments: Sequence[SpillSegment]) -> Iterator[WordColumns]:
    """Yield the words of all segments with their total counts, a range of hashes at a time to save memory."""
    bounds = [np.uint64(i << 58) for i in range(1, _RANGES)]
    cuts = [
        [0, *np.searchsorted(segment.hashes(), bounds).tolist(), segment.n_words - 1] for segment in segments
    ]
    for i in range(_RANGES):
        spans = [(segment, cut[i], cut[i + 1]) for segment, cut in zip(segments, cuts, strict=True)]
        hashes = np.concatenate([segment.hashes(start, end) for segment, start, end in spans])
        counts = np.concatenate([segment.counts(start, end) for segment, start, end in spans])
        numbers = np.concatenate([segment.numbers(start, end) for segment, start, end in spans])
        sources = np.repeat(np.arange(len(segments)), [end - start for _, start, end in spans])
        if not len(hashes):
            continue
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
        first = order[starts]
        yield WordColumns(
            hashes=hashes[starts],
            counts=np.add.reduceat(counts[order], starts),
            segment=sources[first],
            number=numbers[first],
        )


def most_frequent(
    census: Census, segments: Sequence[SpillSegment], n: int | None
) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return the most frequent words, ties in alphabetical order.

    Returns:
        The indices of the words in the census, int64 (n,), and the words in UTF-8.
    """
    words = census.words
    places = np.arange(len(words.counts))
    if n is not None and n < len(places):
        least = np.partition(words.counts, -n)[-n]
        places = np.flatnonzero(words.counts >= least)
    names: list[bytes] = [b""] * len(places)
    for index, segment in enumerate(segments):
        here = np.flatnonzero(words.segment[places] == index)
        for at, name in zip(here.tolist(), segment.names(words.number[places[here]]), strict=True):
            names[at] = name
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    order = by_name[np.argsort(-words.counts[places[by_name]], kind="stable")][:n]
    return places[order], [names[i] for i in order.tolist()]
