"""Count n-grams over an open vocabulary, for models whose training data may change later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.estimators.hmm.moments import CodeCounts, Codes, NGramCounts, never_counted
from spectralnlp.runtime import MAX_COUNT, Batch, checked_names, pack_names, sum_by_key, unpack_names
from spectralnlp.storage import StoredArrays, int_array


class OpenNGramCounts(CodeCounts):
    """Counts of n-grams over an open vocabulary, which can be added and subtracted exactly.

    The vocabulary is chosen after counting (`within`). An n-gram is encoded as one integer that consists of
    ``order`` ids of 63 // order bits each; ids of symbols start at 1, and 0 is the boundary before a
    sequence.

    Args:
        order: order n of the n-grams.
        first: number of symbols at the start of each sequence whose n-grams are counted; None for all.
    """

    def __init__(self, order: int, first: int | None = None) -> None:
        super().__init__()
        self.order = order
        self.first = first
        self._bits = 63 // order
        self._numbers: dict[str, int] = {}
        self._symbol_counts = np.zeros(1, np.int64)

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Count the symbols and the n-grams of each sequence."""
        all_ids: list[int] = []
        padded: list[int] = []
        boundary = [0] * (self.order - 1)
        for sequence in batch:
            ids = [self._numbers.setdefault(symbol, len(self._numbers) + 1) for symbol in sequence]
            all_ids += ids
            padded += boundary
            padded += ids[: self.first]
        self._widen()
        self._symbol_counts += np.bincount(np.array(all_ids, np.int64), minlength=len(self._symbol_counts))
        numbers = np.array(padded + boundary, np.int64)
        n = max(len(numbers) - self.order + 1, 0)
        grams = np.column_stack([numbers[lag : lag + n] for lag in range(self.order)])
        self._pend(self._encode(grams[grams[:, -1] > 0]))

    def within(self, max_symbols: int, min_count: int) -> NGramCounts:
        """Return counts over a vocabulary of the most frequent symbols; all others become the unknown symbol.

        Args:
            max_symbols: maximum size of the vocabulary.
            min_count: least frequency of a symbol in the vocabulary.

        Raises:
            InputError: there are no symbols.
        """
        if not self._symbol_counts.any():
            raise InputError("no symbols to learn from", hint="give a file of blank-separated symbols")
        names = ["", *self._numbers]
        counts = self._symbol_counts.tolist()
        seen = [number for number in range(1, len(names)) if counts[number] >= max(min_count, 1)]
        chosen = sorted(seen, key=lambda number: (-counts[number], names[number]))[:max_symbols]
        restricted = NGramCounts([names[number] for number in chosen], self.order, self.first)
        place = np.full(len(names), restricted.base - 2)
        place[chosen] = np.arange(len(chosen))
        place[0] = restricted.base - 1
        self._consolidate()
        codes = np.zeros(len(self._codes), np.int64)
        for column in place[self._decode(self._codes)].T:
            codes = codes * restricted.base + column
        codes, kept = sum_by_key(codes, self._counts)
        return restricted.restored({"codes": codes, "counts": kept})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the counts as arrays for storage.

        ``symbols``: names of the symbols, sorted and packed into one array of bytes. ``symbol_counts``: int64
        (n_symbols + 1,), counts of the boundary and of each symbol. ``codes`` and ``counts``: int64 (n,),
        codes of n-grams, ascending, and their counts.
        """
        self._consolidate()
        names = sorted(name for name, number in self._numbers.items() if self._symbol_counts[number])
        numbers = np.array([0, *(self._numbers[name] for name in names)], np.int64)
        rank = np.zeros(len(self._symbol_counts), np.int64)
        rank[numbers] = np.arange(len(numbers))
        codes, counts = sum_by_key(self._encode(rank[self._decode(self._codes)]), self._counts)
        return {
            "symbols": pack_names(names),
            "symbol_counts": self._symbol_counts[numbers],
            "codes": codes,
            "counts": counts,
        }

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored counts: codes must be ascending and of known symbols, and counts must be positive."""
        n_symbols = len(checked_names(stored, "symbols")) + 1
        sized = stored.part(n_symbols=n_symbols)
        sized.take("symbol_counts", int_array("n_symbols", dtype="int64", below=MAX_COUNT))
        codes = sized.take("codes", int_array("n", dtype="int64", ascending=True))
        sized.take("counts", int_array("n", dtype="int64", least=1, below=MAX_COUNT))
        grams = self._decode(codes)
        if n_symbols > 1 << self._bits or (grams >= n_symbols).any():
            raise stored.error("codes", "holds an n-gram of unknown symbols")
        if (grams[:, -1] == 0).any() or ((grams[:, :-1] > 0) & (grams[:, 1:] == 0)).any():
            raise stored.error("codes", "holds an n-gram with a boundary after a symbol, or without symbols")

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._numbers = {name: i for i, name in enumerate(unpack_names(arrays["symbols"]), 1)}
        self._symbol_counts = arrays["symbol_counts"].copy()
        self._codes, self._counts = arrays["codes"].copy(), arrays["counts"].copy()

    def _add(self, other: Self) -> None:
        for name in other._numbers:
            self._numbers.setdefault(name, len(self._numbers) + 1)
        self._widen()
        self._take(other, 1)

    def _remove(self, other: Self) -> None:
        used = [name for name, number in other._numbers.items() if other._symbol_counts[number]]
        if not all(name in self._numbers for name in used):
            raise never_counted()
        self._take(other, -1)

    def _take(self, other: Self, sign: int) -> None:
        """Add (``sign`` 1) or subtract (-1) the counts of ``other``, whose symbols must all have ids here."""
        other._consolidate()
        ours = np.array([0, *(self._numbers.get(name, 0) for name in other._numbers)], np.int64)
        symbol_counts = self._symbol_counts.copy()
        np.add.at(symbol_counts, ours, sign * other._symbol_counts)
        if (symbol_counts < 0).any():
            raise never_counted()
        self._combine(self._encode(ours[other._decode(other._codes)]), sign * other._counts)
        self._symbol_counts = symbol_counts

    def _widen(self) -> None:
        """Lengthen the array of symbol counts to have an element for each symbol with an id.

        Raises:
            InputError: there are too many symbols to encode their ids.
        """
        n = len(self._numbers) + 1
        if n > 1 << self._bits:
            what = f"more than {(1 << self._bits) - 1:,} symbols are too many to keep {self.order}-grams of"
            raise InputError(what, hint="lower history, or train without `keep_moments`")
        more = np.zeros(n - len(self._symbol_counts), np.int64)
        self._symbol_counts = np.concatenate([self._symbol_counts, more])

    def _encode(self, grams: Codes) -> Codes:
        codes = np.zeros(len(grams), np.int64)
        for column in grams.T:
            codes = codes << self._bits | column
        return codes

    def _decode(self, codes: Codes) -> Codes:
        mask = (1 << self._bits) - 1
        shifts = [self._bits * lag for lag in range(self.order - 1, -1, -1)]
        return np.column_stack([codes >> shift & mask for shift in shifts])
