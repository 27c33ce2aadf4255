"""Predicting sequences with observable operators: probabilities that are never negative and sum to one.

A linear prediction p = O s has Σp = 1 but, by sampling error, negative entries. Three steps make every
prediction a distribution, and so every product of them a distribution over sequences:

1. *Shrink.* If the negative entries of p add up to m > tolerance, the state becomes
   s ← (tolerance/m) s + (1 - tolerance/m) s̄, with s̄ the stationary state. Negative mass is convex in s and
   about none at s̄, so what is left is at most the tolerance.
2. *Clip and mix.* p̃ ∝ max(p, 0) + floor · base.
3. *Update as mixed.* After symbol x, s ← (max(p_x, 0)·s_x + floor·base_x·a_x) / (max(p_x, 0) + floor·base_x),
   where s_x is B_x s scaled and a_x the mean state after x: the mixture's own update, finite everywhere.

Where p has no negative entry and the floor is 0, this is filtering in the linear model itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel
from spectralnlp.parameters import (
    Floats,
    HiddenMarkov,
    Ints,
    ObservableOperators,
    SequenceParameters,
)

# Predicted probabilities that are held at a time: sequences run side by side, in lanes.
LANES = 4_000_000


class Filter(ABC):
    """Predicts the next symbol from a state, and moves the state on; many states at a time.

    Attributes:
        model: the parameters, which know how they are stored.
        symbols: V names, the last one for unknown symbols.
        symbol_index: their numbers.
        width: k; the first k numbers of a state predict the future.
    """

    model: SequenceParameters
    symbols: tuple[str, ...]
    symbol_index: Mapping[str, int]
    width: int

    @abstractmethod
    def start(self, n: int) -> Floats:
        """float64 (n, ≥ k): states before the first symbol."""

    @abstractmethod
    def predict(self, states: Floats) -> tuple[Floats, Floats]:
        """float64 (n, V), distributions of the next symbol; and the states that gave them."""

    @abstractmethod
    def update(self, states: Floats, symbols: Ints) -> Floats:
        """The states after one more symbol each, int32 (n,), from states as `predict` gave them."""


Model = TypeVar("Model", ObservableOperators, HiddenMarkov)


class ModelFilter(Filter, Generic[Model]):
    """A filter of one model, whose initial state it starts from."""

    def __init__(self, model: Model) -> None:
        self.model: Model = model
        self.symbols, self.symbol_index = model.symbols, model.symbol_index
        self.width = len(model.initial)

    def start(self, n: int) -> Floats:
        """The initial state, n times."""
        return np.tile(self.model.initial, (n, 1))


class OperatorFilter(ModelFilter[ObservableOperators]):
    """Observable operators, with the three steps above."""

    def predict(self, states: Floats) -> tuple[Floats, Floats]:
        """Steps 1 and 2."""
        model = self.model
        p = states @ model.emission.T
        negative = -np.minimum(p, 0.0).sum(axis=1)
        wild = negative > model.tolerance
        if wild.any():
            keep = (model.tolerance / negative[wild])[:, None]
            states = states.copy()
            states[wild] = keep * states[wild] + (1 - keep) * model.stationary
            p[wild] = states[wild] @ model.emission.T
        np.maximum(p, 0.0, out=p)
        if model.floor:
            p += model.floor * model.base
        total = p.sum(axis=1, keepdims=True)
        empty = ~(total[:, 0] > 0)
        if empty.any():  # a state that predicts nothing at all, which only a floor of 0 allows
            p[empty], total[empty] = model.base, model.base.sum()
        p /= total
        return p, states

    def update(self, states: Floats, symbols: Ints) -> Floats:
        """Step 3."""
        after = np.empty_like(states)
        _advance(self._arrays, states, symbols, after)
        return after

    @cached_property
    def _arrays(self) -> _OperatorArrays:
        own = {name: getattr(self.model, name) for name in _OperatorArrays._fields[:-1]}
        return _OperatorArrays(**own, floor=self.model.floor * self.model.base)


class _OperatorArrays(NamedTuple):
    """The arrays of ObservableOperators that kernels use; ``floor`` is each symbol's own."""

    emission: Floats
    operators: Floats
    operator_index: Ints
    arrival: Floats
    normaliser: Floats
    floor: Floats


@kernel
def _advance(model, states, symbols, after):
    """Write the states after one more symbol each."""
    emission, operators, operator_index = model.emission, model.operators, model.operator_index
    arrival, normaliser, floor = model.arrival, model.normaliser, model.floor
    k = states.shape[1]
    for row in range(len(states)):
        x = symbols[row]
        where = operator_index[x]
        p = 0.0
        for i in range(k):
            p += emission[x, i] * states[row, i]
        total = 0.0
        if where >= 0 and p > 0:
            for i in range(k):
                value = 0.0
                for j in range(k):
                    value += operators[where, i, j] * states[row, j]
                after[row, i] = value
                total += normaliser[i] * value
        if total > 1e-300:
            weight = p / (p + floor[x])
            for i in range(k):
                after[row, i] = weight * after[row, i] / total + (1 - weight) * arrival[x, i]
        else:
            for i in range(k):
                after[row, i] = arrival[x, i]


Visit = Callable[[NDArray[np.int64], int, Floats, Floats, Ints], None]


def run_sequences(filter_: Filter, sequences: Sequence[Ints], visit: Visit) -> None:
    """Run through sequences side by side, showing each prediction.

    Args:
        filter_: predicts.
        sequences: symbols of each; int32.
        visit: called as ``visit(which, position, distributions, states, symbols)`` before each symbol: the
            numbers of the sequences that go on, the position in them, (n, V) predictions, (n, k) states and
            the symbols that come.
    """
    n_lanes = max(1, LANES // len(filter_.symbols))
    longest_first = np.argsort([-len(each) for each in sequences], kind="stable")
    for begin in range(0, len(sequences), n_lanes):
        which = longest_first[begin : begin + n_lanes]
        lengths = np.array([len(sequences[i]) for i in which])
        symbols = np.zeros((len(which), lengths.max()), np.int32)
        for lane, i in enumerate(which):
            symbols[lane, : lengths[lane]] = sequences[i]
        states = filter_.start(len(which))
        for position in range(lengths.max()):
            going = int((lengths > position).sum())
            p, states = filter_.predict(states[:going])
            now = np.ascontiguousarray(symbols[:going, position])
            visit(which[:going], position, p, states, now)
            states = filter_.update(states, now)
