"""SENT and SENT+: what stands beside the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from spectralnlp_sketch import SENT, SENTPlus, with_unlabelled
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams
from spectralnlp_sketch.sent.moments import POSITION_COLUMNS, LabelledQueries, NgramDirections

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import Batch, InMemoryCorpus

TEXTS = [
    f"{verb} the {thing}" for verb in ("open", "close", "paint") for thing in ("door", "lid", "box", "gate")
]
LABELS = [text.split()[0] for text in TEXTS]
PLAIN = ["open the window", "paint it red", "close it now"] * 3
SIZES: dict[str, Any] = {"sketch_size": 4, "n_features": 2**10}


@pytest.mark.parametrize("cls", [SENT, SENTPlus])
def test_the_projection_has_length_one(cls: Any) -> None:
    model = cls(**SIZES, output="all").fit(*with_unlabelled(TEXTS, LABELS, PLAIN))
    rows = model.transform(TEXTS)
    n = len(model.directions_)
    x, dense = rows[:, :-n], rows[:, -n:].toarray()
    np.testing.assert_allclose(np.linalg.norm(dense, axis=1), 1.0, rtol=1e-5)
    expected = x @ model.directions_.T
    np.testing.assert_allclose(dense, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)


def test_directions_of_few_texts_are_exact() -> None:
    """As long as a buffer holds all rows: those of a singular value decomposition of the counts."""
    texts = TEXTS + PLAIN
    model = SENT(sketch_size=20, n_features=2**10, n_components=3).fit(texts)
    x = count_ngrams(texts, NgramFormat((1, 3), None, 2**10)).toarray()
    exact = np.linalg.svd(x, full_matrices=False)[2][:3]
    np.testing.assert_allclose(np.abs(np.sum(model.directions_ * exact, axis=1)), 1.0, atol=1e-4)


def test_a_stream_is_not_held() -> None:
    moments = NgramDirections(4, 2**8, (1, 3), buffer_rows=32)
    sizes, x = [], count_ngrams(TEXTS, NgramFormat((1, 3), None, 2**8)).toarray()
    for times in range(1, 13):
        moments.observe(Batch(TEXTS, "memory", 0, 0))
        sizes.append(sum(each.nbytes for each in moments.arrays().values()))
        difference = times * x.T @ x - moments.sketch.rows.T @ moments.sketch.rows
        assert np.linalg.norm(difference, 2) <= moments.sketch.bound + 1e-3 * times
    assert max(sizes[6:]) <= max(sizes[:6])
    assert moments.n_rows == 12 * len(TEXTS)


def test_counts_are_counts() -> None:
    x = SENT(**SIZES, output="all").fit(TEXTS).transform(["open open the"])[:, : 2**10]
    assert sorted(x.data.tolist()) == [1, 1, 1, 1, 2]  # open ×2, the; open open, open the; all three


def test_plus_has_first_words_and_unseen_predictions() -> None:
    model = SENTPlus(**SIZES, output="all")
    own = model.fit_transform(*with_unlabelled(TEXTS, LABELS, PLAIN))[: len(TEXTS)]
    rows = model.transform(TEXTS)
    first = 2**10 + 2 * POSITION_COLUMNS
    assert rows[:, 2**10 : first].sum() == 2 * len(TEXTS)
    predicted = rows[:, first : first + 3].toarray()
    assert model.classes_[predicted.argmax(axis=1)].tolist() == LABELS
    assert own.shape == rows.shape
    assert (own[:, :first] != rows[:, :first]).nnz == 0
    assert (predicted.sum(axis=1) == 1).all()


def test_predictions_of_own_texts_are_of_models_without_them() -> None:
    labels = list("ababbabaabab")  # no word tells: one must have seen
    model = SENTPlus(**SIZES, output="all")
    own = model.fit_transform(TEXTS, labels)
    first = 2**10 + 2 * POSITION_COLUMNS
    seen = model.classes_[model.transform(TEXTS)[:, first : first + 2].toarray().argmax(axis=1)]
    unseen = model.classes_[own[:, first : first + 2].toarray().argmax(axis=1)]
    assert (seen == labels).mean() > (unseen == labels).mean()


def test_plus_projects_onto_the_directions_of_all_its_rows() -> None:
    """None is left out, however many: the sketch of two rows is that of the extended counts of all."""
    settings: dict[str, Any] = {"sketch_size": 60, "n_features": 2**10, "n_components": 3}
    pairs = with_unlabelled(TEXTS, LABELS, PLAIN)
    model = SENTPlus(**settings)
    x = model.set_params(output="all").fit_transform(*pairs)[:, :-3].toarray()
    exact = np.linalg.svd(x, full_matrices=False)[2][:3]
    np.testing.assert_allclose(np.abs(np.sum(model.directions_ * exact, axis=1)), 1.0, atol=1e-4)
    assert model.n_texts_ == len(TEXTS) + len(PLAIN)


def test_plus_does_not_hold_unlabelled_queries() -> None:
    def stream(times: int) -> SENTPlus:
        examples = [*zip(TEXTS, LABELS, strict=True), *((text, None) for text in PLAIN * times)]
        return SENTPlus(**SIZES).fit(InMemoryCorpus(examples, n_partitions=3))

    class Watched(LabelledQueries):
        most = 0

        def observe(self, batch: Batch[Any]) -> None:
            super().observe(batch)
            type(self).most = max(self.most, len(list(self.corpus())))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spectralnlp_sketch.sent.estimator.LabelledQueries", Watched)
        model = stream(300)
    assert (Watched.most, model.n_texts_) == (len(TEXTS), len(TEXTS) + 300 * len(PLAIN))
    assert model.bound_ > 0 or model.directions_.shape[0] <= 4
    assert np.linalg.norm(model.directions_ @ model.directions_.T - np.eye(4)) < 1e-4


def test_plus_learns_of_a_fold_that_holds_all_of_an_intent() -> None:
    model = SENTPlus(**SIZES).fit(["open it", "close it"], [True, False])
    assert model.classes_.tolist() == [False, True]
    assert model.classes_[model.first_model_.predict(model._rows(["open"])[:, : 2**10])].tolist() == [True]


def test_in_a_pipeline() -> None:
    pipeline = make_pipeline(SENT(**SIZES, output="all"), LinearSVC(multi_class="crammer_singer"))
    assert clone(pipeline).fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1
    assert np.isfinite(pipeline.fit(TEXTS, LABELS)[0].transform(["", "nothing known"]).data).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SENT(**SIZES).fit([]), TextError, "no queries"),
        (lambda: SENT(**SIZES).fit(["", "!"]), TextError, "no queries"),
        (lambda: SENT(**{**SIZES, "n_features": 3}).fit(TEXTS), ConfigError, "power of two"),
        (lambda: SENTPlus(**SIZES).fit(TEXTS), TextError, "no labelled texts"),
        (lambda: SENTPlus(**SIZES).fit(TEXTS, ["a"] * 12), TextError, "only the label 'a'"),
        (lambda: SENTPlus(**SIZES).fit(TEXTS, [("a",)] * 12), InputError, "a label is tuple"),
        (lambda: SENTPlus(**SIZES).fit(InMemoryCorpus(["ab", "cd"])), TextError, "no labelled texts"),
        (lambda: SENTPlus(**SIZES).fit(["", "!"], ["a", "b"]), TextError, "no labelled queries with words"),
    ],
)
def test_bad_input(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
