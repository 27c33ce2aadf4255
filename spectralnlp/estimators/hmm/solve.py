"""Learn observable operators by regression: predict the state after each symbol from the state before it.

Hsu, Kakade and Zhang (2009) compute the operator B_x of a symbol x from the trigram probabilities P3x1 and
the bigram probabilities P21. In terms of instrumental-variable regression (Hefny, Downey and Gordon 2015),
stage one predicts the future from the previous symbol, U⊤P21 diag(P1)⁻¹, and stage two regresses what follows
x on that prediction. This module improves both stages:

- *Future.* Symbols are whitened before the SVD, which thus becomes a CCA of histories and symbols.
- *History.* Futures are predicted from the last ``history`` symbols, with backoff to shorter histories: the
  state of a history seen n times is (n · mean future after it + κ · state of the shorter history) / (n + κ).
- *Leave-one-out.* As a regressor, the state before a symbol is estimated without this occurrence of the
  symbol; otherwise the states of rare histories would contain the symbol that they predict.
- *Target.* The state after x is the smoothed state of the history of length ``target`` that ends in x. With
  target = history + 1 and κ small relative to n, it is the observed future, and the regression is consistent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spectralnlp.estimators.hmm.ngrams import NGrams, group_starts
from spectralnlp.estimators.hmm.states import RegressionOptions, future_coordinates, smoothed_states
from spectralnlp.jit import kernel
from spectralnlp.linalg.rank import Spectrum
from spectralnlp.parameters import Floats, Ints, ObservableOperators
from spectralnlp.runtime import Longs, Symbol


@dataclass(frozen=True, kw_only=True)
class PredictionSettings:
    """The symbols, and the settings that turn predictions into probabilities; see `ObservableOperators`.

    Attributes:
        symbols: the V symbols.
        base: float64 (V,); a positive distribution over symbols, used for smoothing.
        floor: weight of ``base`` in every prediction.
        tolerance: a state is shrunk if the negative probabilities that it predicts sum to more than this.
    """

    symbols: tuple[Symbol, ...]
    base: Floats
    floor: float
    tolerance: float


def solve_regression(
    grams: NGrams, prediction: PredictionSettings, options: RegressionOptions
) -> tuple[ObservableOperators, Spectrum]:
    """Compute an observable-operator model from weighted n-grams.

    Args:
        grams: n-grams of order ``options.order``.
        prediction: symbols, and settings that turn predictions into probabilities.
        options: settings of the regression.

    Returns:
        The model, whose states consist of a constant 1 and the coordinates of the expected future; and the
        canonical correlations of histories and symbols along these coordinates.
    """
    future, spectrum = future_coordinates(grams, options)
    sums = _Sums(grams.frequencies, future.shape[1] + 1, options.operator_count)
    for part in smoothed_states(grams, future, options):
        sums.add(part.columns[:, -1], part.weights, _with_one(part.before), _with_one(part.after))
        initial = part.history
    # The boundary has the largest number, so the last history consists of boundaries: the initial state.
    return _regress(sums, initial, prediction, options), spectrum


class _Sums:
    """Sufficient statistics of ridge regressions, one for each symbol.

    The regression of a symbol predicts the state after it from the state before it.

    Args:
        counts: float64 (V,); frequency of each symbol.
        k: dimension of a state, the constant 1 included.
        operator_count: least frequency of a symbol with an operator.
    """

    def __init__(self, counts: Floats, k: int, operator_count: int) -> None:
        has_operator = counts >= max(operator_count, np.finfo(float).tiny)
        self.counts = counts
        self.index: Ints = np.where(has_operator, np.cumsum(has_operator) - 1, -1).astype(np.int32)
        self.gram = np.zeros((k, k))
        self.first, self.arrival = np.zeros((len(counts), k)), np.zeros((len(counts), k))
        self.operators = np.zeros((int(has_operator.sum()), k, k))

    def add(self, symbol: Ints, weights: Floats, before: Floats, after: Floats) -> None:
        """Add n-grams to the statistics.

        Args:
            symbol: int (n,); last symbol of each n-gram.
            weights: float64 (n,); weight of each n-gram.
            before, after: float64 (n, k); states before and after each symbol.
        """
        order = np.argsort(symbol, kind="stable")
        symbol, weights, before, after = symbol[order], weights[order, None], before[order], after[order]
        weighted = weights * before
        starts = group_starts(symbol[:, None])
        there = symbol[starts]
        self.gram += before.T @ weighted
        self.first[there] += np.add.reduceat(weighted, starts)
        self.arrival[there] += np.add.reduceat(weights * after, starts)
        bounds: Longs = np.append(starts, len(symbol))
        _add_products(bounds, self.index[there], after, weighted, self.operators)


@kernel
def _add_products(bounds: Longs, places: Ints, left: Floats, right: Floats, matrices: Floats) -> None:
    """For each group of rows, add Lᵀ R to a matrix, where L and R are the left and right rows of the group.

    Rows are added one after the other, so that results do not depend on how rows are split into calls.

    Args:
        bounds: int64 (n_groups + 1,); index of the first row of each group.
        places: int32 (n_groups,); index of the matrix that each group is added to, or -1 for none.
        left, right: float64 (n_rows, k); rows of L and of R, group by group.
        matrices: float64 (n, k, k); updated.
    """
    k = left.shape[1]
    for group in range(len(places)):
        if places[group] >= 0:
            matrix = matrices[places[group]]
            for i in range(k):
                for row in range(bounds[group], bounds[group + 1]):
                    factor = left[row, i]
                    for j in range(k):
                        matrix[i, j] += factor * right[row, j]


def _regress(
    sums: _Sums, initial: Floats, prediction: PredictionSettings, options: RegressionOptions
) -> ObservableOperators:
    """Regress the state after each symbol on the state before it, and return the model.

    Args:
        sums: sufficient statistics of the regressions.
        initial: float64 (k - 1,); state before the first symbol, without the constant 1.
        prediction: symbols, and settings that turn predictions into probabilities.
        options: settings of the regression.
    """
    k, counts = len(sums.gram), sums.counts[:, None]
    total = sums.counts.sum()
    stationary = sums.first.sum(axis=0) / total
    arrival = np.where(counts > 0, sums.arrival / np.maximum(counts, 1e-300), stationary)
    penalty = np.full(k, options.ridge * np.sqrt(total))
    penalty[0] = 0.0
    inverse = np.linalg.pinv(sums.gram + np.diag(penalty), hermitian=True)
    for operator in sums.operators:  # in place, because the operators may take most of the memory
        operator[:] = operator @ inverse
    return ObservableOperators(
        symbols=prediction.symbols,
        initial=_with_one(initial[None])[0],
        normaliser=np.eye(k)[0],
        stationary=stationary,
        emission=sums.first @ inverse,
        operators=sums.operators,
        operator_index=sums.index,
        arrival=arrival,
        base=prediction.base,
        floor=prediction.floor,
        tolerance=prediction.tolerance,
    )


def _with_one(states: Floats) -> Floats:
    return np.hstack([np.ones((len(states), 1)), states])


def symbol_distribution(frequencies: Floats) -> Floats:
    """Return the symbols' relative frequencies, smoothed by adding 0.5 to each count, float64 (V,)."""
    positive = frequencies + 0.5
    return positive / positive.sum()


def with_unknown(operators: ObservableOperators, frequencies: Floats) -> ObservableOperators:
    """Estimate parameters of the unknown symbol from symbols seen once, if the data has no unknown symbol.

    By the Good-Turing estimate, all unseen symbols together are about as frequent as all symbols seen once.
    """
    once = frequencies == 1
    if frequencies[-1] or not once.any():
        return operators
    emission, arrival = operators.emission.copy(), operators.arrival.copy()
    emission[-1], arrival[-1] = emission[once].sum(axis=0), arrival[once].mean(axis=0)
    index = operators.operator_index.copy()
    index[-1] = -1
    return replace(operators, emission=emission, arrival=arrival, operator_index=index)
