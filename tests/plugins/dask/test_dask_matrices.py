"""Rows of files by address: ``sketch``, ``leverage`` and `FileRows`."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import scipy.sparse as sp
from spectralnlp_sketch import CountSketch, FileRows

from spectralnlp.cli.app import run
from spectralnlp.errors import InputError
from spectralnlp.runtime import expand_inputs, use_engine

pytestmark = pytest.mark.slow

fsspec = pytest.importorskip("fsspec")
X = np.random.default_rng(0).integers(-9, 9, (40, 5)).astype(float)
NAMES = ["x.npy", "x.npz", "x.txt", "words.txt.gz", "words.tsv"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", X)
    sp.save_npz(tmp_path / "x.npz", sp.csr_matrix(X))
    np.savetxt(tmp_path / "x.txt", X)
    with gzip.open(tmp_path / "words.txt.gz", "wt") as file:
        file.write("the cat sat\na dog\n" * 20)
    (tmp_path / "words.tsv").write_text("x\tthe cat sat\ny\ta dog\n" * 20)
    return tmp_path


def sketched(*arguments: object) -> bytes:
    output = Path(str(arguments[0]).rpartition("://")[2]).with_name("sketch")
    assert run(["sketch", *map(str, arguments), "-o", str(output), "--size", "4", "--columns", "64"]) == 0
    return (output / "arrays.safetensors").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_sketch_by_address_is_the_one_by_path(folder: Path, name: str) -> None:
    by_path = sketched(folder / name)
    assert sketched(f"file://{folder}/{name}") == by_path
    assert sketched(f"file://{folder}/{name[:-1]}[{name[-1]}]") == by_path


def test_workers_read_addresses(folder: Path, scheduler: str) -> None:
    corpus = FileRows(expand_inputs([f"file://{folder}/x.*"]), n_partitions=3)
    here = CountSketch(sketch_size=8).fit(corpus).sketch_.tobytes()
    with use_engine("dask", scheduler=scheduler):
        assert CountSketch(sketch_size=8).fit(corpus).sketch_.tobytes() == here


def test_leverage_by_address(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["leverage", str(folder / "x.npy")]) == 0
    here = capsys.readouterr().out
    with fsspec.open("memory://matrices/x.npy", "wb") as file:
        file.write((folder / "x.npy").read_bytes())
    assert run(["leverage", "memory://matrices/x.npy"]) == 0
    assert capsys.readouterr().out == here


def test_a_run_by_address_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spectralnlp_sketch.rows.RowMoments.batch_size", 8)
    options = ("--set", "method=figure-1", "--checkpoint-rows", "8")
    straight = sketched(folder / "x.npy", *options)
    original = FileRows.batches_from

    def cut_off(self: FileRows, *place: int) -> Any:
        for number, batch in enumerate(original(self, *place)):
            if number == 2:
                raise KeyboardInterrupt
            yield batch

    with monkeypatch.context() as patch:
        patch.setattr(FileRows, "batches_from", cut_off)
        address, output = f"file://{folder}/x.npy", str(folder / "sketch")
        arguments = ["sketch", address, "-o", output, "--size", "4", "--columns", "64", *options]
        assert run(arguments) == 130
    assert sketched(f"file://{folder}/x.npy", *options) == straight


class Stream(io.BytesIO):
    def seek(self, *place: int) -> NoReturn:
        raise ValueError("Cannot seek streaming HTTP file")


class Streams:
    """A file system of streams."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, address: str) -> Any:
        return Stream((self.folder / address.rpartition("/")[2]).read_bytes())

    def expand(self, address: str) -> list[str]:
        return [address]


@pytest.mark.parametrize("name", NAMES)
def test_streams_give_all_but_matrices_of_numpy_and_scipy(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("spectralnlp.runtime.files._file_system", lambda: Streams(folder))
    status = run(["sketch", f"far://{name}", "-o", str(folder / "sketch"), "--size", "4", "--columns", "64"])
    if not name.startswith("x.np"):
        assert status == 0
        return
    assert status == 2
    err = capsys.readouterr().err
    assert f"far://{name}: can only be read from its beginning to its end" in err
    assert err.count("\n") == 1
    assert not (folder / "sketch").exists()


def test_an_address_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.npy: cannot read the file"):
        FileRows([f"file://{tmp_path}/absent.npy"])
