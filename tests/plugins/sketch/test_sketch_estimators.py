"""Promises of every sketch as a scikit-learn transformer."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from spectralnlp_sketch import (
    CCA,
    OSNAP,
    SENT,
    SRHT,
    TMPCA,
    Centring,
    CountSketch,
    DCoT,
    FrequentDirections,
    GaussianSketch,
    HashedNgrams,
    IntentClassifier,
    LeverageScores,
    MatrixCorpus,
    SENTPlus,
    StreamingPCA,
)
from spectralnlp_sketch.errors import MatrixError, SketchWarning

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.estimator import IterativeEstimator, MomentEstimator, Unlearning
from spectralnlp.hyperparameters import check_values, hyperparameters
from spectralnlp.runtime import use_engine

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 12)) @ np.diag(np.linspace(3, 0.3, 12))

SKETCHES: list[Callable[[], Any]] = [
    lambda: FrequentDirections(sketch_size=8),
    lambda: FrequentDirections(sketch_size=8, method="figure-1"),
    lambda: GaussianSketch(sketch_size=32),
    lambda: CountSketch(sketch_size=32),
    lambda: OSNAP(sketch_size=32),
    lambda: SRHT(sketch_size=32),
]
OTHERS: list[Callable[[], Any]] = [
    Centring,
    lambda: Centring(mean=False, idf=True, norm=True),
    LeverageScores,
    lambda: LeverageScores(sketch_size=128, method="countsketch"),
    lambda: StreamingPCA(3),
    lambda: StreamingPCA(3, method="sketch", whiten=True),
]
CLASSES = [
    *(DCoT, TMPCA, HashedNgrams, SENT, SENTPlus, Centring, LeverageScores, FrequentDirections),
    *(GaussianSketch, CountSketch, OSNAP, SRHT, IntentClassifier, CCA, StreamingPCA),
]
every_sketch = pytest.mark.parametrize("make", SKETCHES, ids=lambda make: repr(make()))
every_estimator = pytest.mark.parametrize("make", SKETCHES + OTHERS, ids=lambda make: repr(make()))


# One estimator for each interface: the other sketches inherit theirs.
CONVENTIONS = [
    *(FrequentDirections(sketch_size=8), CountSketch(sketch_size=32), Centring(), LeverageScores()),
    *(StreamingPCA(3), StreamingPCA(3, method="sketch", whiten=True)),
]


# check_estimator fits on as few rows as it can: rank-deficient and short data are warned of, rightly.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::spectralnlp_sketch.errors.SketchWarning")
@parametrize_with_checks(CONVENTIONS)
def test_scikit_learn_conventions(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("cls", [IntentClassifier, HashedNgrams, SENT, SENTPlus, TMPCA])
def test_scikit_learn_is_told_that_texts_are_wanted(cls: Any) -> None:
    tags = get_tags(cls()).input_tags
    assert (tags.string, tags.two_d_array) == (True, False)
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):  # as for CountVectorizer
        check_estimator(cls())


@pytest.mark.parametrize("cls", CLASSES)
def test_it_follows_the_contract_of_estimators(cls: Any) -> None:
    assert cls.fit in (MomentEstimator.fit, IterativeEstimator.fit)
    assert cls.unlearning in get_args(Unlearning)
    names = list(inspect.signature(cls).parameters)
    sentinels = {name: object() for name in names}
    assert vars(cls(**sentinels)) == sentinels
    assert all(each.help for each in hyperparameters(cls).values())
    check_values(cls, cls().get_params(deep=False))
    name = "length" if cls is TMPCA else names[0]  # vectors may be anything
    with pytest.raises(ConfigError, match=rf"^{cls.__name__}.{name}: got .*, expected "):
        cls(**{name: len}).validate()


@pytest.mark.parametrize("scale", [1e-25, 1e25])
@pytest.mark.filterwarnings("error")
def test_squares_that_do_not_fit_single_precision(scale: float) -> None:
    for make in (lambda: FrequentDirections(8), lambda: DCoT(n_prototypes=3, keep_probability=1.0)):
        found = make().fit((X * scale).astype(np.float32))
        rows = found.transform((X * scale).astype(np.float32))
        assert np.isfinite(rows).all()
        assert rows.any()
    expected = FrequentDirections(8).fit(X).singular_values_
    found = FrequentDirections(8).fit((X * scale).astype(np.float32)).singular_values_
    np.testing.assert_allclose(found.astype(np.float64) / scale, expected, 1e-3)


@every_sketch
def test_components_are_orthonormal_directions_of_the_sketch(make: Callable[[], Any]) -> None:
    sketch = make().fit(X)
    k = len(sketch.components_)
    np.testing.assert_allclose(sketch.components_ @ sketch.components_.T, np.eye(k), atol=1e-10)
    expected = np.linalg.svd(sketch.sketch_, compute_uv=False)[:k]
    np.testing.assert_allclose(sketch.singular_values_, expected, atol=1e-10)
    largest = sketch.components_[np.arange(k), np.abs(sketch.components_).argmax(axis=1)]
    assert (largest > 0).all()
    assert sketch.transform(X).shape == (90, k)
    assert sketch.get_feature_names_out()[0] == f"{type(sketch).__name__.lower()}0"


@every_estimator
def test_however_rows_come_the_result_is_the_same(make: Callable[[], Any]) -> None:
    whole = make().fit(X)
    parts = make()
    for low in range(0, 90, 7):
        parts.partial_fit(X[low : low + 7])
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), rtol=1e-7, atol=1e-9)
    again = clone(whole).fit(X)
    assert again.transform(X).tobytes() == whole.transform(X).tobytes()


@every_estimator
def test_sparse_and_dense_rows_give_the_same(make: Callable[[], Any]) -> None:
    if isinstance(make(), Centring) and make().mean:
        pytest.skip("subtracting means would make sparse rows dense: refused, see below")
    counts = np.where(RNG.random((60, 12)) < 0.4, np.round(np.abs(X[:60])) + 1, 0.0)
    dense, sparse = make().fit(counts), make().fit(sp.csr_array(counts))
    one, two = dense.transform(counts), sparse.transform(sp.csr_matrix(counts))
    two = two.toarray() if sp.issparse(two) else two
    np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-9)


@every_sketch
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_precision_it_is_given(make: Callable[[], Any], dtype: type) -> None:
    sketch = make().fit(X.astype(dtype))
    assert (
        sketch.sketch_.dtype == sketch.components_.dtype == sketch.transform(X.astype(dtype)).dtype == dtype
    )
    exact = make().fit(X).singular_values_
    np.testing.assert_allclose(sketch.singular_values_, exact[: len(sketch.singular_values_)], rtol=1e-4)


@every_estimator
def test_reads_a_corpus_on_any_engine(make: Callable[[], Any]) -> None:
    whole = make().fit(MatrixCorpus(X, n_partitions=3))
    with use_engine("threads", jobs=2):
        threaded = make().fit(MatrixCorpus(X, n_partitions=3))
    assert threaded.transform(X).tobytes() == whole.transform(X).tobytes()


@every_sketch
def test_parts_merge(make: Callable[[], Any]) -> None:
    left = make().fit(X[:40])
    left.merge(make().fit(MatrixCorpus(X[40:], first_row=40)))
    assert left.n_rows_ == 90
    if isinstance(left, FrequentDirections):
        error = np.abs(np.linalg.eigvalsh(X.T @ X - left.sketch_.T @ left.sketch_)).max()
        assert error <= left.bound_ * (1 + 1e-9)
    else:
        np.testing.assert_allclose(left.sketch_, make().fit(X).sketch_, atol=1e-9)


def test_merging_other_settings_is_refused_and_names_them() -> None:
    with pytest.raises(ConfigError, match=r"sketch_size: 32 and 16"):
        CountSketch(sketch_size=32).fit(X).merge(CountSketch(sketch_size=16).fit(X))
    with pytest.raises(ConfigError, match=r"seed: 0 and 1"):
        CountSketch(sketch_size=32).fit(X).merge(CountSketch(sketch_size=32, random_state=1).fit(X))
    with pytest.raises(ConfigError, match=r"n_columns: 12 and 5"):
        SRHT(sketch_size=32).fit(X).merge(SRHT(sketch_size=32).fit(X[:, :5]))
    with pytest.raises(ConfigError, match=r"n_nonzeros: 4 and 2"):
        OSNAP(sketch_size=32).fit(X).merge(OSNAP(sketch_size=32, n_nonzeros=2).fit(X))
    with pytest.raises(ConfigError, match="CountSketchMoments"):
        CountSketch(sketch_size=32).fit(X).merge(GaussianSketch(sketch_size=32).fit(X))
    wide = np.ones((3, 3000))
    published = FrequentDirections(sketch_size=8, method="figure-1").fit(wide)
    with pytest.raises(ConfigError, match=r"method: 'figure-1' and 'randomised'"):
        published.merge(FrequentDirections(sketch_size=8).fit(wide))


@every_estimator
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_by_its_row(
    make: Callable[[], Any], sparse: bool, value: float
) -> None:
    bad = X.copy()
    bad[71, 5] = value
    if isinstance(make(), Centring) and make().mean and sparse:
        pytest.skip("takes dense rows only")
    with pytest.raises(MatrixError, match=r"row 71 .* column 5") as refusal:
        make().fit(sp.csr_array(bad) if sparse else bad)
    assert "\n" not in str(refusal.value)
    with pytest.raises(MatrixError, match="row 71"):
        make().partial_fit(X[:50]).partial_fit(bad[50:])


@every_estimator
def test_batches_of_another_width_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="features"):
        make().partial_fit(X).partial_fit(X[:, :3])


@every_estimator
def test_an_empty_stream_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="0 sample"):
        make().fit(X[:0])
    with pytest.raises(MatrixError, match="no rows"):
        make().fit(MatrixCorpus(X[:0]))


@every_sketch
@pytest.mark.parametrize("rows", [X[:1], X[:3], np.zeros((4, 5)), np.ones((6, 2)), X[:, :1]])
def test_small_and_degenerate_matrices(make: Callable[[], Any], rows: np.ndarray) -> None:
    sketch = make().fit(rows)
    assert np.isfinite(sketch.transform(rows)).all()
    assert len(sketch.components_) <= np.linalg.matrix_rank(rows)


@pytest.mark.parametrize("method", ["figure-1", "auto"])
def test_float32_that_overflows_when_squared(method: str) -> None:
    rows = (X * 1e25).astype(np.float32)
    sketch = FrequentDirections(sketch_size=12, method=method).fit(rows)
    expected = np.linalg.svd(X * 1e25, compute_uv=False)
    assert np.isfinite(sketch.sketch_).all()
    np.testing.assert_allclose(
        sketch.singular_values_[0], expected[0], rtol=0.3 if method == "figure-1" else 1e-5
    )


@pytest.mark.parametrize("make_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (FrequentDirections(sketch_size=4), X * 1e200),
        (LeverageScores(method="gram"), X * 1e200),
        (LeverageScores(method="qr"), np.full((3, 2), 1.7e308)),
        (LeverageScores(method="svd"), np.full((3, 2), 1.7e308)),
    ],
)
def test_squares_that_overflow_float64_are_refused(
    estimator: Any, rows: np.ndarray, make_rows: Callable[..., Any]
) -> None:
    with pytest.raises(MatrixError, match="overflow"):
        estimator.fit(make_rows(rows))


@pytest.mark.parametrize(
    ("estimator", "complaint"),
    [
        (
            FrequentDirections(sketch_size=0),
            "sketch_size: got 0, expected int, 1 or more",
        ),
        (FrequentDirections(method="magic"), "FrequentDirections.method: got 'magic', expected"),
        (CountSketch(sketch_size=0), "sketch_size"),
        (OSNAP(sketch_size=3), "n_nonzeros must be from 1 to"),
        (SRHT(sketch_size=8, block_size=12), "power of two"),
        (SRHT(sketch_size=8, block_size=4), "8 or more"),
        (LeverageScores(method="magic"), "LeverageScores.method: got 'magic', expected 'auto' or"),
        (LeverageScores(truncate=1.0), "LeverageScores.truncate: got 1.0, expected float, 0 or more"),
        (Centring(idf=True), "idf cannot be combined with mean or deviation"),
    ],
)
def test_settings_that_make_no_sense(estimator: Any, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        estimator.fit(X)


def test_more_components_than_rank_are_warned_of() -> None:
    with pytest.warns(SketchWarning, match="11 components were asked for, and the rows have rank 2"):
        assert FrequentDirections(sketch_size=8, n_components=11).fit(X[:, :2]).components_.shape == (2, 2)


def test_works_in_a_pipeline_and_a_grid_search() -> None:
    y = (X[:, 0] > 0).astype(int)
    pipeline = make_pipeline(Centring(), FrequentDirections(sketch_size=6), LogisticRegression())
    search = GridSearchCV(pipeline, {"frequentdirections__sketch_size": [2, 6]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8


def test_is_registered_under_its_names() -> None:
    names = ["countsketch.v1", "frequent-directions.v1", "gaussian.v1", "osnap.v1", "srht.v1"]
    assert set(names) <= set(registry.sketches.names())
    assert registry.sketches.get("frequent-directions") is FrequentDirections
    assert all(entry.status == "ok" for entry in registry.sketches.describe(load=True))


def test_reading_is_cheap_until_asked() -> None:
    sketch = FrequentDirections(sketch_size=4).partial_fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = sketch.sketch_
    assert sketch.sketch_ is first
    assert sketch.partial_fit(X).sketch_ is not first
