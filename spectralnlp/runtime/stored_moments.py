"""Parameters and arrays of moments in a file, checked before moments are made of them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from spectralnlp.storage import ArraySpec, StoredArrays, StoredValues, checked_value, int_array

# Counts in a file are below it, so that sums of them stay in 64 bits.
MOST_COUNT = 1 << 56


def stored_parameters(cls: Any, ours: Mapping[str, Any], values: StoredValues) -> dict[str, Any]:
    """The parameters of moments in a file, of the types that the constructor declares.

    Args:
        cls: class of the moments.
        ours: parameters of moments by the same estimator; its sizes hold, while names, and how examples are
            read, may have been settled by the data.
        values: of the file.

    Raises:
        ModelError: one is missing, unknown, or not as it must be.
    """
    hints, found = get_type_hints(cls.__init__, include_extras=True), {}
    for name in values:
        if name not in hints:
            raise values.error(name, "is no parameter of these moments")
        found[name] = values.take(name, hints[name])
        if type(ours.get(name)) in (int, NoneType) and found[name] != ours.get(name):
            raise values.error(name, f"is not {ours.get(name)}, as the settings ask for")
    for name in ours.keys() - values.keys():
        if inspect.signature(cls).parameters[name].default is inspect.Parameter.empty:
            raise values.lacking(name)
    return found


def check_like(stored: StoredArrays, empty: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays of other dtypes or shapes than those of empty moments, or that are not finite.

    Raises:
        ModelError: names the array and what is wrong with it.
    """
    for name, array in empty.items():
        dtype = array.dtype.name
        is_finite = np.issubdtype(array.dtype, np.floating)
        stored.take(name, ArraySpec(shape=array.shape, dtype=dtype, stored=(dtype,), finite=is_finite))


def stored_keys(stored: StoredArrays) -> tuple[str | tuple[str, ...], ...]:
    """The keys of counts; counts must be positive, and keys as many and distinct.

    Raises:
        ModelError: names the array and what is wrong with it.
    """
    keys = stored.take("keys", int_array("n_bytes", dtype="uint8"))
    counts = stored.take("counts", int_array("n_counts", dtype="int64", least=1, below=MOST_COUNT))
    try:
        listed: tuple[str | tuple[str, ...], ...] = checked_value(
            tuple[str | tuple[str, ...], ...], json.loads(keys.tobytes())
        )
    except (ValueError, RecursionError) as error:
        raise stored.error("keys", "is no JSON list of keys") from error
    if not len(listed) == len(counts) == len(set(listed)):
        raise stored.error("keys", f"holds {len(set(listed))} keys for {len(counts)} counts")
    return listed
