"""Estimate the hidden state after each history of symbols, the first stage of the ``hmm`` estimator.

The state is the expected future of the history, smoothed with that of shorter histories.

Histories and n-grams are read as sorted streams (:mod:`spectralnlp.estimators.hmm.ngrams`), so that only
arrays with one row per symbol must be in memory. N-grams are sorted by their last symbol but one, then by the
symbols before that, from the newest to the oldest, so that n-grams with the same history are adjacent. The
state after an n-gram is that of a history which ends with the n-gram's last symbol; these histories are read
from a second stream with the same order.
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
from spectralnlp.linalg.rank import Spectrum, sampling_noise, usable_rank
from spectralnlp.parameters import Floats

# Largest number of symbols for which the SVD is exact rather than randomised.
DENSE = 512

# Number of n-grams whose states are held in memory at a time.
BLOCK = 1 << 13

# Number of non-zero entries of the history × symbol matrix that are multiplied at a time in the SVD.
FUTURES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class RegressionOptions(Options):
    """Settings of the regression that learns observable operators (`solve_regression`).

    The settings ``n_states``, ``history``, ``target``, ``operator_count``, ``leave_one_out`` and
    ``random_state`` are those of :class:`~spectralnlp.estimators.hmm.HMM`. The default values of the other
    settings were chosen on tags and words of the Brown corpus.

    Args:
        backoff: weight κ of the state of the shorter history, as a number of occurrences.
        ridge: ridge penalty, as a multiple of the square root of the number of tokens.
        damping: number added to all counts before the CCA divides by their square roots.
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
        """Order n of the n-grams that the regression needs."""
        return max(self.history, self.target) + 1


# ---------------------------------------------------------------------------------------------------------
# Coordinates of futures


def future_coordinates(grams: NGrams, options: RegressionOptions) -> tuple[Floats, Spectrum]:
    """Compute coordinates of symbols, by a CCA between histories and the symbols that follow them.

    The expected future of a history is the mean of the coordinates of the symbols that may follow it.

    Returns:
        The coordinates, float64 (V, k), with mean 0 over tokens; and the k canonical correlations.
    """
    counts = grams.frequencies
    total = counts.sum()
    # Rare histories and rare symbols are nearly perfectly correlated by chance, so damping lowers their
    # weight.
    columns = 1 / np.sqrt(counts + options.damping)
    right = counts * columns
    lags = (2, 1) if options.history >= 2 else (1,)

    def whitened() -> Iterator[tuple[sp.csr_matrix, Floats]]:
        """Yield blocks of rows of the whitened history × symbol matrix, before centring.

        Yields:
            A block B, csr (n, V), and the weights of its histories, float64 (n,). The centred block is
            B - left right⊤, where the vectors ``left`` and ``right`` are computed in the enclosing function.
        """
        for each in histories(grams, *lags, size=FUTURES):
            rows = 1 / np.sqrt(each.weights + options.damping)
            data = each.futures.data * np.repeat(rows, np.diff(each.futures.indptr))
            data *= columns[each.futures.indices]
            scaled = sp.csr_matrix(
                (data, each.futures.indices, each.futures.indptr), shape=each.futures.shape
            )
            yield scaled, each.weights

    cross, square = np.zeros(len(counts)), 0.0
    shares = [np.zeros(0)]
    gram = np.zeros((len(counts),) * 2) if len(counts) <= DENSE else None
    for block, weights in whitened():
        shares.append(weights / (weights + options.damping))
        left = np.sqrt(weights * shares[-1]) / total
        cross += block.T @ left
        square += float(left @ left)
        if gram is not None:
            gram += (block.T @ block).toarray()
    wanted = options.n_states - 1  # the constant is the remaining dimension
    if gram is not None:
        gram += square * np.outer(right, right) - np.outer(cross, right) - np.outer(right, cross)
        squares, vectors = np.linalg.eigh(gram)
        vectors = vectors[:, ::-1] * _signs(vectors[:, ::-1])
        # Rounding errors of about 1e-16 in the squares become 1e-8 in the correlations: cut them off.
        correlations = np.sqrt(np.where(squares > 1e-14, squares, 0.0)[::-1])
    else:
        # Decompose the V × V Gram matrix by its products: there are many more histories than symbols.
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
    noise = sampling_noise(np.concatenate(shares), right * columns, total)
    future = vectors[:, :rank] * (np.sqrt(total) * columns)[:, None]
    return future - counts @ future / total, Spectrum(correlations[:rank], noise)


def _signs(vectors: Floats) -> Floats:
    """Return for each column the sign, 1 or -1, that makes its entry of largest magnitude positive."""
    return np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


# ---------------------------------------------------------------------------------------------------------
# States


@dataclass(frozen=True)
class _Level:
    """Smoothed states of all histories of one length; the state of a history is its expected future.

    Attributes:
        number: int (n_rows,); index of the history of each n-gram.
        weights: float64 (n_histories,); number of occurrences of each history.
        states: float64 (n_histories, k); expected future after each history.
    """

    number: NDArray[np.integer]
    weights: Floats
    states: Floats


def _after_one_symbol(grams: NGrams, future: Floats, backoff: float) -> tuple[Floats, Floats]:
    """Compute the weight and the state of each history that consists of one symbol.

    The last history is the start of a sequence (the boundary).

    Args:
        grams: table of n-grams.
        future: float64 (V, k); coordinates of symbols.
        backoff: weight κ of the mean state (zero), with which the states are smoothed.

    Returns:
        Weights, float64 (V + 1,), and states, float64 (V + 1, k).
    """
    weights, states = np.zeros(grams.boundary + 1), np.zeros((grams.boundary + 1, future.shape[1]))
    for each in histories(grams, 1, size=BLOCK):
        symbol = each.symbols[:, 0]
        weights[symbol] = each.weights
        states[symbol] = _smoothed(each.futures, each.weights, states[symbol], future, backoff)
    return weights, states


def _smoothed(
    futures: sp.csr_matrix, weights: Floats, shorter: Floats, future: Floats, backoff: float
) -> Floats:
    """Return the states of histories, smoothed with the states of shorter histories.

    Args:
        futures: csr (n, V); weight of each symbol after each history.
        weights: float64 (n,); total weight of each history.
        shorter: float64 (n, k); state of the next shorter history; overwritten with the result.
        future: float64 (V, k); coordinates of symbols.
        backoff: weight κ of the state of the shorter history.
    """
    total = (weights + backoff)[:, None]
    return np.divide(futures @ future + backoff * shorter, total, out=shorter, where=total > 0)


def _levels(
    columns: Columns, weights: Floats, one: tuple[Floats, Floats], future: Floats, options: RegressionOptions
) -> list[_Level]:
    """Compute the smoothed states of the histories of n-grams, for each length up to ``options.history``.

    Args:
        columns: int32 (n, length + 1); the symbols of each n-gram: its history from the most recent symbol to
            the oldest one, then its last symbol. N-grams with the same two symbols before the last one must
            all be in the same call, because states are sums over them.
        weights: float64 (n,); weight of each n-gram.
        one: weights and states of all histories of one symbol; see `_after_one_symbol`.
        future: float64 (V, k); coordinates of symbols.
        options: settings of the regression.
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


def _before(levels: Sequence[_Level], rows: slice, coordinates: Floats, options: RegressionOptions) -> Floats:
    """Return the states before the last symbols of n-grams, float64 (n_rows, k).

    With ``leave_one_out``, each is estimated from all other occurrences of the n-gram's history.

    Args:
        levels: states of the histories by length; see `_levels`.
        rows: range of the n-grams whose states to return.
        coordinates: float64 (n_rows, k); coordinates of the last symbols of these n-grams.
        options: settings of the regression that estimates states.
    """
    if not options.leave_one_out:
        return levels[-1].states[levels[-1].number[rows]]
    backoff = options.backoff
    shorter, state = np.zeros_like(coordinates), np.zeros_like(coordinates)
    for level in levels:
        history = level.number[rows]
        weight, full = level.weights[history][:, None], level.states[history]
        summed = (weight + backoff) * full - backoff * shorter  # sum of the futures after the history
        others = weight - 1 + backoff
        state = np.divide(summed - coordinates + backoff * state, others, out=state, where=others > 1e-9)
        shorter = full
    return state


class _StatesAfter:
    """Reader of the states after n-grams, which holds only some of the states in memory at a time.

    The state after an n-gram is that of the history which ends with the n-gram's last symbol. Histories are
    read as a sorted stream, so n-grams must be looked up in the same order: sorted by the second-to-last
    symbol, then by the symbols before it, from the newest to the oldest, and finally by the last symbol.

    Args:
        grams: table of n-grams.
        length: length of the histories.
        one: float64 (V + 1, k); states of histories of one symbol.
        future: float64 (V, k); coordinates of symbols.
        backoff: weight κ of the state of the shorter history.
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
        """Return the states of the histories ``symbols``, float64 (n, k).

        Args:
            symbols: int32 (n, length); symbols of each history. The last column has the last symbol; the
                other columns have the symbols before it, from the newest to the oldest. Rows may have any
                order, but histories that were discarded by `forget_before` are not allowed.
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
        if not known.all():  # no symbol ever followed: use the state of the shorter history
            states[~known] = self.shorter.of(self._without_oldest(symbols[~known]))
        return states

    def forget_before(self, symbols: Columns) -> None:
        """Discard the states of all histories that precede a position in the sorted stream, to save memory.

        Args:
            symbols: int32 (1 or 2,); the position: the second-to-last symbol of a history and, if there are
                two values, the symbol before it.
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
    """Smoothed states (expected futures) before and after the symbols of n-grams.

    Attributes:
        columns: int32 (n, length + 1); the symbols of each n-gram: its history from the most recent symbol to
            the oldest one, then its last symbol.
        weights: float64 (n,); weight of each n-gram.
        before: float64 (n, k); state before the last symbol of each n-gram; with ``leave_one_out``, estimated
            without this n-gram.
        after: float64 (n, k); state after each n-gram.
        history: float64 (k,); state of the last n-gram's history, estimated from all its occurrences. In the
            last object of the stream this is the initial state, because n-grams at the start of a sequence
            come last.
    """

    columns: Columns
    weights: Floats
    before: Floats
    after: Floats
    history: Floats


def smoothed_states(grams: NGrams, future: Floats, options: RegressionOptions) -> Iterator[SmoothedStates]:
    """Yield the states before and after the symbols of n-grams, sorted by their histories.

    Args:
        grams: n-grams of order ``options.order``.
        future: float64 (V, k); coordinates of symbols, see `future_coordinates`.
        options: settings of the regression.
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
