"""Leverage scores: exact against the SVD, and honest where they cannot be."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from spectralnlp_sketch import FileRows, LeverageScores, MatrixCorpus
from spectralnlp_sketch.errors import SketchWarning

from spectralnlp.runtime import use_engine

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 16))


def by_svd(A: np.ndarray) -> np.ndarray:
    """Algorithm 1 of the paper, over the directions above rounding."""
    u, sigma, _ = np.linalg.svd(np.asarray(A, dtype=np.float64), full_matrices=False)
    return (u[:, sigma > max(A.shape) * np.finfo(float).eps * sigma[0]] ** 2).sum(axis=1)


def conditioned(decades: float, d: int = 16, n: int = 400) -> np.ndarray:
    u, _, vt = np.linalg.svd(RNG.standard_normal((n, d)), full_matrices=False)
    return (u * np.logspace(0, -decades, d)) @ vt


@given(
    n=st.integers(1, 30),
    d=st.integers(1, 8),
    rank=st.integers(1, 8),
    seed=st.integers(0, 2**32),
    method=st.sampled_from(["auto", "gram", "qr", "svd"]),
    sparse=st.booleans(),
)
@settings(max_examples=150)
def test_exact_scores_are_those_of_the_svd(
    n: int, d: int, rank: int, seed: int, method: str, sparse: bool
) -> None:
    rng = np.random.default_rng(seed)
    # Integers: matrices of deficient rank, repeated rows and rows of zeros are common.
    A = (rng.integers(-2, 3, (n, rank)) @ rng.integers(-2, 3, (rank, d))).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SketchWarning)
        leverage = LeverageScores(method=method).fit(sp.csr_array(A) if sparse else A)
        scores = leverage.scores(A)
    if A.any():
        np.testing.assert_allclose(scores, by_svd(A), atol=1e-6)
    assert scores.sum() == pytest.approx(np.linalg.matrix_rank(A), abs=1e-6)
    assert leverage.rank_ == np.linalg.matrix_rank(A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_well_conditioned_goes_through_the_gram_matrix(dtype: type) -> None:
    A = X.astype(dtype)
    leverage = LeverageScores().fit(A)
    assert leverage.method_ == "gram"
    np.testing.assert_allclose(leverage.scores(A), by_svd(A), rtol=1e-6)
    assert leverage.transform(A).shape == (400, 1)
    assert leverage.get_feature_names_out().tolist() == ["leverage"]


def test_float32_rows_are_squared_in_float64() -> None:
    A = conditioned(3).astype(np.float32)
    leverage = LeverageScores().fit(A)
    assert leverage.method_ == "gram"
    np.testing.assert_allclose(leverage.scores(A), by_svd(A), rtol=1e-6)


def test_scales_of_columns_do_not_matter() -> None:
    A = X * np.logspace(0, -12, 16)
    leverage = LeverageScores().fit(A)
    assert leverage.method_ == "gram"
    np.testing.assert_allclose(leverage.scores(A), by_svd(X), rtol=1e-9)


@pytest.mark.parametrize(("decades", "method"), [(2, "gram"), (3.5, "gram"), (6, "qr"), (8, "qr")])
def test_falls_back_where_the_gram_matrix_is_not_accurate(decades: float, method: str) -> None:
    A = conditioned(decades)
    leverage = LeverageScores().fit(A)
    assert leverage.method_ == method
    assert leverage.error_ < 1e-6
    np.testing.assert_allclose(leverage.scores(A), by_svd(A), rtol=1e-6)


def test_says_why_scores_are_not_exact() -> None:
    A = conditioned(11)
    with pytest.warns(SketchWarning, match=r"not 1e-06: the condition number is \de\+1[01] by method qr"):
        assert LeverageScores().fit(A).error_ > 1e-6
    with pytest.warns(SketchWarning, match="by method gram"):
        LeverageScores(method="gram").fit(conditioned(7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        truncated = LeverageScores(truncate=1e-5).fit(A)
    u, sigma, _ = np.linalg.svd(A, full_matrices=False)
    kept = sigma > 1e-5 * sigma[0]
    assert truncated.rank_ == kept.sum()
    np.testing.assert_allclose(truncated.scores(A), (u[:, kept] ** 2).sum(axis=1), rtol=1e-3)


def test_rank_deficient_by_half() -> None:
    A = np.hstack([X[:, :8], X[:, :8] @ RNG.standard_normal((8, 8))])
    leverage = LeverageScores().fit(A)
    assert leverage.rank_ == 8
    np.testing.assert_allclose(leverage.scores(A), by_svd(X[:, :8]), rtol=1e-6)


@pytest.mark.parametrize("method", ["gaussian", "countsketch", "osnap", "srht"])
def test_sketched_scores_are_unbiased_once_corrected(method: str) -> None:
    A = RNG.standard_normal((3000, 12))
    exact = by_svd(A)
    ratios = {
        corrected: np.mean(
            [
                LeverageScores(sketch_size=48, method=method, bias_correction=corrected, random_state=seed)
                .fit(A)
                .scores(A)
                / exact
                for seed in range(12)
            ]
        )
        for corrected in (True, False)
    }
    assert ratios[True] == pytest.approx(1.0, abs=0.12)
    assert ratios[False] == pytest.approx(48 / 36, abs=0.16)


def test_truncation_rescues_a_sketch_of_deficient_rank() -> None:
    """The paper's figures 2 and 3: noise directions are inverted unless they are left out."""
    signal = RNG.standard_normal((2000, 10)) @ RNG.standard_normal((10, 20))
    A = signal + 1e-6 * RNG.standard_normal((2000, 20))
    exact = by_svd(signal[:, :10])
    kept = LeverageScores(sketch_size=600, method="countsketch", truncate=1e-4).fit(A)
    assert kept.rank_ == 10
    assert np.median(np.abs(kept.scores(A) / exact - 1)) < 0.2
    all_of_them = LeverageScores(sketch_size=600, method="countsketch").fit(A)
    assert np.median(np.abs(all_of_them.scores(A) / exact - 1)) > 0.5


def test_a_sketch_of_too_few_rows_is_warned_of() -> None:
    with pytest.warns(SketchWarning, match="a sketch of 10 rows is too small"):
        LeverageScores(sketch_size=10, method="countsketch").fit(X)
    with pytest.warns(SketchWarning, match="use the exact method"):
        LeverageScores(sketch_size=100, method="countsketch", epsilon=0.5).fit(X)
    assert LeverageScores(method="osnap", epsilon=0.4).fit(np.tile(X, (3, 1))).sketch_.shape[0] == 278


def test_truncation_takes_a_sketch_of_fewer_rows_than_columns() -> None:
    """Warnings are errors: scores are equal only where all directions of the sketch count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5)) @ rng.normal(size=(5, 400)) + 1e-3 * rng.normal(size=(900, 400))
    exact = (np.linalg.svd(X, full_matrices=False)[0][:, :5] ** 2).sum(axis=1)
    model = LeverageScores(sketch_size=300, method="osnap", truncate=0.1).fit(X)
    assert model.rank_ == 5
    np.testing.assert_allclose(model.scores(X), exact, rtol=0.4)


def test_two_passes_over_a_stream(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", X)
    corpus = FileRows([tmp_path / "x.npy"], n_partitions=3)
    with use_engine("threads", jobs=2):
        leverage = LeverageScores().fit(corpus)
        streamed = np.concatenate(list(leverage.stream_scores(corpus)))
    np.testing.assert_allclose(streamed, by_svd(X), rtol=1e-9)


def test_partial_fit_keeps_to_the_gram_matrix() -> None:
    leverage = LeverageScores()
    for low in range(0, 400, 90):
        leverage.partial_fit(X[low : low + 90])
    assert leverage.method_ == "gram"
    np.testing.assert_allclose(leverage.scores(X), by_svd(X), rtol=1e-9)
    with pytest.warns(SketchWarning, match="by method gram"):
        LeverageScores().partial_fit(conditioned(7))


def test_more_columns_than_rows_and_single_rows() -> None:
    np.testing.assert_allclose(LeverageScores().fit(X[:5]).scores(X[:5]), 1.0)
    assert LeverageScores().fit(X[:1]).scores(X[:1]) == pytest.approx(1.0)
    assert LeverageScores().fit(np.zeros((4, 3))).scores(np.zeros((4, 3))).tolist() == [0, 0, 0, 0]
    assert MatrixCorpus(X).n_columns == 16
