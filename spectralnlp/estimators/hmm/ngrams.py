"""Tables of n-grams in memory or on disk, read as streams of sums over some of their symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.parameters import Floats
from spectralnlp.runtime import Longs, Memory, Run, merge_runs, sum_by_key

Columns = NDArray[np.int32]
# Rows of symbols, int32 (n, n_lags), and their weights, float64 (n,).
Piece: TypeAlias = tuple[Columns, Floats]

# Bytes to sort an n-gram beside as many more; and sums of several parts are held.
_BYTES_FOR_A_GRAM = 512


class NGrams(ABC):
    """Distinct n-grams of V symbols with their weights: counts, or true probabilities.

    Attributes:
        boundary: V, one more than the last symbol; it stands where the sequence had not begun.
    """

    boundary: int

    @abstractmethod
    def sums(self, *lags: int) -> Iterator[Piece]:
        """Yield weights of the symbols that stand at some places, summed over those at all others.

        Args:
            lags: the places: 0 of the symbol itself, 1 of the one before it …

        Yields:
            Rows of symbols, a column for each place in this order, and sorted by them; each row once.
        """

    @cached_property
    def frequencies(self) -> Floats:
        """float64 (V,): the weight of each symbol."""
        frequencies = np.zeros(self.boundary)
        for columns, weights in self.sums(1, 0):
            frequencies += np.bincount(columns[:, 1], weights, minlength=self.boundary)
        return frequencies

    def n_sequences(self) -> int:
        """Return how many sequences begin; at least bigrams are needed to know."""
        begun = sum(
            float(weights[columns[:, 0] == self.boundary].sum()) for columns, weights in self.sums(1, 0)
        )
        return round(begun)


@dataclass(frozen=True)
class NGramTable(NGrams):
    """N-grams in memory.

    Attributes:
        grams: int32 (n, order); the last column is the symbol, those before it its history, oldest first;
            ``boundary`` where the sequence had not begun.
        weights: float64 (n,), positive.
        boundary: V; there are V symbols.
    """

    grams: Columns
    weights: Floats
    boundary: int
    _sums: dict[tuple[int, ...], Piece] = field(default_factory=dict, repr=False, compare=False)

    def sums(self, *lags: int) -> Iterator[Piece]:
        """Yield the sums in one piece; see `NGrams.sums`."""
        if lags not in self._sums:
            columns = self.grams[:, [-1 - lag for lag in lags]]
            codes = encode(columns, self.boundary + 1)
            order = np.argsort(codes, kind="stable")
            starts = group_starts(codes[order, None])
            summed = np.add.reduceat(self.weights[order], starts) if len(order) else self.weights
            self._sums[lags] = columns[order[starts]], summed
        yield self._sums[lags]


class StoredNGrams(NGrams):
    """N-grams on disk.

    Args:
        runs: codes of n-grams, numbers of ``order`` digits in base V + 1, and their counts.
        order: n.
        boundary: V.
        memory: where sums go.
    """

    def __init__(self, runs: Sequence[Run], order: int, boundary: int, memory: Memory) -> None:
        self.runs = runs
        self.order = order
        self.boundary = boundary
        self.memory = memory
        self._sums: dict[tuple[int, ...], list[Run]] = {}

    def sums(self, *lags: int) -> Iterator[Piece]:
        """Yield the sums, which stay on disk for the next time; see `NGrams.sums`."""
        if lags not in self._sums:
            self._sums[lags] = self._sorted(lags)
        for run in self._sums[lags]:
            codes, counts = run.read()
            yield decode(codes, self.boundary + 1, len(lags)), counts.astype(np.float64)

    def _sorted(self, lags: tuple[int, ...]) -> list[Run]:
        base, parts = self.boundary + 1, []
        for run in self.runs:
            codes, counts = run.read()
            columns = decode(codes, base, self.order)[:, [-1 - lag for lag in lags]]
            parts.append(Run.write(self.memory.new_file("part"), *sum_by_key(encode(columns, base), counts)))
        merged = merge_runs(parts, run_length(self.memory))
        pieces = [Run.write(self.memory.new_file("sums"), codes, counts) for codes, counts in merged]
        for part in parts:
            part.path.unlink()
        return pieces


def run_length(memory: Memory) -> int:
    """Return how many n-grams are sorted at a time; that takes up to a quarter of the memory."""
    return memory.size // _BYTES_FOR_A_GRAM


def encode(columns: NDArray[np.integer[Any]], base: int) -> Longs:
    """Return rows of digits as numbers, int64 (n,)."""
    codes = np.zeros(len(columns), np.int64)
    for column in columns.T:
        codes *= base
        codes += column
    return codes


def decode(codes: Longs, base: int, n_digits: int) -> Columns:
    """Return the digits of numbers, int32 (n, n_digits)."""
    columns = np.empty((len(codes), n_digits), np.int32)
    for place in range(n_digits - 1, 0, -1):
        codes, columns[:, place] = np.divmod(codes, base)
    columns[:, 0] = codes
    return columns


# ---------------------------------------------------------------------------------------------------------
# Streams of rows


def group_starts(columns: NDArray[np.integer[Any]]) -> Longs:
    """Return where rows differ from those before them, the first row too."""
    if not len(columns):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.append(True, (columns[1:] != columns[:-1]).any(axis=1)))


def in_chunks(pieces: Iterable[Piece], size: int, n_key: int) -> Iterator[Piece]:
    """Yield the rows in chunks that do not tear groups apart, and depend on nothing but the rows.

    Args:
        pieces: rows in order, cut anyhow.
        size: a chunk has as many rows, and goes on to the end of the group; the last has the rest.
        n_key: rows with so many equal first columns are a group.
    """
    columns: Columns | None = None
    weights = np.empty(0)
    for more_columns, more_weights in pieces:
        if columns is None or not len(columns):
            columns, weights = more_columns, more_weights
        else:
            columns, weights = np.concatenate([columns, more_columns]), np.append(weights, more_weights)
        start = 0
        while (end := _end_of_group(columns, start + size, n_key)) is not None:
            yield columns[start:end], weights[start:end]
            start = end
        columns, weights = columns[start:], weights[start:]
    if columns is not None and len(columns):
        yield columns, weights


def _end_of_group(columns: Columns, at_least: int, n_key: int) -> int | None:
    """Return the first row from ``at_least`` on that begins a group; None if there is none."""
    while at_least < len(columns):
        window = columns[at_least - 1 : at_least + 4096, :n_key]
        begins = np.flatnonzero((window[1:] != window[:-1]).any(axis=1))
        if len(begins):
            return at_least + int(begins[0])
        at_least += len(window) - 1
    return None


@dataclass(frozen=True)
class Histories:
    """Histories of one length, and the symbols that follow them.

    Attributes:
        symbols: int32 (n, length); of each, in the order of the sums.
        futures: csr (n, V); weights of the symbols that follow.
        weights: float64 (n,); their sums.
    """

    symbols: Columns
    futures: sp.csr_matrix
    weights: Floats


def histories(grams: NGrams, *lags: int, size: int) -> Iterator[Histories]:
    """Yield all histories in the order of their symbols at some places.

    Args:
        grams: the table.
        lags: the places, 1 for the symbol before.
        size: futures in a piece, about.
    """
    for columns, weights in in_chunks(grams.sums(*lags, 0), size, len(lags)):
        starts = group_starts(columns[:, :-1])
        parts = (weights, columns[:, -1].copy(), np.append(starts, len(weights)))
        futures = sp.csr_matrix(parts, shape=(len(starts), grams.boundary))
        yield Histories(columns[starts, :-1], futures, np.add.reduceat(weights, starts))
