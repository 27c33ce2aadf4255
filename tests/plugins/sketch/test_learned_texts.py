"""What training texts add to a label's log-odds: a head's weights are a sum over its examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import spectralnlp
from spectralnlp import changes, registry
from spectralnlp.cli.app import run
from spectralnlp.errors import InputError

TOPICS = {
    "music": ["play some jazz", "play the opera", "put on a song", "start the music"],
    "weather": ["will it rain", "is it sunny in oslo", "how cold is it", "does it snow"],
    "food": ["order a pizza", "order tea", "get me a sandwich", "i want soup"],
}
PLACES = [f"{word} {number}" for number in range(40) for word in ("now", "today", "please", "again")]
# Labels of few texts are learned by logistic regression, those of many by support vector machines.
TEXTS: dict[str, list[tuple[str, str]]] = {
    "few": [(text, label) for label, texts in TOPICS.items() for text in texts],
    "many": [
        (f"{texts[number % 4]} {place}", label)
        for label, texts in TOPICS.items()
        for number, place in enumerate(PLACES)
    ],
}


@pytest.fixture(scope="module", params=TEXTS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder: Path = tmp_path_factory.mktemp("models") / "intents"
    learner = registry.estimators.get("intent")()
    corpus = learner.as_corpus(TEXTS[request.param])
    changes.train("intent", learner, corpus).save(folder)
    return request.param, folder


def test_texts_and_names_of_labels_add_up_to_the_scores(case: tuple[str, Path]) -> None:
    name, folder = case
    model: Any = spectralnlp.load(folder)
    learned = model.learned_texts
    kept = model.saved.kept("explain")
    assert (kept.state is None) == (name == "few")
    fitted = registry.estimators.get("intent")().fit(TEXTS[name])
    text = "play a sunny song"
    own = fitted.prior_.features(fitted.prior_.ngrams.rows_of([text]), [text])
    names = list(model.labels)
    of_names = fitted.prior_.features(fitted.prior_.ngrams.rows_of(names), names)
    n = len(TEXTS[name])
    n_names = len(fitted.shares_) - n
    scores = np.zeros(len(model.labels))
    for number, wanted in enumerate(np.eye(len(model.labels))):
        scores[number] = learned.influence(text, wanted).sum()
        label_similarity = (of_names.sparse @ own.sparse.T).toarray()[:n_names, 0]
        label_similarity = label_similarity + of_names.dense[:n_names] @ own.dense[0] + 1.0
        scores[number] += float(label_similarity @ fitted.shares_[n:, number])
    explained = model.explain(text)
    first = model._start([text])[0] + model._weighed(counted(model, text))[1].sum(axis=0)
    np.testing.assert_allclose(scores, first, atol=0.02)
    assert explained.in_favour[0].label == explained.label


def counted(model: Any, text: str) -> dict[int, int]:
    from spectralnlp_sketch.hashing.ngrams import count_ngrams

    found = count_ngrams([text], model.form)
    return dict(zip(found.indices.tolist(), found.data.tolist(), strict=True))


def test_the_texts_that_do_most_are_named(case: tuple[str, Path]) -> None:
    name, folder = case
    model: Any = spectralnlp.load(folder)
    explained = model.explain("order some soup", "food", limit=3)
    assert len(explained.in_favour) == 3
    influence = [each.influence for each in explained.in_favour]
    assert influence == sorted(influence, reverse=True)
    for each in (*explained.in_favour, *explained.against):
        assert TEXTS[name][each.example - 1] == (each.text, each.label)
    assert {each.label for each in explained.in_favour} == {"food"}
    assert model.explain("order some soup", limit=0).in_favour == ()
    with pytest.raises(InputError, match="limit -1 is out of range"):
        model.explain("order some soup", limit=-1)


def test_a_text_taken_out_takes_its_influence_with_it(case: tuple[str, Path]) -> None:
    name, folder = case
    if name == "many":
        pytest.skip("each text has three like it")
    model: Any = spectralnlp.load(folder)
    explained = model.explain("order some soup", "food")
    place = explained.in_favour[0].example - 1
    others = [*TEXTS[name][:place], *TEXTS[name][place + 1 :]]
    less = spectralnlp.train("intent", others, calibration=False).explain("order some soup", "food")
    whole = spectralnlp.train("intent", TEXTS[name], calibration=False).explain("order some soup", "food")
    assert less.log_odds < whole.log_odds


def test_the_command_explains_a_label(case: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    _, folder = case
    assert run(["explain", str(folder), "--text", "order some soup"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("food against ")
    assert "training texts in favour:\n  +" in out
    arguments = ["explain", str(folder), "--text", "order some soup", "--label", "music", "--json"]
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["label"], found["alternative"]) == ("music", "food")
    assert found["against"][0]["label"] == "food"
    assert run(["explain", str(folder), "--text", "x", "--label", "sports"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
