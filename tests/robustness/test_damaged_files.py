"""Arbitrary bytes and JSON where models are read: taken or refused by a ModelError, never anything else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from benchmarks.fuzzing.mutations import DEEP
from spectralnlp.errors import ModelError
from spectralnlp.storage import StoredValues, load_kept_moments, load_model, save_model

SAVED = save(
    {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.arange(3, dtype=np.int64),
        "c": np.zeros((0, 2), np.int8),
        "d": np.array(True),
        "e": np.arange(3, dtype=np.float16),
    }
)
HEADER = json.loads(SAVED[8 : 8 + int.from_bytes(SAVED[:8], "little")])
NUMBERS = st.one_of(st.integers(-2, 70), st.integers(-(2**70), 2**70), st.floats(), st.none(), st.text())
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)
KINDS = (
    str,
    float | None,
    tuple[str, ...],
    tuple[tuple[int, str], ...],
    Mapping[str, bool],
    Annotated[int, Ge(0)],
    Literal["a", "b"],
    str | tuple[str, ...],
)
quiet = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=100
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "m", kind="k", metadata={}, arrays={}, card="# A model\n")
    return tmp_path / "m"


def load_arrays(folder: Path, content: bytes) -> dict[str, np.ndarray[Any, Any]] | None:
    """The arrays of a file that has the right digest; None where it is refused in one line."""
    (folder / "arrays.safetensors").write_bytes(content)
    header = json.loads((folder / "model.json").read_text())
    header["arrays"] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "model.json").write_text(json.dumps(header))
    try:
        return load_model(folder).arrays
    except ModelError as error:
        message = str(error)
    assert "arrays.safetensors: not a file of arrays" in message
    assert len(message) < 500 + len(str(folder))
    return None


def with_header(header: Any) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + SAVED[8 + int.from_bytes(SAVED[:8], "little") :]


def test_a_sound_file_is_read_to_the_bit(folder: Path) -> None:
    from safetensors.numpy import load

    found, expected = load_arrays(folder, SAVED), load(SAVED)
    assert found is not None
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], strict=True)
        assert array.flags.writeable
        assert array.flags.aligned


@pytest.mark.slow
@quiet
@given(content=st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(folder: Path, content: bytes) -> None:
    assert load_arrays(folder, content) in (None, {})


@pytest.mark.slow
@quiet
@given(name=st.sampled_from(sorted(HEADER)), shape=st.lists(NUMBERS, max_size=4), places=st.lists(NUMBERS))
@example(name="a", shape=[2**62, 2**62], places=[0, 24])
@example(name="c", shape=[0, 10**15], places=[0, 0])
@example(name="b", shape=[3], places=[8, 32])
def test_other_shapes_and_places_are_refused(
    folder: Path, name: str, shape: list[Any], places: list[Any]
) -> None:
    entry = {**HEADER[name], "shape": shape, "data_offsets": places}
    arrays = load_arrays(folder, with_header({**HEADER, name: entry}))
    assert (
        arrays is None
        or arrays[name].nbytes == HEADER[name]["data_offsets"][1] - HEADER[name]["data_offsets"][0]
    )


@pytest.mark.slow
@quiet
@given(header=JSON)
def test_other_headers_are_refused(folder: Path, header: Any) -> None:
    assert load_arrays(folder, with_header(header)) is None


@given(kind=st.sampled_from(KINDS), value=JSON)
def test_values_are_taken_or_refused_in_one_short_line(kind: Any, value: Any) -> None:
    try:
        StoredValues({"v": json.loads(json.dumps(value))}).take("v", kind)
        return
    except ModelError as error:
        message = str(error)
    assert len(message.splitlines()) == 1
    assert len(message) < 500


@pytest.mark.parametrize("name", ["model.json", "moments.json"])
@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"[" * DEEP, b'{"a":' * DEEP, b"\xff", b"{", b'{"format": 1e999}', b"9" * 5000],
)
def test_headers_that_are_none_are_refused(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    load = load_model if name == "model.json" else load_kept_moments
    with pytest.raises(ModelError) as refusal:
        load(folder)
    assert len(str(refusal.value)) < 500 + len(str(folder))


def test_a_card_in_another_encoding_does_no_harm(folder: Path) -> None:
    (folder / "README.md").write_bytes(b"# Modell f\xfcr Deutsch\n")
    assert load_model(folder).card == "# Modell f\ufffdr Deutsch\n"
