"""Check the parameters and arrays of stored moments, before moments are restored from them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from spectralnlp.storage import ArraySpec, StoredArrays, StoredValues, checked_value, int_array

# Stored counts must be smaller, so that sums of them fit in 64 bits.
MAX_COUNT = 1 << 56


def stored_parameters(cls: Any, ours: Mapping[str, Any], values: StoredValues) -> dict[str, Any]:
    """Return the parameters of stored moments, checked against the types that the constructor declares.

    Args:
        cls: class of the moments.
        ours: parameters of empty moments of the same estimator. Stored integers must be equal to these; other
            parameters, such as a vocabulary, may differ, since they depend on the data.
        values: parameters as they are in the file.

    Raises:
        ModelError: a parameter is missing, unknown or invalid.
    """
    hints, parameters = get_type_hints(cls.__init__, include_extras=True), {}
    for name in values:
        if name not in hints:
            raise values.error(name, "is no parameter of these moments")
        parameters[name] = values.take(name, hints[name])
        if type(ours.get(name)) in (int, NoneType) and parameters[name] != ours.get(name):
            raise values.error(name, f"is not {ours.get(name)}, as the settings ask for")
    for name in ours.keys() - values.keys():
        if inspect.signature(cls).parameters[name].default is inspect.Parameter.empty:
            raise values.lacking(name)
    return parameters


def check_like(stored: StoredArrays, empty: Mapping[str, NDArray[Any]]) -> None:
    """Check that arrays are finite and have the dtypes and shapes of those of empty moments.

    Raises:
        ModelError: an array is invalid; the message says which, and why.
    """
    for name, array in empty.items():
        dtype = array.dtype.name
        is_finite = np.issubdtype(array.dtype, np.floating)
        stored.take(name, ArraySpec(shape=array.shape, dtype=dtype, stored=(dtype,), finite=is_finite))


def stored_keys(stored: StoredArrays) -> tuple[str | tuple[str, ...], ...]:
    """Return the keys of stored counts, after checking that there is a positive count for each distinct key.

    Raises:
        ModelError: an array is invalid; the message says which, and why.
    """
    keys = stored.take("keys", int_array("n_bytes", dtype="uint8"))
    counts = stored.take("counts", int_array("n_counts", dtype="int64", least=1, below=MAX_COUNT))
    try:
        listed: tuple[str | tuple[str, ...], ...] = checked_value(
            tuple[str | tuple[str, ...], ...], json.loads(keys.tobytes())
        )
    except (ValueError, RecursionError) as error:
        raise stored.error("keys", "is no JSON list of keys") from error
    if not len(listed) == len(counts) == len(set(listed)):
        raise stored.error("keys", f"holds {len(set(listed))} keys for {len(counts)} counts")
    return listed
