"""Predict the next symbols of sequences by observable operators, corrected to probability distributions.

The model (`ObservableOperators`) predicts p = O s from a state s, where O is its matrix ``emission``, and
multiplies the state by an operator B_x after symbol x. The entries of p sum to 1, but some may be negative
because of sampling error. Three steps make every prediction a distribution, and so every product of
predictions a distribution over sequences:

1. *Shrink.* If the negative entries of p add up to m > tolerance, the state becomes
   s ← (tolerance/m) s + (1 - tolerance/m) s̄, with s̄ the stationary state. Negative mass is convex in s and
   about zero at s̄, so at most the tolerance is left.
2. *Clip and mix.* The prediction is p̃ ∝ max(p, 0) + floor · base, with a base distribution over symbols.
3. *Update.* After symbol x, s ← (max(p_x, 0)·s_x + floor·base_x·a_x) / (max(p_x, 0) + floor·base_x),
   where s_x is the normalised B_x s, and a_x the mean state after x. This is the exact update of the mixture,
   and always finite.

If p has no negative entry and the floor is 0, this is ordinary filtering in the linear model.
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
from spectralnlp.runtime import Symbol

# Maximum number of predicted probabilities in memory; sequences are run in parallel lanes.
LANES = 4_000_000


class Filter(ABC):
    """Base class of filters, which predict the next symbol from a state and update the state.

    All methods handle n states (of n sequences) at once.

    Attributes:
        model: the parameters of the model.
        symbols: the V symbols, the last one for unknown symbols.
        symbol_index: id of each symbol, by its name (`spectralnlp.runtime.symbol_names`).
        width: number k of leading components of a state that determine its predictions.
    """

    model: SequenceParameters
    symbols: tuple[Symbol, ...]
    symbol_index: Mapping[str, int]
    width: int

    @abstractmethod
    def start(self, n: int) -> Floats:
        """Return the state before the first symbol of each of n sequences, float64 (n, ≥ k)."""

    @abstractmethod
    def predict(self, states: Floats) -> tuple[Floats, Floats]:
        """Return the distributions of the next symbols, float64 (n, V), and the states to give to `update`.

        These are the given states, float64 (n, ≥ k), changed where they predicted negative probabilities.
        """

    @abstractmethod
    def update(self, states: Floats, symbols: Ints) -> Floats:
        """Return the states after one more symbol of each sequence.

        Args:
            states: the states that `predict` returned.
            symbols: int32 (n,); the next symbol of each sequence.
        """


Model = TypeVar("Model", ObservableOperators, HiddenMarkov)


class ModelFilter(Filter, Generic[Model]):
    """Base class of filters that start from the initial state of a model."""

    def __init__(self, model: Model) -> None:
        self.model: Model = model
        self.symbols, self.symbol_index = model.symbols, model.symbol_index
        self.width = len(model.initial)

    def start(self, n: int) -> Floats:
        """Return the initial state, repeated n times; float64 (n, k)."""
        return np.tile(self.model.initial, (n, 1))


class OperatorFilter(ModelFilter[ObservableOperators]):
    """Filter of observable operators, whose predictions are corrected to distributions (see the module)."""

    def predict(self, states: Floats) -> tuple[Floats, Floats]:
        """Return distributions of the next symbols, float64 (n, V), and corrected states, float64 (n, k).

        A state whose prediction has too much negative probability is moved towards the stationary state
        (*shrink* in the module's docstring). Probabilities that are still negative are set to 0 (*clip*).
        """
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
        if empty.any():  # a state without positive predictions; possible only if the floor is 0
            p[empty], total[empty] = model.base, model.base.sum()
        p /= total
        return p, states

    def update(self, states: Floats, symbols: Ints) -> Floats:
        """Return the states after one more symbol of each sequence, by *update* (see the module)."""
        after = np.empty_like(states)
        _advance(self._arrays, states, symbols, after)
        return after

    @cached_property
    def _arrays(self) -> _OperatorArrays:
        fields = {name: getattr(self.model, name) for name in _OperatorArrays._fields[:-1]}
        return _OperatorArrays(**fields, floor=self.model.floor * self.model.base)


class _OperatorArrays(NamedTuple):
    """The arrays of `ObservableOperators` that kernels use, under the same names.

    Only ``floor`` differs: it is the model's ``floor`` times ``base``, float64 (V,).
    """

    emission: Floats
    operators: Floats
    operator_index: Ints
    arrival: Floats
    normaliser: Floats
    floor: Floats


@kernel
def _advance(model, states, symbols, after):
    """Compute the states after one more symbol of each sequence, and write them to ``after``."""
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
    """Filter sequences in parallel, and call a function with each prediction.

    Args:
        filter_: the filter.
        sequences: the symbol ids of each sequence, int32.
        visit: called as ``visit(which, position, distributions, states, symbols)`` before each symbol: the
            indices of the sequences that are longer than ``position``, the position, the predictions (n, V),
            the states (n, k), and the symbols at that position.
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
