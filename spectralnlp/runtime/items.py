"""Take the items of what users give as a collection: a list, an iterator, an array, a column of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from spectralnlp.errors import InputError, SpectralError


def items_of(
    data: Any,
    expected: str = "several are expected",
    *,
    hint: str = "give a list",
    error: type[SpectralError] = InputError,
    rows: bool = False,
) -> Iterable[Any]:
    """Return the items of a collection; a table or an array of one column is that column.

    Iterating over a data frame or a mapping gives names, not items, so these are never iterated over.

    Args:
        data: the collection; lists, iterators and other iterables are returned unchanged.
        expected: what should have been given, for the message, such as ``tokens are expected``.
        hint: what to do about an error.
        error: class of the errors.
        rows: whether a row of an array of several columns can be an item.

    Raises:
        SpectralError: ``data`` is a single text, a mapping, not iterable, or has several columns; its class
            is ``error``.
    """
    names = None if isinstance(data, Mapping) else column_names(data)
    if names is not None and len(names) == 1:
        return column(data, names[0])
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[1] == 1:
        return data[:, 0]
    if names is not None:
        shown = f"{type(data).__name__} of the columns {', '.join(map(str, names))}"
        raise error(f"a {shown} where {expected}", hint="give one column of it")
    if isinstance(data, np.ndarray) and data.ndim != 1 and not (rows and data.ndim):
        raise error(f"an array of the shape {data.shape} where {expected}", hint=hint)
    if isinstance(data, str | bytes):
        raise error(f"a text where {expected}: {data[:40]!r}", hint=hint)
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise error(f"{type(data).__name__} where {expected}", hint=hint)
    return data.to_pylist() if hasattr(data, "to_pylist") else data  # an array of Arrow's holds scalars


def column_names(data: Any) -> list[Any] | None:
    """Return the names of the columns of a mapping, a data frame or an Arrow table; None for other data."""
    columns = data if isinstance(data, Mapping) else getattr(data, "columns", None)
    if columns is None or callable(columns) or not hasattr(data, "__getitem__"):
        return None
    return list(getattr(data, "column_names", columns))  # the columns of an Arrow table are not names


def column(data: Any, name: Any) -> Iterable[Any]:
    """Return the values of a column of a mapping, a data frame or an Arrow table.

    Raises:
        InputError: several columns have this name, or a mapping holds no collection under it.
    """
    return items_of(data[name], f"the values of {name} are expected")


def paired(examples: Any, targets: Any) -> list[tuple[Any, Any]]:
    """Return pairs of examples and their labels or tags.

    Raises:
        InputError: the numbers of examples and targets differ, or one of the two is no collection.
    """
    hint = "give a list with one for each example"
    listed = list(items_of(examples, "examples are expected", rows=True))
    of_listed = list(items_of(targets, "labels are expected", hint=hint, rows=True))
    if len(listed) != len(of_listed):
        raise InputError(f"{len(listed)} examples and {len(of_listed)} labels", hint="give each example one")
    return list(zip(listed, of_listed, strict=True))
