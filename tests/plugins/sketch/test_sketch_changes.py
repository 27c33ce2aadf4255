"""Saved sketches grow and join, and do not forget."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spectralnlp.cli import app

pytest.importorskip("sklearn")
SKETCH = ("--size", "6", "--set", "method=dense")


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
    run("sketch", files[2], "-o", tmp_path / "other", "--size", "5", "--set", "method=dense")
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
    refused(capsys, run("forget", tmp_path / "fd", files[0]), "frequent-directions.v1 cannot forget")
    refused(capsys, run("update", tmp_path / "linear", files[0]), "CountSketch cannot be updated")
    np.save(tmp_path / "wide.npy", np.ones((3, 21)))
    refused(capsys, run("update", tmp_path / "fd", tmp_path / "wide.npy"), "21")
    assert before == (bytes_of(tmp_path / "fd"), bytes_of(tmp_path / "linear"))


def test_info_says_merge_only(files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("sketch", *files, "-o", tmp_path / "fd", *SKETCH)
    capsys.readouterr()
    assert run("info", tmp_path / "fd") == 0
    out = capsys.readouterr().out
    assert "change of mind  merge-only" in out
    assert "rows            450" in out
