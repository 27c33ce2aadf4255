"""Matrices ``.npy`` and ``.npz`` that hold something else than they say."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from spectralnlp_sketch.row_files import FileRows, RowFormat

from spectralnlp.errors import InputError

SOUND = sp.random(6, 5, 0.5, format="csr", random_state=0)


def rows_of(path: Path) -> Any:
    """All rows of a file."""
    corpus = FileRows([path], RowFormat())
    return sp.vstack([sp.csr_matrix(batch.examples.matrix) for batch in corpus.batches(2)])


def write_npz(path: Path, **changes: Any) -> Path:
    arrays = {"indices": SOUND.indices, "indptr": SOUND.indptr, "data": SOUND.data}
    np.savez(path, **{**arrays, "shape": np.array(SOUND.shape), "format": np.array(b"csr"), **changes})
    return path


def first_is(values: Any, number: Any) -> Any:
    changed = values.copy()
    changed[0] = number
    return changed


def test_a_sound_matrix_is_read(tmp_path: Path) -> None:
    np.testing.assert_array_equal(rows_of(write_npz(tmp_path / "m.npz")).toarray(), SOUND.toarray())


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": first_is(SOUND.indices, 5)},
        {"indices": first_is(SOUND.indices, 2**31 - 1)},
        {"indices": first_is(SOUND.indices, -1)},
        {"indptr": first_is(SOUND.indptr, 1)},
        {"indptr": np.sort(SOUND.indptr)[::-1].copy()},
        {"indptr": SOUND.indptr * 1000},
        {"indptr": np.array([0, 1, 1, 0, 1, 1, 0])},
        {"data": SOUND.data.astype(complex)},
        {"data": SOUND.data.astype("M8[s]")},
        {"data": SOUND.data.astype(np.float16)},
        {"data": SOUND.data[:-2]},
        {"shape": np.array([0, 10**15])},
        {"shape": np.array([6])},
        {"shape": np.array([-6, 5])},
        {"format": np.array(b"lil")},
        {"format": np.array(7)},
    ],
)
def test_sparse_matrices_that_are_none_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError) as refusal:
        rows_of(write_npz(tmp_path / "m.npz", **changes))
    assert len(str(refusal.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK" + b"\0" * 100])
def test_archives_that_are_none_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.npz").write_bytes(content)
    with pytest.raises(InputError, match="not a sparse matrix of scipy"):
        rows_of(tmp_path / "m.npz")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    write_npz(tmp_path / "m.npz", data=np.array([print] * SOUND.nnz, object))
    np.save(tmp_path / "m.npy", np.array([[print]], object))
    for name in ("m.npz", "m.npy"):
        with pytest.raises(InputError):
            rows_of(tmp_path / name)


def test_an_archive_cut_anywhere_is_refused(tmp_path: Path) -> None:
    raw = write_npz(tmp_path / "whole.npz").read_bytes()
    for length in range(0, len(raw), 97):
        (tmp_path / "m.npz").write_bytes(raw[:length])
        with pytest.raises(InputError):
            rows_of(tmp_path / "m.npz")
    assert zipfile.is_zipfile(io.BytesIO(raw))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(6, 5)", b"(6,-5)"),
        (b"(6, 5)", b"(6+5j)"),
        (b"(6, 5)", b"((((((("),
        (b"'shape': (6, 5), }            ", b"'shape': (0, 1000000000000000)}"),
        (b"(6, 5), }      ", b"(9999999999, 5)"),
        (b"'<f8'", b"'<c8'"),
        (b"'<f8'", b"'O'  "),
        (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x07\x00"),
    ],
)
def test_damaged_headers_of_dense_matrices_are_refused(old: bytes, new: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", SOUND.toarray())
    raw = (tmp_path / "m.npy").read_bytes()
    assert old in raw
    (tmp_path / "m.npy").write_bytes(raw.replace(old, new[: len(old)].ljust(len(old)), 1))
    with pytest.raises(InputError) as refusal:
        rows_of(tmp_path / "m.npy")
    assert len(str(refusal.value)) < 300 + len(str(tmp_path))
