"""The classifier of intents: what it learns, what it says of bad input, what is on disk."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC
from spectralnlp_sketch import Classifier, IntentClassifier, read_texts, with_unlabelled
from spectralnlp_sketch.cli.classify import _arriving
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.ngrams import NgramFormat, Ngrams
from spectralnlp_sketch.intent import prior
from spectralnlp_sketch.intent.calibration import folds, sharpness_of
from spectralnlp_sketch.intent.head import Examples, Features, Learned, fit_head, fit_svm
from spectralnlp_sketch.intent.head_learner import (
    FEW_SHOT,
    MANY_SHOT,
    label_similarity_of,
    label_texts,
    perplexity_of,
)
from spectralnlp_sketch.intent.report import IntentReport
from spectralnlp_sketch.intent.scope import Scope, familiarity_of

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.runtime import InMemoryCorpus

CITIES, FOODS, SONGS = ("oslo", "lima", "cairo"), ("pizza", "ramen", "tacos"), ("jazz", "techno", "opera")
WEATHER = [
    f"{ask} in {city} {day}"
    for ask in ("will it rain", "is it sunny")
    for city in CITIES
    for day in ("today", "tonight")
]
FOOD = [
    f"{ask} {food} {when}"
    for ask in ("order", "i want to eat")
    for food in FOODS
    for when in ("now", "for lunch")
]
MUSIC = [
    f"{ask} {song} {how}" for ask in ("play", "put on some") for song in SONGS for how in ("loudly", "please")
]
TEXTS = WEATHER + FOOD + MUSIC
LABELS = ["get_weather"] * len(WEATHER) + ["orderFood"] * len(FOOD) + ["music"] * len(MUSIC)
PICKED = [0, 3, 12, 15, 24, 27]


@pytest.fixture(scope="module")
def fitted() -> IntentClassifier:
    few = [TEXTS[i] for i in PICKED], [LABELS[i] for i in PICKED]
    return IntentClassifier().fit(*with_unlabelled(*few, TEXTS))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "train.tsv").write_text("\n".join(rows[i] for i in PICKED) + "\n")
    (tmp_path / "dev.tsv").write_text("\n".join(rows) + "\n\n")
    (tmp_path / "plain.txt").write_text("\n".join(TEXTS) + "\n")
    return tmp_path


def test_the_command_line(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(files / "model")
    unlabelled = ["--unlabelled", str(files / "plain.txt"), "--unlabelled", str(files / "dev.tsv")]
    assert run(["train", "intent", str(files / "train.tsv"), *unlabelled, "-o", model]) == 0
    capsys.readouterr()
    assert run(["evaluate", model, str(files / "dev.tsv"), "--format", "json"]) == 0
    flat = json.loads(capsys.readouterr().out)
    assert flat["accuracy"] > 90
    assert flat["macro_f1"] == pytest.approx(flat["accuracy"], abs=10)
    assert flat["texts"] == 36
    assert flat["labels"] == 3
    assert run(["classify", model, str(files / "plain.txt")]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 36
    assert lines[0][0] == "get_weather"
    assert 0 < float(lines[0][1]) <= 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"play opera\n\nrain in Oslo?\n")))
    assert run(["classify", "--model", model, "--format", "json", "--top", "3"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["label"] for each in found[::2]] == ["music", "get_weather"]
    assert found[1]["out_of_scope"] == 1
    assert sum(found[0]["scores"].values()) == pytest.approx(1, abs=1e-4)
    assert run(["classify", model, str(files / "plain.txt"), "--oos-label", "none"]) == 0
    assert run(["info", model]) == 0
    assert "unlabelled texts    72" in capsys.readouterr().out


def test_a_model_on_disk_is_the_model(fitted: IntentClassifier, tmp_path: Path) -> None:
    fitted.classifier_.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    assert isinstance(loaded, Classifier)
    np.testing.assert_allclose(loaded.predict_proba(TEXTS), fitted.predict_proba(TEXTS), atol=0.01)
    found = list(loaded.classify_many(iter(TEXTS)))
    assert [each.label for each in found] == fitted.predict(TEXTS).tolist()
    assert sorted(file.suffix for file in (tmp_path / "model").iterdir()) == [".json", ".md", ".safetensors"]
    header = json.loads((tmp_path / "model" / "model.json").read_text())
    del header["metadata"]["sharpness"]
    (tmp_path / "model" / "model.json").write_text(json.dumps(header))
    with pytest.raises(ModelError, match="sharpness"):
        spectralnlp.load(tmp_path / "model")


def test_the_same_seed_and_data_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        IntentClassifier().fit(TEXTS, LABELS).classifier_.save(tmp_path / name)
    for file in ("arrays.safetensors", "model.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_unlabelled_texts_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that no labelled text has is understood by its company."""
    monkeypatch.setattr(prior, "MIN_WORDS", 0)
    monkeypatch.setattr(prior, "EIGENWORD_DIMENSIONS", 5)
    train = ["will it rain in oslo", "order pizza now"], ["weather", "food"]
    plain = [
        "is it sunny in oslo will it rain",
        "is it sunny in lima will it rain",
        "eat tacos order pizza",
    ] * 4
    unseen = ["sunny lima", "eat tacos"]
    alone = IntentClassifier().fit(*train)
    helped = IntentClassifier().fit(*with_unlabelled(*train, plain))
    assert helped.predict(unseen).tolist() == ["weather", "food"]
    assert helped.predict_proba(unseen).max(axis=1).min() > alone.predict_proba(unseen).max(axis=1).min()


def test_folding_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores by the table are those of the head over rows and projections."""
    monkeypatch.setattr(prior, "MIN_WORDS", 0)
    learned, rows = prior.learn_prior(TEXTS, len(TEXTS), NgramFormat((1, 2), (2, 5), 2**14), 0)
    learned = replace(learned, sparse_scale=2.0)
    one_hot = np.eye(3, dtype=np.float32)[np.repeat([0, 1, 2], 12)]
    features = learned.features(rows)
    np.testing.assert_allclose(
        np.linalg.norm(features.dense, axis=1).mean(), prior.EIGENWORD_LENGTH, rtol=1e-4
    )
    weights = fit_head(Examples(features, one_hot, np.ones(36, np.float32)))
    ngrams = learned.ngrams
    classifier = Classifier(
        ("a", "b", "c"),
        ngrams.form,
        ngrams.columns,
        ngrams.idf,
        learned.fold(weights),
        weights.bias,
        familiarity_of(rows),
    )
    scores = weights.scores(features)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(classifier.predict_proba(TEXTS), expected, atol=1e-5)


def test_a_prior_serves_several_classifiers(fitted: IntentClassifier) -> None:
    other = IntentClassifier().fit_head(fitted.prior_, ["rain in oslo", "order pizza"], ["yes", "no"])
    assert other.classifier_.table.shape == (fitted.prior_.ngrams.n_single, 2)  # one text has no pair twice
    assert other.predict(["order tacos", "is it rain in lima"]).tolist() == ["no", "yes"]


def test_the_head_is_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 6)).astype(np.float32)
    y = rng.integers(0, 3, 60)
    weight = rng.uniform(0.5, 2, 60).astype(np.float32)
    features = Features(sp.csr_array(x[:, :4]), x[:, 4:])
    ours = fit_head(
        Examples(features, np.eye(3, dtype=np.float32)[y], weight), C=2.0, passes=500, tolerance=0
    )
    with_bias = np.hstack([x, np.ones((60, 1))])
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-8, max_iter=1000)
    peer.fit(with_bias, y, sample_weight=weight)
    found = np.vstack([ours.sparse, ours.dense, ours.bias[None]])
    np.testing.assert_allclose(found.T, peer.coef_, atol=2e-3)


def test_classes_that_are_alike_share_what_they_learn() -> None:
    """Where the objective is least its gradient is 0: W = C Σ wᵢ xᵢ (tᵢ − pᵢ)' K."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 5)).astype(np.float32)
    wanted = np.eye(3, dtype=np.float32)[rng.integers(0, 3, 40)]
    weight = rng.uniform(0.5, 2, 40).astype(np.float32)
    label_similarity = np.array([[2, 0.8, 0], [0.8, 2, 0.1], [0, 0.1, 2]], np.float32)
    examples = Examples(Features(sp.csr_array(x[:, :3]), x[:, 3:]), wanted, weight)
    found = fit_head(examples, C=0.7, label_similarity=label_similarity, passes=500, tolerance=0)
    weights = np.vstack([found.sparse, found.dense, found.bias[None]])
    with_bias = np.hstack([x, np.ones((40, 1), np.float32)])
    scores = with_bias @ weights
    missing = wanted - np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        weights, 0.7 * with_bias.T @ (weight[:, None] * missing) @ label_similarity, atol=4e-3
    )


def test_heads_that_begin_with_what_was_learned_of_other_examples_end_where_others_do() -> None:
    """Some examples are gone, some weigh less, of one something else is wanted, and some are new."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 8)).astype(np.float32)
    every = Examples(
        Features(sp.csr_array(x[:, :5]), x[:, 5:]),
        np.eye(3, dtype=np.float32)[rng.integers(0, 3, 80)],
        rng.uniform(0.5, 2, 80).astype(np.float32),
    )
    label_similarity = np.array([[2, 0.8, 0], [0.8, 2, 0.1], [0, 0.1, 2]], np.float32)
    fit = partial(fit_head, C=0.5, label_similarity=label_similarity, passes=500, tolerance=1e-4)
    first, then = np.arange(60), np.arange(10, 80)
    others = every.rows(then)
    others.weights[:20] *= np.float32(0.7)
    others.targets[5] = others.targets[5][[1, 2, 0]]
    start = Learned(fit(every.rows(first)), every.rows(first), first).duals_of(others, then)
    assert start[:50].any(axis=1).sum() == 49
    assert not start[[5, *range(50, 70)]].any()
    begun, alone = fit(others, start=start), fit(others)
    for ours, wanted in zip(begun, alone, strict=True):
        np.testing.assert_allclose(ours, wanted, atol=2e-3)
    assert fit(others, passes=1, start=alone.duals).sparse == pytest.approx(alone.sparse, abs=1e-3)


def test_perplexity_of_labels() -> None:
    assert perplexity_of(np.array([0, 1, 2, 0, 1, 2])) == pytest.approx(3)
    assert perplexity_of(np.array([1] * 99 + [0])) == pytest.approx(0.99**-0.99 * 0.01**-0.01)


def test_names_that_share_words_are_alike() -> None:
    names = label_texts(["alarm_set", "alarm_query", "play_music", "?"])
    label_similarity = label_similarity_of(names, NgramFormat((1, 2), (2, 5), 2**14))
    np.testing.assert_allclose(np.diagonal(label_similarity), [2, 2, 2, 1], rtol=1e-6)
    assert 0.2 < label_similarity[0, 1] < 0.8
    assert max(label_similarity[0, 2], label_similarity[1, 2]) < 0.1
    assert label_similarity[3, :3].max() == 0
    np.testing.assert_array_equal(label_similarity, label_similarity.T)


def test_support_vector_machines_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 6)).astype(np.float32)
    y = rng.integers(0, 3, 60)
    examples = Examples(
        Features(sp.csr_array(x[:, :4]), x[:, 4:]), np.eye(3, dtype=np.float32)[y], np.ones(60, np.float32)
    )
    ours = fit_svm(examples, C=0.5, passes=500, tolerance=1e-5)
    peer = LinearSVC(C=0.5, tol=1e-8, max_iter=100_000).fit(x, y)
    found = np.vstack([ours.sparse, ours.dense])
    np.testing.assert_allclose(found.T, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.bias, peer.intercept_, atol=1e-3)


def test_machines_that_begin_without_some_examples_end_where_others_do() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((90, 8)).astype(np.float32)
    x[:, 0] *= np.arange(90) < 10  # a column that none of those that stay has
    targets = np.eye(11, dtype=np.float32)[rng.integers(0, 11, 90)]
    weights = rng.uniform(0.5, 2, 90).astype(np.float32)
    examples = Examples(Features(sp.csr_array(x[:, :5]), x[:, 5:]), targets, weights)
    learned = fit_svm(examples, C=0.5, passes=500, tolerance=1e-4)
    kept = examples.rows(np.arange(10, 90))
    start = learned.duals[10:]
    begun, alone = (fit_svm(kept, C=0.5, passes=500, tolerance=1e-4, start=each) for each in (start, None))
    for ours, wanted in zip(begun, alone, strict=True):
        np.testing.assert_allclose(ours, wanted, atol=1e-3)
    signs = 2 * kept.targets - 1
    with_bias = np.hstack([x[10:], np.ones((80, 1), np.float32)])
    weights_of_duals = with_bias.T @ (signs * begun.duals)
    np.testing.assert_allclose(
        np.vstack([begun.sparse, begun.dense, begun.bias]), weights_of_duals, atol=1e-4
    )


def test_weighted_features_have_one_mean_length() -> None:
    rng = np.random.default_rng(0)
    rows = sp.csr_array(np.abs(rng.standard_normal((40, 5))).astype(np.float32))
    # Three words, and two pairs of words.
    ngrams = Ngrams(
        NgramFormat((1, 1), None, 8, pairs=1), np.array([0, 1, 2, 8, 9], np.int32), np.ones(5, np.float32)
    )
    plain = prior.Prior(ngrams, rng.standard_normal((3, 2)).astype(np.float32))
    weighted = plain.weighted(rows, (), pairs=FEW_SHOT.pairs, dense=FEW_SHOT.dense)
    dense = rows.toarray()[:, :3] @ plain.projection
    parts = np.hstack(
        [rows.toarray() * np.sqrt([1, 1, 1, FEW_SHOT.pairs, FEW_SHOT.pairs]), dense * FEW_SHOT.dense**0.5]
    )
    features = weighted.features(rows)
    found = np.hstack([features.sparse.toarray(), features.dense])
    assert (found**2).sum() / 40 == pytest.approx(prior.SQUARE)
    np.testing.assert_allclose(found, weighted.sparse_scale * parts, rtol=1e-5)


@pytest.mark.parametrize(("texts", "usual"), [(TEXTS, FEW_SHOT), (4 * TEXTS, MANY_SHOT)])
def test_weights_go_by_how_many_texts_labels_have(texts: list[str], usual: Any) -> None:
    labels = LABELS * (len(texts) // len(TEXTS))
    assert IntentClassifier(calibration=False).fit(texts, labels).settings_ == usual
    assert IntentClassifier(C=3.0, calibration=False).fit(texts, labels).settings_ == replace(usual, C=3.0)


def test_texts_like_no_label_are_out_of_scope() -> None:
    """Nobody gave texts out of scope: labels that were left out in training stand for them."""
    words = [
        "rain",
        "snow",
        "wind",
        "pizza",
        "rice",
        "tea",
        "jazz",
        "opera",
        "drums",
        "boat",
        "train",
        "bus",
        "red",
        "green",
        "blue",
    ]
    carriers = ["tell me about {} please", "what of {} today", "is there {} here", "show {} again"]
    texts = [carrier.format(word) for word in words for carrier in carriers]
    labels = np.repeat(["weather", "food", "music", "travel", "colour"], 12)
    model = IntentClassifier().fit(texts, labels)
    scope = model.classifier_.scope
    assert scope.confidence < 0
    assert 0 < scope.threshold < 1
    found = list(model.classifier_.classify_many([texts[0], "who governs peruvian labour unions"]))
    assert not model.classifier_.refuses(found[0])
    assert found[1].out_of_scope > found[0].out_of_scope


def test_weights_whose_squares_vanish_are_refused(fitted: IntentClassifier, tmp_path: Path) -> None:
    classifier = fitted.classifier_
    replace(classifier, idf=np.full_like(classifier.idf, 1e-30)).save(tmp_path / "model")
    with pytest.raises(ModelError, match="idf"):
        spectralnlp.load(tmp_path / "model")


def test_without_a_scope_doubt_is_what_confidence_lacks(fitted: IntentClassifier) -> None:
    classifier = replace(fitted.classifier_, scope=Scope())
    found = classifier.classify("play jazz")
    assert found.out_of_scope == pytest.approx(1 - found.confidence, abs=2e-5)
    assert not classifier.refuses(found)
    assert classifier.refuses(classifier.classify(""))


def test_calibration_finds_the_temperature() -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((4000, 5))
    p = np.exp(3 * scores) / np.exp(3 * scores).sum(axis=1, keepdims=True)
    labels = (p.cumsum(axis=1) < rng.uniform(size=(4000, 1))).sum(axis=1)
    assert sharpness_of(scores.astype(np.float32), labels) == pytest.approx(3, rel=0.1)


def test_folds_spread_each_label() -> None:
    labels = np.repeat([0, 1, 2], [10, 5, 1])
    fold = folds(labels, 0)
    assert np.bincount(fold[labels == 0]).tolist() == [2] * 5
    assert sorted(fold[labels == 1].tolist()) == [0, 1, 2, 3, 4]


def test_texts_out_of_scope_have_the_label_that_is_asked_for(
    files: Path, fitted: IntentClassifier, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted.classifier_.save(files / "model")
    (files / "odd.txt").write_text("ЖЖЖ\nplay jazz\n")
    command = ["classify", str(files / "model"), str(files / "odd.txt"), "--oos-label", "none of them"]
    assert run(command) == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["none of them", "music"]
    assert run([*command, "--format", "json"]) == 0
    labels = [json.loads(line)["label"] for line in capsys.readouterr().out.splitlines()]
    assert labels == ["none of them", "music"]


def test_names_of_labels() -> None:
    expected = ["card arrival", "play music", "flight fare", "a b"]
    assert label_texts(["card_arrival", "PlayMusic", "flight#fare", "a b"]) == expected


def test_scikit_learn_uses_it() -> None:
    model = IntentClassifier()
    assert cross_val_score(model, TEXTS, LABELS, cv=3).mean() > 0.9


def test_a_corpus_holds_labelled_and_unlabelled_texts(fitted: IntentClassifier) -> None:
    few = [(TEXTS[i], LABELS[i]) for i in PICKED]
    corpus: InMemoryCorpus[Any] = InMemoryCorpus([*few, *((text, None) for text in TEXTS)])
    same = IntentClassifier().fit(corpus)
    np.testing.assert_array_equal(same.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    pairs = IntentClassifier().fit(list(corpus))
    np.testing.assert_array_equal(pairs.predict_proba(TEXTS), fitted.predict_proba(TEXTS))


def test_texts_of_which_nothing_is_known(fitted: IntentClassifier) -> None:
    odd = ["", "   ", "ЖЖЖЖЖ", "play jazz"]
    found = list(fitted.classifier_.classify_many(odd))
    assert [each.out_of_scope for each in found[:3]] == [1, 1, 1]
    assert found[3].out_of_scope < 0.5
    assert fitted.out_of_scope(odd).tolist() == [pytest.approx(each.out_of_scope) for each in found]
    assert all(np.isfinite(each.scores).all() for each in found)


def test_a_text_of_a_million_characters(fitted: IntentClassifier) -> None:
    assert fitted.predict(["play jazz " * 100_000]).tolist() == ["music"]


def test_a_label_with_one_example_and_no_unlabelled_text() -> None:
    model = IntentClassifier().fit([*TEXTS, "what time is it"], [*LABELS, "clock"])
    assert model.predict(["what time is it", "play jazz"]).tolist() == ["clock", "music"]


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a b", "b c"], ["x", "x"], "only the label 'x'"),
        ([], [], "no labelled texts"),
        (["a"], ["x", "y"], "1 texts and 2 labels"),
        (["", " "], ["x", "y"], "all empty"),
        (["a", None], ["x", "y"], "text 2 is NoneType"),
    ],
)
def test_what_cannot_be_learned_from(texts: Any, labels: list[str], message: str) -> None:
    with pytest.raises(TextError, match=message):
        IntentClassifier().fit(texts, labels)


@pytest.mark.parametrize("settings", [{"C": 0}, {"refused": 2}, {"words": (3, 1)}])
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        IntentClassifier(**settings).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x\ta\nno tab here\n", "train.tsv:2: no tab"),
        (b"x\ta\n\tno label\n", "train.tsv:2: no label"),
        (b"x\ta\ny\t \n", "train.tsv:2: an empty text"),
        (b"x\ta\ny\t\xff\n", "train.tsv:2: byte 0xff"),
        (b"x\ta b\nx\tc d\n", "only the label 'x'"),
        (b"", "no labelled texts"),
    ],
)
def test_bad_files(files: Path, content: bytes, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "train.tsv").write_bytes(content)
    assert run(["train", "intent", str(files / "train.tsv"), "-o", str(files / "model")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert not (files / "model").exists()


def test_bad_lines_can_be_left_out(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (files / "train.tsv").open("a") as file:
        file.write("no tab here\n")
    arguments = ["train", "intent", str(files / "train.tsv"), "--skip-bad", "-o", str(files / "model")]
    assert run(arguments) == 0
    assert "skipped 1 in all" in capsys.readouterr().out


def test_texts_in_place_of_labels_are_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split("\t") for line in (files / "train.tsv").read_text().splitlines()]
    (files / "swapped.tsv").write_text("".join(f"{text}\t{label}\n" for label, text in rows))
    (files / "swapped.csv").write_text("text,label\n" + "".join(f"{label},{text}\n" for label, text in rows))
    for name in ("swapped.tsv", "swapped.csv"):
        arguments = ["train", "intent", str(files / name), "-o", str(files / "model")]
        assert run(arguments) == 2
        assert "they seem to be swapped; lines are: label, tab, text" in capsys.readouterr().err
        assert not (files / "model").exists()


def test_many_long_labels_are_refused_though_no_text_recurs(tmp_path: Path) -> None:
    (tmp_path / "texts.tsv").write_text("".join(f"how much is number {n}\tprice {n}\n" for n in range(30)))
    with pytest.raises(InputError, match="30 labels of 30 texts: they seem to be swapped"):
        list(read_texts(tmp_path / "texts.tsv"))


@pytest.mark.parametrize(
    "rows",
    [
        ["a is it\tone", "b is it\ttwo", "c is it\tthree", "d is it\tfour"],  # a text for each long label
        ["a b\tx", "a b\ty", "a b\tx", "c\tz"],
        ["a\tx y", "b\tx y", "c\tx y", "d\tx y"],
    ],
)
def test_labels_that_are_long_or_many_are_not_taken_for_texts(tmp_path: Path, rows: list[str]) -> None:
    (tmp_path / "texts.tsv").write_text("\n".join(rows))
    assert len(list(read_texts(tmp_path / "texts.tsv"))) == 4


def test_unlabelled_text_that_is_empty(files: Path) -> None:
    (files / "empty.txt").write_text("\n\n")
    arguments = ["--unlabelled", str(files / "empty.txt"), "-o", str(files / "model")]
    assert run(["train", "intent", str(files / "train.tsv"), *arguments]) == 0
    assert spectralnlp.load(files / "model").info["unlabelled texts"] == 0


def test_other_tasks_refuse_unlabelled_text(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = str(files / "plain.txt")
    assert run(["train", "topics", plain, "--unlabelled", plain, "-o", str(files / "model")]) == 2
    assert "--unlabelled means nothing to topics" in capsys.readouterr().err


def test_classify_wants_a_classifier(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    assert run(["classify"]) == 2
    assert "no model" in capsys.readouterr().err
    assert run(["classify", str(files / "nothing")]) == 2
    assert "no model" in capsys.readouterr().err


def test_lines_are_classified_as_they_arrive() -> None:
    class Pipe:
        chunks: ClassVar = [b"one\ntw", b"o\nthree\n", b"\nfo", b"ur", b""]

        def read1(self, size: int) -> bytes:
            return self.chunks.pop(0)

    assert list(_arriving(Pipe())) == [["one"], ["two", "three"], [""], ["four"]]


def test_bytes_that_are_not_utf8_are_named_wherever_they_arrive() -> None:
    class Pipe:
        chunks: ClassVar = [b"one\n", b"caf\xe9 one\ntwo\n", b""]

        def read1(self, size: int) -> bytes:
            return self.chunks.pop(0)

    batches = _arriving(Pipe())
    assert next(batches) == ["one"]
    with pytest.raises(InputError, match="<stdin>:2: byte 0xe9 at column 4 is not utf-8"):
        next(batches)


def test_the_report() -> None:
    report = IntentReport(["a", "a", "b", "c"], ["a", "b", "b", "b"], [0.9, 0.6, 0.8, 0.3], 1.0)
    assert report.accuracy == 50
    assert report.macro_f1 == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3)
    assert report.confusions() == [("a", "b", 1), ("c", "b", 1)]
    assert report.calibration_error == pytest.approx(100 * (0.1 + 0.6 + 0.2 + 0.3) / 4)
    assert "1 × a taken for b" in report.to_table()


@pytest.mark.corpus
def test_few_labels_and_many_texts(shared: Path) -> None:
    """Five examples an intent of Banking77: far above the 58.9 of tf-idf and a linear SVM."""
    examples = [
        line.split("\t") for line in (shared / "corpora/intents/banking77/train.tsv").read_text().splitlines()
    ]
    gold = [
        line.split("\t") for line in (shared / "corpora/intents/banking77/dev.tsv").read_text().splitlines()
    ]
    labels = np.array([label for label, _ in examples])
    rng = np.random.default_rng(0)
    few = [i for label in sorted(set(labels)) for i in rng.permutation(np.flatnonzero(labels == label))[:5]]
    model = IntentClassifier(calibration=False)
    model.fit(*with_unlabelled([examples[i][1] for i in few], labels[few], [text for _, text in examples]))
    assert model.score([text for _, text in gold], [label for label, _ in gold]) > 0.65


def test_a_text_of_many_pieces_is_classified_as_a_whole(own_corpora: Path) -> None:
    from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams
    from spectralnlp_sketch.intent import long_texts

    import spectralnlp

    words = (own_corpora / "text" / "lighthouse.txt").read_text(encoding="utf-8")
    text = " ".join(["When does the ferry é leave—or stay?", words.replace("\n", "  "), "x" * 50, "y"])
    learner = spectralnlp.train("intent", str(own_corpora / "intents" / "train.tsv"))
    in_pieces, _ = long_texts.classify_long_text(
        text, learner.form, learner._scorer, learner.bias, piece=200, seam=60
    )
    np.testing.assert_allclose(learner.predict_proba([text])[0], in_pieces, rtol=1e-4, atol=1e-6)
    very_long = f"{text} " * (long_texts.PIECE // len(text) + 1)
    several = learner.predict_proba([very_long, "a", text[:50]])
    np.testing.assert_array_equal(several[1:], learner.predict_proba(["a", text[:50]]))
    alone, _ = long_texts.classify_long_text(very_long, learner.form, learner._scorer, learner.bias)
    np.testing.assert_array_equal(several[0], alone)
    form = NgramFormat(words=(1, 3), characters=(2, 5))
    counts = long_texts.count_long_text(text, form, piece=200, seam=60)
    np.testing.assert_array_equal(counts, count_ngrams([text], form).toarray()[0])


def test_texts_in_place_of_labels_are_refused_in_memory() -> None:
    texts, labels = [f"how much is number {n}" for n in range(30)], ["price", "number"] * 15
    for swapped in ((labels, texts), (list(zip(labels, texts, strict=True)),)):
        with pytest.raises(InputError, match="30 labels of 2 texts: they seem to be swapped"):
            IntentClassifier().fit(*swapped)
