"""The estimator: what it learns, what it refuses, and that its tables are its training-time scores."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.tagger import PerceptronTagger
from spectralnlp.estimators.tagger.held_out import fit_temperature
from spectralnlp.estimators.tagger.kernels import ChainScores, ScoreWeights, emissions_of, zero_weights
from spectralnlp.inference.chains.templates import find_rows
from spectralnlp.models.tagger import Scorer
from spectralnlp.text.conll import TaggedSentence

Folders = dict[str, Path]

WORDS: list[TaggedSentence] = [
    (("The", "cat", "saw", "the", "dog", "."), ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT")),
    (("A", "dog", "barked", "."), ("DET", "NOUN", "VERB", "PUNCT")),
    (("this", "owl", "met", "a", "fox"), ("DET", "NOUN", "VERB", "DET", "NOUN")),
    (("Run", "!"), ("VERB", "PUNCT")),
    (("owls",), ("NOUN",)),
] * 4
SPANS: list[TaggedSentence] = [
    (("Ada", "King", "Lovelace", "met", "Bo", "."), ("B-PER", "I-PER", "I-PER", "O", "B-PER", "O")),
    (("New", "York", "City", "saw", "Ada"), ("B-LOC", "I-LOC", "I-LOC", "O", "B-PER")),
    (("it", "rained"), ("O", "O")),
    (("Bo", "York"), ("B-PER", "B-LOC")),
] * 4


def as_bioes(sentences: list[TaggedSentence]) -> list[TaggedSentence]:
    from spectralnlp.text.spans import spans_of, write_spans

    return [(words, write_spans(spans_of(tags), len(tags), "bioes")) for words, tags in sentences]


def settings(folders: Folders, which: str) -> dict[str, Any]:
    words, plain, states = (str(folders[name]) for name in ("words", "plain", "states"))
    return {
        "nothing": {},
        "eigenwords": {"eigenwords": words},
        "two": {"eigenwords": [words, plain], "vector_scale": 0.5},
        "clusters": {"clusters": [words]},
        "states": {"eigentokens": states, "vector_scale": 2.0},
        "all": {"eigenwords": [plain, words], "eigentokens": [states, words], "clusters": words},
    }[which]


@pytest.mark.parametrize("which", ["nothing", "eigenwords", "two", "clusters", "states", "all"])
def test_tables_are_the_scores_of_training(word_folders: Folders, which: str) -> None:
    learner = PerceptronTagger(epochs=3, **settings(word_folders, which)).fit(WORDS)
    examples, keys = learner._number(WORDS, learner.weights_.tags)
    weights = learner.weights_
    features = np.zeros((len(keys), len(weights.tags)), np.float32)
    features[find_rows(weights.keys, keys)] = weights.features
    scale = np.float32(learner.vector_scale)
    order = np.arange(len(WORDS))
    unscaled = ScoreWeights(
        features=features,
        words=weights.words / scale,
        tokens=weights.tokens / scale,
        transitions=weights.transitions,
        start=weights.start,
        end=weights.end,
    )
    slow, starts = emissions_of(examples, order, unscaled)
    sentences = [words for words, _ in WORDS]
    scorer = Scorer(weights, learner.features_)
    fast, fast_starts = scorer.emissions(sentences)
    np.testing.assert_array_equal(fast_starts, starts)
    np.testing.assert_allclose(fast, slow, atol=1e-4)
    assert np.abs(slow).max() > 0.5
    for (first, last), sentence in zip(pairwise(starts), sentences, strict=True):  # tables grown by now
        one, _ = scorer.emissions([sentence])
        np.testing.assert_allclose(one, slow[first:last], atol=1e-4)
    backwards = Scorer(weights, learner.features_)  # words are numbered in another order
    for (first, last), sentence in reversed(list(zip(pairwise(starts), sentences, strict=True))):
        one, _ = backwards.emissions([sentence])
        np.testing.assert_allclose(one, slow[first:last], atol=1e-4)


def test_widths_are_those_of_the_vectors(word_folders: Folders) -> None:
    widths = {"nothing": (0, 0), "eigenwords": (4, 4), "two": (7, 4), "clusters": (0, 0), "all": (7, 7)}
    for which, (word, token) in widths.items():
        weights = PerceptronTagger(epochs=1, **settings(word_folders, which)).fit(WORDS).weights_
        assert (weights.words.shape[1], weights.tokens.shape[0]) == (word, token), which
    none = PerceptronTagger(epochs=1, eigenwords=str(word_folders["words"]), eigentokens=[]).fit(WORDS)
    assert none.weights_.tokens.shape[0] == 0


def test_what_it_kept() -> None:
    learner = PerceptronTagger(epochs=2).fit([*WORDS, ((), ())])
    assert (learner.n_sentences_, learner.n_tokens_, learner.n_invalid_) == (20, 72, 0)
    assert learner.scheme_ == "tags"
    assert learner.weights_.tags == ("DET", "NOUN", "PUNCT", "VERB")
    assert {"The", "owls", "!"} < learner.words_
    assert (np.diff(learner.weights_.keys.astype(np.int64)) > 0).all()
    assert learner.weights_.features.any(axis=1).all(), "features that say nothing are left out"


@pytest.mark.parametrize("which", ["nothing", "all"])
def test_the_same_seed_gives_the_same_bytes(word_folders: Folders, which: str) -> None:
    def learned(seed: int) -> list[bytes]:
        weights = PerceptronTagger(random_state=seed, **settings(word_folders, which)).fit(WORDS).weights_
        arrays = (weights.keys, weights.features, weights.words, weights.tokens, weights.transitions)
        return [each.tobytes() for each in arrays]

    assert learned(0) == learned(0)
    assert learned(0) != learned(1)


@pytest.mark.parametrize("spans", ["given", "bio", "bioes"])
@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_only_valid_tags_follow(scheme: str, spans: str) -> None:
    sentences = SPANS if scheme == "bio" else as_bioes(SPANS)
    learner = PerceptronTagger(spans=spans, epochs=2).fit(sentences)
    assert learner.scheme_ == scheme
    weights = learner.weights_
    learned = scheme if spans == "given" else spans
    marks = {tag[0] for tag in weights.tags}
    assert marks == set("BIO" if learned == "bio" else "BIOES")
    at = {tag: i for i, tag in enumerate(weights.tags)}
    assert weights.transitions[at["O"], at["I-PER"]] == -np.inf
    assert weights.transitions[at["B-LOC"], at["I-PER"]] == -np.inf
    assert np.isfinite(weights.transitions[at["B-PER"], at["I-PER" if learned == "bio" else "E-PER"]])
    assert np.isfinite(weights.transitions[at["B-PER"], at["B-LOC"]]) == (learned == "bio")
    assert weights.start[at["I-LOC"]] == -np.inf
    assert np.isfinite(weights.end[at["B-PER"]]) == (learned == "bio")
    assert not np.isnan([*weights.transitions.flat, *weights.start, *weights.end]).any()


def test_there_is_always_a_valid_tag_even_where_all_words_were_in_spans() -> None:
    weights = PerceptronTagger().fit([(("New", "York"), ("B-LOC", "E-LOC"))] * 4).weights_
    assert "O" in weights.tags
    assert np.isfinite(weights.start + weights.end).any(), "a sentence of one word has tags"


def test_tags_out_of_place_are_counted_and_begin_spans() -> None:
    odd = [(("Ada", "met", "Bo"), ("I-PER", "O", "I-PER"))] * 3  # IOB1
    learner = PerceptronTagger(epochs=1, spans="given").fit(odd + SPANS[:2])
    assert learner.n_invalid_ == 6
    tags = learner.weights_.tags
    examples, _ = learner._number(SPANS[:1], tags)
    assert [tags[tag] for tag in examples.tags] == list(SPANS[0][1])
    only = PerceptronTagger(epochs=1, spans="given").fit(odd)
    assert only.weights_.tags == ("B-PER", "O")


def test_temperature_is_of_sentences_that_are_held_out() -> None:
    assert PerceptronTagger(epochs=2).fit(WORDS).weights_.temperature == 1.0, "too few sentences"
    rng = np.random.default_rng(0)
    noisy = [((f"w{rng.integers(9)}", "x"), (str(rng.choice(["A", "B"])), "C")) for _ in range(600)]
    assert PerceptronTagger(epochs=1).fit(noisy).weights_.temperature == 1.0, "nothing was learned before"
    learner = PerceptronTagger(epochs=3).fit(noisy)
    assert learner.weights_.temperature != 1.0
    names = learner.weights_.tags
    examples, keys = learner._number(noisy, names)
    weights = zero_weights(len(keys), len(names), 0, 0)
    weights.features[find_rows(learner.weights_.keys, keys)] = learner.weights_.features
    larger = ScoreWeights(*(5 * each for each in weights))
    allowed = ChainScores(*(np.zeros_like(each) for each in weights[3:]))
    once, five = (fit_temperature(examples, np.arange(100), each, allowed) for each in (weights, larger))
    assert five == pytest.approx(5 * once, rel=0.1), "as sure as the held-out tags bear, whatever the scale"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"epochs": 0}, "epochs: got 0, expected int, 1 or more"),
        ({"vector_scale": 0.0}, "vector_scale: got .*, expected float, above 0"),
        ({"vector_scale": float("nan")}, "vector_scale: got .*, expected float, above 0"),
    ],
)
def test_impossible_settings(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        PerceptronTagger(**changes).fit(WORDS)


def test_sentences_that_cannot_be_learned_from() -> None:
    with pytest.raises(InputError, match="no tagged sentences"):
        PerceptronTagger().fit([])
    with pytest.raises(InputError, match="no tagged sentences"):
        PerceptronTagger().fit([((), ())])
    with pytest.raises(InputError, match="1 tags for 2 words: a b"):
        PerceptronTagger().fit([(("a", "b"), ("X",))])


def test_folders_that_do_not_serve(word_folders: Folders, tmp_path: Path) -> None:
    words, plain, states = (str(word_folders[name]) for name in ("words", "plain", "states"))
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"eigenwords": str(tmp_path / "nowhere")}, ModelError, "nowhere"),
        ({"eigenwords": states}, ConfigError, "name it in eigentokens"),
        ({"clusters": states}, ConfigError, "name it in eigentokens"),
        ({"clusters": plain}, ConfigError, "no clusters"),
        ({"eigentokens": plain}, ConfigError, "no contexts"),
    ]
    for changes, error, complaint in cases:
        with pytest.raises(error, match=complaint) as caught:
            PerceptronTagger(**changes).fit(WORDS)
        assert "\n" not in str(caught.value)
    assert PerceptronTagger(epochs=1, eigenwords=words).fit(WORDS).features_.token_width == 4
    assert PerceptronTagger(epochs=1, eigenwords=plain).fit(WORDS).features_.token_width == 0


def test_long_and_odd_sentences() -> None:
    long = (("the", "cat") * 2500, ("DET", "NOUN") * 2500)
    odd = (("", "😀", "x" * 10_000, "\u0130"), ("A", "B", "B", "A"))
    learner = PerceptronTagger(epochs=2).fit([long, odd, *WORDS])
    scorer = Scorer(learner.weights_, learner.features_)
    emissions, starts = scorer.emissions([long[0], [], odd[0]])
    assert starts.tolist() == [0, 5000, 5000, 5004]
    assert np.isfinite(emissions).all()
