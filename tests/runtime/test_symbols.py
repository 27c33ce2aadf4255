"""Names of symbols: strings, integers and Booleans come back as they were; all else is refused."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import InputError
from spectralnlp.runtime import Batch, Counts, InMemoryCorpus, accumulate, symbol_names, symbols_named

SYMBOLS = st.one_of(
    st.text(alphabet="\x01a1-tf", max_size=5),
    st.sampled_from(["\x01true", "\x01\x011", "true", "1"]),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
)


class Colour(str, Enum):  # noqa: UP042 (its str() is not its value)
    RED = "red"


class Level(IntEnum):
    LOW = 1


@given(st.lists(SYMBOLS))
def test_symbols_come_back_as_they_were_and_have_names_of_their_own(symbols: list[Any]) -> None:
    names = symbol_names(symbols)
    back = symbols_named(names)
    assert list(map(type, back)) == list(map(type, symbols))
    assert list(back) == symbols
    assert len(set(names)) == len({(type(symbol), symbol) for symbol in symbols})


def test_values_of_numpy_and_of_enumerations_become_plain() -> None:
    given = [np.str_("a"), np.int8(-1), np.uint64(2**64 - 1), np.bool_(False), Colour.RED, Level.LOW]
    back = symbols_named(symbol_names(given))
    assert back == ("a", -1, 2**64 - 1, False, "red", 1)
    assert [type(each) for each in back] == [str, int, int, bool, str, int]
    assert symbols_named(symbol_names(np.array([3, 1]))) == (3, 1)


def test_a_name_that_no_symbol_has_stays_a_text() -> None:
    assert symbols_named(["\x01", "\x01zz", "\x01" + "9" * 5000, ""]) == (
        "\x01",
        "\x01zz",
        "\x01" + "9" * 5000,
        "",
    )


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("ab", "a list of tags is expected, not one string"),
        (b"ab", "not one string"),
        (None, "a list of tags is expected, not NoneType"),
        (["a", None], "tag 2 is NoneType, not a string or an integer"),
        ([float("nan")], "tag 1 is float"),
        ([1.0], "tag 1 is float"),
        ([b"a"], "tag 1 is bytes"),
        ([("a",)], "tag 1 is tuple"),
        (np.zeros((1, 2), int), "tag 1 is ndarray"),
        ([2**64], "tag 1 is an integer of more than 64 bits"),
    ],
)
def test_all_else_is_refused_with_its_place_and_type(symbols: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        symbol_names(symbols, "tag")


def test_the_row_of_an_example_is_named_unless_the_error_names_a_place() -> None:
    batch = Batch([["a"], [None]], document="letter", document_index=0, start=10)
    with pytest.raises(InputError, match=r"^letter \(sentence 12\): symbol 1 is NoneType"):
        list(batch.mapped(symbol_names))

    def fails(example: object) -> None:
        raise InputError("bad", path="file", line=3)

    with pytest.raises(InputError, match=r"^file:3: bad$"):
        list(batch.mapped(fails))


def test_counts_refuse_what_is_no_key() -> None:
    with pytest.raises(InputError, match=r"memory \(sentence 2\): int cannot be counted"):
        accumulate(Counts(), InMemoryCorpus([["a"], ["b", 1]]))
