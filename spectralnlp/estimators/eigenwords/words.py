"""Assign ids to words in order of first appearance, and count them."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.kernels import (
    InternedWords,
    fill_slots,
    intern_words,
)
from spectralnlp.estimators.shared.spill_segments import WordTable
from spectralnlp.inference.words.spelling import Bytes

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

# Initial capacity, in words.
_CAPACITY = 1 << 12


class NamedWords:
    """Vocabulary that assigns ids to words in order of first appearance, and counts them.

    Id 0 is the end of a sentence.
    """

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
        """Count of each word id, int64 (n_words,)."""
        return self._known.counts[: self.n_words]

    def number(self, text: Bytes) -> Ints:
        """Count the words of a text, which must end in a line feed, and return their ids.

        Returns:
            int32; ids, with a zero at the beginning and after each sentence.
        """
        ids, position, n_ids = np.empty(len(text) + 2, np.int32), 0, 1  # worst case: one letter per line
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
        """Return the spelling (UTF-8 bytes) and the hash of each word, in the order of the ids."""
        bounds = self._known.bounds[: self.n_words + 1]
        return WordTable(
            letters=self._known.letters[: bounds[-1]],
            bounds=bounds,
            hashes=self._known.hashes[: self.n_words],
        )

    def name(self, number: int) -> bytes:
        """Return the word with the id ``number``, in UTF-8; the end of a sentence (0) is empty."""
        return self._known.letters[self._known.bounds[number] : self._known.bounds[number + 1]].tobytes()

    def copy(self) -> Self:
        """Return an independent copy of the word ids and counts."""
        return copy.deepcopy(self)

    def find(self, text: Bytes) -> Ints:
        """Return the ids of the words of a text as `number` does, without counting them."""
        before = self.counts.copy()
        ids = self.number(text)
        self.counts[: len(before)] = before
        self.counts[len(before) :] = 0
        return ids

    def add(self, words: Bytes, counts: Longs) -> Ints:
        """Add counts of words; new words get ids.

        Args:
            words: uint8; distinct words in UTF-8, separated by blanks.
            counts: int64 (n_words + 1,); count of sentence ends, and of each word.

        Returns:
            int32 (n_words + 1,); id of the sentence end (0) and of each word.
        """
        ours = self.find(np.append(words, np.uint8(ord("\n"))))[: len(counts)]
        ours[0] = 0
        self.counts[ours] += counts
        return ours

    def merge(self, other: NamedWords) -> Ints:
        """Add the words and counts of another vocabulary; words that are new here get ids.

        Returns:
            int32 (other.n_words,); id in this object of each word of ``other``.
        """
        letters, bounds, _ = other.table()
        return self.add(np.insert(letters, bounds[2:], ord(" ")), other.counts)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer
