"""Declared arrays: what is not as declared is refused with its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spectralnlp import storage
from spectralnlp.errors import ModelError
from spectralnlp.storage import float_array, int_array, offset_array


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Rows of numbered columns."""

    names: tuple[str, ...]
    starts: Annotated[NDArray[np.int64], offset_array("n_rows + 1", into="n_entries")]
    columns: Annotated[NDArray[np.int32], int_array("n_entries", below="n_columns")]
    values: Annotated[NDArray[np.float64], float_array("n_entries", least=0.0)]
    pairs: Annotated[NDArray[np.int32] | None, int_array("n_pairs", 2, ascending=True)] = None


TABLE = Table(
    names=("a", "b"),
    starts=np.array([0, 2, 3]),
    columns=np.array([0, 4, 1], np.int32),
    values=np.array([0.5, 1.0, 2.0]),
    pairs=np.array([[0, 1], [0, 2], [1, 0]], np.int32),
)


def read(**changes: Any) -> Table:
    arrays = {
        name: np.asarray(each)
        for name, each in (storage.arrays_of(TABLE) | changes).items()
        if each is not None
    }
    stored = storage.StoredArrays(storage.with_prefix("t.", arrays), Path("m/arrays.safetensors"))
    return Table(names=TABLE.names, **stored.part("t.", n_rows=2, n_columns=5).fields(Table))


def test_floats_are_stored_in_single_precision_and_come_back_in_double() -> None:
    assert {name: array.dtype.name for name, array in storage.arrays_of(TABLE).items()} == {
        "starts": "int64",
        "columns": "int32",
        "values": "float32",
        "pairs": "int32",
    }
    table = read()
    for name in storage.specs_of(Table):
        np.testing.assert_array_equal(getattr(table, name), getattr(TABLE, name), strict=True)
    assert read(pairs=None).pairs is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": None}, "columns is missing"),
        ({"columns": [0, 4, 1]}, "columns is of int64, not int32"),
        ({"values": np.ones(3)}, "values is of float64, not float16 or float32"),
        (
            {"values": np.ones(2, np.float32)},
            r"values is of shape \(2,\), not \(n_entries = 3\)",
        ),
        (
            {"pairs": np.ones((3, 3), np.int32)},
            r"pairs is of shape \(3, 3\), not \(n_pairs = 3, 2\)",
        ),
        ({"starts": [0, 2]}, r"starts is of shape \(2,\), not \(n_rows \+ 1 = 3\)"),
        ({"starts": [0, 4, 3]}, "starts does not hold offsets that rise from 0"),
        ({"starts": [1, 2, 3]}, "starts does not hold offsets that rise from 0"),
        ({"starts": [0, 2, 4]}, r"columns is of shape \(3,\)"),
        ({"columns": np.array([0, 5, 1], np.int32)}, "columns holds 5, which is not below n_columns, 5"),
        ({"columns": np.array([0, -1, 1], np.int32)}, "columns holds -1, which is less than 0"),
        (
            {"values": np.array([0, np.nan, 1], np.float32)},
            r"values holds a NaN, an infinity or a number beyond 1e\+18",
        ),
        (
            {"values": np.array([0, np.inf, 1], np.float16)},
            r"values holds a NaN, an infinity or a number beyond 1e\+18",
        ),
        ({"values": np.array([0, -2, 1], np.float16)}, "values holds -2.0, which is less than 0.0"),
        ({"pairs": np.array([[0, 2], [0, 1]], np.int32)}, "pairs does not rise from each row to the next"),
    ],
)
def test_an_array_that_is_not_as_declared_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=rf"^m/arrays\.safetensors: array t\.{message}.*; copy or train"):
        read(**changes)


def test_huge_numbers_are_finite() -> None:
    values = np.full(3, 3e38, np.float32)
    spec = float_array("n", dtype="float32", most=None)
    assert storage.StoredArrays({"x": values}).take("x", spec) is values
    with pytest.raises(ModelError, match=r"array x holds a NaN, an infinity or a number beyond 1e\+18"):
        storage.StoredArrays({"x": values}).take("x", float_array("n", dtype="float32"))


def test_half_precision_is_multiplied_by_its_scale() -> None:
    half = {"x": np.array([1, -2], np.float16), "x.scale": np.array([0.25], np.float32)}
    spec = float_array("n", scaled=True)
    np.testing.assert_array_equal(storage.StoredArrays(half).take("x", spec), [0.25, -0.5], strict=True)
    with pytest.raises(ModelError, match=r"array x\.scale is missing"):
        storage.StoredArrays({"x": half["x"]}).take("x", spec)
