"""Models as other processes get them: small, and the same to the bit."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import spectralnlp
from spectralnlp.storage.pickling import packed, unpacked

TYPES = st.sampled_from(
    ["float16", "float32", "float64", "int8", "int32", "int64", "uint32", "uint64", "bool"]
)


@dataclass
class Holder:
    array: Any
    cached: Any = None


@given(TYPES.flatmap(lambda dtype: arrays(dtype, st.integers(0, 200))))
def test_every_array_comes_back_to_the_byte(array: Any) -> None:
    back = unpacked(Holder, packed(Holder(array))).array
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize(
    ("array", "most"),
    [
        (np.arange(4000, dtype=np.int64), 8000),  # int16
        (np.tile(np.arange(-50, 50), 40), 4000),
        (np.linspace(0, 1, 2000).astype(np.float16).astype(np.float64), 4000),
        (np.linspace(0, 1, 2000).astype(np.float16).astype(np.float64) * np.float32(0.3), 4000),
        (np.eye(50), 1000),
        (np.full(1000, -0.0), 2000),
        (np.array([np.nan, np.inf, -np.inf, 1e300] * 250), 8000),
    ],
)
def test_arrays_are_pickled_in_few_bytes(array: Any, most: int) -> None:
    content = packed(Holder(array))
    assert len(content) < most + 500
    assert unpacked(Holder, content).array.tobytes() == array.tobytes()


def test_a_used_parser_is_pickled_without_what_it_cached(parsers: dict[str, Any]) -> None:
    parser = parsers["lpcfg"]
    words = ["The", "keeper", "climbs", "the", "stairs", "."]
    parse = parser.parse_tokens(words)
    again = pickle.loads(pickle.dumps(parser))
    assert "pipelines" not in vars(again)
    assert again.parse_tokens(words) == parse
    assert copy.deepcopy(parser).parse_tokens(words) == parse
    assert again.info == parser.info
    assert again.card == parser.card


@pytest.mark.slow
@pytest.mark.usefixtures("language_models")
@pytest.mark.parametrize("name", ["en", "en-biomedical", "en-tagger", "en-upos", "is-tagger"])
def test_shipped_models_are_pickled_in_15_megabytes(name: str) -> None:
    model = spectralnlp.load(name)
    use = model.parse if model.task == "parsing" else model.tag
    text = "The old keeper lit the lamp. It was dark, and nobody saw the ship that came from the north."
    found = use(text)
    content = pickle.dumps(model)
    assert len(content) <= 15e6
    again = pickle.loads(content)
    assert (again.parse if model.task == "parsing" else again.tag)(text) == found
