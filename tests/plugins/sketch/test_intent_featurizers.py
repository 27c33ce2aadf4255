"""Classifiers over featurizers, and over more unlabelled text than is held."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spectralnlp_sketch import SENT, IntentClassifier, labelled, with_unlabelled
from spectralnlp_sketch.intent import prior

import spectralnlp
from spectralnlp import InMemoryCorpus
from spectralnlp.errors import SpectralError

PLACES = ("door", "lid", "box", "gate", "window", "hatch")
TEXTS = [
    f"{verb} the {place} {end}" for verb in ("open", "paint") for place in PLACES for end in ("now", "soon")
]
LABELS = [text.split()[0] for text in TEXTS]
PLAIN = [f"please {verb} it {end}" for verb in ("open", "paint", "close") for end in ("now", "soon", "later")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A trained featurizer."""
    corpus = InMemoryCorpus(TEXTS + PLAIN)
    spectralnlp.train("sent", corpus, sketch_size=4, n_features=2**10).save(tmp_path / "sent")
    return tmp_path / "sent"


def test_a_trained_featurizer_is_held_by_the_classifier(folder: Path, tmp_path: Path) -> None:
    model = IntentClassifier(featurizer=str(folder)).fit(*with_unlabelled(TEXTS, LABELS, PLAIN))
    plain = IntentClassifier().fit(*with_unlabelled(TEXTS, LABELS, PLAIN))
    asked = ["open everything", "paint my door", "", "ЖЖЖ"]
    probabilities = model.predict_proba(asked)
    assert model.predict(asked)[:2].tolist() == ["open", "paint"]
    assert np.abs(probabilities - plain.predict_proba(asked)).max() > 1e-3
    model.save(tmp_path / "intent")
    shutil.rmtree(folder)
    loaded = spectralnlp.load(tmp_path / "intent")
    np.testing.assert_allclose(loaded.predict_proba(asked), probabilities, atol=1e-3)
    assert loaded.info["parameters"]["featurizer"] == "sent"


def test_scores_are_those_of_the_head(folder: Path) -> None:
    model = IntentClassifier(featurizer=str(folder), calibration=False).fit(TEXTS, LABELS)
    found, explained = model.classifier_.classify(TEXTS[0]), model.explain(TEXTS[0])
    logit = float(np.log(found.scores[0] / found.scores[1]))
    assert explained.log_odds == pytest.approx(logit, abs=1e-3)
    assert explained.bias + sum(each.score for each in explained.ngrams) == pytest.approx(logit, abs=1e-3)


@pytest.mark.filterwarnings("ignore:dimensions lowered")
@pytest.mark.parametrize("name", ["dcot", "frequent-directions", "sent", "tmpca"])
def test_a_registered_featurizer_learns_from_all_texts(name: str) -> None:
    model = IntentClassifier(featurizer=name, calibration=False)
    model.fit(*with_unlabelled(TEXTS, LABELS, PLAIN))
    assert model.classifier_.featurizer.n_texts_ == len(TEXTS) + len(PLAIN)  # type: ignore[union-attr]
    assert (model.predict(TEXTS) == LABELS).all()


@pytest.mark.parametrize(
    ("featurizer", "message"),
    [
        ("hashed-ngrams", "sparse rows"),
        ("dcott", "did you mean dcot"),
        ("no/such/folder", "no featurizer is called"),
        (".", "no model here|model.json"),
    ],
)
def test_what_is_no_featurizer_is_refused_in_one_line(featurizer: str, message: str) -> None:
    with pytest.raises(SpectralError, match=message) as caught:
        IntentClassifier(featurizer=featurizer).fit(TEXTS, LABELS)
    assert "\n" not in str(caught.value)


def test_another_model_is_refused(tmp_path: Path) -> None:
    spectralnlp.train("hmm", [["a", "b"], ["b", "a"]], n_states=1).save(tmp_path / "hmm")
    with pytest.raises(SpectralError, match="a model for sequences, not a featurizer"):
        IntentClassifier(featurizer=str(tmp_path / "hmm")).fit(TEXTS, LABELS)


def test_rows_that_are_not_finite_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SENT, "transform", lambda self, texts: np.full((len(texts), 2), np.nan))
    with pytest.raises(SpectralError, match="SENT does not give a row of finite numbers"):
        IntentClassifier(featurizer="sent").fit(TEXTS, LABELS)


def test_of_a_long_stream_some_texts_are_held_and_all_are_learned_from(monkeypatch: Any) -> None:
    monkeypatch.setattr(labelled, "MAX_CHARACTERS", 600)
    monkeypatch.setattr(labelled, "SAMPLE_CHARACTERS", 200)
    examples = [*zip(TEXTS, LABELS, strict=True), *((text, None) for text in PLAIN * 20)]
    found = labelled.split_by_label(examples)
    assert (len(found.labels), found.n_unlabelled, found.is_all) == (len(TEXTS), 180, False)
    assert sum(map(len, found.unlabelled)) <= 200
    assert found.unlabelled == (PLAIN * 20)[::32]

    learned_from: list[int] = []
    learn = prior.eigenword_directions

    def spy(rows: Any, ngrams: Any, texts: Any, *rest: Any) -> Any:
        learned_from.append(sum(1 for _ in texts))
        return learn(rows, ngrams, texts, *rest)

    monkeypatch.setattr(prior, "eigenword_directions", spy)
    model = IntentClassifier(calibration=False).fit(InMemoryCorpus(examples))
    assert learned_from == [len(examples)]
    assert (model.n_unlabelled_, model.prior_.projection.shape[1] > 0) == (180, True)
    model = IntentClassifier(featurizer="frequent-directions", calibration=False).fit(
        InMemoryCorpus(examples)
    )
    assert model.classifier_.featurizer.n_texts_ == len(examples)  # type: ignore[union-attr]
