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

import numpy as np

from spectralnlp.estimators.hmm.kernels import add_products
from spectralnlp.estimators.hmm.states import RegressionOptions, future_coordinates, smoothed_states
from spectralnlp.estimators.hmm.sums import NGrams, group_starts
from spectralnlp.parameters import Floats, Ints, ObservableOperators
from spectralnlp.runtime import Longs


def solve_regression(
    grams: NGrams,
    symbols: tuple[str, ...],
    base: Floats,
    floor: float,
    tolerance: float,
    options: RegressionOptions,
) -> tuple[ObservableOperators, Floats]:
    """Operators from weighted n-grams.

    Args:
        grams: n-grams of ``options.order`` symbols.
        symbols: V names.
        base: float64 (V,); see `ObservableOperators`.
        floor: its weight.
        tolerance: see `ObservableOperators`.
        options: settings.

    Returns:
        The operators over ``n_states`` numbers, a one and the coordinates of the expected future; and the
        canonical correlations of histories and symbols that the coordinates stand for.
    """
    future, correlations = future_coordinates(grams, options)
    sums = _Sums(grams.frequencies, future.shape[1] + 1, options.operator_count)
    for part in smoothed_states(grams, future, options):
        sums.add(part.columns[:, -1], part.weights, _with_one(part.before), _with_one(part.after))
        initial = part.history
    # The boundary is the last symbol, and so is the history of boundaries alone.
    return _solve(sums, initial, symbols, base, floor, tolerance, options), correlations


class _Sums:
    """What follows each symbol and the state before it: a ridge regression a symbol, added up.

    Args:
        counts: float64 (V,); of the symbols.
        k: numbers in a state, the one among them.
        operator_count: occurrences from which on a symbol has an operator.
    """

    def __init__(self, counts: Floats, k: int, operator_count: int) -> None:
        has_operator = counts >= max(operator_count, np.finfo(float).tiny)
        self.counts = counts
        self.index: Ints = np.where(has_operator, np.cumsum(has_operator) - 1, -1).astype(np.int32)
        self.gram = np.zeros((k, k))
        self.first, self.arrival = np.zeros((len(counts), k)), np.zeros((len(counts), k))
        self.operators = np.zeros((int(has_operator.sum()), k, k))

    def add(self, symbol: Ints, weights: Floats, before: Floats, after: Floats) -> None:
        """Add n-grams: symbols (n,), weights (n,), states before and after (n, k)."""
        order = np.argsort(symbol, kind="stable")
        symbol, weights, before, after = symbol[order], weights[order, None], before[order], after[order]
        weighted = weights * before
        starts = group_starts(symbol[:, None])
        there = symbol[starts]
        self.gram += before.T @ weighted
        self.first[there] += np.add.reduceat(weighted, starts)
        self.arrival[there] += np.add.reduceat(weights * after, starts)
        bounds: Longs = np.append(starts, len(symbol))
        add_products(bounds, self.index[there], after, weighted, self.operators)


def _solve(
    sums: _Sums,
    initial: Floats,
    symbols: tuple[str, ...],
    base: Floats,
    floor: float,
    tolerance: float,
    options: RegressionOptions,
) -> ObservableOperators:
    """What follows each symbol on the state before it."""
    k, counts = len(sums.gram), sums.counts[:, None]
    total = sums.counts.sum()
    stationary = sums.first.sum(axis=0) / total
    arrival = np.where(counts > 0, sums.arrival / np.maximum(counts, 1e-300), stationary)
    penalty = np.full(k, options.ridge * np.sqrt(total))
    penalty[0] = 0.0
    inverse = np.linalg.pinv(sums.gram + np.diag(penalty), hermitian=True)
    for operator in sums.operators:  # in place: they may be most of the memory
        operator[:] = operator @ inverse
    return ObservableOperators(
        symbols=symbols,
        initial=_with_one(initial[None])[0],
        normaliser=np.eye(k)[0],
        stationary=stationary,
        emission=sums.first @ inverse,
        operators=sums.operators,
        operator_index=sums.index,
        arrival=arrival,
        base=base,
        floor=floor,
        tolerance=tolerance,
    )


def _with_one(states: Floats) -> Floats:
    return np.hstack([np.ones((len(states), 1)), states])
