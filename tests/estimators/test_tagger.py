"""The estimator: what it learns, what it refuses, and that its tables are its training-time scores."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.estimators.tagger import CRFTagger
from spectralnlp.estimators.tagger.held_out import fit_temperature
from spectralnlp.estimators.tagger.kernels import ChainScores, ScoreWeights, emissions_of, zero_weights
from spectralnlp.inference.chains.joint_features import N_JOINT, N_PAIRS
from spectralnlp.inference.chains.templates import find_rows
from spectralnlp.jit import padded
from spectralnlp.models.tagger import Scorer
from spectralnlp.tasks.vectors import VectorsTask
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
    words, plain = str(folders["words"]), str(folders["plain"])
    return {"nothing": {}, "one": {"eigenwords": words}, "two": {"eigenwords": [plain, words]}}[which]


@pytest.mark.parametrize("which", ["nothing", "one", "two"])
def test_tables_are_the_scores_of_training(word_folders: Folders, which: str) -> None:
    learner = CRFTagger(epochs=3, **settings(word_folders, which)).fit(WORDS)
    data = learner._number(WORDS, learner.weights_.tags)
    weights = learner.weights_
    features = np.zeros((len(data.keys), len(weights.tags)), np.float32)
    features[find_rows(weights.keys, data.keys)] = weights.features
    chain = weights.transitions, weights.start, weights.end
    missing = padded(len(weights.tags)) - len(weights.tags)
    learned = ScoreWeights(features, np.pad(weights.words, ((0, 0), (0, 0), (0, missing))), *chain)
    slow, starts = emissions_of(data.examples, np.arange(len(WORDS)), learned)
    if which != "nothing":
        of_clusters = np.unique(data.examples.joint[:, N_PAIRS:])
        assert np.abs(features[of_clusters[of_clusters >= 0]]).max() > 0.05
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
    for which, width in {"nothing": 0, "one": 4, "two": 7}.items():
        learner = CRFTagger(epochs=1, **settings(word_folders, which)).fit(WORDS)
        assert learner.weights_.words.shape[1] == learner.features_.word_width == width, which


def test_features_of_several_words_seen_once_are_left_out(word_folders: Folders) -> None:
    learner = CRFTagger(epochs=1, eigenwords=str(word_folders["words"])).fit(WORDS)
    before = learner._number(WORDS, learner.weights_.tags).examples
    once = [*WORDS, (("The", "fox", "barked", "!"), ("DET", "NOUN", "VERB", "PUNCT"))]
    examples = learner._number(once, learner.weights_.tags).examples
    assert before.joint.shape[1] == N_JOINT
    assert (before.joint >= 0).all(), "each sentence is there four times"
    assert (examples.joint[-4:, :N_PAIRS] < 0).any()
    assert (examples.joint[-4:, N_PAIRS:] < 0).any()


def test_unlabelled_text_gives_what_its_eigenwords_give(tmp_path: Path) -> None:
    rng, text = np.random.default_rng(0), tmp_path / "text.txt"
    words = ["The", "the", "cat", "saw", "a", "dog", "owl", ".", *(f"w{i}" for i in range(150))]
    text.write_text("".join(f"{' '.join(rng.choice(words, 7))}\n" for _ in range(900)))
    task, folders = VectorsTask(), [str(tmp_path / name) for name in ("small", "cased")]
    for folder, lowercase, dimensions in zip(folders, (True, False), (100, 50), strict=True):
        learner = Eigenwords(lowercase=lowercase, dimensions=dimensions)
        task.train(learner, task.read([text]), report=lambda line: None).save(folder)
    of_text = CRFTagger(epochs=1, unlabelled=[str(text)]).fit(WORDS)
    of_folders = CRFTagger(epochs=1, eigenwords=folders).fit(WORDS)
    assert len(of_text.features_.sources) == 2
    for ours, theirs in zip(of_text.features_.sources, of_folders.features_.sources, strict=True):
        np.testing.assert_array_equal(ours.parameters.vectors, theirs.parameters.vectors)
        np.testing.assert_array_equal(ours.parameters.clusters, theirs.parameters.clusters)
    np.testing.assert_array_equal(of_text.weights_.features, of_folders.weights_.features)


def test_what_it_kept() -> None:
    learner = CRFTagger(epochs=2).fit([*WORDS, ((), ())])
    assert (learner.n_sentences_, learner.n_tokens_, learner.n_invalid_) == (20, 72, 0)
    assert learner.scheme_ == "tags"
    assert learner.weights_.tags == ("DET", "NOUN", "PUNCT", "VERB")
    assert {"The", "owls", "!"} < learner.words_
    assert (np.diff(learner.weights_.keys.astype(np.int64)) > 0).all()
    assert learner.weights_.features.any(axis=1).all(), "features that say nothing are left out"


@pytest.mark.parametrize("which", ["nothing", "two"])
def test_the_same_seed_gives_the_same_bytes(word_folders: Folders, which: str) -> None:
    def learned(seed: int) -> list[bytes]:
        weights = CRFTagger(random_state=seed, **settings(word_folders, which)).fit(WORDS).weights_
        arrays = (weights.keys, weights.features, weights.words, weights.transitions)
        return [each.tobytes() for each in arrays]

    assert learned(0) == learned(0)
    assert learned(0) != learned(1)


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_only_valid_tags_follow(scheme: str) -> None:
    sentences = SPANS if scheme == "bio" else as_bioes(SPANS)
    learner = CRFTagger(epochs=2).fit(sentences)
    assert learner.scheme_ == scheme
    weights = learner.weights_
    assert {tag[0] for tag in weights.tags} == set("BIOES"), "whatever the data write"
    at = {tag: i for i, tag in enumerate(weights.tags)}
    assert weights.transitions[at["O"], at["I-PER"]] == -np.inf
    assert weights.transitions[at["B-LOC"], at["I-PER"]] == -np.inf
    assert np.isfinite(weights.transitions[at["B-PER"], at["E-PER"]])
    assert weights.transitions[at["B-PER"], at["B-LOC"]] == -np.inf
    assert weights.start[at["I-LOC"]] == -np.inf
    assert weights.end[at["B-PER"]] == -np.inf
    assert not np.isnan([*weights.transitions.flat, *weights.start, *weights.end]).any()


def test_there_is_always_a_valid_tag_even_where_all_words_were_in_spans() -> None:
    weights = CRFTagger().fit([(("New", "York"), ("B-LOC", "E-LOC"))] * 4).weights_
    assert "O" in weights.tags
    assert np.isfinite(weights.start + weights.end).any(), "a sentence of one word has tags"


def test_tags_out_of_place_are_counted_and_begin_spans() -> None:
    odd = [(("Ada", "met", "Bo", "King"), ("I-PER", "O", "I-PER", "I-PER"))] * 3  # IOB1
    learner = CRFTagger(epochs=1).fit(odd + SPANS[:2])
    assert learner.n_invalid_ == 6
    assert CRFTagger(epochs=1).fit(odd).weights_.tags == ("B-PER", "E-PER", "O", "S-PER")


def test_temperature_is_of_sentences_that_are_held_out() -> None:
    assert CRFTagger(epochs=2).fit(WORDS).weights_.temperature == 1.0, "too few sentences"
    rng = np.random.default_rng(0)
    noisy = [((f"w{rng.integers(9)}", "x"), (str(rng.choice(["A", "B"])), "C")) for _ in range(600)]
    assert CRFTagger(epochs=1).fit(noisy).weights_.temperature == 1.0, "nothing was learned before"
    learner = CRFTagger(epochs=3).fit(noisy)
    assert learner.weights_.temperature != 1.0
    names = learner.weights_.tags
    data = learner._number(noisy, names)
    weights = zero_weights(len(data.keys), len(names), 0)
    weights.features[find_rows(learner.weights_.keys, data.keys)] = learner.weights_.features
    larger = ScoreWeights(*(5 * each for each in weights))
    allowed = ChainScores(*(np.zeros_like(each) for each in weights[2:]))
    once, five = (fit_temperature(data.examples, np.arange(100), each, allowed) for each in (weights, larger))
    assert five == pytest.approx(5 * once, rel=0.1), "as sure as the held-out tags bear, whatever the scale"


def test_impossible_settings() -> None:
    with pytest.raises(ConfigError, match="epochs: got 0, expected int, 1 or more"):
        CRFTagger(epochs=0).fit(WORDS)
    with pytest.raises(ConfigError, match="eigenwords and unlabelled are both given"):
        CRFTagger(eigenwords="folder", unlabelled="text.txt").fit(WORDS)


def test_sentences_that_cannot_be_learned_from() -> None:
    with pytest.raises(InputError, match="no tagged sentences"):
        CRFTagger().fit([])
    with pytest.raises(InputError, match="no tagged sentences"):
        CRFTagger().fit([((), ())])
    with pytest.raises(InputError, match="2 words and 1 tags: a b"):
        CRFTagger().fit([(("a", "b"), ("X",))])


def test_folders_and_text_that_do_not_serve(word_folders: Folders, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"eigenwords": str(tmp_path / "nowhere")}, ModelError, "nowhere"),
        ({"eigenwords": str(word_folders["states"])}, ModelError, "not for word vectors"),
        ({"unlabelled": str(tmp_path / "none.txt")}, InputError, "none.txt"),
    ]
    for changes, error, complaint in cases:
        with pytest.raises(error, match=complaint) as caught:
            CRFTagger(**changes).fit(WORDS)
        assert "\n" not in str(caught.value)


def test_long_and_odd_sentences() -> None:
    long = (("the", "cat") * 2500, ("DET", "NOUN") * 2500)
    odd = (("", "😀", "x" * 10_000, "\u0130"), ("A", "B", "B", "A"))
    learner = CRFTagger(epochs=2).fit([long, odd, *WORDS])
    scorer = Scorer(learner.weights_, learner.features_)
    emissions, starts = scorer.emissions([long[0], [], odd[0]])
    assert starts.tolist() == [0, 5000, 5000, 5004]
    assert np.isfinite(emissions).all()
