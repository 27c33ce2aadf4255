"""Principal components of streams: as scikit-learn's PCA where exact, within the bound where sketched."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from spectralnlp_sketch import MatrixCorpus, StreamingPCA
from spectralnlp_sketch.errors import MatrixError, SketchWarning
from threadpoolctl import ThreadpoolController

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import use_engine

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 20)) @ np.diag(np.linspace(3, 0.2, 20)) + np.linspace(-5, 5, 20)
COUNTS = sp.csr_array(np.where(RNG.random((400, 30)) < 0.2, RNG.poisson(3, (400, 30)), 0).astype(float))
# Twelve directions of falling strength under a little noise, too wide to be exact.
DIRECTIONS = np.linalg.qr(RNG.standard_normal((2100, 12)))[0].T * np.linspace(9, 2, 12)[:, None]
WIDE = RNG.standard_normal((250, 12)) @ DIRECTIONS + 0.01 * RNG.standard_normal((250, 2100))
LEARNED = (
    *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"),
    *("noise_variance_", "n_samples_seen_", "n_features_in_", "bound_"),
)


def learned(pca: StreamingPCA) -> dict[str, bytes]:
    return {name: np.asarray(getattr(pca, name)).tobytes() for name in LEARNED}


def assert_like(pca: Any, reference: Any, tolerance: float = 1e-10) -> None:
    """The same components but for their signs, the same variances, mean and noise."""
    along = np.abs(np.sum(pca.components_ * reference.components_, axis=1))
    np.testing.assert_allclose(along, 1.0, atol=tolerance)
    for name in LEARNED[1:6]:
        ours, theirs = getattr(pca, name), getattr(reference, name)
        np.testing.assert_allclose(ours, theirs, atol=tolerance * np.abs(theirs).max(), err_msg=name)


@pytest.mark.parametrize("cuts", [(), (97, 194), (1, 2, 3, 50)], ids=str)
@pytest.mark.parametrize("rows", [X, COUNTS, X + 1e6], ids=["dense", "sparse", "far from zero"])
def test_batches_give_what_pca_gives_of_all_rows(rows: Any, cuts: tuple[int, ...]) -> None:
    dense = rows.toarray() if sp.issparse(rows) else rows
    reference = PCA(4, svd_solver="full").fit(dense)
    pca = StreamingPCA(4)
    for start, end in pairwise((0, *cuts, rows.shape[0])):
        pca.partial_fit(rows[start:end])
    assert (pca.method_, pca.bound_) == ("exact", 0.0)
    assert_like(pca, reference, 1e-10 if dense.max() < 1e5 else 1e-8)
    assert_like(StreamingPCA(4).fit(MatrixCorpus(rows, n_partitions=3)), reference, 1e-8)


def test_rows_near_zero_are_multiplied_as_they_lie() -> None:
    near = RNG.standard_normal((500, 20)) * np.linspace(3, 0.2, 20) + 0.1
    near[:, 7] = 1.0  # no variance, and none by rounding either
    pca = StreamingPCA(4).fit(near[:400])
    assert not pca.moments_._centre(near).any()
    assert StreamingPCA(4).fit(X).moments_._centre(X).any()
    assert_like(pca, PCA(4, svd_solver="full").fit(near[:400]))
    assert_like(pca.partial_fit(near[400:]).forget(near[:400]), PCA(4, svd_solver="full").fit(near[400:]))


def test_transforms_and_model_are_those_of_pca() -> None:
    reference = PCA(4, svd_solver="full").fit(X)
    signs = np.sign(np.sum(reference.components_ * StreamingPCA(4).fit(X).components_, axis=1))
    for whiten in (False, True):
        theirs = PCA(4, svd_solver="full", whiten=whiten).fit(X)
        ours = StreamingPCA(4, whiten=whiten).fit(X)
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X) * signs, atol=1e-10)
        back = ours.inverse_transform(ours.transform(X))
        np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(X)), atol=1e-10)
        # The model of the rows does not depend on what the coordinates are divided by.
        np.testing.assert_allclose(ours.get_covariance(), reference.get_covariance(), atol=1e-10)
        np.testing.assert_allclose(ours.score_samples(X), reference.score_samples(X), rtol=1e-10)
        np.testing.assert_allclose(ours.score(X), reference.score(X), rtol=1e-10)


def test_sparse_rows_are_centred_without_becoming_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = PCA(3, svd_solver="full").fit(COUNTS.toarray())
    score = reference.score(COUNTS.toarray())

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("made dense")

    for cls in (sp.csr_array, sp.csr_matrix):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(cls, name, refused)
    pca = StreamingPCA(3).fit(COUNTS)
    assert_like(pca, reference)
    np.testing.assert_allclose(pca.score(COUNTS), score)
    assert pca.transform(COUNTS).shape == (400, 3)


def test_wide_sparse_rows_take_no_more_memory_than_a_sketch() -> None:
    rows = sp.random_array((3000, 40_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    try:
        StreamingPCA(2, sketch_size=2).fit(rows).transform(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3000 * 40_000 * 8 / 10  # of the dense matrix


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_a_sketch_keeps_its_bound(make: Any, shift: float) -> None:
    rows = WIDE + shift
    pca = StreamingPCA(8, sketch_size=16)
    for start in range(0, 250, 60):
        pca.partial_fit(make(rows[start : start + 60]))
    exact = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2 / 249
    assert pca.method_ == "sketch"
    # By Weyl's inequality, no eigenvalue is off by more than the matrix.
    assert 0 < np.abs(pca.explained_variance_ - exact[:8]).max() <= pca.bound_ < 0.1 * exact[0]
    np.testing.assert_allclose(pca.mean_, rows.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        pca.explained_variance_.sum() / pca.explained_variance_ratio_.sum(), exact.sum(), rtol=1e-9
    )


@pytest.mark.parametrize("method", ["exact", "sketch"])
@pytest.mark.parametrize("rows", [X, COUNTS], ids=["dense", "sparse"])
def test_fitted_parts_merge(method: str, rows: Any) -> None:
    whole = StreamingPCA(3, method=method).fit(rows)
    left, right = (StreamingPCA(3, method=method).fit(part) for part in (rows[:70], rows[70:]))
    kept = learned(right)
    assert_like(left.merge(right), whole)
    assert learned(right) == kept
    with pytest.raises(ConfigError, match="n_columns: "):
        left.merge(StreamingPCA(3, method=method).fit(rows[:, :9]))


@pytest.mark.parametrize("rows", [X, COUNTS], ids=["dense", "sparse"])
def test_forgotten_rows_leave_nothing(rows: Any) -> None:
    pca = StreamingPCA(3).fit(rows).forget(rows[50:120])
    rest = [*range(50), *range(120, rows.shape[0])]
    assert_like(pca, StreamingPCA(3).fit(rows[rest]))
    assert pca.n_samples_seen_ == rows.shape[0] - 70


def test_what_cannot_be_forgotten_is_refused_and_changes_nothing() -> None:
    pca = StreamingPCA(3).fit(X)
    kept = learned(pca)
    with pytest.raises(MatrixError, match="cannot forget 300 rows: only 300 were learned from"):
        pca.forget(X)
    with pytest.raises(MatrixError, match="never learned"):
        pca.forget(100 * X[:200])
    assert learned(pca) == kept
    with pytest.raises(ConfigError, match="can be updated and merged, but cannot forget"):
        StreamingPCA(3, method="sketch").fit(X).forget(X[:9])


@pytest.mark.parametrize("method", ["exact", "sketch"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_single_precision_stays_single(method: str, make: Any) -> None:
    narrow = make(X.astype(np.float32))
    pca = StreamingPCA(4, method=method, whiten=True).fit(narrow)
    arrays = [getattr(pca, name) for name in LEARNED[:5]]
    arrays += [pca.transform(narrow), pca.inverse_transform(pca.transform(narrow)), pca.get_covariance()]
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}
    assert_like(pca, PCA(4, svd_solver="full").fit(X), 1e-4)


def test_single_precision_far_from_zero_keeps_its_digits() -> None:
    far = (X * 1e-2 + 3000).astype(np.float32)
    reference = PCA(3, svd_solver="full").fit(far.astype(np.float64))
    for method in ("exact", "sketch"):
        assert_like(StreamingPCA(3, method=method).fit(far), reference, 1e-3)


@pytest.mark.parametrize("engine", ["serial", "threads"])
@pytest.mark.parametrize("method", ["exact", "sketch"])
def test_engines_agree_to_the_byte(engine: str, method: str) -> None:
    corpus = MatrixCorpus(X, n_partitions=3)
    with use_engine(engine):
        pca = StreamingPCA(3, method=method).fit(corpus)
    assert learned(pca) == learned(StreamingPCA(3, method=method).fit(corpus))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_of_blas_change_no_byte(dtype: type) -> None:
    rows = RNG.standard_normal((3000, 300)).astype(dtype)
    found = []
    for threads in (1, 2, 5):
        with ThreadpoolController().limit(limits=threads, user_api="blas"):
            found.append(learned(StreamingPCA(4).fit(rows)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("method", ["exact", "sketch"])
def test_is_pickled_and_goes_on(method: str) -> None:
    pca = StreamingPCA(3, method=method).partial_fit(X[:100])
    again = pickle.loads(pickle.dumps(pca))
    assert learned(again.partial_fit(X[100:])) == learned(pca.partial_fit(X[100:]))
    # Only the moments and the settings travel: d² numbers, or the rows that wait.
    assert len(pickle.dumps(StreamingPCA(3).partial_fit(X))) < 8 * 20 * 20 + 4000


def test_a_fit_that_fails_leaves_what_was_learned() -> None:
    bad = np.ones((40, 5))
    bad[30, 2] = np.nan
    pca = StreamingPCA(3).fit(X)
    kept = learned(pca)
    for attempt in (pca.fit, pca.partial_fit):
        with pytest.raises(ValueError, match=r"row 30|features"):
            attempt(bad)
        assert learned(pca) == kept
    pca.set_params(method="sketch")
    with pytest.raises(MatrixError, match="row 3 holds NaN in column 2"):
        pca.fit(bad[27:])
    assert learned(pca) == kept


NO_MATRICES = {
    "one row": X[0],
    "nothing": None,
    "complex": X + 1j,
    "masked": np.ma.masked_greater(X, 1),
    "dates": X.astype("datetime64[D]"),
    "column of dates": pandas.DataFrame({"a": pandas.date_range("2020", periods=50), "b": 1.0}),
    "column of durations": pandas.DataFrame({"a": 1.0, "b": pandas.to_timedelta(range(50), "D")}),
    "dates of polars": polars.DataFrame({"a": pandas.date_range("2020", periods=50).to_numpy(), "b": 1.0}),
}


@pytest.mark.parametrize("rows", NO_MATRICES.values(), ids=NO_MATRICES)
def test_what_is_no_matrix_is_refused_in_one_line(rows: Any) -> None:
    pca = StreamingPCA(3).partial_fit(X)
    before = learned(pca)
    with pytest.raises(ValueError, match=r"2D array|Complex|masked|dates or dur") as refused:
        pca.partial_fit(rows)
    assert len(str(refused.value).splitlines()) == 1
    assert learned(pca) == before


def test_one_row_is_no_variance_and_the_next_is() -> None:
    pca = StreamingPCA(1).partial_fit(X[:1])
    assert pca.n_samples_seen_ == 1
    with pytest.raises(MatrixError, match="n_samples = 1"):
        pca.transform(X)
    assert pca.partial_fit(X[1:2]).transform(X).shape == (300, 1)
    with pytest.raises(MatrixError, match="n_samples = 1"):
        StreamingPCA(1).fit(X[:1])


def test_fewer_directions_than_asked_for_are_warned_of() -> None:
    for method in ("exact", "sketch"):
        with pytest.warns(SketchWarning, match="9 components were asked for, and the rows have rank 4"):
            assert StreamingPCA(9, method=method).fit(X[:5]).components_.shape == (4, 20)


@pytest.mark.parametrize("asked", [None, 0.5, 0.95, 0.999999, np.int64(3)])
def test_as_many_components_as_pca(asked: Any) -> None:
    found, expected = StreamingPCA(asked).fit(X), PCA(asked).fit(X)
    assert found.n_components_ == expected.n_components_ == found.transform(X).shape[1]
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_)
    assert StreamingPCA(None).fit(X[:5]).n_components_ == 4  # five rows vary in four directions


@pytest.mark.parametrize("scale", [1e-38, 1e-25, 1e25, 1e30])
@pytest.mark.parametrize("method", ["exact", "sketch"])
@pytest.mark.filterwarnings("error")
def test_squares_that_do_not_fit_single_precision(method: str, scale: float) -> None:
    rows = X / np.abs(X).max() * 50
    pca = StreamingPCA(3, method=method, whiten=True).fit((rows * scale).astype(np.float32))
    expected = PCA(3, whiten=True).fit(rows)
    np.testing.assert_allclose(pca.explained_variance_ / scale / scale, expected.explained_variance_, 1e-3)
    variances = pca.transform((rows * scale).astype(np.float32)).astype(np.float64).var(axis=0, ddof=1)
    np.testing.assert_allclose(variances, 1, 1e-3)


def test_settings_that_make_no_sense() -> None:
    for pca, complaint in (
        (StreamingPCA(0), "StreamingPCA.n_components: got 0, expected int, 1 or more"),
        (StreamingPCA(-3), "n_components: got -3"),
        (StreamingPCA(3, sketch_size=-1), "StreamingPCA.sketch_size: got -1"),
        (StreamingPCA(3, method="magic"), "StreamingPCA.method: got 'magic'"),
        (StreamingPCA(30, sketch_size=20), "sketch_size 20 is less than n_components 30"),
        (StreamingPCA(1.0), "n_components: got 1.0"),
        (StreamingPCA("mle"), "n_components: got 'mle'"),
        (StreamingPCA(None, method="sketch"), "n_components=None needs all directions, and a sketch has the"),
    ):
        for learn in (pca.fit, pca.partial_fit):
            with pytest.raises(ConfigError, match=complaint):
                learn(X)
    with pytest.raises(ConfigError, match=r"n_components=0\.9 needs all directions, and a sketch for 2,100"):
        StreamingPCA(0.9).fit(WIDE)
    with pytest.raises(ConfigError, match="scatter of 40,000 columns"):
        StreamingPCA(3, method="exact").fit(sp.csr_array((3, 40_000)))


def test_pandas_output_and_names() -> None:
    frame = StreamingPCA(2).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == ["streamingpca0", "streamingpca1"]


def test_digits_are_reconstructed_as_by_pca() -> None:
    digits = load_digits().data
    ours, theirs = StreamingPCA(16).fit(digits), PCA(16, svd_solver="full").fit(digits)
    assert_like(ours, theirs)
    expected = theirs.inverse_transform(theirs.transform(digits))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(digits)), expected, atol=1e-10)


def test_images_wait_in_small_numbers_and_keep_the_bound() -> None:
    rng = np.random.default_rng(1)
    images = (rng.standard_normal((70, 5)) @ rng.standard_normal((5, 2**17))).astype(np.float32)
    images += 0.1 * rng.standard_normal(images.shape, dtype=np.float32)
    pca = StreamingPCA(3, sketch_size=8)
    tracemalloc.start()
    try:
        for start in range(0, 70, 10):
            pca.partial_fit(images[start : start + 10])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * images.nbytes
    exact = np.linalg.svd(images - images.mean(axis=0), compute_uv=False)[:3] ** 2 / 69
    assert np.abs(pca.explained_variance_ - exact).max() <= pca.bound_ < 0.2 * exact[0]
