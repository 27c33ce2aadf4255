"""Filters as JSON values and named arrays, for model folders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spectralnlp.inference.filtering import Filter, OperatorFilter
from spectralnlp.parameters import ObservableOperators

Arrays = dict[str, np.ndarray[Any, Any]]

_OPERATOR_ARRAYS = (
    "initial", "normaliser", "stationary", "emission", "operators", "operator_index", "arrival", "base",
)  # fmt: skip


def pack_filter(filter_: Filter) -> tuple[dict[str, Any], Arrays]:
    """(JSON values, arrays); numbers are stored as float32.

    Raises:
        TypeError: a kind of filter that cannot be stored.
    """
    if not isinstance(filter_, OperatorFilter):
        raise TypeError(f"{type(filter_).__name__} cannot be stored")
    model = filter_.model
    described = {
        "kind": "operators",
        "symbols": model.symbols,
        "floor": model.floor,
        "tolerance": None if math.isinf(model.tolerance) else model.tolerance,
    }
    return described, {name: _narrow(getattr(model, name)) for name in _OPERATOR_ARRAYS}


def unpack_filter(described: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Filter:
    """The filter that gave these.

    Raises:
        KeyError, ValueError: something is missing or of an unknown kind.
    """
    if described["kind"] != "operators":
        raise ValueError(f"a filter of kind {described['kind']!r}")
    tolerance = described["tolerance"]
    fields = {name: _widen(arrays[name]) for name in _OPERATOR_ARRAYS}
    return OperatorFilter(
        ObservableOperators(
            symbols=tuple(described["symbols"]),
            floor=described["floor"],
            tolerance=np.inf if tolerance is None else tolerance,
            **fields,
        )
    )


def _narrow(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _widen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float64) if array.dtype == np.float32 else array
