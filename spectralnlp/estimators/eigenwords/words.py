"""Numbers for words, by first appearance."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.kernels import (
    InternedWords,
    fill_slots,
    intern_words,
)
from spectralnlp.estimators.shared.spill_segments import WordTable
from spectralnlp.inference.words.encoded import Bytes, as_bytes

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

# Words that there is space for at first.
_CAPACITY = 1 << 12


class NamedWords:
    """Words numbered by first appearance, and how often each occurred. Number 0 is the end of a sentence."""

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
    def counts(self) -> Longs:
        """int64 (n_words,); of each number."""
        return self._known.counts[: self.n_words]

    def number(self, text: Bytes) -> Ints:
        """Number and count the words of a text that ends in a line feed.

        Returns:
            int32; sentences between zeros, one at the beginning too.
        """
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

    def name(self, number: int) -> bytes:
        """Return the word of a number; empty for 0."""
        return self._known.letters[self._known.bounds[number] : self._known.bounds[number + 1]].tobytes()

    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def add(self, names: Sequence[bytes], counts: Longs) -> Ints:
        """Take in counted words of others.

        Args:
            names: the words by number; that of the sentence's end is empty and comes first.
            counts: how often they occurred.

        Returns:
            int32 (n_names,); our number for each of theirs.
        """
        before = self.counts.copy()
        ours = self.number(as_bytes(b" ".join(names[1:]) + b"\n"))[: len(names)]
        ours[0] = 0
        self._known.counts[: self.n_words] = 0
        self._known.counts[: len(before)] = before
        self._known.counts[ours] += counts
        return ours

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
        new_of[old] = self.add(names, counts)
        return new_of


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer
