"""Filters as JSON values and named arrays, for model folders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spectralnlp.inference.chains.filtering import Filter, MixtureFilter, OperatorFilter
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.parameters import HiddenMarkov, ObservableOperators

Arrays = dict[str, np.ndarray[Any, Any]]

_OPERATOR_ARRAYS = (
    "initial",
    "normaliser",
    "stationary",
    "emission",
    "operators",
    "operator_index",
    "arrival",
    "base",
)

_HIDDEN_ARRAYS = ("initial", "transition", "emission")


def pack_filter(filter_: Filter) -> tuple[dict[str, Any], Arrays]:
    """(JSON values, arrays); numbers are stored as float32.

    Raises:
        TypeError: a kind of filter that cannot be stored.
    """
    if isinstance(filter_, OperatorFilter):
        operators = filter_.model
        tolerance = None if math.isinf(operators.tolerance) else operators.tolerance
        described = {"kind": "operators", "floor": operators.floor, "tolerance": tolerance}
        arrays = {name: _narrow(getattr(operators, name)) for name in _OPERATOR_ARRAYS}
    elif isinstance(filter_, HiddenFilter):
        described = {"kind": "hidden"}
        arrays = {name: _narrow(getattr(filter_.model, name)) for name in _HIDDEN_ARRAYS}
    elif isinstance(filter_, MixtureFilter):
        parts = [pack_filter(each) for each in filter_.filters]
        described = {
            "kind": "mixture",
            "weights": filter_.weights.tolist(),
            "parts": [{**part, "symbols": None} for part, _ in parts],
        }
        arrays = {f"{i}.{name}": array for i, (_, own) in enumerate(parts) for name, array in own.items()}
    else:
        raise TypeError(f"{type(filter_).__name__} cannot be stored")
    return {**described, "symbols": filter_.symbols}, arrays


def unpack_filter(described: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Filter:
    """The filter of packed values and arrays.

    Raises:
        KeyError, ValueError: something is missing or of an unknown kind.
    """
    symbols = tuple(described["symbols"])
    if described["kind"] == "operators":
        fields = {name: _widen(arrays[name]) for name in _OPERATOR_ARRAYS}
        tolerance = math.inf if described["tolerance"] is None else described["tolerance"]
        return OperatorFilter(
            ObservableOperators(symbols, floor=described["floor"], tolerance=tolerance, **fields)
        )
    if described["kind"] == "hidden":
        initial, transition, emission = (_widen(arrays[name]) for name in _HIDDEN_ARRAYS)
        # Sums of one, which float32 has only nearly.
        initial, transition, emission = (each / each.sum(axis=0) for each in (initial, transition, emission))
        return HiddenFilter(HiddenMarkov(symbols, initial, transition, emission))
    if described["kind"] == "mixture":
        filters = []
        for i, part in enumerate(described["parts"]):
            own = {
                name.removeprefix(f"{i}."): array
                for name, array in arrays.items()
                if name.startswith(f"{i}.")
            }
            filters.append(unpack_filter({**part, "symbols": symbols}, own))
        return MixtureFilter(filters, np.array(described["weights"]))
    raise ValueError(f"a filter of kind {described['kind']!r}")


def _narrow(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _widen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float64) if array.dtype == np.float32 else array
