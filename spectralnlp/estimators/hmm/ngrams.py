"""Tables of weighted n-grams, in memory or on disk, and streams of their marginals."""

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

# Memory per n-gram in a sorted run, in bytes; sorting and merging hold several copies.
_BYTES_FOR_A_GRAM = 512


class NGrams(ABC):
    """Base class of tables of distinct n-grams of V symbols with weights, which are counts or probabilities.

    Attributes:
        boundary: id of the boundary symbol, which stands before the start of a sequence; it equals V.
    """

    boundary: int

    @abstractmethod
    def sums(self, *lags: int) -> Iterator[Piece]:
        """Yield the total weight of each distinct combination of symbols at some positions of the n-grams.

        Args:
            lags: positions: 0 for the last symbol of an n-gram, 1 for the symbol before it, and so on.

        Yields:
            Pieces of a table sorted by symbols, each a pair: symbols, int32 (n, n_positions), columns in the
            order of ``lags``; and weights, float64 (n,). N-grams in memory give a single piece.
        """

    @cached_property
    def frequencies(self) -> Floats:
        """Total weight of each symbol, float64 (V,)."""
        frequencies = np.zeros(self.boundary)
        for columns, weights in self.sums(1, 0):
            frequencies += np.bincount(columns[:, 1], weights, minlength=self.boundary)
        return frequencies

    def n_sequences(self) -> int:
        """Return the number of sequences; the n-grams must have an order n of at least 2."""
        begun = sum(
            float(weights[columns[:, 0] == self.boundary].sum()) for columns, weights in self.sums(1, 0)
        )
        return round(begun)


@dataclass(frozen=True)
class NGramTable(NGrams):
    """A table of weighted n-grams in memory.

    Attributes:
        grams: int32 (n, order); symbols of each n-gram, the oldest first; the id ``boundary`` stands before
            the start of a sequence.
        weights: float64 (n,), positive; weight of each n-gram.
        boundary: number V of symbols.
    """

    grams: Columns
    weights: Floats
    boundary: int
    _sums: dict[tuple[int, ...], Piece] = field(default_factory=dict, repr=False, compare=False)

    def sums(self, *lags: int) -> Iterator[Piece]:
        """Yield the marginal weights of symbols at given positions, in one piece; see `NGrams.sums`."""
        if lags not in self._sums:
            columns = self.grams[:, [-1 - lag for lag in lags]]
            codes = encode(columns, self.boundary + 1)
            order = np.argsort(codes, kind="stable")
            starts = group_starts(codes[order, None])
            summed = np.add.reduceat(self.weights[order], starts) if len(order) else self.weights
            self._sums[lags] = columns[order[starts]], summed
        yield self._sums[lags]


class StoredNGrams(NGrams):
    """A table of n-grams and their counts on disk.

    Args:
        runs: sorted runs of n-gram codes with their counts; a code has ``order`` digits in base V + 1.
        order: order n of the n-grams.
        boundary: id of the boundary symbol; it equals the number V of symbols.
        memory: the memory limit and the folder of temporary files.
    """

    def __init__(self, runs: Sequence[Run], order: int, boundary: int, memory: Memory) -> None:
        self.runs = runs
        self.order = order
        self.boundary = boundary
        self.memory = memory
        self._sums: dict[tuple[int, ...], list[Run]] = {}

    def sums(self, *lags: int) -> Iterator[Piece]:
        """Yield the marginal weights of symbols at given positions, cached on disk; see `NGrams.sums`."""
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
    """Return the number of n-grams to sort at a time, which takes up to a quarter of the memory limit."""
    return memory.size // _BYTES_FOR_A_GRAM


def encode(columns: NDArray[np.integer[Any]], base: int) -> Longs:
    """Encode each row of digits as one integer, int64 (n,).

    Args:
        columns: int (n, n_digits); the digits, the most significant first.
        base: base of the encoding; larger than any digit.
    """
    codes = np.zeros(len(columns), np.int64)
    for column in columns.T:
        codes *= base
        codes += column
    return codes


def decode(codes: Longs, base: int, n_digits: int) -> Columns:
    """Return the rows of digits that integers from `encode` stand for, int32 (n, n_digits)."""
    columns = np.empty((len(codes), n_digits), np.int32)
    for place in range(n_digits - 1, 0, -1):
        codes, columns[:, place] = np.divmod(codes, base)
    columns[:, 0] = codes
    return columns


# ---------------------------------------------------------------------------------------------------------
# Streams of rows


def group_starts(columns: NDArray[np.integer[Any]]) -> Longs:
    """Return the index of the first row of each group of equal adjacent rows, int64 (n_groups,)."""
    if not len(columns):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.append(True, (columns[1:] != columns[:-1]).any(axis=1)))


def in_chunks(pieces: Iterable[Piece], size: int, n_key: int) -> Iterator[Piece]:
    """Split a stream of sorted rows into chunks; adjacent rows with the same key stay in one chunk.

    The chunks do not depend on how the stream was split before.

    Args:
        pieces: the rows, with their weights, in pieces of any size.
        size: minimum number of rows in a chunk; the last chunk may be smaller.
        n_key: number of leading columns of a row that form its key.
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
    """Return the index of the next row whose key differs from that of the row before; None if there is none.

    Args:
        columns: int32 (n, n_columns); sorted rows.
        at_least: index of the row to start from.
        n_key: number of leading columns of a row that form its key.
    """
    while at_least < len(columns):
        window = columns[at_least - 1 : at_least + 4096, :n_key]
        begins = np.flatnonzero((window[1:] != window[:-1]).any(axis=1))
        if len(begins):
            return at_least + int(begins[0])
        at_least += len(window) - 1
    return None


@dataclass(frozen=True)
class Histories:
    """Histories (sequences of symbols of one length), and the weights of the symbols that follow them.

    Attributes:
        symbols: int32 (n, length); symbols of each history, in the order of the argument ``lags`` of the
            function `histories`.
        futures: csr (n, V); weight of each following symbol.
        weights: float64 (n,); total weight of each history, the row sums of ``futures``.
    """

    symbols: Columns
    futures: sp.csr_matrix
    weights: Floats


def histories(grams: NGrams, *lags: int, size: int) -> Iterator[Histories]:
    """Yield the histories of n-grams, with the weights of the symbols that follow them, sorted by history.

    Args:
        grams: table of n-grams.
        lags: positions of the symbols of a history, as distances from the symbol that follows; 1 for the
            symbol directly before it.
        size: approximate number of non-zero entries of ``futures`` in each piece.
    """
    for columns, weights in in_chunks(grams.sums(*lags, 0), size, len(lags)):
        starts = group_starts(columns[:, :-1])
        parts = (weights, columns[:, -1].copy(), np.append(starts, len(weights)))
        futures = sp.csr_matrix(parts, shape=(len(starts), grams.boundary))
        yield Histories(columns[starts, :-1], futures, np.add.reduceat(weights, starts))
