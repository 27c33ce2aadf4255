"""The second layer of a classifier: what it learns from scores, and that all ways to a score have it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from spectralnlp_sketch import Classifier, IntentClassifier
from spectralnlp_sketch.intent.long_texts import classify_long_text
from spectralnlp_sketch.intent.stacking import (
    C,
    HeldOut,
    SecondLayer,
    corrected_in_turn,
    learn_second_layer,
    squash,
)

import spectralnlp

ROUTES = {
    "ferry": "boats",
    "barge": "boats",
    "tram": "rails",
    "metro": "rails",
    "coach": "roads",
    "van": "roads",
}
ASKED = ["when does the {} leave", "is the {} late", "how full is the {} at {}", "book me a {} for {}"]
TEXTS = [
    ask.format(word, hour)
    for ask in ASKED
    for hour in ("noon", "nine", "six", "dawn", "four", "ten")
    for word in ROUTES
]
LABELS = [label for _ in range(len(TEXTS) // len(ROUTES)) for label in ROUTES.values()]


@pytest.fixture(scope="module")
def fitted() -> IntentClassifier:
    return IntentClassifier().fit(TEXTS, LABELS)


def random_scores(n: int, n_labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores as a hinge has them, and labels: the likeliest, or where the second next is high the next."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_labels, size=n)
    scores = -1 + 0.2 * rng.standard_normal((n, n_labels)).astype(np.float32)
    scores[np.arange(n), labels] += 1.5
    confused = rng.uniform(size=n) < 0.4
    scores[confused, (labels[confused] + 2) % n_labels] += 0.5
    return scores, np.where(confused, (labels + 1) % n_labels, labels)


@pytest.fixture
def corrected(fitted: IntentClassifier) -> Classifier:
    """A classifier whose corrections are large, and not symmetric."""
    rng = np.random.default_rng(3)
    return replace(
        fitted.classifier_,
        centers=rng.standard_normal(3).astype(np.float32),
        corrections=rng.standard_normal((3, 3)).astype(np.float32),
    )


def test_squashed_scores_are_nearly_tanh() -> None:
    x = np.linspace(-5, 5, 1001)
    assert np.abs(squash(x) - np.tanh(x)).max() < 0.03
    assert np.all(np.diff(squash(x)) >= 0)
    assert squash(np.array([-3.0, 0.0, 3.0, 1e9])).tolist() == [-1, 0, 1, 1]


def test_the_slope_is_zero_at_the_weights_that_are_learned() -> None:
    scores, labels = random_scores(400, 5, 0)
    layer = learn_second_layer(scores, labels, tolerance=1e-9)
    features = layer.squashed(scores).astype(np.float64)
    scale = np.sqrt((features**2).sum(axis=1).mean())
    signs = np.where(np.arange(5) == labels[:, None], 1.0, -1.0)
    short = np.maximum(1 - signs * layer.corrected(scores), 0)
    wanted = 2 * C * (features / scale).T @ (signs * short)
    np.testing.assert_allclose(layer.weights * scale, wanted, atol=0.01 * np.abs(wanted).max())


def test_other_labels_tell_of_a_label() -> None:
    scores, labels = random_scores(2000, 6, 1)
    asked, right = random_scores(2000, 6, 2)
    layer = learn_second_layer(scores, labels)
    before = (asked.argmax(axis=1) == right).mean()
    after = (layer.corrected(asked).argmax(axis=1) == right).mean()
    assert before < 0.65
    assert after > before + 0.15


def test_folds_are_corrected_by_the_other_folds() -> None:
    scores, labels = random_scores(200, 4, 4)
    found = HeldOut(scores, labels, np.arange(200) % 5)
    mine = found.folds == 2
    once = corrected_in_turn(found)
    others = found._replace(labels=np.where(mine, 0, labels))
    again = corrected_in_turn(others)
    np.testing.assert_array_equal(once[mine], again[mine])
    assert not np.allclose(once[~mine], again[~mine])


def test_nothing_held_out_twice_is_left_as_it_is() -> None:
    scores, labels = random_scores(20, 4, 5)
    one_fold = HeldOut(scores, labels, np.zeros(20, np.int64))
    np.testing.assert_array_equal(corrected_in_turn(one_fold), scores)
    nothing = SecondLayer.none(4)
    np.testing.assert_array_equal(nothing.corrected(scores), scores)


def test_texts_get_corrected_scores(corrected: Classifier) -> None:
    texts = ["when does the ferry leave", "a van", "is the metro late?", ""]
    plain = replace(corrected, centers=None, corrections=None)
    kernel = corrected.predict_proba(texts)
    for text, found in zip(texts, kernel, strict=True):
        first = np.array([_score(plain, text, number) for number in range(3)])
        scores = corrected.second_layer.corrected(first) * corrected.sharpness
        odds = np.exp(scores - scores.max())
        np.testing.assert_allclose(odds / odds.sum(), found, atol=1e-5)
    long = " ".join(TEXTS[:20])
    in_pieces, _ = classify_long_text(
        long, corrected.form, corrected._scorer, corrected.bias, piece=200, seam=100
    )
    np.testing.assert_allclose(corrected.predict_proba([long])[0], in_pieces, atol=1e-5)


def _score(plain: Classifier, text: str, number: int) -> float:
    """A label's score: its log-odds against a label whose table is zeros."""
    table = np.stack([plain.table[:, number], np.zeros(len(plain.table), np.float32)], axis=1)
    bias = np.array([plain.bias[number], 0.0], np.float32)
    alone = replace(plain, labels=("it", "zero"), table=table, bias=bias, sharpness=1.0)
    return alone.explain(text, "it").log_odds


@pytest.mark.parametrize("text", ["when does the ferry leave", "van van", "", "xyzzy"])
def test_corrected_scores_are_shared_out(corrected: Classifier, text: str) -> None:
    found = dict(zip(corrected.labels, corrected.classify(text).scores, strict=True))
    for label in corrected.labels:
        each = corrected.explain(text, label)
        assert each.bias + sum(part.score for part in each.ngrams) == pytest.approx(each.log_odds, abs=1e-5)
        assert each.log_odds == pytest.approx(np.log(found[label] / found[each.alternative]), abs=1e-4)


def test_many_texts_of_three_labels_have_a_second_layer(fitted: IntentClassifier, tmp_path: Path) -> None:
    classifier = fitted.classifier_
    assert classifier.corrections is not None
    assert fitted.score(TEXTS, LABELS) == 1
    two = [number for number, label in enumerate(LABELS) if label != "boats"]
    texts, labels = [TEXTS[n] for n in two], [LABELS[n] for n in two]
    assert IntentClassifier().fit(texts, labels).classifier_.corrections is None
    few = slice(0, 12)
    assert IntentClassifier().fit(TEXTS[few], LABELS[few]).classifier_.corrections is None
    fitted.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.corrections, classifier.corrections)
    np.testing.assert_allclose(loaded.predict_proba(TEXTS), fitted.predict_proba(TEXTS), atol=0.01)


def test_without_calibration_scores_are_corrected_too() -> None:
    classifier = IntentClassifier(calibration=False).fit(TEXTS, LABELS).classifier_
    assert classifier.corrections is not None
    assert classifier.sharpness == 1
