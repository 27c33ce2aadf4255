"""Matrices in memory that no sketch can use: indices outside of the shape, squares that overflow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")

from spectralnlp_sketch import (
    CCA,
    OSNAP,
    SRHT,
    CountSketch,
    FrequentDirections,
    GaussianSketch,
    LeverageScores,
    MatrixCorpus,
)
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.matrix_files import load_npz

from spectralnlp.errors import InputError

SKETCHES = (CountSketch, OSNAP, SRHT, GaussianSketch, FrequentDirections)


def damaged(form: str, change: Callable[[Any], None]) -> Any:
    matrix = sp.random(30, 12, 0.3, format=form, random_state=0)
    change(matrix)
    return matrix


def far(matrix: Any) -> None:
    matrix.indices[3] = 10**9


def negative(matrix: Any) -> None:
    matrix.indices[3] = -(10**6)


def offsets(matrix: Any) -> None:
    matrix.indptr[4] = 10**8


def falling(matrix: Any) -> None:
    matrix.indptr[-1] = 0


def far_column(matrix: Any) -> None:
    matrix.col[3] = 10**9


DAMAGED = [
    (form, change) for form in ("csr", "csc", "bsr") for change in (far, negative, offsets, falling)
] + [("coo", far_column)]


@pytest.mark.parametrize(("form", "change"), DAMAGED)
@pytest.mark.parametrize("sketch", [*SKETCHES, LeverageScores])
def test_indices_outside_of_a_matrix_are_refused(
    sketch: Any, form: str, change: Callable[[Any], None]
) -> None:
    size = {} if sketch is LeverageScores else {"sketch_size": 4}
    with pytest.raises(MatrixError, match="a damaged sparse matrix"):
        sketch(**size).fit(damaged(form, change))
    with pytest.raises(MatrixError, match="a damaged sparse matrix"):
        MatrixCorpus(damaged(form, change))
    whole = sp.random(30, 12, 0.3, format="csr", random_state=0)
    if hasattr(sketch, "transform"):
        with pytest.raises(MatrixError, match="a damaged sparse matrix"):
            sketch(**size).fit(whole).transform(damaged(form, change))


def test_indices_outside_of_the_second_view_are_refused() -> None:
    whole = sp.random(30, 12, 0.3, format="csr", random_state=0)
    with pytest.raises(MatrixError, match="a damaged sparse matrix"):
        CCA(n_components=2).fit(whole, damaged("csr", far))


@pytest.mark.parametrize("sketch", SKETCHES)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e200, 1e307])
def test_squares_that_overflow_are_refused(sketch: Any, size: float) -> None:
    rows = np.random.default_rng(0).uniform(-size, size, (300, 20))
    with pytest.raises(MatrixError, match="squares of the rows overflow float64"):
        sketch(sketch_size=16).fit(rows).components_  # noqa: B018


def test_an_archive_that_swells_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "bomb.npz", "w", ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(65 << 20))
    with pytest.raises(InputError, match=r"bomb\.npz: an archive that swells"):
        load_npz(tmp_path / "bomb.npz")
