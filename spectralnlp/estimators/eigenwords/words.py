"""Numbers for words: by first appearance, with a memory of their names, or by hashing."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.kernels import (
    BucketedWords,
    InternedWords,
    bucket_words,
    fill_slots,
    intern_words,
)
from spectralnlp.estimators.shared.spill_segments import WordTable
from spectralnlp.inference.words.hashing import Bytes, as_bytes

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

# Words that there is space for at first.
_CAPACITY = 1 << 12


class WordNumbers(ABC):
    """Words and how often each occurred. Number 0 is the end of a sentence.

    Attributes:
        counts: int64; of each number.
    """

    counts: Longs

    @abstractmethod
    def number(self, text: Bytes) -> Ints:
        """Number and count the words of a text that ends in a line feed.

        Returns:
            int32; sentences between zeros, one at the beginning too.
        """

    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

    @abstractmethod
    def used(self) -> Longs:
        """Return the numbers that stand for something; 0 first."""

    @abstractmethod
    def name(self, number: int) -> bytes:
        """Return the word of a number; empty for 0."""

    @abstractmethod
    def add(self, names: Sequence[bytes], numbers: Longs, counts: Longs) -> Ints:
        """Take in counted words of others of the same kind.

        Args:
            names: the words; that of the sentence's end is empty and comes first.
            numbers: int64; the others' numbers of them.
            counts: how often they occurred.

        Returns:
            int32; our number for each of theirs.
        """


class NamedWords(WordNumbers):
    """Numbers by first appearance."""

    def __init__(self) -> None:
        self.n_words = 1
        self._known = InternedWords(
            slots=np.full(_CAPACITY, -1, np.int32),
            letters=np.empty(8 * _CAPACITY, np.uint8),
            bounds=np.zeros(_CAPACITY + 1, np.int64),
            hashes=np.zeros(_CAPACITY, np.uint64),
            counts=np.zeros(_CAPACITY, np.int64),
        )

    @property
    def counts(self) -> Longs:  # type: ignore[override]
        """int64 (n_words,); of each number."""
        return self._known.counts[: self.n_words]

    def number(self, text: Bytes) -> Ints:
        """Number and count the words of a text; see `WordNumbers.number`."""
        ids, position, n_ids = np.empty(len(text) + 2, np.int32), 0, 1  # at worst a letter a line
        ids[0] = 0
        while True:
            position, self.n_words, n_ids = intern_words(
                text, position, self._known, self.n_words, ids, n_ids
            )
            if position >= len(text):
                return ids[:n_ids]
            self._grow(len(text))

    def _grow(self, n_letters: int) -> None:
        slots, letters, bounds, hashes, counts = self._known
        if 2 * (self.n_words + 2) > len(slots):
            slots = np.full(2 * len(slots), -1, np.int32)
            fill_slots(slots, hashes, self.n_words)
        if self.n_words + 2 >= len(hashes):
            size = 2 * len(hashes)
            bounds, hashes, counts = _longer(bounds, size + 1), _longer(hashes, size), _longer(counts, size)
        needed = int(bounds[self.n_words]) + n_letters
        if needed > len(letters):
            letters = _longer(letters, max(needed, 2 * len(letters)))
        self._known = InternedWords(slots, letters, bounds, hashes, counts)

    def table(self) -> WordTable:
        """Return the words by number."""
        bounds = self._known.bounds[: self.n_words + 1]
        return WordTable(
            letters=self._known.letters[: bounds[-1]],
            bounds=bounds,
            hashes=self._known.hashes[: self.n_words],
        )

    def used(self) -> Longs:
        """Return the numbers that stand for something; 0 first."""
        return np.arange(self.n_words)

    def name(self, number: int) -> bytes:
        """Return the word of a number; empty for 0."""
        return self._known.letters[self._known.bounds[number] : self._known.bounds[number + 1]].tobytes()

    def add(self, names: Sequence[bytes], numbers: Longs, counts: Longs) -> Ints:
        """Take in counted words of others; see `WordNumbers.add`."""
        before = self.counts.copy()
        ours = self.number(as_bytes(b" ".join(names[1:]) + b"\n"))[: len(names)]
        ours[0] = 0
        self._known.counts[: self.n_words] = 0
        self._known.counts[: len(before)] = before
        self._known.counts[ours] += counts
        ours_of = np.full(int(numbers.max()) + 1, -1, np.int32)
        ours_of[numbers] = ours
        return ours_of

    def merge(self, other: NamedWords) -> Ints:
        """Take in the words of another text, with their counts.

        Returns:
            int32 (other.n_words,); our number for each of theirs.
        """
        letters, bounds, _ = other.table()
        text = np.append(np.insert(letters, bounds[2:], ord(" ")), np.uint8(ord("\n")))
        before, n_before = self.counts.copy(), self.n_words
        ours = self.number(text)[: other.n_words]
        ours[0] = 0
        self._known.counts[:n_before] = before
        self._known.counts[n_before : self.n_words] = 0
        self._known.counts[ours] += other.counts
        return ours

    def keep(self, kept: NDArray[np.bool_]) -> Ints:
        """Forget all but some words.

        Args:
            kept: bool (n_words,).

        Returns:
            int32 (n_words,); the new number of each old one, -1 for those forgotten.
        """
        old = np.flatnonzero(kept)
        names, counts = [self.name(number) for number in old.tolist()], self.counts[old].copy()
        NamedWords.__init__(self)
        new_of = np.full(len(kept), -1, np.int32)
        new_of[old] = self.add(names, np.arange(len(old)), counts)
        return new_of


class HashedWords(WordNumbers):
    """Numbers by hashing: memory that is fixed from the start, and words that may share a number.

    Args:
        bits: there are 2^bits numbers besides 0.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        size = (1 << bits) + 1
        self._letters = np.empty(8 * _CAPACITY, np.uint8)
        self._n_letters = 0
        self._bounds = np.zeros((size, 2), np.int64)
        self._hashes = np.zeros(size, np.uint64)
        self.counts = np.zeros(size, np.int64)

    def number(self, text: Bytes) -> Ints:
        """Number and count the words of a text; see `WordNumbers.number`."""
        needed = self._n_letters + len(text)
        if needed > len(self._letters):
            self._letters = _longer(self._letters, max(needed, 2 * len(self._letters)))
        ids = np.empty(len(text) + 2, np.int32)
        ids[0] = 0
        known = BucketedWords(
            letters=self._letters, bounds=self._bounds, hashes=self._hashes, counts=self.counts
        )
        self._n_letters, n_ids = bucket_words(text, self.bits, known, self._n_letters, ids, 1)
        return ids[:n_ids]

    def used(self) -> Longs:
        """Return the numbers that stand for something; 0 first."""
        return np.append(0, 1 + np.flatnonzero(self.counts[1:]))

    def name(self, number: int) -> bytes:
        """Return the word that names a number; empty for 0."""
        start, end = self._bounds[number]
        return self._letters[start:end].tobytes()

    def add(self, names: Sequence[bytes], numbers: Longs, counts: Longs) -> Ints:
        """Take in counted words of others; see `WordNumbers.add`."""
        before = self.counts.copy()
        self.number(as_bytes(b" ".join(names[1:]) + b"\n"))
        self.counts = before
        self.counts[numbers] += counts
        return np.arange(int(numbers.max()) + 1, dtype=np.int32)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer
