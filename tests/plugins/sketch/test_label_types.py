"""Labels of any type go into a classifier and come back as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from spectralnlp_sketch import HashedNgrams, IntentClassifier

import spectralnlp

TEXTS = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"] * 2
KINDS: dict[str, tuple[Any, Any]] = {
    "int": (3, 7),
    "bool": (False, True),
    "numpy int": (np.int64(3), np.int64(7)),
    "numpy bool": (np.bool_(False), np.bool_(True)),
    "numpy str": (np.str_("price"), np.str_("times")),
    "float": (0.5, 1.5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_come_back_as_they_were(kind: str) -> None:
    first, second = KINDS[kind]
    labels = [first, first, second, second] * 2
    model = IntentClassifier(calibration=False).fit(TEXTS, labels)
    assert model.predict(TEXTS).tolist() == labels
    assert type(model.classes_.tolist()[0]) is type(np.asarray(first).item())


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan])
def test_missing_labels_are_texts_without(missing: Any) -> None:
    model = IntentClassifier(calibration=False).fit([*TEXTS, "is there a boat"], [0, 0, 1, 1] * 2 + [missing])
    assert (model.n_labelled_, model.n_unlabelled_) == (8, 1)


def test_labels_of_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "label": pandas.array([0, 0, 1, 1, 0, 0, 1, None], "Int64")})
    model = IntentClassifier(calibration=False).fit(frame)
    assert model.classes_.tolist() == [0, 1]
    assert model.n_unlabelled_ == 1


def test_decision_function_orders_labels_as_probabilities_do() -> None:
    two = IntentClassifier(calibration=False).fit(TEXTS, [0, 0, 1, 1] * 2)
    assert two.decision_function(TEXTS).shape == (8,)
    assert ((two.decision_function(TEXTS) > 0) == (two.predict(TEXTS) == 1)).all()
    three = IntentClassifier(calibration=False).fit(TEXTS, [0, 1, 2, 2] * 2)
    scores = three.decision_function(TEXTS)
    assert np.allclose(np.exp(scores), three.predict_proba(TEXTS), atol=1e-6)


def test_a_linear_model_over_hashed_ngrams_ends() -> None:
    assert HashedNgrams().fit_transform(TEXTS).shape == (8, 2**16)


def test_saved_labels_of_numbers_are_read(tmp_path: Path) -> None:
    IntentClassifier(calibration=False).fit(TEXTS, [3, 3, 7, 7] * 2).save(tmp_path / "model")
    assert spectralnlp.load(tmp_path / "model").labels == ("3", "7")
