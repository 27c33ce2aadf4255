"""Saved sketches grow and join, and do not forget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp.cli import app

pytest.importorskip("sklearn")
SKETCH = ("--size", "6", "--set", "method=figure-1")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.npy" for number in range(3)]
    for path in paths:
        np.save(path, rng.standard_normal((150, 20)))
    return paths


def run(*arguments: str | Path) -> int:
    return app.run([str(argument) for argument in arguments])


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refused(capsys: pytest.CaptureFixture[str], status: int, *parts: str) -> None:
    err = capsys.readouterr().err
    assert status == 2
    assert err.count("\n") == 1
    assert all(part in err for part in parts), err


def test_more_rows_give_the_sketch_of_all_rows(files: list[Path], tmp_path: Path) -> None:
    assert run("sketch", *files[:2], "-o", tmp_path / "two", *SKETCH) == 0
    assert run("sketch", *files, "-o", tmp_path / "three", *SKETCH) == 0
    assert run("update", tmp_path / "two", files[2]) == 0
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "three")


def test_text_is_read_as_it_was_at_first(tmp_path: Path) -> None:
    for name, text in (("a", "one two three\nfour five\n"), ("b", "six one\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    made = ("--size", "4", "--columns", "256", "--ngrams", "1-1")
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    run("sketch", a, "-o", tmp_path / "grown", *made)
    run("sketch", a, b, "-o", tmp_path / "whole", *made)
    assert run("update", tmp_path / "grown", b) == 0
    assert bytes_of(tmp_path / "grown") == bytes_of(tmp_path / "whole")


def test_joined_sketches_keep_their_bound(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from spectralnlp import load

    run("sketch", *files[:2], "-o", tmp_path / "a", *SKETCH)
    run("sketch", files[2], "-o", tmp_path / "b", *SKETCH)
    assert run("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "ab") == 0
    joined = load(tmp_path / "ab").sketch
    X = np.concatenate([np.load(path) for path in files])
    error = np.linalg.norm(X.T @ X - joined.sketch_.T @ joined.sketch_, 2)
    assert joined.n_rows_ == len(X)
    assert 0 < error <= joined.bound_
    run("sketch", files[2], "-o", tmp_path / "other", "--size", "5", "--set", "method=figure-1")
    capsys.readouterr()
    status = run("merge", tmp_path / "a", tmp_path / "other", "-o", tmp_path / "no")
    refused(capsys, status, "sketch_size (6 and 5)")
    assert not (tmp_path / "no").exists()


def test_sketches_cannot_forget_and_linear_ones_cannot_grow(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("sketch", *files, "-o", tmp_path / "fd", *SKETCH)
    run("sketch", *files, "-o", tmp_path / "linear", "--sketch", "countsketch", "--size", "6")
    before = bytes_of(tmp_path / "fd"), bytes_of(tmp_path / "linear")
    capsys.readouterr()
    refused(capsys, run("forget", tmp_path / "fd", files[0]), "a sketch by frequent-directions cannot forget")
    refused(
        capsys,
        run("update", tmp_path / "linear", files[0]),
        *("a CountSketch made without ", "cannot be updated; sketch its files again with "),
    )
    np.save(tmp_path / "wide.npy", np.ones((3, 21)))
    refused(capsys, run("update", tmp_path / "fd", tmp_path / "wide.npy"), "21")
    assert before == (bytes_of(tmp_path / "fd"), bytes_of(tmp_path / "linear"))


LINEAR = ["countsketch", "osnap", "srht", "gaussian"]


def linear(name: str) -> tuple[str, ...]:
    return "--sketch", name, "--size", "6", "--keep-moments"


@pytest.fixture
def counts(tmp_path: Path) -> list[Path]:
    """Files of integers, one of them text."""
    (tmp_path / "a.txt").write_text("the cat sat\na dog\n" * 40)
    (tmp_path / "b.txt").write_text("the dog sat on the cat\n" * 30)
    (tmp_path / "c.tsv").write_text("x\ta dog and a dog\ny\tcats\n" * 50)
    return [tmp_path / name for name in ("a.txt", "b.txt", "c.tsv")]


@pytest.mark.parametrize("name", ["countsketch", "osnap", "srht"])
def test_linear_sketches_of_counts_change_their_mind_to_the_byte(
    counts: list[Path], tmp_path: Path, name: str
) -> None:
    a, b, c = counts
    made = (*linear(name), "--columns", "64", "--format", "text")
    for folder, paths in {"all": [a, b, c], "ac": [a, c], "b": [b], "ab": [a, b]}.items():
        assert run("sketch", *paths, "-o", tmp_path / folder, *made) == 0
    assert run("forget", tmp_path / "all", b, "-o", tmp_path / "forgot") == 0
    assert bytes_of(tmp_path / "forgot") == bytes_of(tmp_path / "ac")
    assert run("update", tmp_path / "ab", c) == 0
    assert bytes_of(tmp_path / "ab") == bytes_of(tmp_path / "all")
    assert run("merge", tmp_path / "b", tmp_path / "ac", "-o", tmp_path / "joined") == 0
    assert bytes_of(tmp_path / "joined") == bytes_of(tmp_path / "all")
    assert run("forget", tmp_path / "joined", b) == 0
    assert bytes_of(tmp_path / "joined") == bytes_of(tmp_path / "ac")


@pytest.mark.parametrize("name", LINEAR)
def test_linear_sketches_of_other_numbers_change_it_to_rounding(
    files: list[Path], tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from spectralnlp import load

    for folder, paths in {"all": files, "two": files[:2], "last": files[2:]}.items():
        assert run("sketch", *paths, "-o", tmp_path / folder, *linear(name)) == 0
    two, whole = bytes_of(tmp_path / "two"), load(tmp_path / "all").sketch
    forgot = run("forget", tmp_path / "all", files[2])
    if name == "gaussian":
        refused(capsys, forgot, "GaussianMoments can grow and merge but not forget")
        assert load(tmp_path / "all").info["incremental update"] == "merge-only"
    else:
        after = load(tmp_path / "all").sketch
        assert after.n_rows_ == 300
        np.testing.assert_allclose(after.sketch_, load(tmp_path / "two").sketch.sketch_, atol=1e-9)
    assert run("merge", tmp_path / "two", tmp_path / "last", "-o", tmp_path / "joined") == 0
    np.testing.assert_allclose(load(tmp_path / "joined").sketch.sketch_, whole.sketch_, atol=1e-9)
    assert bytes_of(tmp_path / "two") == two
    assert run("update", tmp_path / "two", files[2]) == 0
    assert load(tmp_path / "two").sketch.sketch_.tobytes() == whole.sketch_.tobytes()


def test_signs_belong_to_what_is_in_a_file(files: list[Path], tmp_path: Path) -> None:
    """Not to its name or place; and a run that was cut off goes on with them."""
    from spectralnlp import load

    moved = files[1].rename(tmp_path / "another.npy")
    for name, paths in {"one": [files[0], moved], "two": [moved, files[0]]}.items():
        assert run("sketch", *paths, "-o", tmp_path / name, *linear("osnap")) == 0
    one, two = (load(tmp_path / name).sketch.sketch_ for name in ("one", "two"))
    np.testing.assert_allclose(one, two, atol=1e-9)
    assert run("sketch", files[0], moved, "-o", tmp_path / "by-order", *linear("osnap")[:-1]) == 0
    assert not np.allclose(load(tmp_path / "by-order").sketch.sketch_, one)


def test_a_cut_off_run_goes_on_with_its_numbers(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from spectralnlp_sketch.linear.moments import OSNAPMoments

    made = (*linear("osnap"), "--checkpoint-rows", "64")
    monkeypatch.setattr("spectralnlp_sketch.rows.RowMoments.batch_size", 32)
    assert run("sketch", *files, "-o", tmp_path / "straight", *made) == 0
    original, seen = OSNAPMoments._add_rows, []

    def cut_off(self: OSNAPMoments, *rows: Any) -> None:
        seen.append(rows)
        if len(seen) == 8:
            raise KeyboardInterrupt
        original(self, *rows)

    with monkeypatch.context() as patch:
        patch.setattr(OSNAPMoments, "_add_rows", cut_off)
        assert run("sketch", *files, "-o", tmp_path / "resumed", *made) == 130
    capsys.readouterr()
    by_order = [each for each in made if each != "--keep-moments"]
    refused(capsys, run("sketch", *files, "-o", tmp_path / "resumed", *by_order), "with other numbering")
    assert run("sketch", *files, "-o", tmp_path / "resumed", *made) == 0
    assert "resuming from row 64 of" in capsys.readouterr().err
    assert bytes_of(tmp_path / "resumed") == bytes_of(tmp_path / "straight")


def test_what_linear_sketches_refuse(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, c = files
    output = tmp_path / "out"
    for name, paths in {"ab": [a, b], "bc": [b, c], "c": [c]}.items():
        run("sketch", *paths, "-o", tmp_path / name, *linear("countsketch"))
    run("sketch", c, "-o", tmp_path / "osnap", *linear("osnap"))
    run("sketch", c, "-o", tmp_path / "seed", *linear("countsketch"), "--set", "random_state=3")
    run("sketch", c, "-o", tmp_path / "by-order", *linear("countsketch")[:-1])
    (tmp_path / "copy.npy").write_bytes(a.read_bytes())
    before = bytes_of(tmp_path / "ab")
    capsys.readouterr()
    refused(capsys, run("update", tmp_path / "ab", c, b), "1.npy: in the sketch already", "1 among 2 files")
    refused(capsys, run("forget", tmp_path / "ab", b, c), "2.npy: not in the sketch", "1 among 2 files")
    refused(capsys, run("forget", tmp_path / "ab", a, b), "nothing would be left")
    merge = ("merge", tmp_path / "ab")
    refused(capsys, run(*merge, tmp_path / "bc", "-o", output), "in more than one of the sketches: 1 file")
    refused(capsys, run(*merge, tmp_path / "osnap", "-o", output), "by countsketch and by osnap")
    refused(capsys, run(*merge, tmp_path / "seed", "-o", output), "random_state (0 and 3)")
    refused(capsys, run(*merge, tmp_path / "by-order", "-o", output), "made without ", "cannot be merged")
    refused(capsys, run("update", tmp_path / "ab", c, "--skip-known"), "--skip-known means nothing")
    sketch = ("sketch", a, "-o", output, "--size", "6", "--keep-moments")
    refused(capsys, run(*sketch), "frequent-directions always keeps its moments")
    copied = run(*sketch, tmp_path / "copy.npy", "--sketch", "countsketch")
    refused(capsys, copied, "copy.npy: has the same content as", "0.npy")
    assert bytes_of(tmp_path / "ab") == before
    assert not output.exists()
    assert run("info", tmp_path / "ab") == 0
    assert "incremental update  exact" in capsys.readouterr().out


def remove(folder: Path, *missing: str) -> None:
    """Write a sketch without a value or an array of it."""
    from spectralnlp.storage import load_model, save_model

    stored = load_model(folder)
    metadata = {key: each for key, each in stored.metadata.items() if key not in missing}
    arrays = {key: each for key, each in stored.arrays.items() if key not in missing}
    save_model(folder, kind=stored.kind, metadata=metadata, arrays=arrays, card=stored.card)


@pytest.mark.parametrize("missing", ["reading", "settings", "input", "moments.sums"])
@pytest.mark.parametrize("name", ["frequent-directions", "countsketch"])
def test_sketches_that_lack_something_are_refused_in_one_line(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, missing: str
) -> None:
    if (name, missing) == ("frequent-directions", "moments.sums"):
        missing = "moments.waiting"
    old, output = tmp_path / "old", tmp_path / "output"
    made = linear(name) if name == "countsketch" else SKETCH
    assert run("sketch", files[0], "-o", old, *made) == 0
    assert run("sketch", files[1], "-o", tmp_path / "new", *made) == 0
    remove(old, missing)
    before = bytes_of(old)
    capsys.readouterr()
    told = "old", f"{missing} is missing"
    refused(capsys, run("update", old, files[1], "-o", output), *told)
    refused(capsys, run("forget", old, files[0], "-o", output), *told)
    refused(capsys, run("merge", old, tmp_path / "new", "-o", output), *told)
    refused(capsys, run("merge", tmp_path / "new", old, "-o", output), *told)
    assert bytes_of(old) == before
    assert not output.exists()


def test_info_says_merge_only(files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("sketch", *files, "-o", tmp_path / "fd", *SKETCH)
    capsys.readouterr()
    assert run("info", tmp_path / "fd") == 0
    out = capsys.readouterr().out
    assert "incremental update  merge-only" in out
    assert "rows                450" in out
