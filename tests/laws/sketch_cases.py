"""Moments of the sketch plugin under the laws: rows of small integers, so that even float sums are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from spectralnlp_sketch.cca.moments import PairMoments
from spectralnlp_sketch.columns import ColumnMoments
from spectralnlp_sketch.dcot.moments import ReconstructionMoments, RowLog
from spectralnlp_sketch.frequent_directions.gram import GramMoments
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.hashing.frequencies import DocumentFrequencies
from spectralnlp_sketch.leverage.moments import TriangleMoments
from spectralnlp_sketch.linear.moments import (
    CountSketchMoments,
    GaussianMoments,
    OSNAPMoments,
    SRHTMoments,
)
from spectralnlp_sketch.pca.directions import DirectionsMoments
from spectralnlp_sketch.pca.scatter import ScatterMoments
from spectralnlp_sketch.sent.moments import NgramDirections
from spectralnlp_sketch.tmpca.moments import PositionMoments, StageMoments

from spectralnlp.runtime import Moments

Empty = Callable[[], Moments[Any]]

WIDTH = 5
ROWS = list(np.random.default_rng(3).integers(-4, 5, (37, WIDTH)).astype(np.float64))

_BASE = {"sketch_size": 4, "n_columns": WIDTH, "seed": 1}
_OTHER = {"sketch_size": 3, "n_columns": WIDTH + 1, "seed": 2}


def _variants(cls: type[Any], base: dict[str, Any], other: dict[str, Any]) -> dict[str, Empty]:
    return {name: lambda name=name: cls(**{**base, name: other[name]}) for name in other}


def _linear(cls: type[Any], **own: tuple[Any, Any]) -> tuple[Empty, dict[str, Empty]]:
    base = {**_BASE, **{name: pair[0] for name, pair in own.items()}}
    other = {**_OTHER, **{name: pair[1] for name, pair in own.items()}}
    return lambda: cls(**base), _variants(cls, base, other)


def _pairs(sparse: bool) -> tuple[Empty, dict[str, Empty]]:
    return lambda: PairMoments(2, WIDTH - 2, sparse), {
        "n_x": lambda: PairMoments(3, WIDTH - 2, sparse),
        "n_y": lambda: PairMoments(2, WIDTH, sparse),
        "sparse": lambda: PairMoments(2, WIDTH - 2, not sparse),
    }


# name, class's empty moments and variants, whether sums of these rows are exact
LINEAR_CASES: list[tuple[str, tuple[Empty, dict[str, Empty]], bool]] = [
    ("count sketch", _linear(CountSketchMoments), True),
    ("OSNAP", _linear(OSNAPMoments, n_nonzeros=(2, 3)), True),
    ("SRHT", _linear(SRHTMoments, block_size=(8, 16)), True),
    ("Gaussian sketch", _linear(GaussianMoments), False),
    (
        "Gram matrix",
        (
            lambda: GramMoments(WIDTH),
            {"n_columns": lambda: GramMoments(2), "dtype": lambda: GramMoments(WIDTH, "float32")},
        ),
        True,
    ),
    ("column sums", (lambda: ColumnMoments(WIDTH), {"n_columns": lambda: ColumnMoments(2)}), True),
    ("triangle", (lambda: TriangleMoments(WIDTH), {"n_columns": lambda: TriangleMoments(2)}), False),
]

_DRAWN = np.random.default_rng(4)
WEIGHTS, BIASES = _DRAWN.standard_normal((WIDTH + 3, 3)) / 9, _DRAWN.standard_normal((2, 3))
MEANS, SYSTEM = _DRAWN.standard_normal((4, 3)), np.linalg.qr(_DRAWN.standard_normal((6, 3)))[0].T
# Sequences of four elements of three numbers, the last of them padding.
SEQUENCES = [
    (np.where(np.arange(4)[:, None] < n, np.round(_DRAWN.standard_normal((4, 3)) * 4), 0), np.arange(4) < n)
    for n in _DRAWN.integers(0, 5, 37)
]

# Examples of CCA.
PAIRS = [(row[:2], row[2:]) for row in ROWS]

# The same of featurizers, with the examples that they eat.
FEATURIZER_CASES: list[tuple[str, tuple[Empty, dict[str, Empty]], list[Any], bool]] = [
    ("two views", _pairs(sparse=False), PAIRS, True),
    ("two sparse views", _pairs(sparse=True), PAIRS, True),
    (
        "log of rows",
        (
            lambda: RowLog(WIDTH),
            {"n_columns": lambda: RowLog(2), "dtype": lambda: RowLog(WIDTH, "float32")},
        ),
        ROWS,
        True,
    ),
    (
        "scatter of reconstructions",
        (
            lambda: ReconstructionMoments(WIDTH, WEIGHTS, BIASES),
            {
                "n_columns": lambda: ReconstructionMoments(WIDTH + 1, WEIGHTS, BIASES),
                "weights": lambda: ReconstructionMoments(WIDTH, -WEIGHTS, BIASES),
                "biases": lambda: ReconstructionMoments(WIDTH, WEIGHTS, -BIASES),
            },
        ),
        ROWS,
        False,
    ),
    (
        "elements at positions",
        (
            lambda: PositionMoments(4, 3),
            {"length": lambda: PositionMoments(2, 3), "size": lambda: PositionMoments(4, 2)},
        ),
        SEQUENCES,
        True,
    ),
    (
        "scatter of a stage",
        (
            lambda: StageMoments(MEANS, 2, SYSTEM),
            {
                "means": lambda: StageMoments(-MEANS, 2, SYSTEM),
                "branching": lambda: StageMoments(MEANS, 4, SYSTEM),
                "system": lambda: StageMoments(MEANS, 2),
            },
        ),
        SEQUENCES,
        False,
    ),
    (
        "texts with each n-gram",
        (
            lambda: DocumentFrequencies(2**8, (1, 2), (2, 3)),
            _variants(
                DocumentFrequencies,
                {"n_columns": 2**8, "words": (1, 2), "characters": (2, 3), "lowercase": True},
                {"n_columns": 2**9, "words": (1, 3), "characters": None, "lowercase": False},
            ),
        ),
        ["the cat sat", "The CAT", "", "on the mat, naïvely", "cat cat cat"] * 3,
        True,
    ),
]

_DIRECTIONS: dict[str, Any] = {
    "sketch_size": 3,
    "n_columns": WIDTH,
    "method": "randomised",
    "dtype": "float64",
    "sparse": False,
    "buffer_rows": 4,
    "seed": 0,
}
_OTHER_DIRECTIONS: dict[str, Any] = {
    "sketch_size": 2,
    "n_columns": 2,
    "method": "figure-1",
    "dtype": "float32",
    "sparse": True,
    "buffer_rows": 5,
    "seed": 1,
}


def directions_case(method: str, **changes: Any) -> tuple[Empty, dict[str, Empty]]:
    """Empty frequent directions of a method, and one variant for each parameter."""
    base = {**_DIRECTIONS, "method": method, **changes}
    other = {**_OTHER_DIRECTIONS, "method": "randomised" if method == "figure-1" else "figure-1"}
    if base["sparse"]:
        other["sparse"] = False
    return lambda: FrequentDirectionsMoments(**base), _variants(FrequentDirectionsMoments, base, other)


DIRECTIONS_CASES: list[tuple[str, tuple[Empty, dict[str, Empty]]]] = [
    ("frequent directions, figure 1", directions_case("figure-1")),
    ("frequent directions, randomised", directions_case("randomised")),
    ("frequent directions, sparse", directions_case("randomised", sparse=True)),
]

# name, empty moments and variants, what has to stay the same
SCATTER_CASES: list[tuple[str, tuple[Empty, dict[str, Empty]]]] = [
    (
        "scatter",
        (
            lambda: ScatterMoments(WIDTH),
            {"n_columns": lambda: ScatterMoments(2), "dtype": lambda: ScatterMoments(WIDTH, "float32")},
        ),
    ),
    *(
        (
            f"scatter by {'sparse ' * sparse}directions",
            (
                lambda sparse=sparse: DirectionsMoments(WIDTH, WIDTH, sparse=sparse),
                {
                    "sketch_size": lambda sparse=sparse: DirectionsMoments(2, WIDTH, sparse=sparse),
                    "n_columns": lambda sparse=sparse: DirectionsMoments(WIDTH, 2, sparse=sparse),
                    "dtype": lambda sparse=sparse: DirectionsMoments(WIDTH, WIDTH, "float32", sparse),
                    "sparse": lambda sparse=sparse: DirectionsMoments(WIDTH, WIDTH, sparse=not sparse),
                    "seed": lambda sparse=sparse: DirectionsMoments(WIDTH, WIDTH, sparse=sparse, seed=1),
                },
            ),
        )
        for sparse in (False, True)
    ),
]

# The same of n-grams of texts.
NGRAM_DIRECTIONS = (
    lambda: NgramDirections(3, 2**6, (1, 2), buffer_rows=4),
    {
        "sketch_size": lambda: NgramDirections(2, 2**6, (1, 2), buffer_rows=4),
        "n_features": lambda: NgramDirections(3, 2**7, (1, 2), buffer_rows=4),
        "words": lambda: NgramDirections(3, 2**6, (1, 3), buffer_rows=4),
        "buffer_rows": lambda: NgramDirections(3, 2**6, (1, 2), buffer_rows=5),
        "seed": lambda: NgramDirections(3, 2**6, (1, 2), buffer_rows=4, seed=1),
    },
)
TEXTS = ["the cat sat", "the dog sat", "a cat", "on the mat", "a dog ran on", "cats"] * 6


def engines_of(name: str) -> tuple[str, ...]:
    """The engines to run a case on: one of each kind of state is sent to processes."""
    apart = name in ("OSNAP", "frequent directions, sparse", "log of rows")
    return ("serial", "threads", "processes") if apart else ("serial", "threads")


def assert_within_bounds(left: Any, right: Any) -> None:
    """Two sketches of the same rows: each within its own bound of XᵀX, so both of each other."""
    assert left.n_rows == right.n_rows
    np.testing.assert_allclose(left.squared_norm, right.squared_norm)
    ours, theirs = left.sketch, right.sketch
    difference = ours.rows.T @ ours.rows - theirs.rows.T @ theirs.rows
    noise = 1e-5 if ours.rows.dtype == np.float32 else 1e-9
    slack = noise * (1.0 + left.squared_norm)
    assert np.abs(np.linalg.eigvalsh(difference)).max() <= max(ours.bound, theirs.bound) + slack


def assert_same_components(left: Any, right: Any) -> None:
    """Two scatters of the same rows, whose eigenvalues and directions agree; sketches lose nothing here."""
    assert left.n_rows == right.n_rows
    np.testing.assert_allclose(left.mean, right.mean, atol=1e-12)
    ours, theirs = left.leading(WIDTH), right.leading(WIDTH)
    np.testing.assert_allclose(ours.total, theirs.total, atol=1e-9)
    covariances = [(each.vectors.T * each.squares) @ each.vectors for each in (ours, theirs)]
    np.testing.assert_allclose(*covariances, atol=1e-9)
