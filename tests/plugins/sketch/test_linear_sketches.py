"""Linear sketches: what S is, that it does not depend on splits, that it keeps norms at the stated sizes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from spectralnlp_sketch import OSNAP, CountSketch, GaussianSketch, required_rows
from spectralnlp_sketch.counters import draw, normals, stream_key
from spectralnlp_sketch.errors import SizeError, SketchWarning
from spectralnlp_sketch.linear.moments import MOMENTS, LinearSketch, OSNAPMoments, SRHTMoments
from spectralnlp_sketch.rows import Rows

from spectralnlp.runtime import Batch

MASK = 2**64 - 1
every_kind = pytest.mark.parametrize("method", MOMENTS)


def mixed(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def drawn(seed: int, document: int, row: int, number: int) -> int:
    golden = 0x9E3779B97F4A7C15
    key = mixed((mixed((seed + golden) & MASK) + document * golden) & MASK)
    return mixed((mixed((key + row * golden) & MASK) + number * 0x94D049BB133111EB) & MASK)


def sketching_matrix(moments: LinearSketch, n: int, start: int = 0, document: int = 0) -> np.ndarray:
    """S itself: the sketch of the identity."""
    whole = type(moments)(**{**moments.parameters(), "n_columns": n})
    whole.observe(Batch(Rows(np.eye(n)), "", document, start))
    return whole.sketch


@pytest.mark.parametrize(
    ("seed", "document", "row", "number"), [(0, 0, 0, 0), (7, 3, 10**12, 5), (2**62, 0, 1, 1)]
)
def test_draws_are_the_published_mixing_function(seed: int, document: int, row: int, number: int) -> None:
    key = np.uint64(stream_key(seed, document))  # Python gets it as a number without a type
    assert int(draw(key, row, number)) == drawn(seed, document, row, number)


def test_normals_are_normal_and_belong_to_their_rows() -> None:
    whole = normals(1, 2, 0, 4000, 9)
    assert abs(whole.mean()) < 0.02
    assert abs(whole.std() - 1) < 0.02
    assert abs(np.corrcoef(whole.T) - np.eye(9)).max() < 0.06
    assert normals(1, 2, 30, 5, 9).tobytes() == whole[30:35].tobytes()
    assert normals(2, 2, 0, 1, 9).tobytes() != normals(1, 2, 0, 1, 9).tobytes()
    assert normals(1, 3, 0, 1, 9).tobytes() != normals(1, 2, 0, 1, 9).tobytes()


def test_osnap_puts_each_row_once_into_each_band() -> None:
    moments = OSNAPMoments(10, 1, seed=5, n_nonzeros=3)
    S = sketching_matrix(moments, 200)
    edges = [0, 3, 6, 10]
    for band, (low, high) in enumerate(pairwise(edges)):
        block = S[low:high] * math.sqrt(3)
        np.testing.assert_allclose(np.abs(block).sum(axis=0), 1.0)
        for row in range(200):
            bits = drawn(5, 0, row, band)
            expected = (bits >> 32) * (high - low) >> 32
            assert block[expected, row] == pytest.approx(1 - 2 * (bits & 1))


def test_srht_is_sampled_rows_of_a_hadamard_matrix_under_signs() -> None:
    moments = SRHTMoments(5, 1, seed=2, block_size=8)
    S = sketching_matrix(moments, 21, start=3) * math.sqrt(5)  # begins and ends within a block
    hadamard = scipy.linalg.hadamard(8)
    rows = np.arange(3, 24)
    for block in range(3):
        inside = rows // 8 == block
        part = S[:, inside]
        inner = np.array([1 - 2 * (drawn(2, 0, int(row), 0) & 1) for row in rows[inside]])
        expected = hadamard[moments._sampled][:, rows[inside] % 8] * inner
        outer = part[:, 0] / expected[:, 0]
        np.testing.assert_allclose(np.abs(outer), 1.0)
        np.testing.assert_allclose(part, outer[:, None] * expected)


@every_kind
def test_fast_and_plain_ways_through_srht_agree(method: str) -> None:
    rows = np.random.default_rng(0).integers(-9, 9, (300, 3)).astype(float)
    whole, apart = (MOMENTS[method](16, 3, seed=4) for _ in range(2))
    whole.observe(Batch(Rows(rows), "", 0, 1000))
    for i in range(300):
        apart.observe(Batch(Rows(rows[i : i + 1]), "", 0, 1000 + i))
    if method == "gaussian":
        np.testing.assert_allclose(apart.sums, whole.sums, atol=1e-9)
    else:
        assert apart.sums.tobytes() == whole.sums.tobytes()


@every_kind
def test_documents_and_seeds_have_signs_of_their_own(method: str) -> None:
    def matrix(seed: int, document: int) -> bytes:
        return sketching_matrix(MOMENTS[method](16, 1, seed=seed), 40, document=document).tobytes()

    assert matrix(0, 0) == matrix(0, 0)
    assert len({matrix(0, 0), matrix(1, 0), matrix(0, 1)}) == 3


@every_kind
def test_squared_norms_are_kept_in_expectation(method: str) -> None:
    x = np.random.default_rng(0).standard_normal((30, 1))
    ratios = []
    for seed in range(300):
        moments = MOMENTS[method](8, 1, seed=seed)
        moments.observe(Batch(Rows(x), "", 0, 0))
        ratios.append(float((moments.sketch**2).sum() / (x**2).sum()))
    assert np.mean(ratios) == pytest.approx(1.0, abs=5 * np.std(ratios) / math.sqrt(300))


# OSNAP's and the Gaussian's sizes are up to a constant, as the paper leaves it.
@pytest.mark.parametrize(
    ("method", "constant"), [("countsketch", 1), ("osnap", 2), ("gaussian", 6), ("srht", 1)]
)
@pytest.mark.parametrize("kind", ["flat", "spiky", "scaled"])
def test_stated_sizes_embed_subspaces(method: str, constant: int, kind: str) -> None:
    """A sketch may fail, but seldom."""
    d, epsilon, n, n_seeds, failures = 6, 0.5, 900, 20, 0
    for seed in range(n_seeds):
        X = np.random.default_rng(seed).standard_normal((n, d))
        if kind == "spiky":
            X[: n - 20] *= 1e-3
        elif kind == "scaled":
            X *= np.logspace(0, -6, d)
        moments = MOMENTS[method](constant * required_rows(method, d, epsilon, n_rows=n), d, seed=seed)
        moments.observe(Batch(Rows(X), "", 0, 0))
        _, r = np.linalg.qr(X)
        squares = np.linalg.svd(moments.sketch @ np.linalg.inv(r), compute_uv=False) ** 2
        failures += not (squares[0] <= 1 + 2 * epsilon and squares[-1] >= 1 - 1.6 * epsilon)
    assert failures <= n_seeds / 10


def test_required_rows() -> None:
    assert required_rows("countsketch", 256, 0.5) == 4 * 256**2  # the paper's figure 6: n ≥ 4d²
    assert required_rows("osnap", 256, 0.5) == math.ceil(256 * math.log(256) * 4)
    assert required_rows("gaussian", 256, 0.5) == 1024
    assert required_rows("srht", 256, 0.5, n_rows=2**18) > required_rows("osnap", 256, 0.5)
    for arguments in (("magic", 5, 0.5), ("osnap", 5, 1.5), ("osnap", 0, 0.5)):
        with pytest.raises(SizeError):
            required_rows(*arguments)


def test_data_that_cannot_meet_a_size_are_warned_of() -> None:
    X = np.random.default_rng(0).standard_normal((500, 20))
    with pytest.warns(SketchWarning, match=r"needs 1,600 rows, and there are 500"):
        CountSketch(sketch_size=100, epsilon=0.5).fit(X).components_  # noqa: B018
    OSNAP(sketch_size=100, epsilon=0.5).fit(X).components_  # noqa: B018


def test_sketched_svd_finds_singular_values() -> None:
    X = np.random.default_rng(0).standard_normal((4000, 10)) * np.linspace(5, 1, 10)
    exact = np.linalg.svd(X, compute_uv=False)
    for make in (CountSketch, OSNAP, GaussianSketch):
        sketch: Any = make(sketch_size=1000).fit(X)
        np.testing.assert_allclose(sketch.singular_values_, exact, rtol=0.15)
        assert abs(sketch.components_[0, 0]) > 0.9
