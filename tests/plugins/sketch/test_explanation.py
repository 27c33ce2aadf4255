"""What n-grams add to a label's score: they add up to what the classifier says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given
from hypothesis import strategies as st
from spectralnlp_sketch import IntentClassifier
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams
from spectralnlp_sketch.hashing.occurrences import normalised, occurrences

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError, InputError, NotFittedError

TEXTS = [
    "play some jazz",
    "play the opera",
    "will it rain",
    "is it sunny in oslo",
    "order a pizza",
    "order tea",
]
LABELS = ["music", "music", "weather", "weather", "food", "food"]
FORMATS = [
    NgramFormat(),
    NgramFormat(words=(2, 3), characters=None, n_columns=2**10),
    NgramFormat(n_columns=2**12, pairs=3),
    NgramFormat(words=None, n_columns=2**12, pairs=60),
    NgramFormat(words=None, characters=(1, 4), n_columns=2**10, lowercase=False),
]


@pytest.fixture(scope="module")
def fitted() -> IntentClassifier:
    return IntentClassifier().fit(TEXTS * 2, LABELS * 2)


@pytest.mark.parametrize("form", FORMATS)
@given(text=st.text(alphabet="aBc dé_1.,\U0001f600\n漢'", max_size=30))
def test_occurrences_are_what_kernels_count(form: NgramFormat, text: str) -> None:
    columns = [each.column for each in occurrences(normalised(text, form), form)]
    counted = count_ngrams([text], form)
    found, counts = np.unique(np.array(columns, np.int64), return_counts=True)
    assert found.tolist() == counted.indices.tolist()
    assert counts.tolist() == counted.data.tolist()


@pytest.mark.parametrize("text", ["play some jazz please play", "rain", "", "xyzzy", "Order: PIZZA!"])
def test_contributions_add_up_to_the_score(fitted: IntentClassifier, text: str) -> None:
    classifier = fitted.classifier_
    p = dict(zip(classifier.labels, classifier.classify(text).scores.tolist(), strict=True))
    for label in classifier.labels:
        explained = classifier.explain(text, label)
        log_odds = explained.log_odds
        assert p[explained.alternative] == max(p[other] for other in p if other != label)
        assert log_odds == pytest.approx(math.log(p[label] / p[explained.alternative]), abs=1e-4)
        assert explained.bias + sum(each.score for each in explained.ngrams) == pytest.approx(log_odds)
        if explained.words:
            assert explained.bias + sum(w.score for w in explained.words) == pytest.approx(log_odds)


def test_the_words_that_decide_come_first(fitted: IntentClassifier) -> None:
    explained = fitted.explain("please play jazz")
    assert explained.label == "music"
    assert [word.text for word in explained.words] == ["please", "play", "jazz"]
    assert explained.words[1].score > abs(explained.words[0].score)
    assert fitted.explain("please play jazz", "food").words[1].score < 0
    with pytest.raises(ConfigError, match="no label 'sports'"):
        fitted.explain("play", "sports")
    with pytest.raises(InputError, match="text is expected"):
        fitted.classifier_.explain(["play"])


def test_the_command_explains(
    fitted: IntentClassifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted.save(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("play jazz\n")
    arguments = ["classify", str(tmp_path / "model"), str(tmp_path / "texts.txt"), "--explain"]
    assert run(arguments) == 0
    label, confidence, words = capsys.readouterr().out.rstrip("\n").split("\t")
    assert label == "music"
    assert 0 < float(confidence) <= 1
    assert words.startswith("play:+")
    assert run([*arguments, "--format", "json"]) == 0
    value = json.loads(capsys.readouterr().out)["explanation"]
    assert [word for word, _ in value["words"]] == ["play", "jazz"]
    assert value["label"] == "music"


def test_a_fitted_estimator_saves_what_load_reads(fitted: IntentClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    assert loaded.classify("play the opera").label == "music"
    assert loaded.info["estimator"] == "IntentClassifier"
    assert loaded.info["training texts"] == 12
    with pytest.raises(ConfigError, match="already"):
        fitted.save(tmp_path / "model", overwrite=False)
    with pytest.raises(NotFittedError):
        IntentClassifier().save(tmp_path / "other")


class Frame:
    """As much of a data frame as we look at."""

    def __init__(self, **columns: list[Any]) -> None:
        self.values, self.columns = columns, list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self.values[name]


@pytest.mark.parametrize(
    "data",
    [
        {"text": TEXTS, "label": LABELS},
        Frame(id=[1, 2, 3, 4, 5, 6], utterance=TEXTS, intent=LABELS),
        [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)],
        ({"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)),
    ],
)
def test_records_are_examples(data: Any) -> None:
    model = spectralnlp.train("intent", data, calibration=False)
    assert model.info["training texts"] == 6
    assert model.classify("order a pizza").label == "food"


def test_records_without_a_text_say_so() -> None:
    with pytest.raises(InputError, match=r"without text.*it has id"):
        IntentClassifier().fit([{"id": 3}])
