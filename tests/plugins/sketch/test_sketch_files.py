"""Rows of files: every format, what is wrong with one, and runs that are interrupted."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from spectralnlp_sketch import CountSketch, FileRows, FrequentDirections, RowFormat, StreamingPCA
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.files import checkpoint_folder, load_sketch, sketch_files

import spectralnlp
from spectralnlp.cli import main as run_cli
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError, InputError, ModelError, NotFittedError, SpectralError
from spectralnlp.runtime import use_engine

X = np.random.default_rng(0).standard_normal((130, 6)).round(3)
TEXT = ["the cat sat", "a cat", "", "the dog sat on the cat", "naïve 🐈"] * 26


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", X)
    sp.save_npz(tmp_path / "x.npz", sp.csr_matrix(X))
    rows = [" ".join(map(str, row)) for row in X]
    (tmp_path / "x.txt").write_text("\n".join(rows[:60]) + "\n\n" + "\n".join(rows[60:]) + "\n")
    (tmp_path / "x.csv").write_text("\n".join(row.replace(" ", ",") for row in rows))
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in TEXT))
    (tmp_path / "text.tsv").write_text("".join(f"label\t{line}\n" for line in TEXT))
    return tmp_path


def whole(corpus: FileRows, size: int = 1000) -> Any:
    blocks = [batch.examples.matrix for batch in corpus.batches(size)]  # type: ignore[attr-defined]
    return sp.vstack(blocks).toarray() if sp.issparse(blocks[0]) else np.concatenate(blocks)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.txt", "x.csv"])
@pytest.mark.parametrize("size", [7, 1000])
def test_matrices_in_every_format(folder: Path, name: str, size: int) -> None:
    corpus = FileRows([folder / name], RowFormat(dtype="float64"))
    assert corpus.n_columns == 6
    np.testing.assert_array_equal(whole(corpus, size), X)
    np.testing.assert_array_equal(np.vstack([np.atleast_2d(_dense(row)) for row in corpus]), X)
    later = [batch.examples.matrix for batch in corpus.batches_from(0, 70, 7)]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(np.vstack([_dense(block) for block in later]), X[70:])


def _dense(rows: Any) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows


def test_text_and_the_text_of_tsv_are_the_same_counts(folder: Path) -> None:
    text, tsv = (FileRows([folder / name], RowFormat(n_columns=64)) for name in ("text.txt", "text.tsv"))
    assert [text.formats[0].kind, tsv.formats[0].kind] == ["text", "tsv"]
    counts = whole(text)
    np.testing.assert_array_equal(counts, whole(tsv, 9))
    assert counts.shape == (130, 64)
    assert counts.dtype == np.float32
    assert counts[:5].sum(axis=1).tolist() == [5, 3, 0, 11, 1]  # words and bigrams; 🐈 is no word


def test_partitions_of_a_matrix_know_their_rows(folder: Path) -> None:
    def sketch(parts: int) -> bytes:
        return (
            CountSketch(sketch_size=20)
            .fit(FileRows([folder / "x.npy"], n_partitions=parts))
            .sketch_.tobytes()
        )

    np.save(folder / "x.npy", np.round(X * 100))  # integers add up exactly
    assert sketch(1) == sketch(4) == sketch(1000)
    with use_engine("threads", jobs=2):
        assert sketch(3) == sketch(1)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.txt", "", "the file is empty"),
        ("short.txt", "1 2 3\n4 5\n", r"short.txt:2: a row of 2 numbers where 3"),
        ("words.txt", "1 2 3\n\n4 x 5\n", r"words.txt:3: not a row of numbers"),
        ("nan.txt", "1 2\n3 nan\n", r"nan.txt:2: NaN or infinity"),
        ("broken.npy", "hello", "not a matrix of numpy"),
        ("broken.npz", "hello", "not a sparse matrix of scipy"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SpectralError, match=complaint) as refusal:
        FrequentDirections(sketch_size=3).fit(FileRows([tmp_path / name]))
    assert "\n" not in str(refusal.value)


def test_matrices_that_cannot_be_read_by_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "fortran.npy", np.asfortranarray(X))
    np.save(tmp_path / "vector.npy", X[0])
    np.save(tmp_path / "cut.npy", X)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-100])
    for name, complaint in [("fortran", "Fortran order"), ("vector", "not a matrix"), ("cut", "cut short")]:
        with pytest.raises(InputError, match=complaint):
            FileRows([tmp_path / f"{name}.npy"])
    with pytest.raises(InputError, match="No such file"):
        FileRows([tmp_path / "absent.npy"])


def test_files_of_other_widths_and_formats_are_refused(folder: Path) -> None:
    np.save(folder / "narrow.npy", X[:, :2])
    with pytest.raises(MatrixError, match=r"rows of 2 columns, and .*x.npy has 6"):
        FileRows([folder / "x.npy", folder / "narrow.npy"])
    with pytest.raises(SizeError, match="no format is called 'excel'"):
        FileRows([folder / "x.npy"], RowFormat("excel"))
    with pytest.raises(InputError, match="not numbers"):
        FileRows([folder / "text.txt"], RowFormat("numbers"))


def test_a_row_that_is_not_finite_is_named_with_its_file(tmp_path: Path) -> None:
    bad = X.copy()
    bad[99, 1] = np.inf
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(MatrixError, match=r"bad.npy: row 99 holds infinity in column 1"):
        FrequentDirections(sketch_size=3).fit(FileRows([tmp_path / "bad.npy"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [lambda: FrequentDirections(sketch_size=8, method="figure-1"), lambda: CountSketch(sketch_size=30)],
)
def test_memory_does_not_grow_with_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    monkeypatch.setattr("spectralnlp_sketch.rows.RowMoments.batch_size", 200)
    rng, peaks = np.random.default_rng(0), []
    for n_rows in (400, 40_000):
        np.save(tmp_path / "rows.npy", rng.standard_normal((n_rows, 20)))
        corpus = FileRows([tmp_path / "rows.npy"])
        make().fit(corpus)  # compiles
        tracemalloc.start()
        assert make().fit(corpus).sketch_.shape[1] == 20
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 50_000


# ---------------------------------------------------------------------------------------------------------
# Saving, resuming


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


MAKES = [
    lambda: ("frequent-directions.v1", FrequentDirections(sketch_size=3, method="figure-1")),
    lambda: ("frequent-directions.v1", FrequentDirections(sketch_size=3)),
    lambda: ("countsketch.v1", CountSketch(sketch_size=9)),
]


class Interrupted(FileRows):
    """A corpus whose reading is interrupted after some batches."""

    after = 5

    def batches_from(self, file: int, row: int, size: int) -> Iterator[Any]:
        for number, batch in enumerate(super().batches_from(file, row, size)):
            if number == self.after:
                raise KeyboardInterrupt
            yield batch


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("names", [["x.npy", "x.npy"], ["text.txt", "text.tsv"], ["x.txt", "x.csv"]])
def test_an_interrupted_run_ends_in_the_same_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, make: Any, names: list[str]
) -> None:
    monkeypatch.setattr("spectralnlp_sketch.rows.RowMoments.batch_size", 16)
    paths, row_format = [folder / name for name in names], RowFormat(n_columns=32, dtype="float64")
    name, estimator = make()
    sketch_files(estimator, FileRows(paths, row_format), folder / "straight", name=name)
    said: list[str] = []
    for _ in range(3):  # interrupted twice and more
        name, estimator = make()
        with pytest.raises(KeyboardInterrupt):
            sketch_files(
                estimator, Interrupted(paths, row_format), folder / "resumed", name=name, checkpoint_rows=30
            )
        assert checkpoint_folder(folder / "resumed").exists()
        assert not (folder / "resumed").exists()
    sketch_files(
        estimator := make()[1], FileRows(paths, row_format), folder / "resumed", name=name, report=said.append
    )
    assert "resuming from row" in said[0]
    assert contents(folder / "resumed") == contents(folder / "straight")
    assert not checkpoint_folder(folder / "resumed").exists()
    assert estimator.n_rows_ == 260


def test_a_checkpoint_of_another_run_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spectralnlp_sketch.rows.RowMoments.batch_size", 16)
    out, paths = folder / "out", [folder / "x.npy"]

    def run(estimator: Any, corpus: FileRows, **options: Any) -> Any:
        return sketch_files(
            estimator, corpus, out, name="frequent-directions.v1", checkpoint_rows=16, **options
        )

    with pytest.raises(KeyboardInterrupt):
        run(FrequentDirections(sketch_size=3), Interrupted(paths))
    with pytest.raises(ConfigError, match="an unfinished run with other settings"):
        run(FrequentDirections(sketch_size=4), FileRows(paths))
    with pytest.raises(ConfigError, match="an unfinished run with other files"):
        run(FrequentDirections(sketch_size=3), FileRows([folder / "x.txt"]))
    (checkpoint_folder(out) / "arrays.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match=r"the checkpoint is unusable.*restart"):
        run(FrequentDirections(sketch_size=3), FileRows(paths))
    assert run(FrequentDirections(sketch_size=4), FileRows(paths), restart=True).n_rows_ == 130


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: StreamingPCA(3, whiten=True),
        lambda: StreamingPCA(None),
        lambda: StreamingPCA(0.9),
        lambda: StreamingPCA(2, method="sketch", random_state=5),
        *(lambda each=each: each()[1] for each in MAKES),
    ],
)
def test_what_was_fitted_in_memory_is_saved(tmp_path: Path, make: Any, dtype: str) -> None:
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "model")
    fitted = make().fit(X.astype(dtype))
    fitted.save(tmp_path / "model")
    loaded = load_sketch(tmp_path / "model")
    assert repr(loaded) == repr(fitted)
    assert loaded.transform(X).tobytes() == fitted.transform(X).tobytes()
    assert loaded.partial_fit(X).components_.tobytes() == fitted.partial_fit(X).components_.tobytes()
    assert "sketch" in spectralnlp.load(tmp_path / "model").info
    with pytest.raises(ConfigError, match="a model is here already"):
        fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model", overwrite=True)


def test_files_are_sketched_to_principal_components(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sketch", str(folder / "x.npy"), "-o", str(folder / "pca"), "--sketch", "pca"]
    assert run([*arguments, "--set", "n_components=2"]) == 0
    assert "2 × " in capsys.readouterr().out
    expected = StreamingPCA(2).fit(X)
    np.testing.assert_allclose(load_sketch(folder / "pca").transform(X), expected.transform(X), atol=1e-10)
    assert run(["update", str(folder / "pca"), str(folder / "x.npy"), "-o", str(folder / "more")]) == 0
    assert load_sketch(folder / "more").n_samples_seen_ == 2 * len(X)


class Unregistered(StreamingPCA):
    """An estimator that no registry knows."""


def test_what_is_no_registered_sketch_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Unregistered is not registered as a sketch"):
        Unregistered(2).fit(X).save(tmp_path / "model")


@pytest.mark.parametrize("make", MAKES)
def test_a_saved_sketch_transforms_grows_and_merges(folder: Path, make: Any) -> None:
    name, estimator = make()
    sketch_files(estimator, FileRows([folder / "x.npy"]), folder / "out", name=name)
    loaded = load_sketch(folder / "out")
    assert loaded.transform(X).tobytes() == estimator.transform(X).tobytes()
    estimator.partial_fit(X)
    loaded.partial_fit(X)
    assert loaded.sketch_.tobytes() == estimator.sketch_.tobytes()
    assert loaded.merge(estimator).n_rows_ == 520


def test_what_is_no_sketch_is_not_loaded(folder: Path) -> None:
    from spectralnlp.storage import save_model

    save_model(folder / "other", kind="parser", metadata={}, arrays={"a": X}, card="")
    with pytest.raises(ModelError, match="holds a parser, not a sketch"):
        load_sketch(folder / "other")


# ---------------------------------------------------------------------------------------------------------
# Commands


def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Any:
    monkeypatch.setattr("sys.argv", ["spectralnlp", *map(str, arguments)])
    status = run_cli()
    return status, *capsys.readouterr()


def test_the_command_sketch(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = folder / "out"
    status, printed, err = command(capsys, monkeypatch, "sketch", folder / "x.npy", "-o", out, "--size", 4)
    assert (status, err) == (0, "")
    assert "gram" in printed
    assert "4 × 6" in printed
    assert load_sketch(out).n_rows_ == 130
    settings = ("--sketch", "osnap", "--set", "n_nonzeros=2", "--size", 8, "--columns", 50, "--ngrams", "1-3")
    status, printed, _ = command(capsys, monkeypatch, "sketch", folder / "text.tsv", "-o", out, *settings)
    assert status == 0
    assert load_sketch(out).get_params()["n_nonzeros"] == 2
    assert load_sketch(out).sketch_.shape == (8, 50)


def test_the_command_leverage(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, printed, err = command(capsys, monkeypatch, "leverage", folder / "x.npy")
    u = np.linalg.svd(X, full_matrices=False)[0]
    assert status == 0
    np.testing.assert_allclose([float(line) for line in printed.split()], (u**2).sum(axis=1), rtol=1e-6)
    assert err == "spectralnlp: 130 rows of 6 columns, rank 6, gram\n"
    options = ("--method", "countsketch", "--size", "5", "-o", folder / "scores.txt")
    status, printed, err = command(capsys, monkeypatch, "leverage", folder / "x.txt", *options)
    assert (status, printed) == (0, "")
    assert "warning: a sketch of 5 rows is too small" in err
    assert len((folder / "scores.txt").read_text().split()) == 130


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("sketch", "nosuch.npy", "-o", "out"), "no such file"),
        (("sketch", "x.npy", "-o", "out", "--sketch", "magic"), "no sketch is called 'magic'"),
        (("sketch", "x.npy", "-o", "out", "--set", "bogus=1"), "no hyper-parameter 'bogus'"),
        (("sketch", "x.npy", "-o", "out", "--set", "bogus"), "--set takes KEY=VALUE, not 'bogus'"),
        (("sketch", "x.npy", "-o", "out", "--ngrams", "3-1"), "not a range"),
        (("sketch", "x.npy", "-o", "out", "--ngrams", "9" * 5000), "not a range"),
        (("sketch", "x.npy", "-o", "x.npy"), "is a file, not a folder"),
        (("leverage", "x.npy", "--method", "magic"), "LeverageScores.method: got 'magic', expected"),
    ],
)
def test_a_users_error_is_one_line(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    monkeypatch.chdir(folder)
    status, printed, err = command(capsys, monkeypatch, *arguments)
    assert (status, printed) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "read_as"),
    [
        ("a.csv", "x,y\n1,2\n", "rows of numbers in 2 columns, after a line of names"),
        ("a.tsv", "first one\tsecond\n1\t2\n", "rows of numbers in 2 columns, after a line of names"),
        ("a.csv", "x;y\n1;2\n", "rows of numbers in 2 columns, after a line of names"),
        ("a.csv", "1;2\n3;4\n", "rows of numbers in 2 columns"),
        ("a.csv", '"1","2"\n"3",4\n', "rows of numbers in 2 columns"),
        ("a.csv", '"x","y"\n"1","2"\n', "rows of numbers in 2 columns, after a line of names"),
        ("a.tsv", "x\tone\n1\t2 b\n", "text after the last tab, whose n-grams are hashed to 65,536 columns"),
        ("a.txt", '"one" she said\n1 2\n', "text, whose n-grams are hashed to 65,536 columns"),
        ("a.txt", "one text\n1 2\n", "text, whose n-grams are hashed to 65,536 columns"),
    ],
)
def test_what_is_recognised_is_said(tmp_path: Path, name: str, content: str, read_as: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert FileRows([path]).remarks() == [f"{path}: {read_as}"]


def test_quoted_numbers_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for between in (",", ";"):
        path.write_text(f'"x"{between}"y"\n"1"{between}"-2.5"\n 3 {between}"4e2"\n')
        np.testing.assert_array_equal(whole(FileRows([path])), [[1, -2.5], [3, 400]])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1,5;2,5", "a row of numbers with commas and semicolons; separate columns by one of them"),
        ("1,,3", "a row of numbers with an empty cell; drop or repair it"),
        (",2,3", "a row of numbers with an empty cell"),
        ('1,"",3', "a row of numbers with an empty cell"),
        ('"1,234","5,678"', "not a row of numbers"),
        ('1,"two"', "not a row of numbers"),
    ],
)
def test_cells_never_move_to_other_columns(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"1,2\n3,4\n{line}\n")
    with pytest.raises(InputError, match=rf"a\.csv:3: {complaint}"):
        list(FileRows([path]))
    if "not a row" not in complaint:
        path.write_text(f"{line}\n3,4\n")
        with pytest.raises(InputError, match=rf"a\.csv: {complaint}"):
            FileRows([path])


def test_a_long_name_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x" * 200_000 + ",y\n1,2\n")
    with pytest.raises(InputError, match=r"a\.csv:1: a cell of more than 131,072 characters"):
        FileRows([path])


def test_columns_of_text_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,two words\n")
    with pytest.raises(InputError, match=r"a\.csv:2: not a row of numbers; choose format"):
        list(FileRows([path]))
