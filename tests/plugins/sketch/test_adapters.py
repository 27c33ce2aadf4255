"""Rows from arrays, files, tables, Dask and iterables: one result, and one line where they cannot be used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from spectralnlp_sketch import CountSketch, FrequentDirections, StreamingPCA
from spectralnlp_sketch.errors import MatrixError

from spectralnlp.errors import InputError, SpectralError

X = (np.random.default_rng(0).standard_normal((130, 6)) * [3, 2.5, 2, 1, 0.5, 0.1]).astype(np.float32)
REFERENCE = StreamingPCA(3).fit(X.astype(np.float64))


class Batches:
    """An iterable that can be read again, as loaders of data are."""

    def __init__(self, make: Callable[[Any], Any] = np.asarray, rows: np.ndarray = X) -> None:
        self.make, self.rows = make, rows

    def __iter__(self) -> Iterator[Any]:
        return (self.make(part) for part in np.array_split(self.rows, 9))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, part in enumerate(np.array_split(X, 3)):
        np.save(tmp_path / f"{number}.npy", part)
    return tmp_path


def memmap(folder: Path) -> Any:
    np.save(folder / "all.npy", X)
    return np.load(folder / "all.npy", mmap_mode="r")


def npz(folder: Path) -> Any:
    sp.save_npz(folder / "all.npz", sp.csr_matrix(X))
    return folder / "all.npz"


def csv(folder: Path) -> Any:
    names = ",".join('"a, b"' if name == 0 else f"c{name}" for name in range(6))
    (folder / "all.csv").write_text(f"{names}\n" + "\n".join(",".join(map(str, row)) for row in X) + "\n")
    return folder / "all.csv"


def csv_of_pandas(folder: Path) -> Any:
    pytest.importorskip("pandas").DataFrame(X).to_csv(folder / "all.csv", index=False)
    return str(folder / "all.csv")


def table(_: object = None) -> Any:
    return pytest.importorskip("pyarrow").table({f"c{i}": X[:, i] for i in range(6)})


def parquet(folder: Path) -> Any:
    pytest.importorskip("pyarrow.parquet").write_table(table(), folder / "all.parquet", row_group_size=50)
    return folder / "all.parquet"


def dask_array(rows: Any = X) -> Any:
    return pytest.importorskip("dask.array").from_array(rows, chunks=(40, 4))


def dask_frame(rows: Any = X) -> Any:
    frame = pytest.importorskip("pandas").DataFrame(rows)
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "memmap": memmap,
    "folder of .npy": lambda folder: folder,
    "list of files": lambda folder: [str(folder / f"{number}.npy") for number in range(3)],
    "pattern": lambda folder: str(folder / "?.npy"),
    ".npz": npz,
    ".csv": csv,
    ".csv of pandas": csv_of_pandas,
    ".parquet": parquet,
    "Arrow table": table,
    "Arrow record batch": lambda _: table().combine_chunks().to_batches()[0],
    "Arrow reader": lambda _: table().to_reader(max_chunksize=29),
    "list of record batches": lambda _: table().to_batches(max_chunksize=31),
    "dask.array": lambda _: dask_array(),
    "sparse blocks of dask.array": lambda _: dask_array().rechunk((40, 6)).map_blocks(sp.csr_matrix),
    "dask.dataframe": lambda _: dask_frame(),
    "list of blocks": lambda _: np.array_split(X, 7),
    "generator": lambda _: iter(Batches()),
    "generator of sparse blocks": lambda _: iter(Batches(sp.csr_array)),
    "iterable": lambda _: Batches(),
    "iterable of data frames": lambda _: Batches(lambda part: pytest.importorskip("pandas").DataFrame(part)),
}


@pytest.mark.parametrize("method", ["exact", "sketch"])
@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_components_of_the_array(name: str, method: str, folder: Path) -> None:
    pca = StreamingPCA(3, method=method).fit(SOURCES[name](folder))
    assert (pca.n_samples_seen_, pca.n_features_in_) == (130, 6)
    np.testing.assert_allclose(pca.components_, REFERENCE.components_, atol=1e-5)
    np.testing.assert_allclose(pca.explained_variance_, REFERENCE.explained_variance_, rtol=1e-5)
    assert pca.components_.dtype == (np.float64 if name.startswith(".csv") else np.float32)
    of_arrays = np.asarray(pca.transform(X)), pca.score(X)
    found = pca.transform(SOURCES[name](folder))
    assert (type(found).__module__.partition(".")[0] == "dask") == ("dask" in name)
    np.testing.assert_allclose(np.asarray(found), of_arrays[0], atol=1e-5)
    assert np.asarray(found).dtype == pca.components_.dtype
    np.testing.assert_allclose(float(pca.score(SOURCES[name](folder))), of_arrays[1], rtol=1e-5)
    # More of the same, as of fit.
    assert pca.partial_fit(SOURCES[name](folder)).n_samples_seen_ == 260


def test_other_estimators_of_rows_take_them_too(folder: Path) -> None:
    for make in (lambda: FrequentDirections(sketch_size=6), lambda: CountSketch(sketch_size=64)):
        expected = make().fit(X).sketch_
        np.testing.assert_allclose(make().fit(Batches()).sketch_, expected, atol=1e-4)
        sketch = make().fit(X)
        np.testing.assert_allclose(sketch.transform(Batches()), sketch.transform(X), atol=1e-5)
    with pytest.raises(MatrixError, match="CountSketch depends on row numbers"):
        CountSketch(sketch_size=64).fit(X).partial_fit(Batches())


def test_a_stream_may_be_forgotten(folder: Path) -> None:
    pca = StreamingPCA(3).fit(X).partial_fit(5 * X).forget(iter(Batches(rows=5 * X)))
    np.testing.assert_allclose(pca.explained_variance_, REFERENCE.explained_variance_, rtol=1e-4)


@pytest.mark.slow
def test_nothing_is_imported_that_is_not_given() -> None:
    program = (
        "import sys; sys.modules |= dict.fromkeys(['pyarrow', 'pandas', 'dask', 'polars']); "
        "import numpy as np; from spectralnlp_sketch import StreamingPCA; "
        "print(StreamingPCA(2).fit([np.eye(4)]).partial_fit(np.eye(4)).n_samples_seen_)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "8\n"


NAN = X.copy()
NAN[77, 4] = np.nan
TEXTS = np.array([["a", "b"], ["c", "d"]])


def damaged(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def arrow(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "array with NaN": (lambda _: NAN, "row 77 holds NaN in column 4"),
    "sparse with infinity": (
        lambda _: sp.csr_array(np.where(np.isnan(NAN), np.inf, NAN)),
        "row 77 holds inf",
    ),
    "batches with NaN": (lambda _: Batches(rows=NAN), "row 77 holds NaN in column 4"),
    "Dask with NaN": (lambda _: dask_array(NAN), "row 77 holds NaN in column 4"),
    "Dask frame with NaN": (lambda _: dask_frame(NAN), "block 1: row 33 holds NaN|row 3. holds NaN"),
    "missing in Arrow": (
        lambda _: arrow({"a": [1.0, 2.0, None], "b": [1, 2, 3]}),
        "row 2 holds NaN in column 0",
    ),
    "text in Arrow": (
        lambda _: arrow({"a": [1.0], "name": ["x"]}),
        "column 'name' holds values of type string",
    ),
    "text in an array": (lambda _: TEXTS, "could not convert|string"),
    "objects": (lambda _: np.array([[1, "x"], [2, "y"]], dtype=object), "could not convert"),
    "batch of objects": (lambda _: [TEXTS.astype(object)], "batch 0 holds values of type object"),
    "text in Dask": (lambda _: dask_frame(TEXTS), "0 holds values of type str"),
    "other width": (lambda _: [X, X[:, :3]], "batch 1 has 3 columns, and those before have 6"),
    "no rows": (lambda _: X[:0], "0 sample"),
    "no batches": (lambda _: iter(()), "the stream holds no rows"),
    "empty batches": (lambda _: [X[:0], X[:0]], "the stream holds no rows"),
    "single rows": (lambda _: iter(X), "batch 0 has 1 dimensions"),
    "cube": (lambda _: np.ones((2, 3, 4)), "3"),
    "complex": (lambda _: X * 1j, "[Cc]omplex"),
    "number": (lambda _: 3, "Expected 2D|scalar"),
    "no file": (lambda folder: folder / "none.npy", "none.npy.*no such file|No such file"),
    "empty folder": (lambda folder: _empty(folder / "empty"), "the folder holds no files"),
    "damaged .npy": (lambda folder: damaged(folder, "x.npy", b"\x93NUMPY\x01\x00junk"), "x.npy"),
    "short .npy": (
        lambda folder: damaged(folder, "y.npy", (folder / "0.npy").read_bytes()[:-9]),
        "cut short",
    ),
    "damaged .npz": (lambda folder: damaged(folder, "x.npz", b"PK junk"), "x.npz.*damaged"),
    "damaged .parquet": (lambda folder: _damaged_parquet(folder), "x.parquet.*damaged"),
    "ragged .csv": (lambda folder: damaged(folder, "x.csv", b"a,b\n1,2\n1,2,3\n"), "x.csv, line 3|x.csv:3"),
    "text in .csv": (lambda folder: damaged(folder, "x.csv", b"a,b\n1,2\n1,x\n"), "not a row of numbers"),
    "NaN in .csv": (lambda folder: damaged(folder, "x.csv", b"a,b\n1,2\nnan,2\n"), "NaN or infinity"),
    "squares overflow": (lambda _: X.astype(np.float64) * 1e200, "overflow"),
}


def _empty(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _damaged_parquet(folder: Path) -> str:
    pytest.importorskip("pyarrow")
    return damaged(folder, "x.parquet", b"PAR1 junk PAR1")


@pytest.mark.parametrize("method", ["exact", "sketch"])
@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_one_line_and_changes_nothing(name: str, method: str, folder: Path) -> None:
    make, complaint = BAD[name]
    if name == "squares overflow" and method == "sketch":
        pytest.skip("a sketch scales its rows")
    pca = StreamingPCA(2, method=method).fit(X[:, :6])
    before = [pca.n_features_in_, pca.n_samples_seen_, pca.components_.tobytes(), pca.mean_.tobytes()]
    for use in (pca.fit, pca.partial_fit, pca.transform, pca.score, pca.forget):
        if name == "squares overflow" and use in (pca.transform, pca.score):
            continue  # they do not square
        with pytest.raises((SpectralError, ValueError)) as refusal:
            np.asarray(use(make(folder)))  # of Dask when it is asked for
        if use == pca.fit:  # the others know the width, and partial_fit counts rows from those before
            refusal.match(complaint)
        if isinstance(refusal.value, SpectralError):
            assert "\n" not in str(refusal.value)
        after = [pca.n_features_in_, pca.n_samples_seen_, pca.components_.tobytes(), pca.mean_.tobytes()]
        assert after == before


def test_a_file_that_changes_while_it_is_read_is_refused(folder: Path) -> None:
    pca = StreamingPCA(2).fit(X)

    def read() -> Iterator[Any]:
        from spectralnlp_sketch import FileRows

        for batch in FileRows([folder / "0.npy"]).batches(10):
            yield batch.examples.matrix  # type: ignore[attr-defined]
            np.save(folder / "0.npy", 2 * X)

    with pytest.raises(InputError, match=r"0.npy.*changed while it was read"):
        pca.partial_fit(read())
    assert pca.n_samples_seen_ == 130
