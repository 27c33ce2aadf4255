"""The promises of every featurizer of texts, as scikit-learn's own checks state them for matrices."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from spectralnlp_sketch import SENT, HashedNgrams, SENTPlus

from spectralnlp import registry

TEXTS = [f"{verb} the {thing} now" for verb in ("open", "close", "paint") for thing in ("door", "lid", "box")]
LABELS = [text.split()[0] for text in TEXTS]
SMALL = {"sketch_size": 4, "n_features": 2**10}
FEATURIZERS: dict[str, Callable[[], Any]] = {
    "hashed-ngrams": lambda: HashedNgrams(n_features=2**10),
    "sent": lambda: SENT(**SMALL),
    "sent-plus": lambda: SENTPlus(**SMALL),
}


@pytest.fixture(params=FEATURIZERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Any]:
    return FEATURIZERS[request.param]


def test_it_is_registered() -> None:
    for name, featurizer in FEATURIZERS.items():
        assert registry.featurizers.get(name) is type(featurizer())


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
    together = featurizer.transform(TEXTS).toarray()
    alone = np.vstack([featurizer.transform([text]).toarray() for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(featurizer.transform(TEXTS[::-1]).toarray(), together[::-1], atol=1e-6)


def test_fitting_twice_is_fitting_once(make: Callable[[], Any]) -> None:
    featurizer = make().fit(TEXTS, LABELS)
    first = featurizer.transform(TEXTS).toarray()
    np.testing.assert_array_equal(featurizer.fit(TEXTS, LABELS).transform(TEXTS).toarray(), first)
    np.testing.assert_array_equal(make().fit(TEXTS, LABELS).transform(TEXTS).toarray(), first)


def test_it_pickles(make: Callable[[], Any]) -> None:
    featurizer = make().fit(TEXTS, LABELS)
    copy = pickle.loads(pickle.dumps(featurizer))
    assert (copy.transform(TEXTS) != featurizer.transform(TEXTS)).nnz == 0


def test_odd_texts_are_rows_too(make: Callable[[], Any]) -> None:
    rows = make().fit(TEXTS, LABELS).transform(["", " ", "\udc80", "ЖЖЖ", "x" * 10_000])
    assert rows.shape[0] == 5
    assert np.isfinite(rows.data).all()


@pytest.mark.parametrize("bad", ["one text", ["a", 3], None])
def test_what_is_no_list_of_texts_is_refused(make: Callable[[], Any], bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        make().fit(bad, LABELS)
