"""Kept moments are deflated: what comes back, and what is refused before memory is asked for it."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file, save_file

from spectralnlp.errors import ModelError
from spectralnlp.storage import MOMENTS, MOMENTS_META, load_kept_moments, save_kept_moments, save_model

DTYPES = ["?", *(f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "<f2", "<f4", "<f8"]
quiet = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
    deadline=None,
)
COUNTS = np.arange(3000, dtype=np.int64).reshape(30, 100)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "m", kind="k", metadata={}, arrays={}, card="")
    return tmp_path / "m"


def saved(folder: Path, array: np.ndarray) -> dict[str, Any]:
    """Keep an array, and return what the header says of it."""
    save_kept_moments(folder, {}, {"x": array})
    return json.loads((folder / MOMENTS_META).read_text())["arrays"]["packed"].get("x", {})


def loaded(folder: Path) -> np.ndarray:
    found = load_kept_moments(folder)
    assert found is not None
    return found[1].all()["x"]


def rewrite(folder: Path, array: np.ndarray, **header: Any) -> None:
    """Put bytes in the place of the deflated ones, with their digest, and change the header."""
    save_file({"x": array}, folder / MOMENTS)
    raw, found = (folder / MOMENTS).read_bytes(), json.loads((folder / MOMENTS_META).read_text())
    found["arrays"] |= {"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    found["arrays"] |= {key: header.pop(key) for key in ("packed",) if key in header}
    (folder / MOMENTS_META).write_text(json.dumps(found | header))


@given(
    array=st.sampled_from(DTYPES).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=40))
    )
)
@quiet
def test_arrays_come_back_to_the_bit(folder: Path, array: np.ndarray) -> None:
    saved(folder, array)
    found = loaded(folder)
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_kept_moments_take_less_room(folder: Path) -> None:
    assert saved(folder, COUNTS.T) == {"dtype": "int64", "shape": [100, 30]}
    assert (folder / MOMENTS).stat().st_size < COUNTS.nbytes / 8
    np.testing.assert_array_equal(loaded(folder), COUNTS.T)
    noise = np.random.default_rng(0).bytes(1000)
    assert saved(folder, np.frombuffer(noise, np.uint8)) == {}  # as it is, for it would not become smaller
    assert saved(folder, np.zeros(10**6)) == {}  # nor may anything swell so much


def test_moments_of_format_1_are_read(folder: Path) -> None:
    saved(folder, COUNTS)
    rewrite(folder, COUNTS, format_version=1, packed={})
    np.testing.assert_array_equal(loaded(folder), COUNTS)
    for version, hint in ((0, "train again"), (3, "upgrade spectralnlp")):
        rewrite(folder, COUNTS, format_version=version)
        with pytest.raises(ModelError, match=f"moments of format {version}.*; {hint}"):
            load_kept_moments(folder)


def deflated(content: bytes) -> np.ndarray:
    return np.frombuffer(zlib.compress(content), np.uint8)


@pytest.mark.parametrize(
    ("stored", "packed", "complaint"),
    [
        (deflated(bytes(10**7)), {"dtype": "uint8", "shape": [10**7]}, "asks for memory for 1e\\+07"),
        (
            deflated(bytes(10**6)),
            {"dtype": "uint8", "shape": [10**5]},
            "its declared size, 100,000 bytes",
        ),
        (deflated(bytes(99)), {"dtype": "uint8", "shape": [100]}, "its declared size, 100 bytes"),
        (deflated(bytes(100))[:-3], {"dtype": "uint8", "shape": [100]}, "its declared size, 100 bytes"),
        (
            np.append(deflated(bytes(100)), np.uint8(0)),
            {"dtype": "uint8", "shape": [100]},
            "does not inflate",
        ),
        (np.arange(100, dtype=np.uint8), {"dtype": "uint8", "shape": [100]}, "cannot be inflated"),
        (np.arange(100), {"dtype": "uint8", "shape": [100]}, "is of int64, not uint8"),
        (deflated(bytes(100)), {"dtype": "uint8", "shape": [1] * 99 + [100]}, "an invalid declared shape"),
        (deflated(bytes(100)), {"dtype": "uint8", "shape": [0, 10]}, "its declared size, 0 bytes"),
        (deflated(b""), {"dtype": "uint8", "shape": [10**30, 0, 10**30]}, "an invalid declared shape"),
        (deflated(bytes(100)), {"dtype": "object", "shape": [100]}, r"packed\.x\.dtype"),
        (deflated(bytes(100)), {"dtype": "uint8", "shape": [-100]}, r"packed\.x\.shape\.0"),
        (deflated(bytes(100)), {"dtype": "uint8"}, r"packed\.x"),
    ],
)
def test_what_does_not_inflate_as_described_is_refused(
    folder: Path, stored: np.ndarray, packed: dict[str, Any], complaint: str
) -> None:
    saved(folder, COUNTS)
    rewrite(folder, stored, packed={"x": packed})
    with pytest.raises(ModelError, match=complaint) as refusal:
        load_kept_moments(folder)
    assert "\n" not in str(refusal.value)


def test_an_array_that_is_missing_is_named(folder: Path) -> None:
    saved(folder, COUNTS)
    rewrite(folder, COUNTS, packed={"y": {"dtype": "uint8", "shape": [1]}})
    assert load_file(folder / MOMENTS).keys() == {"x"}
    with pytest.raises(ModelError, match="array y is missing"):
        load_kept_moments(folder)
