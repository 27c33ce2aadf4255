"""Count n-grams and, for EM, expected hidden states: the moments (training statistics) of HMMs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.hmm.ngrams import NGrams, NGramTable, StoredNGrams, decode, run_length
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.forward_backward import expected_counts
from spectralnlp.parameters import Floats, HiddenMarkov
from spectralnlp.runtime import MAX_COUNT, Batch, Memory, Moments, Run, current_memory, offsets_of, sum_by_key
from spectralnlp.storage import StoredArrays, int_array

# Name of the symbol that stands for all symbols outside the vocabulary.
UNKNOWN = "<unknown>"

# Number of occurrences that are collected before equal ones are summed.
CONSOLIDATE = 1 << 20

# Number of n-grams that fit into memory as a table, as a multiple of the number sorted at a time.
_TABLES = 5

Codes = NDArray[np.int64]


class CodeCounts(Moments[Sequence[str]]):
    """Base class of counts of n-grams; each n-gram is stored as one integer, its code."""

    subtractable = True

    def __init__(self) -> None:
        self._codes: Codes = np.empty(0, np.int64)
        self._counts: Codes = np.empty(0, np.int64)
        self._pending: list[Codes] = []
        self._n_pending = 0
        self._most = sys.maxsize  # maximum number of collected occurrences, and of distinct n-grams

    def _combine(self, codes: Codes, counts: Codes) -> None:
        """Add counts of n-grams to those of this object; negative counts subtract.

        Args:
            codes: int64 (n,); codes of the n-grams.
            counts: int64 (n,); number to add for each n-gram.

        Raises:
            InputError: a total would be negative; the counts are unchanged.
        """
        self._consolidate()
        codes, counts = sum_by_key(
            np.concatenate([self._codes, codes]), np.concatenate([self._counts, counts])
        )
        if (counts < 0).any():
            raise never_counted()
        self._codes, self._counts = codes, counts

    def _pend(self, codes: Codes) -> None:
        self._pending.append(codes)
        self._n_pending += len(codes)
        if self._n_pending >= min(max(CONSOLIDATE, len(self._codes)), self._most):
            self._consolidate()

    def _consolidate(self) -> None:
        if not self._pending:
            return
        codes = np.concatenate([self._codes, *self._pending])
        counts = np.concatenate([self._counts, np.ones(self._n_pending, np.int64)])
        self._pending, self._n_pending = [], 0
        self._codes, self._counts = sum_by_key(codes, counts)


def never_counted() -> InputError:
    """Return the error for removing counts that were not added."""
    return InputError("cannot remove n-grams that were not counted", hint="remove only data that was added")


class NGramCounts(CodeCounts):
    """Counts of n-grams: every symbol with the ``order`` - 1 symbols before it.

    Sequences are padded with boundary symbols at the start. An n-gram is encoded as one integer in base
    V + 1, where V is the number of symbols: each digit is the id of a symbol, or V for the boundary. Within
    `spectralnlp.runtime.use_memory`, counts that exceed the memory limit are written to disk in sorted runs.

    Args:
        vocabulary: known symbols; all others are counted as one unknown symbol, the last of the V symbols.
        order: order n of the n-grams.
        first: number of symbols at the start of each sequence whose n-grams are counted; None for all.

    Raises:
        ConfigError: the codes of n-grams exceed 64 bits.
    """

    pass_name = "n-grams"

    def __init__(self, vocabulary: Sequence[str], order: int, first: int | None = None) -> None:
        super().__init__()
        self.vocabulary = tuple(vocabulary)
        self.order = order
        self.first = first
        self.base = len(self.vocabulary) + 2  # the symbols, the unknown one, the boundary
        if self.base**order >= 2**63:
            what = f"{order}-grams of {len(self.vocabulary):,} symbols do not fit in 64 bits"
            raise ConfigError(what, hint="lower max_symbols or history")
        self._index: dict[str, int] | None = None
        self._limit(current_memory())

    def _limit(self, memory: Memory | None) -> None:
        self.memory = memory
        self.runs: list[Run] = []
        self._most = sys.maxsize if memory is None else run_length(memory)

    def empty_like(self) -> Self:
        """Return empty counts with the same parameters and the same memory limit."""
        empty = super().empty_like()
        empty._limit(self.memory)
        return empty

    @property
    def is_spilled(self) -> bool:
        """Whether some of the counts are on disk."""
        return bool(self.runs)

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Count the n-grams of each sequence."""
        if self._index is None:
            self._index = {symbol: index for index, symbol in enumerate(self.vocabulary)}
        index, unknown, boundary = self._index, self.base - 2, self.base - 1
        padding = [boundary] * (self.order - 1)
        ids: list[int] = []
        for sequence in batch:
            ids += padding
            ids += [index.get(symbol, unknown) for symbol in sequence[: self.first]]
        padded = np.array(ids + [boundary] * self.order, np.int64)
        codes = np.zeros(len(ids), np.int64)
        for lag in range(self.order):
            codes = codes * self.base + padded[lag : lag + len(ids)]
        self._pend(codes[padded[self.order - 1 : self.order - 1 + len(ids)] != boundary])
        self._spill_if_full()

    def grams(self) -> NGrams:
        """Return the n-grams and their counts, in memory or on disk."""
        if self.memory is None or not self.is_spilled:
            return self.table()
        self._spill()
        return StoredNGrams(self.runs, order=self.order, boundary=self.base - 1, memory=self.memory)

    def table(self) -> NGramTable:
        """Return the n-grams and their counts as a table in memory.

        Raises:
            ConfigError: the table exceeds the memory limit.
        """
        n = len(self._codes) + sum(run.length for run in self.runs)
        if self.memory is not None and n > run_length(self.memory) * _TABLES:
            what = f"up to {n:,} different {self.order}-grams do not fit into memory"
            raise ConfigError(what, hint="raise `memory`, or lower max_symbols")
        codes, counts = self._whole()
        return NGramTable(decode(codes, self.base, self.order), counts.astype(np.float64), self.base - 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the counts as arrays for storage, including counts on disk.

        ``codes``: int64 (n,), ascending; the code of each n-gram. ``counts``: int64 (n,); its count.
        """
        codes, counts = self._whole()
        return {"codes": codes, "counts": counts}

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored counts: codes must be valid and ascending, and counts must be positive."""
        sized = stored.part(n_codes=self.base**self.order)
        sized.take("codes", int_array("n", dtype="int64", below="n_codes", ascending=True))
        sized.take("counts", int_array("n", dtype="int64", least=1, below=MAX_COUNT))

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._codes, self._counts = arrays["codes"].copy(), arrays["counts"].copy()
        self._spill_if_full()

    def _add(self, other: Self) -> None:
        other._consolidate()
        self._combine(other._codes, other._counts)
        self.runs += other.runs
        self._spill_if_full()

    def _remove(self, other: Self) -> None:
        (ours, our_counts), (theirs, their_counts) = self._whole(), other._whole()
        codes, counts = sum_by_key(
            np.concatenate([ours, theirs]), np.concatenate([our_counts, -their_counts])
        )
        if (counts < 0).any():
            raise never_counted()
        self._codes, self._counts, self.runs = codes, counts, []
        self._spill_if_full()

    def _whole(self) -> tuple[Codes, Codes]:
        self._consolidate()
        if not self.runs:
            return self._codes, self._counts
        parts = [(self._codes, self._counts), *(run.read() for run in self.runs)]
        return sum_by_key(*(np.concatenate(column) for column in zip(*parts, strict=True)))

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


def choose_symbols(counts: WordCounts, max_symbols: int, min_count: int) -> list[str]:
    """Choose the vocabulary, the most frequent symbol first.

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


class ExpectedTransitions(Moments[Sequence[str]]):
    """Expected counts of initial states, transitions and emissions under a model: the E-step of EM.

    Args:
        vocabulary: names of the symbols; the last one stands for all unknown symbols.
        initial: float64 (k,); initial probabilities, see :class:`~spectralnlp.parameters.HiddenMarkov`.
        transition: float64 (k, k); transition probabilities.
        emission: float64 (V, k); emission probabilities.
    """

    def __init__(
        self, vocabulary: Sequence[str], *, initial: Floats, transition: Floats, emission: Floats
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

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Add the expected counts and the log likelihood of sequences."""
        index, unknown = self.model.symbol_index, len(self.model.symbols) - 1
        symbols = [index.get(symbol, unknown) for sequence in batch for symbol in sequence]
        offsets = offsets_of([len(sequence) for sequence in batch if len(sequence)])
        sums = self.sums
        self.log_likelihood += expected_counts(
            self.model, np.array(symbols, np.int32), offsets, sums.start, sums.moves, sums.emitted
        )
