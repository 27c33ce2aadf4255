"""Hash table of counts of word pairs, which spills to disk if memory is limited."""

from __future__ import annotations

import sys
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.kernels import add_pairs, count_pairs
from spectralnlp.runtime import Memory, Run

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

# Number of slots of an empty table.
_SLOTS = 1 << 14
# Share of slots in use at which a table doubles.
_FULL = 0.75
# A table takes at most one part in this many of the memory limit; sorting briefly takes twice as much.
_SHARE = 16


class PairTable:
    """Hash table of counts of word pairs, by integer key, with open addressing.

    When the table has filled its share of the memory limit, all pairs are written to disk as a sorted run,
    and the table is emptied.

    Args:
        memory: memory limit; None to keep all pairs in memory.

    Attributes:
        keys: int64; key of the pair in each slot, see :mod:`~spectralnlp.estimators.eigenwords.kernels`; 0
            for a free slot.
        counts: int64; count of the pair in each slot.
        runs: sorted pairs on disk.
        most: maximum number of pairs in memory.
    """

    def __init__(self, memory: Memory | None) -> None:
        self.most = sys.maxsize if memory is None else _fitting(memory)
        self.memory = memory
        self.runs: list[Run] = []
        self.keys = np.zeros(_SLOTS, np.int64)
        self.counts = np.zeros(_SLOTS, np.int64)
        self._n_pairs = 0
        self._shared = False

    def __len__(self) -> int:
        return self._n_pairs

    @property
    def _limit(self) -> int:
        return min(int(_FULL * len(self.keys)), self.most)

    def observe(self, ids: Ints, window: int) -> None:
        """Count the pairs of words in a text, at most ``window`` apart.

        Args:
            ids: int32; ids of words, sentences separated by zeros.
            window: largest distance.
        """
        self._unshare()
        position = 0
        while True:
            position, self._n_pairs = count_pairs(
                ids, len(ids), position, window, self.keys, self.counts, self._n_pairs, self._limit
            )
            if position >= len(ids):
                return
            self._free_slots()

    def add(self, keys: Longs, counts: Longs) -> None:
        """Add counts of pairs; keys that are 0 are ignored."""
        self._unshare()
        position = 0
        while True:
            position, self._n_pairs = add_pairs(
                keys, counts, position, self.keys, self.counts, self._n_pairs, self._limit
            )
            if position >= len(keys):
                return
            self._free_slots()

    def _free_slots(self) -> None:
        n_slots = len(self.keys)
        if int(_FULL * n_slots) < self.most:
            keys, counts = self.keys, self.counts
            self.keys, self.counts = np.zeros(2 * n_slots, np.int64), np.zeros(2 * n_slots, np.int64)
            add_pairs(keys, counts, 0, self.keys, self.counts, 0, 2 * n_slots)
        else:
            self.spill()

    def spill(self) -> None:
        """Write all counts to a file, sorted by key (a run), and empty the table."""
        assert self.memory is not None
        if self._n_pairs:
            keys, counts = self.sorted()
            self.runs.append(Run.write(self.memory.new_file("pairs"), keys, counts))
            if self._shared:
                self.keys, self.counts, self._shared = np.zeros_like(self.keys), self.counts.copy(), False
            self.keys[:] = 0
            self._n_pairs = 0

    def unsorted(self) -> tuple[Longs, Longs]:
        """Return copies of the keys and counts of pairs in memory, in the order of the table's slots."""
        used = self.keys != 0
        return self.keys[used], self.counts[used]

    def sorted(self) -> tuple[Longs, Longs]:
        """Return the keys and counts of pairs in memory, sorted by key."""
        used = np.flatnonzero(self.keys)
        used = used[np.argsort(self.keys[used], kind="stable")]
        return self.keys[used], self.counts[used]

    def copy(self) -> Self:
        """Return a copy of the table; the two share their arrays until one of them changes."""
        other = type(self)(self.memory)
        other.runs = list(self.runs)
        other.keys, other.counts = self.keys, self.counts
        other._n_pairs = self._n_pairs
        self._shared = other._shared = True
        return other

    def _unshare(self) -> None:
        if self._shared:
            self.keys, self.counts, self._shared = self.keys.copy(), self.counts.copy(), False


def _fitting(memory: Memory) -> int:
    """Return how many pairs a table may hold at most to keep within a memory limit."""
    slots = _SLOTS
    while 2 * slots * 16 <= memory.size // _SHARE:
        slots *= 2
    return int(_FULL * slots)
