"""JSON values of models: what is taken, and how what is not as it must be is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le, Lt

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.storage import Matching, StoredValues, checked_value


@dataclass(frozen=True)
class Point:
    x: float
    name: Literal["a", "b"] = "a"

    def __post_init__(self) -> None:
        if self.x == 13:
            raise ConfigError("13 is no number for a point")


@pytest.mark.parametrize(
    ("kind", "value", "taken"),
    [
        (str, "é\ud800", "é\ud800"),
        (int, 10**30, 10**30),
        (float, 3, 3.0),
        (bool, True, True),
        (float | None, None, None),
        (tuple[str, ...], ["a", "b"], ("a", "b")),
        (tuple[int, str], [1, "b"], (1, "b")),
        (tuple[int, int] | None, [1, 2], (1, 2)),
        (str | tuple[str, ...], ["a"], ("a",)),
        (Sequence[int], [1], (1,)),
        (Mapping[str, tuple[int, ...]], {"a": [1]}, {"a": (1,)}),
        (Any, {"a": [None]}, {"a": [None]}),
        (Point, {"x": 1}, Point(1.0)),
        (Annotated[int, Ge(0), Lt(3)], 2, 2),
    ],
)
def test_values_are_taken_as_python_has_them(kind: Any, value: Any, taken: Any) -> None:
    found = StoredValues({"v": value}).take("v", kind)
    assert found == taken
    assert type(found) is type(taken)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (str, 7, "value v is 7, not a string"),
        (int, True, "value v is true, not a whole number"),
        (int, 1.0, "value v is 1.0, not a whole number"),
        (bool, 0, "value v is 0, not true or false"),
        (float, float("nan"), "value v is nan, not a finite number"),
        (float, 10**400, "value v is a number of 1329 bits, not a finite number"),
        (float, "1", "value v is '1', not a finite number"),
        (float | None, "x" * 1000, f"value v is '{'x' * 39}…, not a finite number"),
        (tuple[str, ...], "ab", "value v is 'ab', not a list"),
        (tuple[str, ...], ["a", None], "value v.1 is null, not a string"),
        (tuple[int, str], [1], "value v has 1 values, not 2"),
        (tuple[tuple[int, ...], ...], [[1], [2, {}]], "value v.1.1 is an object, not a whole number"),
        (Mapping[str, int], [], "value v is a list, not an object"),
        (Mapping[str, int], {"a": "b"}, "value v.a is 'b', not a whole number"),
        (Point, {}, "value v.x is missing"),
        (Point, {"x": 1, "z": 1}, "value v has an unknown field 'z'"),
        (Point, {"x": 1, "name": "c"}, "value v.name is 'c', not 'a' or 'b'"),
        (Point, {"x": 1, "name": []}, "value v.name is a list, not 'a' or 'b'"),
        (Point, {"x": 13}, "value v is refused: 13 is no number for a point"),
        (Annotated[float, Gt(0)], 0, "value v is 0.0, which is not above 0"),
        (Annotated[int, Ge(0)], -1, "value v is -1, which is less than 0"),
        (Annotated[int, Le(2)], 3, "value v is 3, which is more than 2"),
        (Annotated[int, Lt(2)], 2, "value v is 2, which is not below 2"),
        (Annotated[str, Matching("[0-9a-f]+")], "0x", "value v is '0x', not of the form [0-9a-f]+"),
    ],
)
def test_other_values_are_refused_in_one_line(kind: Any, value: Any, message: str) -> None:
    with pytest.raises(ModelError) as refusal:
        StoredValues({"v": value}, Path("m/model.json")).take("v", kind)
    assert str(refusal.value) == f"m/model.json: {message}; copy or train the model again"


def test_missing_values_and_parts_are_named_by_their_place() -> None:
    values = StoredValues({"a": [{"b": {"n": [5]}}, 1]}, Path("model.json"))
    with pytest.raises(ModelError, match=r"value a\.1\. ?is 1, not an object|value a\.1 is 1, not an object"):
        values.parts("a")
    inner = StoredValues({"a": [{"b": {"n": [5]}}]}).parts("a")[0].part("b")
    with pytest.raises(ModelError, match=r"^value a\.0\.b\.c is missing"):
        inner.take("c", int)
    with pytest.raises(ModelError, match=r"^value a\.0\.b\.n holds a number that is not from 0 to 4"):
        inner.indices("n", below=5)
    assert inner.take("c", int, 7) == 7
    assert inner.indices("n", below=6) == (5,)


def test_what_a_model_was_made_from_may_be_anything_but_its_parameters_are_an_object() -> None:
    about = {"parameters": {"n": 1}, "words": [None]}
    assert StoredValues({"about": about}).about() == about
    with pytest.raises(ModelError, match=r"value about\.parameters is 'x', not an object"):
        StoredValues({"about": {"parameters": "x"}}).about()


def test_values_are_checked_apart_from_files() -> None:
    assert checked_value(tuple[int, ...], json.loads("[1]")) == (1,)
    with pytest.raises(ValueError, match=r"^0 is 'a', not a whole number"):
        checked_value(tuple[int, ...], ["a"])
