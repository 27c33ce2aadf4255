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

from collections.abc import Sequence
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


@dataclass(frozen=True)
class RegressionOptions:
    """Settings of `solve_regression`; :class:`~spectralnlp.estimators.hmm.HMM` describes them."""

    n_states: int
    history: int
    target: int
    backoff: float
    ridge: float
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
        shorter: int64 (n_histories,); each without its oldest symbol.
        futures: csr (n_histories, V); weights of what follows.
        weights: float64 (n_histories,); their sums.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
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
    regression = _Regression(table, _with_one(smoothed.before), _with_one(smoothed.after))
    initial = _with_one(smoothed.initial[None])[0]
    return regression.solve(symbols, initial, base, floor, tolerance, options), smoothed.correlations


@dataclass(frozen=True)
class SmoothedStates:
    """Stage one: the expected future around each n-gram's symbol, in coordinates of mean 0.

    Attributes:
        before: float64 (n_grams, k); before the symbol, from all occurrences of the history but its own.
        after: float64 (n_grams, k); after it.
        initial: float64 (k,); where sequences begin.
        future: float64 (V, k); the coordinates of each symbol.
        correlations: float64 (k,); of histories and symbols, along the coordinates.
    """

    before: Floats
    after: Floats
    initial: Floats
    future: Floats
    correlations: Floats


def smooth_states(table: NGramTable, options: RegressionOptions) -> SmoothedStates:
    """The states that are regressed upon and those that are regressed."""
    levels = _levels(table, options.order - 1)
    future, correlations = _future(levels[min(options.history, 2) - 1], options)
    states = _states(levels, future, options.backoff)
    full = states[options.history - 1][levels[options.history - 1].before]
    at_start = (table.grams[:, -1 - options.history : -1] == table.boundary).all(axis=1)
    before = full
    if options.leave_one_out:
        before = _left_out(levels[: options.history], future, table.grams[:, -1], options.backoff)
    after = states[options.target - 1][levels[options.target - 1].after]
    return SmoothedStates(before, after, full[at_start][0], future, correlations)


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
        levels.append(_Histories(before, after, distinct % n_shorter, futures, weights))
        shorter_before, shorter_after, n_shorter = before, after, len(distinct)
    return levels


def _future(level: _Histories, options: RegressionOptions) -> tuple[Floats, Floats]:
    """float64 (V, k), coordinates of each symbol as a future, of mean 0; and the canonical correlations."""
    total = level.weights.sum()
    counts = np.asarray(level.futures.sum(axis=0)).ravel()
    one = min(
        1.0, 1e-4 * total
    )  # an occurrence, added to counts; next to nothing where weights are probabilities
    rows, columns = 1 / np.sqrt(level.weights + one), 1 / np.sqrt(counts + one)
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
        transposed = whitened.T.tocsr()
        _, correlations, vectors = randomized_svd(
            lambda x: whitened @ x - np.outer(left, right @ x),
            lambda x: transposed @ x - np.outer(right, left @ x),
            whitened.shape,
            wanted,
            random_state=options.random_state,
        )
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


def _left_out(
    levels: Sequence[_Histories], future: Floats, symbol: NDArray[np.int32], backoff: float
) -> Floats:
    """float64 (n_grams, k): the state before each n-gram's symbol, from all occurrences but its own."""
    own = future[symbol]
    state = np.zeros_like(own)
    for level in levels:
        total = (level.weights[level.before] - 1 + backoff)[:, None]
        summed = (level.futures @ future)[level.before] - own + backoff * state
        state = np.divide(summed, total, out=state, where=total > 1e-9)
    return state


def _with_one(states: Floats) -> Floats:
    return np.hstack([np.ones((len(states), 1)), states])


@dataclass(frozen=True)
class _Regression:
    """Stage two: what follows each symbol, regressed on the state before it.

    Attributes:
        table: the n-grams.
        before: float64 (n_grams, k); states before each symbol, the first number one.
        after: float64 (n_grams, k); states after it.
    """

    table: NGramTable
    before: Floats
    after: Floats

    def solve(
        self,
        symbols: tuple[str, ...],
        initial: Floats,
        base: Floats,
        floor: float,
        tolerance: float,
        options: RegressionOptions,
    ) -> ObservableOperators:
        """Ridge regression, one for each symbol with occurrences enough."""
        weights, k = self.table.weights, self.before.shape[1]
        total = weights.sum()
        weighted = weights[:, None] * self.before
        penalty = np.full(k, options.ridge * np.sqrt(total))
        penalty[0] = 0.0
        inverse = np.linalg.pinv(self.before.T @ weighted + np.diag(penalty), hermitian=True)

        order = np.argsort(self.table.grams[:, -1], kind="stable")
        bounds = np.searchsorted(self.table.grams[order, -1], np.arange(len(symbols) + 1))
        counts = np.bincount(self.table.grams[:, -1], weights, minlength=len(symbols))
        stationary = weighted.sum(axis=0) / total
        arrival = np.tile(stationary, (len(symbols), 1))
        first_moments = np.zeros((len(symbols), k))
        has_operator = counts >= max(options.operator_count, np.finfo(float).tiny)
        index = np.where(has_operator, np.cumsum(has_operator) - 1, -1).astype(np.int32)
        operators = np.empty((int(has_operator.sum()), k, k))
        for x in np.flatnonzero(counts > 0):
            rows = order[bounds[x] : bounds[x + 1]]
            before, after = weighted[rows], self.after[rows]
            arrival[x] = weights[rows] @ after / counts[x]
            first_moments[x] = before.sum(axis=0)
            if index[x] >= 0:
                operators[index[x]] = after.T @ before @ inverse
        normaliser = np.zeros(k)
        normaliser[0] = 1.0
        return ObservableOperators(
            symbols, initial, normaliser, stationary, first_moments @ inverse, operators, index, arrival,
            base, floor, tolerance,
        )  # fmt: skip
