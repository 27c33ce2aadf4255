"""CCA from the command line: train, transform, evaluate, update and forget."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import Run

import spectralnlp.api

pytest.importorskip("sklearn")
RNG = np.random.default_rng(0)
HIDDEN = RNG.integers(-3, 4, size=(300, 2))
X, Y = (HIDDEN @ RNG.integers(-2, 3, size=(2, d)) + RNG.integers(-2, 3, size=(300, d)) for d in (5, 4))


@pytest.fixture
def command(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line with the real `load`."""
    monkeypatch.setattr(spectralnlp, "load", spectralnlp.api.load, raising=False)
    return run


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Both views of the first 200 rows, of the others and of all, and a view that is too short."""
    parts = {"": slice(0, 200), "more_": slice(200, 300), "all_": slice(0, 300)}
    rows = {f"{part}{name}": each[of] for part, of in parts.items() for name, each in (("x", X), ("y", Y))}
    for name, each in {**rows, "short": Y[:150]}.items():
        np.save(tmp_path / f"{name}.npy", each)
    return {name: tmp_path / f"{name}.npy" for name in (*rows, "short")}


@pytest.fixture
def model(command: Run, files: dict[str, Path], tmp_path: Path) -> Path:
    inputs = ("train", "cca", files["x"], files["y"], "-o", tmp_path / "cca")
    assert command(*inputs, "--keep-moments").status == 0
    return tmp_path / "cca"


def test_a_model_is_what_the_estimator_learns(
    command: Run, model: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    from spectralnlp_sketch import CCA

    expected, loaded = CCA(2).fit(X[:200], Y[:200]), spectralnlp.api.load(model)
    assert not list(model.glob("*.pkl"))
    for view, of, wanted in (
        ((), "x", expected.transform(X)),
        (("--view", "y"), "y", expected.transform_y(Y)),
    ):
        ran = command("transform", model, files[f"all_{of}"], "-o", tmp_path / "rows.npy", *view)
        assert (ran.status, ran.out) == (0, f"{tmp_path / 'rows.npy'}: 300 rows of 2 columns\n")
        np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), wanted)
    np.testing.assert_array_equal(loaded.predict(X), expected.predict(X))
    np.testing.assert_array_equal(loaded.inverse_transform(X[:, :2]), expected.inverse_transform(X[:, :2]))
    assert "canonical correlations" in command("info", model).out


def test_it_is_scored_on_other_rows(command: Run, model: Path, files: dict[str, Path]) -> None:
    ran = command("evaluate", model, files["more_x"], files["more_y"], "--format", "json")
    assert ran.status == 0
    loaded = spectralnlp.api.load(model)
    report = spectralnlp.api.evaluate(loaded, (X[200:], Y[200:]))
    assert report.r2 == pytest.approx(loaded.score(X[200:], Y[200:]))
    x, y = loaded.transform(X[200:], Y[200:])
    assert report.correlation_2 == pytest.approx(np.corrcoef(x[:, 1], y[:, 1])[0, 1])
    assert json.loads(ran.out) == report.to_flat_dict()


def test_rows_are_added_and_taken_out(
    command: Run, model: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    more = (files["more_x"], files["more_y"])
    assert command("update", model, *more, "-o", tmp_path / "both").status == 0
    assert command("train", "cca", files["all_x"], files["all_y"], "-o", tmp_path / "all").status == 0
    both, whole = (spectralnlp.api.load(tmp_path / name) for name in ("both", "all"))
    np.testing.assert_array_equal(both.x_weights, whole.x_weights)
    assert command("forget", tmp_path / "both", *more, "-o", tmp_path / "less").status == 0
    assert (
        spectralnlp.api.load(tmp_path / "less").x_weights.tobytes()
        == spectralnlp.api.load(model).x_weights.tobytes()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "cca", "x"), "1 inputs, and two views are two"),
        (("train", "cca", "x", "y", "x"), "3 inputs, and two views are two"),
        (("train", "cca", "x", "short"), "y ends after 150 rows, and the other view goes on"),
        (("train", "cca", "x", "y", "--skip-bad"), "rows of two views cannot be skipped"),
        (("transform", "MODEL", "y"), "rows of 4 columns where 5 are expected"),
        (("transform", "MODEL", "x", "--view", "z"), "no view is called 'z'"),
        (("transform", "MODEL", "x", "--text-column", "a"), "--text-column means nothing to views"),
    ],
)
def test_bad_input_is_one_line(
    command: Run,
    model: Path,
    files: dict[str, Path],
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    named = [files.get(each, model if each == "MODEL" else each) for each in arguments]
    ran = command(*named, "-o", tmp_path / "out.npy")
    assert (ran.status, ran.err.count("\n"), (tmp_path / "out.npy").exists()) == (2, 1, False)
    assert message in ran.err
