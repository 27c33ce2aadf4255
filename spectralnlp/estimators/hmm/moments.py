"""Count n-grams and, for EM, expected hidden states: the moments (training statistics) of HMMs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.hmm.ngrams import (
    Columns,
    NGrams,
    NGramTable,
    StoredNGrams,
    decode,
    encode,
    run_length,
)
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.forward_backward import expected_counts
from spectralnlp.parameters import Floats, HiddenMarkov
from spectralnlp.runtime import (
    MAX_COUNT,
    Batch,
    Memory,
    Moments,
    Numbering,
    Run,
    Symbol,
    checked_names,
    current_memory,
    offsets_of,
    pack_names,
    sum_by_key,
    symbol_names,
    unpack_names,
)
from spectralnlp.storage import StoredArrays, int_array

# Name of the symbol that stands for all symbols outside the vocabulary.
UNKNOWN = "<unknown>"

# Number of occurrences that are collected before equal ones are summed.
CONSOLIDATE = 1 << 20

# Number of n-grams that fit into memory as a table, as a multiple of the number sorted at a time.
_TABLES = 5

Codes = NDArray[np.int64]


class NGramCounts(Moments[Sequence[Symbol]]):
    """Counts of n-grams: every symbol with the ``order`` - 1 symbols before it.

    Sequences are padded with boundary symbols at the start. An n-gram is encoded as one integer, whose digits
    are the numbers of its symbols. There are two kinds of counts:

    - With a vocabulary, its V symbols have the numbers from 0, and the boundary has the number V. Within
      `spectralnlp.runtime.use_memory`, counts beyond the memory limit are written to disk in sorted runs.
    - Without, all symbols are counted, and numbered from 1 as they come; the boundary has the number 0. A
      vocabulary can be chosen after counting (`within`). These counts are always in memory.

    Args:
        order: order n of the n-grams.
        first: number of symbols at the start of each sequence whose n-grams are counted; None for all.
        vocabulary: names of the known symbols (`spectralnlp.runtime.symbol_names`); all others are counted as
            one unknown symbol, the last of the V symbols. None to count all symbols.

    Attributes:
        symbols: without a vocabulary, the count of each symbol in whole sequences; else empty.

    Raises:
        ConfigError: the codes of n-grams exceed 64 bits.
    """

    subtractable = True
    pass_name = "n-grams"

    def __init__(self, order: int, first: int | None = None, vocabulary: Sequence[str] | None = None) -> None:
        self.order = order
        self.first = first
        self.vocabulary = None if vocabulary is None else tuple(vocabulary)
        self.symbols = WordCounts().in_memory()
        self._numbers = Numbering.of(self.vocabulary or ())
        self._codes: Codes = np.empty(0, np.int64)
        self._counts: Codes = np.empty(0, np.int64)
        self._pending: list[Codes] = []
        self._n_pending = 0
        if self.vocabulary is None:
            self.base, self._boundary = 1 << 63 // order, 0
            self._limit(None)
        else:
            self.base = len(self.vocabulary) + 2  # the symbols, the unknown one, the boundary
            self._boundary = self.base - 1
            if self.base**order >= 2**63:
                what = f"{order}-grams of {len(self.vocabulary):,} symbols do not fit in 64 bits"
                raise ConfigError(what, hint="lower max_symbols or history")
            self._limit(current_memory())

    def _limit(self, memory: Memory | None) -> None:
        self.memory = memory
        self.runs: list[Run] = []
        # Maximum number of collected occurrences, and of distinct n-grams in memory.
        self._most = sys.maxsize if memory is None else run_length(memory)

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, without the vocabulary if there is none."""
        parameters = super().parameters()
        if self.vocabulary is None:
            del parameters["vocabulary"]
        return parameters

    def empty_like(self) -> Self:
        """Return empty counts with the same parameters and the same memory limit."""
        empty = super().empty_like()
        empty._limit(self.memory)
        return empty

    @property
    def is_spilled(self) -> bool:
        """Whether some of the counts are on disk."""
        return bool(self.runs)

    def observe(self, batch: Batch[Sequence[Symbol]]) -> None:
        """Count the n-grams of each sequence, and, without a vocabulary, the symbols."""
        padding = [self._boundary] * (self.order - 1)
        numbers = [self._boundary, *padding]
        for names in batch.mapped(symbol_names):
            numbers += self._numbers_of(names)[: self.first]
            numbers += padding
        grams = sliding_window_view(np.array(numbers, np.int64), self.order)
        self._pend(encode(grams, self.base)[grams[:, -1] != self._boundary])
        if self.vocabulary is None:
            self.symbols.observe(batch)
        self._spill_if_full()

    def _numbers_of(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of symbols, given their names; without a vocabulary, number those that are new.

        Raises:
            InputError: there are too many symbols to encode their numbers, or one that cannot be stored.
        """
        if self.vocabulary is not None:
            unknown = self.base - 2
            return [self._numbers.get(name, unknown) for name in names]
        found = [self._numbers[name] + 1 for name in names]
        if len(self._numbers) >= self.base:
            what = f"more than {self.base - 1:,} symbols are too many to keep {self.order}-grams of"
            raise InputError(what, hint="lower history, or train without `keep_moments`")
        return found

    def within(self, max_symbols: int, min_count: int) -> NGramCounts:
        """Return counts over a vocabulary of the most frequent symbols; all others become the unknown symbol.

        Counts that have a vocabulary already are returned as they are.

        Args:
            max_symbols: maximum size of the vocabulary.
            min_count: least frequency of a symbol in the vocabulary.

        Raises:
            InputError: there are no symbols.
        """
        if self.vocabulary is not None:
            return self
        chosen = choose_symbols(self.symbols, max_symbols, min_count)
        restricted = NGramCounts(self.order, self.first, chosen)
        place = np.array([restricted._boundary, *restricted._numbers_of(self._numbers)])
        codes, counts = self._whole()
        codes, counts = sum_by_key(encode(place[self._grams(codes)], restricted.base), counts)
        return restricted.restored({"codes": codes, "counts": counts})

    def grams(self) -> NGrams:
        """Return the n-grams and their counts over the vocabulary, in memory or on disk."""
        if self.memory is None or not self.is_spilled:
            return self.table()
        self._spill()
        return StoredNGrams(self.runs, order=self.order, boundary=self._boundary, memory=self.memory)

    def table(self) -> NGramTable:
        """Return the n-grams and their counts over the vocabulary as a table in memory.

        Raises:
            ConfigError: the table exceeds the memory limit.
        """
        n = len(self._codes) + sum(run.length for run in self.runs)
        if self.memory is not None and n > run_length(self.memory) * _TABLES:
            what = f"up to {n:,} different {self.order}-grams do not fit into memory"
            raise ConfigError(what, hint="raise `memory`, or lower max_symbols")
        codes, counts = self._whole()
        return NGramTable(self._grams(codes), counts.astype(np.float64), self._boundary)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the counts as arrays for storage, including counts on disk.

        ``codes``: int64 (n,), ascending; the code of each n-gram. ``counts``: int64 (n,); its count.

        Without a vocabulary also ``symbols``: names of the symbols, sorted, which gives them their numbers,
        and packed into one array of bytes. ``symbol_counts``: int64 (n_symbols + 1,), 0 for the boundary and
        the count of each symbol.
        """
        codes, counts = self._whole()
        if self.vocabulary is not None:
            return {"codes": codes, "counts": counts}
        symbols = {str(name): count for name, count in self.symbols.items()}
        rank = np.zeros(len(self._numbers) + 1, np.int64)
        rank[[self._numbers[name] + 1 for name in symbols]] = np.arange(1, len(symbols) + 1)
        codes, counts = sum_by_key(encode(rank[self._grams(codes)], self.base), counts)
        return {
            "symbols": pack_names(symbols),
            "symbol_counts": np.array([0, *symbols.values()], np.int64),
            "codes": codes,
            "counts": counts,
        }

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored counts: codes must be ascending and of known symbols, and counts must be positive."""
        n_numbers = self.base
        if self.vocabulary is None:
            n_numbers = len(checked_names(stored, "symbols")) + 1
            sized = stored.part(n_symbols=n_numbers)
            sized.take("symbol_counts", int_array("n_symbols", dtype="int64", below=MAX_COUNT))
        sized = stored.part(n_codes=self.base**self.order)
        codes = sized.take("codes", int_array("n", dtype="int64", below="n_codes", ascending=True))
        sized.take("counts", int_array("n", dtype="int64", least=1, below=MAX_COUNT))
        grams = self._grams(codes)
        if n_numbers > self.base or (grams >= n_numbers).any():
            raise stored.error("codes", "holds an n-gram of unknown symbols")
        begun = grams != self._boundary
        if not begun[:, -1].all() or (begun[:, :-1] > begun[:, 1:]).any():
            raise stored.error("codes", "holds an n-gram with a boundary after a symbol, or without symbols")

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if self.vocabulary is None:
            names = unpack_names(arrays["symbols"])
            self._numbers = Numbering.of(names)
            self.symbols.add(dict(zip(names, arrays["symbol_counts"][1:].tolist(), strict=True)))
        self._codes, self._counts = arrays["codes"].copy(), arrays["counts"].copy()
        self._spill_if_full()

    def _add(self, other: Self) -> None:
        self._consolidate()
        other._consolidate()
        theirs = self._recoded(other, other._codes), other._counts
        self._codes, self._counts = _sum((self._codes, self._counts), theirs)
        self.symbols.merge(other.symbols)
        self.runs += other.runs
        self._spill_if_full()

    def _remove(self, other: Self) -> None:
        codes, counts = other._whole()
        codes, counts = _sum(self._whole(), (self._recoded(other, codes), -counts))
        if (counts < 0).any():
            raise InputError(
                "cannot remove n-grams that were not counted", hint="remove only data that was added"
            )
        self.symbols.subtract(other.symbols)
        self._codes, self._counts, self.runs = codes, counts, []
        self._spill_if_full()

    def _recoded(self, other: Self, codes: Codes) -> Codes:
        """Return the codes that n-grams of ``other`` have here, where symbols may have other numbers.

        Args:
            other: counts with the same parameters.
            codes: int64 (n,); codes of the n-grams in ``other``.
        """
        if self.vocabulary is not None:
            return codes
        numbers = np.array([self._boundary, *self._numbers_of(other._numbers)])
        return encode(numbers[other._grams(codes)], self.base)

    def _grams(self, codes: Codes) -> Columns:
        """Return the numbers of the symbols of n-grams, int32 (n, order)."""
        return decode(codes, self.base, self.order)

    def _pend(self, codes: Codes) -> None:
        self._pending.append(codes)
        self._n_pending += len(codes)
        if self._n_pending >= min(max(CONSOLIDATE, len(self._codes)), self._most):
            self._consolidate()

    def _consolidate(self) -> None:
        """Add the occurrences that were collected to the counts."""
        if self._pending:
            once = ((codes, np.ones(len(codes), np.int64)) for codes in self._pending)
            self._codes, self._counts = _sum((self._codes, self._counts), *once)
            self._pending, self._n_pending = [], 0

    def _whole(self) -> tuple[Codes, Codes]:
        """Return the codes of all n-grams, in ascending order, and their counts, including those on disk."""
        self._consolidate()
        if not self.runs:
            return self._codes, self._counts
        return _sum((self._codes, self._counts), *(run.read() for run in self.runs))

    def _spill_if_full(self) -> None:
        if len(self._codes) > self._most:
            self._spill()

    def _spill(self) -> None:
        """Write all n-grams in memory to a file, sorted by code."""
        assert self.memory is not None
        self._consolidate()
        if len(self._codes):
            self.runs.append(Run.write(self.memory.new_file("grams"), self._codes, self._counts))
            self._codes, self._counts = np.empty(0, np.int64), np.empty(0, np.int64)


def _sum(*parts: tuple[Codes, Codes]) -> tuple[Codes, Codes]:
    """Return distinct codes in ascending order with the sums of their counts; drops sums of zero."""
    return sum_by_key(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def choose_symbols(counts: WordCounts, max_symbols: int, min_count: int) -> list[str]:
    """Choose the vocabulary, and return the names of its symbols, the most frequent first.

    Args:
        counts: frequency of each symbol.
        max_symbols: maximum size of the vocabulary.
        min_count: least frequency of a symbol in the vocabulary.

    Raises:
        InputError: the data contains no symbols.
    """
    if not counts.total():
        raise InputError("no symbols to learn from", hint="give a file of blank-separated symbols")
    return counts.most_frequent(max_symbols, min_count)


@dataclass(frozen=True, kw_only=True)
class StateSums:
    """Counts or expected counts of a hidden Markov model's initial states, transitions and emissions.

    Attributes:
        start: float64 (k,); counts of initial states.
        moves: float64 (k, k); counts of transitions to a state (row) from a state (column).
        emitted: float64 (V, k); counts of emissions of a symbol (row) by a state (column).
    """

    start: Floats
    moves: Floats
    emitted: Floats


class ExpectedTransitions(Moments[Sequence[Symbol]]):
    """Expected counts of initial states, transitions and emissions under a model: the E-step of EM.

    Args:
        vocabulary: the symbols; the last one stands for all unknown symbols.
        initial: float64 (k,); initial probabilities, see :class:`~spectralnlp.parameters.HiddenMarkov`.
        transition: float64 (k, k); transition probabilities.
        emission: float64 (V, k); emission probabilities.
    """

    def __init__(
        self, vocabulary: Sequence[Symbol], *, initial: Floats, transition: Floats, emission: Floats
    ) -> None:
        self.model = HiddenMarkov(
            symbols=tuple(vocabulary), initial=initial, transition=transition, emission=emission
        )
        self.sums = StateSums(
            start=np.zeros_like(initial), moves=np.zeros_like(transition), emitted=np.zeros_like(emission)
        )
        self.log_likelihood = np.zeros(1)

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments by name: the symbols and the probabilities of the model."""
        model = self.model
        arrays = {"initial": model.initial, "transition": model.transition, "emission": model.emission}
        return {"vocabulary": model.symbols, **arrays}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the expected counts as float64 arrays for storage.

        ``start``, ``moves`` and ``emitted``: see `StateSums`. ``log_likelihood``: (1,), log likelihood of the
        sequences so far.
        """
        sums = self.sums
        arrays = {"start": sums.start, "moves": sums.moves, "emitted": sums.emitted}
        return {**arrays, "log_likelihood": self.log_likelihood}

    def observe(self, batch: Batch[Sequence[Symbol]]) -> None:
        """Add the expected counts and the log likelihood of sequences."""
        index, unknown = self.model.symbol_index, len(self.model.symbols) - 1
        sequences = list(batch.mapped(symbol_names))
        symbols = [index.get(name, unknown) for sequence in sequences for name in sequence]
        offsets = offsets_of([len(sequence) for sequence in sequences if sequence])
        sums = self.sums
        self.log_likelihood += expected_counts(
            self.model, np.array(symbols, np.int32), offsets, sums.start, sums.moves, sums.emitted
        )
