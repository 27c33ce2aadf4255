"""Stage one of :mod:`spectralnlp.estimators.hmm.solve`: what is expected after histories.

Histories and n-grams are read as sorted streams (:mod:`spectralnlp.estimators.hmm.ngrams`), so only what has
no more rows than there are symbols need be in memory. N-grams come sorted by the symbols before theirs, the
nearest first: the states before are then those of histories that lie together, and those after are found in
streams of histories that are sorted by all but their last symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.estimators.hmm.ngrams import Columns, NGrams, encode, group_starts, histories, in_chunks
from spectralnlp.estimators.shared.settings import Options
from spectralnlp.linalg import randomized_svd
from spectralnlp.linalg.rank import usable_rank
from spectralnlp.parameters import Floats

# Symbols up to which the SVD is exact.
DENSE = 512

# N-grams whose states are held at a time.
BLOCK = 1 << 13

# Futures of histories that are multiplied at a time, while the SVD is made.
FUTURES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class RegressionOptions(Options):
    """Settings of `solve_regression`; :class:`~spectralnlp.estimators.hmm.HMM` describes those that it has.

    The defaults of the others were best of a few for tags and words of the Brown corpus.

    Args:
        backoff: κ, occurrences that the shorter history counts for.
        ridge: penalty, in square roots of the number of symbols; a coordinate weighs that number times its
            squared correlation.
        damping: occurrences added to all counts before the CCA divides by their roots.
    """

    n_states: int
    history: int
    target: int
    backoff: float = 10.0
    ridge: float = 4.0
    damping: float = 60.0
    operator_count: int
    leave_one_out: bool
    random_state: int

    @property
    def order(self) -> int:
        """The n of the n-grams that are needed."""
        return max(self.history, self.target) + 1


# ---------------------------------------------------------------------------------------------------------
# Coordinates of futures


def future_coordinates(grams: NGrams, options: RegressionOptions) -> tuple[Floats, Floats]:
    """Return float64 (V, k), coordinates of symbols as futures, of mean 0, and canonical correlations."""
    counts = grams.frequencies
    total = counts.sum()
    # Chance makes pairs of rare histories and rare symbols nearly perfectly correlated: rare ones weigh less.
    columns = 1 / np.sqrt(counts + options.damping)
    right = counts * columns
    lags = (2, 1) if options.history >= 2 else (1,)

    def whitened() -> Iterator[tuple[sp.csr_matrix, Floats]]:
        """Rows of the matrix of histories and symbols; it less (left right⊤) is centred."""
        for each in histories(grams, *lags, size=FUTURES):
            rows = 1 / np.sqrt(each.weights + options.damping)
            data = each.futures.data * np.repeat(rows, np.diff(each.futures.indptr))
            data *= columns[each.futures.indices]
            scaled = sp.csr_matrix(
                (data, each.futures.indices, each.futures.indptr), shape=each.futures.shape
            )
            yield scaled, each.weights * rows / total

    cross, square = np.zeros(len(counts)), 0.0
    gram = np.zeros((len(counts),) * 2) if len(counts) <= DENSE else None
    for block, left in whitened():
        cross += block.T @ left
        square += float(left @ left)
        if gram is not None:
            gram += (block.T @ block).toarray()
    wanted = options.n_states - 1  # and the constant
    if gram is not None:
        gram += square * np.outer(right, right) - np.outer(cross, right) - np.outer(right, cross)
        squares, vectors = np.linalg.eigh(gram)
        vectors = vectors[:, ::-1] * _signs(vectors[:, ::-1])
        # Squares of correlations are exact to rounding, their roots only to its root.
        correlations = np.sqrt(np.where(squares > 1e-14, squares, 0.0)[::-1])
    else:
        # Of the V × V matrix that is only ever multiplied: there are many more histories than symbols.
        def multiply(x: Floats) -> Floats:
            along = right @ x
            product = np.outer(right, square * along - cross @ x) - np.outer(cross, along)
            for block, _ in whitened():
                product += block.T @ (block @ x)
            return product

        shape = (len(counts), len(counts))
        vectors, squares, _ = randomized_svd(
            multiply, multiply, shape, wanted, iterations=3, random_state=options.random_state
        )
        correlations = np.sqrt(squares)
    rank = usable_rank(correlations, wanted, "n_states", constant=1)
    future = vectors[:, :rank] * (np.sqrt(total) * columns)[:, None]
    return future - counts @ future / total, correlations[:rank]


def _signs(vectors: Floats) -> Floats:
    """Return the signs that make the largest entry of each column positive."""
    return np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


# ---------------------------------------------------------------------------------------------------------
# States


@dataclass(frozen=True)
class _Level:
    """The smoothed states of histories of one length.

    Attributes:
        number: int64 (n_rows,); which of them is the history of each row.
        weights: float64 (n_histories,); occurrences.
        states: float64 (n_histories, k); the expected future.
    """

    number: NDArray[np.integer]
    weights: Floats
    states: Floats


def _after_one_symbol(grams: NGrams, future: Floats, backoff: float) -> tuple[Floats, Floats]:
    """Return weights (V + 1,) and states (V + 1, k) of histories of one symbol, the boundary last."""
    weights, states = np.zeros(grams.boundary + 1), np.zeros((grams.boundary + 1, future.shape[1]))
    for each in histories(grams, 1, size=BLOCK):
        symbol = each.symbols[:, 0]
        weights[symbol] = each.weights
        states[symbol] = _smoothed(each.futures, each.weights, states[symbol], future, backoff)
    return weights, states


def _smoothed(
    futures: sp.csr_matrix, weights: Floats, shorter: Floats, future: Floats, backoff: float
) -> Floats:
    """Return the states of histories, backed off to those of shorter ones."""
    total = (weights + backoff)[:, None]
    return np.divide(futures @ future + backoff * shorter, total, out=shorter, where=total > 0)


def _levels(
    columns: Columns, weights: Floats, one: tuple[Floats, Floats], future: Floats, options: RegressionOptions
) -> list[_Level]:
    """Return the histories before the symbols of n-grams, by length.

    Args:
        columns: the symbols before, the nearest first, then the symbol itself; with all the n-grams of each
            history of two symbols or more.
        weights: of the n-grams.
        one: see `_after_one_symbol`.
        future: coordinates of symbols.
        options: settings.
    """
    levels = [_Level(columns[:, 0], *one)]
    for length in range(2, options.history + 1):
        starts = group_starts(columns[:, :length])
        number = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(columns))))
        futures = sp.csr_matrix((weights, (number, columns[:, -1])), shape=(len(starts), len(future)))
        totals = np.add.reduceat(weights, starts)
        shorter = levels[-1].states[levels[-1].number[starts]]
        levels.append(_Level(number, totals, _smoothed(futures, totals, shorter, future, options.backoff)))
    return levels


def _before(levels: Sequence[_Level], rows: slice, own: Floats, options: RegressionOptions) -> Floats:
    """Return float64 (n_rows, k), states before symbols; with ``leave_one_out`` from all other occurrences.

    Args:
        levels: of the histories.
        rows: which n-grams.
        own: the coordinates of their symbols.
        options: settings.
    """
    if not options.leave_one_out:
        return levels[-1].states[levels[-1].number[rows]]
    backoff = options.backoff
    shorter, state = np.zeros_like(own), np.zeros_like(own)
    for level in levels:
        history = level.number[rows]
        weight, full = level.weights[history][:, None], level.states[history]
        summed = (weight + backoff) * full - backoff * shorter  # of the futures after the history
        others = weight - 1 + backoff
        state = np.divide(summed - own + backoff * state, others, out=state, where=others > 1e-9)
        shorter = full
    return state


class _StatesAfter:
    """The states of histories that end in the symbol of an n-gram, looked up while n-grams are read.

    Histories are sorted by all their symbols but the last, the nearest first, and then by the last: as the
    n-grams that they end in are.

    Args:
        grams: n-grams.
        length: of the histories.
        one: states of histories of one symbol.
        future: coordinates of symbols.
        backoff: weight of the shorter history.
    """

    def __init__(self, grams: NGrams, length: int, one: Floats, future: Floats, backoff: float) -> None:
        self.length = length
        self.one = one
        self.future = future
        self.backoff = backoff
        self.base = grams.boundary + 1
        if length > 1:
            self.shorter = _StatesAfter(grams, length - 1, one, future, backoff)
            self._coming = histories(grams, *range(2, length + 1), 1, size=BLOCK)
            self._codes = np.empty(0, np.int64)
            self._states = np.empty((0, future.shape[1]))

    def of(self, symbols: Columns) -> Floats:
        """Return float64 (n, k), states of histories in any order, none before the bound of `forget_before`.

        Args:
            symbols: int32 (n, length); of each the last but one, the one before it …, then the last.
        """
        if self.length == 1:
            return self.one[symbols[:, 0]]
        codes = encode(symbols, self.base)
        self._read_to(int(codes.max()))
        if not len(self._codes):
            return self.shorter.of(self._without_oldest(symbols))
        at = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        known = self._codes[at] == codes
        states = self._states[at]
        if not known.all():  # nothing ever followed: there is no more to say than of the shorter one
            states[~known] = self.shorter.of(self._without_oldest(symbols[~known]))
        return states

    def forget_before(self, symbols: Columns) -> None:
        """Drop the states of histories that stand after smaller symbols; they are not looked up again.

        Args:
            symbols: one or two; the last but one of a history, and the one before it.
        """
        if self.length > 1:
            self.shorter.forget_before(symbols)
            prefix = symbols[: self.length - 1].astype(np.int64)
            bound = int(encode(prefix[None], self.base)[0]) * self.base ** (self.length - len(prefix))
            first = int(np.searchsorted(self._codes, bound))
            self._codes, self._states = self._codes[first:], self._states[first:]

    def _read_to(self, code: int) -> None:
        read_codes, read_states = [self._codes], [self._states]
        last = int(self._codes[-1]) if len(self._codes) else -1
        while last < code and (each := next(self._coming, None)) is not None:
            shorter = self.shorter.of(self._without_oldest(each.symbols))
            read_codes.append(encode(each.symbols, self.base))
            read_states.append(_smoothed(each.futures, each.weights, shorter, self.future, self.backoff))
            last = int(read_codes[-1][-1])
        if len(read_codes) > 1:
            self._codes, self._states = np.concatenate(read_codes), np.concatenate(read_states)

    def _without_oldest(self, symbols: Columns) -> Columns:
        return np.delete(symbols, self.length - 2, axis=1)


@dataclass(frozen=True, kw_only=True)
class SmoothedStates:
    """The expected futures around the symbols of some n-grams, in coordinates of mean 0.

    Attributes:
        columns: int32 (n, length + 1); the symbols before, the nearest first, then the symbol.
        weights: float64 (n,); of the n-grams.
        before: float64 (n, k); with ``leave_one_out`` without the symbol itself.
        after: float64 (n, k).
        history: float64 (k,); before the last of them, with the symbol itself.
    """

    columns: Columns
    weights: Floats
    before: Floats
    after: Floats
    history: Floats


def smoothed_states(grams: NGrams, future: Floats, options: RegressionOptions) -> Iterator[SmoothedStates]:
    """Yield the states before and after the symbols of n-grams, sorted by the symbols before.

    Args:
        grams: n-grams of ``options.order`` symbols.
        future: see `future_coordinates`.
        options: settings.
    """
    one = _after_one_symbol(grams, future, options.backoff)
    after = _StatesAfter(grams, options.target, one[1], future, options.backoff)
    longest = max(options.history, options.target - 1)
    n_key = min(2, longest)
    for columns, weights in in_chunks(grams.sums(*range(1, longest + 1), 0), BLOCK, n_key):
        after.forget_before(columns[0, :n_key])
        levels = _levels(columns, weights, one, future, options)
        for low in range(0, len(columns), BLOCK):
            rows = slice(low, min(low + BLOCK, len(columns)))
            symbol = columns[rows, -1]
            ending = np.column_stack([columns[rows, : options.target - 1], symbol])
            before = _before(levels, rows, future[symbol], options)
            history = levels[-1].states[levels[-1].number[rows.stop - 1]]
            yield SmoothedStates(
                columns=columns[rows],
                weights=weights[rows],
                before=before,
                after=after.of(ending),
                history=history,
            )
