"""Observable operators by regression of smoothed states on smoothed states.

Hsu, Kakade and Zhang learn B_x from P3x1 and P21. In the words of instrumental regression (Hefny, Downey and
Gordon 2015), stage one predicts the future from the previous symbol, U⊤P21 diag(P1)⁻¹, and stage two
regresses what follows x on that prediction. Both stages can do better, and here they do:

- *Future.* Symbols are whitened before the SVD, so that it is a CCA of histories and symbols.
- *History.* The prediction is made from the last ``history`` symbols, backed off to fewer: the state of a
  history that was seen n times is (n · mean future after it + κ · state of the shorter history) / (n + κ).
- *Left out.* Where it is regressed upon, a state is estimated without the symbol that it is asked to predict;
  rare histories would otherwise seem to know their future.
- *Target.* What follows x is the smoothed state of the history of length ``target`` that ends in x. With
  target = history + 1 and κ small beside n this is the observed future, and the regression is consistent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.estimators.hmm.ngrams import NGramTable
from spectralnlp.linalg import randomized_svd
from spectralnlp.linalg.rank import usable_rank
from spectralnlp.parameters import Floats, ObservableOperators

DENSE = 512
"""Symbols up to which the SVD is exact."""

BLOCK = 1 << 16
"""N-grams whose states are held at a time."""

ALL = slice(None)


@dataclass(frozen=True)
class RegressionOptions:
    """Settings of `solve_regression`; :class:`~spectralnlp.estimators.hmm.HMM` describes them."""

    n_states: int
    history: int
    target: int
    backoff: float
    ridge: float
    damping: float
    operator_count: int
    leave_one_out: bool
    random_state: int

    @property
    def order(self) -> int:
        """The n of the n-grams that are needed."""
        return max(self.history, self.target) + 1


@dataclass(frozen=True)
class _Histories:
    """The distinct histories of one length.

    Attributes:
        before: int64 (n_grams,); the history of each n-gram's symbol.
        after: int64 (n_grams,); the history that ends in that symbol.
        oldest: int64 (n_histories,); the oldest symbol of each.
        shorter: int64 (n_histories,); each without it.
        futures: csr (n_histories, V); weights of what follows.
        weights: float64 (n_histories,); their sums.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    oldest: NDArray[np.int64]
    shorter: NDArray[np.int64]
    futures: sp.csr_matrix
    weights: Floats


def solve_regression(
    table: NGramTable,
    symbols: tuple[str, ...],
    base: Floats,
    floor: float,
    tolerance: float,
    options: RegressionOptions,
) -> tuple[ObservableOperators, Floats]:
    """Operators from weighted n-grams.

    Args:
        table: n-grams of ``options.order`` symbols.
        symbols: V names.
        base: float64 (V,); see `ObservableOperators`.
        floor: its weight.
        tolerance: see `ObservableOperators`.
        options: settings.

    Returns:
        The operators over ``n_states`` numbers, a one and the coordinates of the expected future; and the
        canonical correlations of histories and symbols that the coordinates stand for.
    """
    smoothed = smooth_states(table, options)
    model = _regress(table, smoothed, symbols, base, floor, tolerance, options)
    return model, smoothed.correlations


@dataclass(frozen=True)
class SmoothedStates:
    """Stage one: the expected future around each n-gram's symbol, in coordinates of mean 0.

    Attributes:
        levels: histories by length.
        states: for each length, float64 (n_histories, k).
        symbol: int32 (n_grams,).
        future: float64 (V, k); the coordinates of each symbol.
        correlations: float64 (k,); of histories and symbols, along the coordinates.
        options: settings.
    """

    levels: Sequence[_Histories]
    states: Sequence[Floats]
    symbol: NDArray[np.int32]
    future: Floats
    correlations: Floats
    options: RegressionOptions

    def after(self, rows: NDArray[np.int64] | slice = ALL) -> Floats:
        """float64 (n_rows, k): after the symbols of n-grams."""
        level = self.options.target - 1
        return self.states[level][self.levels[level].after[rows]]

    def before(self, rows: NDArray[np.int64] | slice = ALL) -> Floats:
        """float64 (n_rows, k): before them; with ``leave_one_out`` from all other occurrences."""
        last, backoff = self.options.history - 1, self.options.backoff
        if not self.options.leave_one_out:
            return self.states[last][self.levels[last].before[rows]]
        own = self.future[self.symbol[rows]]
        shorter, state = np.zeros_like(own), np.zeros_like(own)
        for level, states in zip(self.levels[: last + 1], self.states, strict=False):
            history = level.before[rows]
            weight, full = level.weights[history][:, None], states[history]
            summed = (weight + backoff) * full - backoff * shorter  # of the futures after the history
            others = weight - 1 + backoff
            state = np.divide(summed - own + backoff * state, others, out=state, where=others > 1e-9)
            shorter = full
        return state

    def initial(self) -> Floats:
        """float64 (k,): where sequences begin."""
        last = self.options.history - 1
        boundary, number = len(self.future), 0
        for each in self.levels[: last + 1]:  # the history of boundaries alone continues that of fewer
            number = int(np.flatnonzero((each.oldest == boundary) & (each.shorter == number))[0])
        return self.states[last][number]


def smooth_states(table: NGramTable, options: RegressionOptions) -> SmoothedStates:
    """The states that are regressed upon and those that are regressed."""
    levels = _levels(table, options.order - 1)
    future, correlations = _future(levels[min(options.history, 2) - 1], options)
    states = _states(levels[: max(options.history, options.target)], future, options.backoff)
    return SmoothedStates(levels, states, table.grams[:, -1], future, correlations, options)


def _levels(table: NGramTable, longest: int) -> list[_Histories]:
    levels: list[_Histories] = []
    symbol = table.grams[:, -1]
    shorter_before = shorter_after = np.zeros(len(symbol), np.int64)
    n_shorter = 1
    for length in range(1, longest + 1):
        # A history is its oldest symbol and the shorter history, already numbered.
        keys = np.concatenate(
            [
                table.grams[:, -1 - length] * np.int64(n_shorter) + shorter_before,
                table.grams[:, -length] * np.int64(n_shorter) + shorter_after,
            ]
        )
        distinct, number = np.unique(keys, return_inverse=True)
        before, after = number[: len(symbol)], number[len(symbol) :]
        shape = (len(distinct), table.boundary)
        futures = sp.csr_matrix((table.weights, (before, symbol)), shape=shape)
        weights = np.bincount(before, table.weights, minlength=len(distinct)).astype(np.float64)
        levels.append(_Histories(before, after, *np.divmod(distinct, n_shorter), futures, weights))
        shorter_before, shorter_after, n_shorter = before, after, len(distinct)
    return levels


def _future(level: _Histories, options: RegressionOptions) -> tuple[Floats, Floats]:
    """float64 (V, k), coordinates of each symbol as a future, of mean 0; and the canonical correlations."""
    total = level.weights.sum()
    counts = np.asarray(level.futures.sum(axis=0)).ravel()
    # Chance makes pairs of rare histories and rare symbols nearly perfectly correlated: rare ones weigh less.
    rows, columns = 1 / np.sqrt(level.weights + options.damping), 1 / np.sqrt(counts + options.damping)
    whitened = sp.diags(rows) @ level.futures @ sp.diags(columns)
    left, right = level.weights * rows / total, counts * columns  # whitened - left right⊤ is centred
    wanted = options.n_states - 1  # and the constant
    if len(counts) <= DENSE:
        cross = np.outer(whitened.T @ left, right)
        gram = (whitened.T @ whitened).toarray() - cross - cross.T + (left @ left) * np.outer(right, right)
        squares, vectors = np.linalg.eigh(gram)
        vectors = vectors[:, ::-1] * _signs(vectors[:, ::-1])
        # Squares of correlations are exact to rounding, their roots only to its root.
        correlations = np.sqrt(np.where(squares > 1e-14, squares, 0.0)[::-1])
    else:
        # Of the V × V matrix that is only ever multiplied: there are many more histories than symbols.
        transposed = whitened.T.tocsr()

        def multiply(x: Floats) -> Floats:
            y = whitened @ x - np.outer(left, right @ x)
            return transposed @ y - np.outer(right, left @ y)

        shape = (len(counts), len(counts))
        vectors, squares, _ = randomized_svd(
            multiply, multiply, shape, wanted, iterations=3, random_state=options.random_state
        )
        correlations = np.sqrt(squares)
    rank = usable_rank(correlations, wanted, "n_states", constant=1)
    future = vectors[:, :rank] * (np.sqrt(total) * columns)[:, None]
    return future - counts @ future / total, correlations[:rank]


def _signs(vectors: Floats) -> Floats:
    """What makes the largest entry of each column positive."""
    return np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def _states(levels: Sequence[_Histories], future: Floats, backoff: float) -> list[Floats]:
    """The smoothed state of each history, for each length: float64 (n_histories, k)."""
    states: list[Floats] = []
    shorter = np.zeros((1, future.shape[1]))
    for level in levels:
        total = (level.weights + backoff)[:, None]
        summed = level.futures @ future + backoff * shorter[level.shorter]
        shorter = np.divide(summed, total, out=shorter[level.shorter], where=total > 0)
        states.append(shorter)
    return states


def _regress(
    table: NGramTable,
    smoothed: SmoothedStates,
    symbols: tuple[str, ...],
    base: Floats,
    floor: float,
    tolerance: float,
    options: RegressionOptions,
) -> ObservableOperators:
    """Stage two: what follows each symbol on the state before it, a ridge regression a symbol."""
    V, k = len(symbols), smoothed.future.shape[1] + 1
    order = np.argsort(smoothed.symbol, kind="stable")
    bounds = np.searchsorted(smoothed.symbol[order], np.arange(V + 1))
    counts = np.bincount(smoothed.symbol, table.weights, minlength=V)
    has_operator = counts >= max(options.operator_count, np.finfo(float).tiny)
    index = np.where(has_operator, np.cumsum(has_operator) - 1, -1).astype(np.int32)

    gram = np.zeros((k, k))
    first, arrival = np.zeros((V, k)), np.zeros((V, k))
    operators = np.zeros((int(has_operator.sum()), k, k))
    for low, high in _blocks(bounds):
        rows = order[bounds[low] : bounds[high]]
        if not len(rows):
            continue
        weights = table.weights[rows][:, None]
        before, after = _with_one(smoothed.before(rows)), _with_one(smoothed.after(rows))
        weighted = weights * before
        gram += before.T @ weighted
        there = low + np.flatnonzero(np.diff(bounds[low : high + 1]))
        starts = bounds[there] - bounds[low]
        first[there] = np.add.reduceat(weighted, starts)
        arrival[there] = np.add.reduceat(weights * after, starts)
        for x in there[index[there] >= 0]:
            own = slice(bounds[x] - bounds[low], bounds[x + 1] - bounds[low])
            operators[index[x]] = after[own].T @ weighted[own]

    total = counts.sum()
    stationary = first.sum(axis=0) / total
    arrival = np.where(counts[:, None] > 0, arrival / np.maximum(counts, 1e-300)[:, None], stationary)
    penalty = np.full(k, options.ridge * np.sqrt(total))
    penalty[0] = 0.0
    inverse = np.linalg.pinv(gram + np.diag(penalty), hermitian=True)
    return ObservableOperators(
        symbols, _with_one(smoothed.initial()[None])[0], np.eye(k)[0], stationary, first @ inverse,
        operators @ inverse, index, arrival, base, floor, tolerance,
    )  # fmt: skip


def _blocks(bounds: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of symbols with about ``BLOCK`` n-grams together."""
    low = 0
    while low < len(bounds) - 1:
        high = max(low + 1, int(np.searchsorted(bounds, bounds[low] + BLOCK, side="right")) - 1)
        yield low, high
        low = high


def _with_one(states: Floats) -> Floats:
    return np.hstack([np.ones((len(states), 1)), states])
