"""Parameters of sequence models: observable-operator models and hidden Markov models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints
from spectralnlp.runtime import Symbol, symbol_names, symbols_named
from spectralnlp.storage import (
    StoredArrays,
    StoredValues,
    WithArrays,
    float_array,
    int_array,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ObservableOperators(WithArrays):
    """Observable-operator model of sequences over V symbols (Jaeger 2000), with smoothing parameters.

    A state is a vector s of k numbers with ``normaliser`` · s = 1. The estimated probability of symbol x is
    ``emission[x]`` · s; after symbol x, the state is B_x s, rescaled. Estimates may be negative;
    `spectralnlp.inference.chains.filtering` describes how they are corrected. A hidden Markov model
    is the case B_x = T diag(O_x), up to a change of basis (Hsu, Kakade and Zhang 2009, lemma 1).

    Attributes:
        kind: name of this kind of model in model folders.
        symbols: V strings, integers or Booleans; the last one stands for all unknown symbols.
        initial: float64 (k,); state before the first symbol (b₁).
        normaliser: float64 (k,); the vector b∞ whose product with every state is 1.
        stationary: float64 (k,); mean state.
        emission: float64 (V, k); rows b∞ᵀ B_x.
        operators: float64 (n_operators, k, k); B_x of the symbols that have an operator.
        operator_index: int32 (V,); index of each symbol's operator; -1 for a symbol too rare to have one,
            after which the state is its ``arrival``.
        arrival: float64 (V, k); mean state after each symbol.
        base: float64 (V,); a positive distribution over symbols, used for smoothing.
        floor: weight of ``base`` in every prediction.
        tolerance: if the negative estimates of a prediction add up to more than this, the state is moved
            towards ``stationary``.
    """

    kind: ClassVar[str] = "operators"

    symbols: tuple[Symbol, ...]
    initial: Annotated[Floats, float_array("n_states")]
    normaliser: Annotated[Floats, float_array("n_states")]
    stationary: Annotated[Floats, float_array("n_states")]
    emission: Annotated[Floats, float_array("n_symbols", "n_states")]
    operators: Annotated[Floats, float_array("n_operators", "n_states", "n_states")]
    operator_index: Annotated[Ints, int_array("n_symbols", least=-1, below="n_operators")]
    arrival: Annotated[Floats, float_array("n_symbols", "n_states")]
    base: Annotated[Floats, float_array("n_symbols", least=0.0)]
    floor: Annotated[float, Ge(0), Le(1)]
    tolerance: float

    __repr__ = one_line

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Mapping from the name of each symbol (`runtime.symbol_names`) to its index in ``symbols``."""
        return {name: index for index, name in enumerate(symbol_names(self.symbols))}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder: kind, symbols, floor and tolerance."""
        tolerance = None if math.isinf(self.tolerance) else self.tolerance
        return {
            "kind": self.kind,
            "floor": self.floor,
            "tolerance": tolerance,
            "symbols": _plain(self.symbols),
        }

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> ObservableOperators:
        """Read a model from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        values = metadata.fields(cls, "symbols", "floor")
        tolerance = metadata.take("tolerance", Annotated[float, Ge(0)] | None)
        return cls(
            tolerance=math.inf if tolerance is None else tolerance,
            **values,
            **arrays.part(n_symbols=_some(metadata, values["symbols"])).fields(cls),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class HiddenMarkov(WithArrays):
    """Parameters of a hidden Markov model, as probabilities.

    Attributes:
        kind: name of this kind of model in model folders.
        symbols: V strings, integers or Booleans; the last one stands for all unknown symbols.
        initial: float64 (k,); p(first state).
        transition: float64 (k, k); p(next state | state), columns sum to one.
        emission: float64 (V, k); p(symbol | state), columns sum to one.
    """

    kind: ClassVar[str] = "hidden"

    symbols: tuple[Symbol, ...]
    initial: Annotated[Floats, float_array("n_states", least=0.0)]
    transition: Annotated[Floats, float_array("n_states", "n_states", least=0.0)]
    emission: Annotated[Floats, float_array("n_symbols", "n_states", least=0.0)]

    __repr__ = one_line

    @cached_property
    def symbol_index(self) -> Mapping[str, int]:
        """Mapping from the name of each symbol (`runtime.symbol_names`) to its index in ``symbols``."""
        return {name: index for index, name in enumerate(symbol_names(self.symbols))}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder: kind and symbols."""
        return {"kind": self.kind, "symbols": _plain(self.symbols)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> HiddenMarkov:
        """Read a model from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Probabilities are renormalised.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        symbols = metadata.take("symbols", tuple[Symbol, ...])
        fields = arrays.part(n_symbols=_some(metadata, symbols)).fields(cls)
        for name, array in fields.items():
            total = array.sum(axis=0)
            if not np.all(total > 0):
                raise arrays.error(name, "holds probabilities that sum to 0")
            fields[name] = array / total
        return cls(symbols=symbols, **fields)


def _plain(symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """Return symbols as values of Python, which JSON can hold."""
    return symbols_named(symbol_names(symbols))


SequenceParameters = ObservableOperators | HiddenMarkov

_KINDS: Mapping[str, type[SequenceParameters]] = {
    each.kind: each for each in (ObservableOperators, HiddenMarkov)
}


def read_sequence_parameters(arrays: StoredArrays, metadata: StoredValues) -> SequenceParameters:
    """Return a stored sequence model: observable operators or a hidden Markov model.

    Args:
        arrays: stored arrays, as `to_arrays` returns them.
        metadata: stored JSON values, as `to_json` returns them; ``kind`` names the kind of model.

    Raises:
        ModelError: the kind is unknown, or a stored array or value is invalid.
    """
    kind = metadata.take("kind", str)
    if kind not in _KINDS:
        raise metadata.error("kind", f"is not {' or '.join(_KINDS)}")
    return _KINDS[kind].from_arrays(arrays, metadata)


def _some(metadata: StoredValues, symbols: tuple[Symbol, ...]) -> int:
    """Return the number of symbols of a stored model, after checking that there is at least one.

    Raises:
        ModelError: there are no symbols; a model needs at least the one that stands for unknown symbols.
    """
    if not symbols:
        raise metadata.error("symbols", "is empty")
    return len(symbols)
