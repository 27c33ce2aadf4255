"""Models of sequences of symbols: observable operators, hidden Markov models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from spectralnlp.parameters.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ObservableOperators:
    """An observable-operator model of sequences over V symbols (Jaeger 2000), with what keeps it proper.

    A state is a vector s of k numbers with ``normaliser`` · s = 1. Symbol x has the linear probability
    ``emission[x]`` · s and moves the state to B_x s, scaled. Linear predictions may be negative;
    `spectralnlp.inference.chains.filtering` says what makes probabilities of them. Hidden Markov models are
    the case of B_x = T diag(O_x) up to a change of basis (Hsu, Kakade and Zhang 2009, lemma 1).

    Attributes:
        symbols: names; the last one stands for every symbol that is not among them.
        initial: float64 (k,); the state before the first symbol (b1).
        normaliser: float64 (k,); b∞.
        stationary: float64 (k,); the mean state, to which states are shrunk.
        emission: float64 (V, k); rows b∞ᵀ B_x.
        operators: float64 (n_operators, k, k); B_x of the symbols that have one.
        operator_index: int32 (V,); where the operator of each symbol is; -1 for a symbol too rare for one,
            after which the state is its ``arrival``.
        arrival: float64 (V, k); the mean state after each symbol.
        base: float64 (V,); a positive distribution over symbols.
        floor: weight of ``base`` in every prediction.
        tolerance: negative probability that a prediction may have before its state is shrunk.
    """

    symbols: tuple[str, ...]
    initial: Floats
    normaliser: Floats
    stationary: Floats
    emission: Floats
    operators: Floats
    operator_index: Ints
    arrival: Floats
    base: Floats
    floor: float
    tolerance: float

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Index of each symbol's name."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}


@dataclass(frozen=True, eq=False)
class HiddenMarkov:
    """A hidden Markov model by its probabilities.

    Attributes:
        symbols: V names; the last one stands for every symbol that is not among them.
        initial: float64 (k,); p(first state).
        transition: float64 (k, k); p(next state | state), columns sum to one.
        emission: float64 (V, k); p(symbol | state), columns sum to one.
    """

    symbols: tuple[str, ...]
    initial: Floats
    transition: Floats
    emission: Floats

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Index of each symbol's name."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}
