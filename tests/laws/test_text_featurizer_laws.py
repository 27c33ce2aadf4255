"""The promises of every registered featurizer, and of published variants."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from spectralnlp_sketch import (
    SENT,
    DCoTFeatures,
    FrequentDirectionsFeatures,
    HashedNgrams,
    SENTPlus,
    TMPCAFeatures,
)

import spectralnlp
from spectralnlp import registry
from spectralnlp.runtime import InMemoryCorpus, use_engine
from spectralnlp.testing import check_featurizer

TEXTS = [f"{verb} the {thing} now" for verb in ("open", "close", "paint") for thing in ("door", "lid", "box")]
LABELS = [text.split()[0] for text in TEXTS]
SMALL: dict[str, Any] = {"sketch_size": 4, "n_features": 2**10}
REGISTERED: dict[str, Callable[[], Any]] = {
    "dcot": lambda: DCoTFeatures(n_words=50, n_prototypes=4, n_layers=2),
    "frequent-directions": lambda: FrequentDirectionsFeatures(sketch_size=4),
    "hashed-ngrams": lambda: HashedNgrams(n_features=2**10),
    "sent": lambda: SENT(**SMALL),
    "sent-plus": lambda: SENTPlus(**SMALL),
    "tmpca": lambda: TMPCAFeatures(dimensions=3, length=4),
}
AS_PUBLISHED: dict[str, Callable[[], Any]] = {
    "dcot as published": lambda: DCoTFeatures(
        prototypes="frequent", weighting="counts", output="all", normalise=False, n_prototypes=4
    ),
    "tmpca as published": lambda: TMPCAFeatures(
        mask_padding=False, stop_words="english", stem=True, bigrams=True, dimensions=1, length=4
    ),
}
FEATURIZERS = {**REGISTERED, **AS_PUBLISHED}


@pytest.fixture(params=FEATURIZERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Any]:
    return FEATURIZERS[request.param]


def rows_of(featurizer: Any, texts: Any) -> Any:
    rows = featurizer.transform(texts)
    return rows.toarray() if sp.issparse(rows) else rows


def test_all_that_are_registered_keep_the_contract() -> None:
    assert sorted(name.partition(".")[0] for name in registry.featurizers.names()) == sorted(REGISTERED)
    for name, featurizer in REGISTERED.items():
        assert registry.featurizers.get(name) is registry.estimators.get(name) is type(featurizer())
    for featurizer in FEATURIZERS.values():
        check_featurizer(featurizer(), TEXTS, LABELS)


@pytest.mark.parametrize(
    "name", [name if "sent" in name else pytest.param(name, marks=pytest.mark.slow) for name in REGISTERED]
)
def test_workers_learn_the_same(name: str) -> None:
    examples = [*zip(TEXTS, LABELS, strict=True), *((text, None) for text in TEXTS * 4)]
    corpus = InMemoryCorpus(examples if name == "sent-plus" else TEXTS * 5, n_partitions=4)
    rows = []
    for engine in ("serial", "threads", "processes"):
        with use_engine(engine, **({} if engine == "serial" else {"jobs": 2})):
            rows.append(rows_of(REGISTERED[name]().fit(corpus), TEXTS))
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


def test_a_trained_one_is_a_transformer_of_scikit_learns() -> None:
    features = spectralnlp.train("sent", InMemoryCorpus(TEXTS), n_components=6)
    pipeline = clone(make_pipeline(features, LinearSVC())).fit(TEXTS, LABELS)
    assert pipeline.score(TEXTS, LABELS) == 1
    assert clone(features) is features
    assert list(features.get_feature_names_out()) == [f"sent{i}" for i in range(6)]
    pytest.importorskip("pandas")
    frame = features.set_output(transform="pandas").transform(TEXTS)
    assert list(frame.columns) == list(features.get_feature_names_out())


def test_init_only_stores(make: Callable[[], Any]) -> None:
    cls = type(make())
    sentinels = {name: object() for name in inspect.signature(cls).parameters}
    assert vars(cls(**sentinels)) == sentinels


def test_fit_returns_self_and_leaves_parameters_alone(make: Callable[[], Any]) -> None:
    featurizer = make()
    before = featurizer.get_params()
    assert featurizer.fit(TEXTS, LABELS) is featurizer
    assert featurizer.get_params() == before
    assert all(name in before or name.endswith("_") for name in vars(featurizer))


def test_before_fit_it_says_so(make: Callable[[], Any]) -> None:
    with pytest.raises(NotFittedError):
        make().transform(TEXTS)
    with pytest.raises(NotFittedError):
        clone(make().fit(TEXTS, LABELS)).transform(TEXTS)


def test_a_row_does_not_depend_on_its_neighbours(make: Callable[[], Any]) -> None:
    featurizer = make().fit(TEXTS, LABELS)
    together = rows_of(featurizer, TEXTS)
    alone = np.vstack([rows_of(featurizer, [text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(rows_of(featurizer, TEXTS[::-1]), together[::-1], atol=1e-6)


def test_fitting_twice_is_fitting_once(make: Callable[[], Any]) -> None:
    featurizer = make().fit(TEXTS, LABELS)
    first = rows_of(featurizer, TEXTS)
    np.testing.assert_array_equal(rows_of(featurizer.fit(TEXTS, LABELS), TEXTS), first)
    np.testing.assert_array_equal(rows_of(make().fit(TEXTS, LABELS), TEXTS), first)


def test_it_pickles(make: Callable[[], Any]) -> None:
    featurizer = make().fit(TEXTS, LABELS)
    copy = pickle.loads(pickle.dumps(featurizer))
    np.testing.assert_array_equal(rows_of(copy, TEXTS), rows_of(featurizer, TEXTS))


def test_odd_texts_are_rows_too(make: Callable[[], Any]) -> None:
    rows = rows_of(make().fit(TEXTS, LABELS), ["", " ", "\udc80", "ЖЖЖ", "x" * 10_000])
    assert rows.shape[0] == 5
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("bad", ["one text", ["a", 3], None])
def test_what_is_no_list_of_texts_is_refused(make: Callable[[], Any], bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        make().fit(bad, LABELS)
