"""`CCA` beside numpy and scikit-learn, over streams, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cross_decomposition
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from spectralnlp_sketch import CCA, FileRows, MatrixCorpus
from spectralnlp_sketch.cca import estimator as module
from spectralnlp_sketch.cca.pairs import PairCorpus
from spectralnlp_sketch.errors import MatrixError, SketchWarning

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import use_engine
from spectralnlp.testing import check_estimator

RNG = np.random.default_rng(0)
SIGNAL = RNG.standard_normal((500, 3)) * [3, 2, 1]
X = SIGNAL @ RNG.standard_normal((3, 8)) + RNG.standard_normal((500, 8)) + 5
Y = SIGNAL @ RNG.standard_normal((3, 6)) + RNG.standard_normal((500, 6))
# Counts, whose sums are exact.
A, B = (np.maximum(np.round(each), 0) for each in (X - 5, Y))


def by_numpy(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correlations and projections of X by QR, as in Björck and Golub 1973."""
    qx, qy = (np.linalg.qr(each - each.mean(axis=0))[0] for each in (x, y))
    u, sigma, _ = np.linalg.svd(qx.T @ qy)
    return sigma, qx @ u * np.sqrt(len(x))


@pytest.mark.slow
@parametrize_with_checks([CCA(1)])
@pytest.mark.filterwarnings("ignore::spectralnlp_sketch.errors.SketchWarning")
def test_scikit_learn_conventions(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_it_keeps_the_contract_of_estimators() -> None:
    views = (MatrixCorpus(each, n_partitions=3) for each in (A, B))
    excused = {"lists_and_iterators_are_examples": "two views are two arguments, not one list of examples"}
    check_estimator(CCA(2), PairCorpus(*views), expected_failed_checks=excused)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_it_is_what_numpy_computes(make: Callable[[Any], Any]) -> None:
    found = CCA(4).fit(make(A), make(B))
    sigma, projected = by_numpy(A, B)
    np.testing.assert_allclose(found.canonical_correlations_, sigma[:4], atol=1e-10)
    x, y = found.transform(make(A), make(B))
    np.testing.assert_allclose(np.abs(x), np.abs(projected[:, :4]), atol=1e-10)
    np.testing.assert_allclose(x.T @ y / len(x), np.diag(sigma[:4]), atol=1e-10)
    np.testing.assert_allclose(y, found.transform_y(make(B)))


def test_more_columns_than_the_whole_svd_is_for() -> None:
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((2000, 4)) * [4, 3, 2, 1]
    x, y = (signal @ rng.standard_normal((4, d)) + rng.standard_normal((2000, d)) for d in (650, 700))
    sigma, _ = by_numpy(x, y)
    np.testing.assert_allclose(CCA(6).fit(x, y).canonical_correlations_, sigma[:6], atol=1e-10)


def test_it_is_scikit_learns() -> None:
    theirs = sklearn.cross_decomposition.CCA(2, max_iter=5000, tol=1e-14).fit(X, Y)
    ours = CCA(2).fit(X, Y)
    for a, b in zip(theirs.transform(X, Y), ours.transform(X, Y), strict=True):
        correlations = np.corrcoef(a.T, b.T)[:2, 2:]
        np.testing.assert_allclose(np.abs(correlations), np.eye(2), atol=1e-5)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("widest", [4000, 5])
def test_streams_parts_and_what_was_forgotten(
    make: Callable[[Any], Any], widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DENSE_COLUMNS", widest)
    a, b = make(A), make(B)
    expected = CCA(3).fit(a, b)
    weights = expected.x_weights_.tobytes()
    streamed = CCA(3)
    for low in range(0, 500, 77):
        streamed.partial_fit(a[low : low + 77], b[low : low + 77])
    assert streamed.x_weights_.tobytes() == weights
    merged = CCA(3).fit(a[:300], b[:300]).merge(CCA(3).fit(a[300:], b[300:]))
    assert merged.x_weights_.tobytes() == weights
    more = CCA(3).fit(a, b).partial_fit(a[:60] * 3, b[40:100]).forget(a[:60] * 3, b[40:100])
    assert more.x_weights_.tobytes() == weights
    assert more.n_rows_ == 500
    corpora = (MatrixCorpus(each, n_partitions=3) for each in (a, b))
    with use_engine("threads", jobs=2):
        assert CCA(3).fit(*corpora).x_weights_.tobytes() == weights


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("widest", [4000, 5])
def test_a_mean_far_beyond_the_deviation_costs_nothing(
    make: Callable[[Any], Any], widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DENSE_COLUMNS", widest)
    far = 1e7 * X.std(axis=0) * (np.arange(8) == 1)
    expected = CCA(3).fit(X, Y)
    x, y = make(X + far), make(Y - 1e6)
    found = CCA(3).fit(x, y)
    parts = CCA(3).fit(x[:30], y[:30]).partial_fit(x[30:90], y[30:90])
    merged = CCA(3).fit(x[200:], y[200:]).merge(CCA(3).fit(x[90:200], y[90:200])).merge(parts)
    forgot = merged.partial_fit(x[:60], y[60:120]).forget(x[:60], y[60:120])
    for each in (found, forgot):
        np.testing.assert_allclose(each.canonical_correlations_, expected.canonical_correlations_, rtol=1e-7)
        np.testing.assert_allclose(each.transform(x), expected.transform(X), atol=1e-5)
        np.testing.assert_allclose(each.x_mean_, expected.x_mean_ + far)


def test_a_column_that_is_constant_up_to_rounding_has_no_direction() -> None:
    noisy = 0.1 + 0.2 * RNG.choice([1, 1 + 1e-15], size=500)
    expected = CCA(3).fit(X, Y).canonical_correlations_
    found = CCA(3).fit(np.column_stack([X, noisy]), Y)
    np.testing.assert_allclose(found.canonical_correlations_, expected, atol=1e-12)
    assert not found.x_weights_[8].any()


def test_regressions_are_least_squares() -> None:
    ours = CCA(2).fit(X, Y)
    projected = ours.transform(X)
    centred = projected - projected.mean(axis=0)
    for rows, found in ((X, ours.inverse_transform(projected)), (Y, ours.predict(X))):
        expected = centred @ np.linalg.lstsq(centred, rows - rows.mean(axis=0), rcond=None)[0]
        np.testing.assert_allclose(found, expected + rows.mean(axis=0), atol=1e-10)
    # Scikit-learn's, too, except that its prediction has another scale and a larger error.
    theirs = sklearn.cross_decomposition.CCA(2, max_iter=5000, tol=1e-14).fit(X, Y)
    x, y = theirs.inverse_transform(*theirs.transform(X, Y))
    for found, expected in zip(ours.inverse_transform(*ours.transform(X, Y)), (x, y), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-3)
    assert ours.score(X, Y) > theirs.score(X, Y)
    scores = cross_val_score(CCA(2), X, Y, cv=3)
    assert (scores > 0.4).all()
    assert CCA(1).fit(X, Y[:, 0]).predict(X).shape == (500,)


def test_wide_views_of_counts_keep_only_columns_that_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = CCA(3, regularisation=0.1).fit(A, B)
    monkeypatch.setattr(module, "DENSE_COLUMNS", 5)
    thin = CCA(3, regularisation=0.1).fit(sp.csr_array(A), sp.csr_array(B))
    assert sp.issparse(thin.moments_.gram)
    np.testing.assert_allclose(thin.canonical_correlations_, dense.canonical_correlations_, atol=1e-12)
    np.testing.assert_allclose(thin.x_weights_, dense.x_weights_, atol=1e-10)


def test_files_are_read_side_by_side(tmp_path: Path) -> None:
    for name, rows in (("x", A), ("y", B), ("short", B[:470])):
        np.save(tmp_path / f"{name}.npy", rows)
    x, y, short = (FileRows([tmp_path / f"{name}.npy"]) for name in ("x", "y", "short"))
    assert CCA(2).fit(x, y).x_weights_.tobytes() == CCA(2).fit(A, B).x_weights_.tobytes()
    with pytest.raises(MatrixError, match=r"x\.npy: y ends after 470 rows, and the other view goes on"):
        CCA(2).fit(x, short)
    with pytest.raises(MatrixError, match="the views come in 1 and 2 parts"):
        CCA(2).fit(x, FileRows([tmp_path / "y.npy"], n_partitions=2))
    by_name = CCA(2).fit(str(tmp_path / "x.npy"), str(tmp_path / "y.npy"))
    assert by_name.x_weights_.tobytes() == CCA(2).fit(A, B).x_weights_.tobytes()
    np.testing.assert_array_equal(by_name.transform(str(tmp_path / "x.npy")), by_name.transform(A))
    with pytest.raises(MatrixError, match=r"CCA requires y to be passed"):
        CCA(2).fit(str(tmp_path / "x.npy"))
    for model in (by_name, by_name.model_):
        np.testing.assert_array_equal(model.transform_y(tmp_path / "y.npy"), model.transform_y(B))
        assert model.score(A, str(tmp_path / "y.npy")) == pytest.approx(model.score(A, B), abs=1e-12)
    together = by_name.transform(tmp_path / "x.npy", tmp_path / "y.npy")
    np.testing.assert_array_equal(together[1], by_name.transform_y(B))


def test_blocks_of_files_need_not_match(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({f"y{number}": column for number, column in enumerate(B.T)})
    parquet.write_table(table, tmp_path / "y.parquet", row_group_size=70)
    np.savetxt(tmp_path / "x.csv", A, delimiter=",", header="a,b,c,d,e,f,g,h", comments="")
    found = CCA(2).fit(str(tmp_path / "x.csv"), str(tmp_path / "y.parquet"))
    np.testing.assert_allclose(found.x_weights_, CCA(2).fit(A, B).x_weights_, atol=1e-12)


def test_data_frames_come_out() -> None:
    pytest.importorskip("pandas")
    model = CCA(2).set_output(transform="pandas").fit(X, Y)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out()) == ["cca0", "cca1"]
    assert model.fit_transform(X, Y)[0].shape == (500, 2)


def test_it_recovers_a_planted_pair_of_words() -> None:
    """One-hot views wider than any covariance that is factored, without regularisation."""
    rng = np.random.default_rng(2)
    topics = rng.integers(0, 3, 30_000)
    x, y = (
        sp.csr_array((np.ones(30_000), (np.arange(30_000), topics + 3 * rng.integers(0, 1500, 30_000))))
        for _ in range(2)
    )
    found = CCA(2).fit(x, y)
    codes = np.arange(x.shape[1]) % 3
    centres = np.stack([found.x_weights_[codes == topic].mean(axis=0) for topic in range(3)])
    nearest = np.linalg.norm(found.x_weights_[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == codes).mean() > 0.95


@pytest.mark.parametrize(
    ("x", "y", "complaint"),
    [
        (X, Y[:-1], "X has 500 rows and y has 499"),
        (X[:0], Y[:0], "0 sample"),
        (X, Y[:, :0], "0 feature"),
        (X[:1], Y[:1], "n_samples = 1, and two rows"),
        (X, None, "requires y to be passed"),
        (X, MatrixCorpus(Y[:-1]), "X has 500 rows and y has 499"),
        ([X, X], [Y], "y ends after 500 rows, and the other view goes on"),
        (MatrixCorpus(X[:0]), MatrixCorpus(Y[:0]), "no rows"),
        (np.ones_like(X), Y, "no column of X varies over the 500 rows"),
        (X, np.ones(500), "no column of y varies over the 500 rows"),
        (X * 1e200, Y, "overflow"),
    ],
)
def test_what_cannot_be_correlated_is_refused(x: Any, y: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refusal:
        CCA().fit(x, y)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("view", ["X", "y"])
def test_what_is_not_finite_is_refused_by_its_view_row_and_column(
    make: Callable[[Any], Any], view: str
) -> None:
    views = {"X": X.copy(), "y": Y.copy()}
    views[view][71, 4] = np.nan
    x, y = (make(each) for each in views.values())
    with pytest.raises(MatrixError, match=f"{view}: row 71 holds NaN in column 4"):
        CCA().fit(x, y)
    started = CCA().fit(X[:50], Y[:50])
    with pytest.raises(MatrixError, match=f"{view}: row 71 holds NaN"):
        started.partial_fit(x[50:], y[50:])
    assert started.n_rows_ == 50
    assert (
        started.canonical_correlations_.tobytes()
        == CCA().fit(X[:50], Y[:50]).canonical_correlations_.tobytes()
    )


def test_another_width_is_refused() -> None:
    model = CCA().fit(X, Y)
    with pytest.raises(MatrixError, match="y has 3 columns where 6 are expected"):
        model.partial_fit(X, Y[:, :3])
    with pytest.raises(MatrixError, match="y has 3 columns where 6 are expected"):
        model.transform(X, Y[:, :3])
    with pytest.raises(ValueError, match="expecting 8 features"):
        model.forget(X[:, :3], Y)
    with pytest.raises(ConfigError, match="n_y: 6 and 3"):
        model.merge(CCA().fit(X, Y[:, :3]))
    with pytest.raises(MatrixError, match="cannot forget 500 rows: only 500 were learned from"):
        model.forget(X, Y)


def test_what_is_asked_for_and_is_not_there() -> None:
    with pytest.warns(SketchWarning, match="5 components were asked for, and the views have 2"):
        assert CCA(5).fit(X[:, :2], Y).transform(X[:, :2]).shape == (500, 2)
    wide = sp.random_array((50, 4500), density=0.01, rng=np.random.default_rng(3), format="csr")
    with pytest.raises(InputError, match=r"a view of 4500 columns needs regularisation"):
        CCA(2).fit(wide, Y[:50])
