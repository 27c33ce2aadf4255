"""A tagger as users see it: tags, spans, probabilities, and a folder that needs nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spectralnlp
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.tagger import CRFTagger
from spectralnlp.inference.chains import scorer as scorer_module
from spectralnlp.models import text_tagger
from spectralnlp.models.tagger import Tagger
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.storage import load_model
from spectralnlp.tasks.tagging import TaggingTask
from spectralnlp.text.conll import AnnotatedSentence
from spectralnlp.text.spans import count_invalid, spans_of

Folders = dict[str, Path]

WORDS = [
    ("The cat saw the dog .", "DET NOUN VERB DET NOUN PUNCT"),
    ("A dog barked .", "DET NOUN VERB PUNCT"),
    ("this owl met a fox", "DET NOUN VERB DET NOUN"),
    ("Run !", "VERB PUNCT"),
]
SPANS = [
    ("Ada King met Bo .", "B-PER I-PER O B-PER O"),
    ("New York City saw Ada", "B-LOC I-LOC I-LOC O B-PER"),
    ("it rained", "O O"),
    ("Bo York", "B-PER B-LOC"),
]
UNSEEN = [
    sentence.split() for sentence in ("an owl bit Bo", "", "Boston", "the hen fed this cow in New York .")
]


def train(sentences: list[tuple[str, str]], **settings: Any) -> Tagger:
    read = [
        AnnotatedSentence(tuple(words.split()), {"tag": tuple(tags.split())}, "tag")
        for words, tags in sentences * 8
    ]
    learner = CRFTagger(**settings)
    model = TaggingTask().train(learner, InMemoryCorpus(read), report=lambda line: None)
    assert isinstance(model, Tagger)
    return model


@pytest.fixture(scope="module")
def words_tagger() -> Tagger:
    return train(WORDS)


@pytest.fixture(scope="module")
def full_tagger(word_folders: Folders) -> Tagger:
    """With two kinds of vectors."""
    return train(WORDS, eigenwords=[str(word_folders["words"]), str(word_folders["plain"])])


def test_it_tags_what_it_learned(words_tagger: Tagger) -> None:
    sentences = [words.split() for words, _ in WORDS]
    assert words_tagger.best_tags(sentences) == [tags.split() for _, tags in WORDS]
    assert words_tagger.tags == words_tagger.labels == ("DET", "NOUN", "PUNCT", "VERB")
    assert words_tagger.best_tags([["a", "cow", "mooed", "!"]]) == [["DET", "NOUN", "VERB", "PUNCT"]]


def test_nothing_in_nothing_out(words_tagger: Tagger) -> None:
    assert words_tagger.best_tags([]) == words_tagger.confidence([]) == []
    assert words_tagger.best_tags([[], ["Run", "!"], []]) == [[], ["VERB", "PUNCT"], []]
    assert words_tagger.confidence([[]]) == [[]]
    assert words_tagger.posteriors([]).shape == (0, 4)
    assert words_tagger.spans([]) == []


def test_streams_are_tagged_lazily_and_like_one_sentence_at_a_time(words_tagger: Tagger) -> None:
    sentences = [words.split() for words, _ in WORDS] * 1000
    taken = []

    def stream() -> Any:
        for sentence in sentences:
            taken.append(sentence)
            yield sentence

    tagged = words_tagger.tag_many(stream())
    assert not taken
    first = next(tagged)
    assert len(taken) < len(sentences)
    assert sum(len(sentence) + 1 for sentence in taken[:-1]) < text_tagger.BATCH_WORDS
    assert [list(each.tags) for each in [first, *tagged]] == words_tagger.best_tags(sentences)


def test_tables_that_grew_too_large_begin_anew(words_tagger: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = words_tagger.best_tags(UNSEEN)
    monkeypatch.setattr(scorer_module, "_MAX_NUMBERS", 40)
    small = replace(words_tagger)
    for _ in range(3):
        assert [small.best_tags([sentence])[0] for sentence in UNSEEN] == expected
    assert len(small._scorer.table) < 15


def test_spans_come_in_the_scheme_of_the_data() -> None:
    model = train(SPANS)
    assert model.scheme == "bio"
    assert set(model.labels) == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
    words = [words.split() for words, _ in SPANS]
    assert model.best_tags(words) == [tags.split() for _, tags in SPANS]
    assert model.spans(words[1]) == [(0, 3, "LOC"), (4, 5, "PER")]
    rng = np.random.default_rng(0)
    every = [word for sentence in words for word in sentence]
    noise = [[str(word) for word in rng.choice(every, rng.integers(1, 9))] for _ in range(100)]
    for sentence, tags in zip(noise, model.best_tags(noise), strict=True):
        assert count_invalid(tags, "bio") == 0
        assert model.spans(sentence) == spans_of(tags)


def test_parts_of_speech_are_no_spans(words_tagger: Tagger) -> None:
    assert words_tagger.spans(["the", "dog"]) == []


def test_posteriors_are_those_of_all_sequences() -> None:
    model = train(SPANS, epochs=2)
    model = replace(model, weights=replace(model.weights, temperature=4.0))
    sentence = ["Ada", "York", "saw"]
    emissions, _ = model._scorer.emissions([sentence])
    w = model.weights
    total, expected = 0.0, np.zeros((3, len(w.tags)))
    for tags in product(range(len(w.tags)), repeat=3):
        score = emissions[range(3), tags].sum() + w.start[tags[0]] + w.end[tags[2]]
        score += w.transitions[tags[0], tags[1]] + w.transitions[tags[1], tags[2]]
        total += np.exp(score / 4)
        expected[range(3), tags] += np.exp(score / 4)
    posteriors = model.posteriors(sentence)
    np.testing.assert_allclose(posteriors, expected / total, atol=1e-5)
    (sure,) = model.confidence([sentence])
    learned = [w.tags[tag] for tag in posteriors.argmax(axis=1)]
    if model.best_tags([sentence])[0] == learned:
        np.testing.assert_allclose(sure, posteriors.max(axis=1))
    assert all(0 < p <= 1 + 1e-9 for p in sure)


def test_sentences_of_5000_words(full_tagger: Tagger) -> None:
    long = ["the", "cat", "saw", "a", "dog"] * 1000
    (tags,) = full_tagger.best_tags([long])
    assert tags[:5] == tags[2500:2505] == ["DET", "NOUN", "VERB", "DET", "NOUN"]
    np.testing.assert_allclose(full_tagger.posteriors(long).sum(axis=1), 1, atol=1e-5)


def test_a_saved_tagger_is_the_same(full_tagger: Tagger, tmp_path: Path) -> None:
    full_tagger.save(tmp_path / "model")
    again = spectralnlp.load(tmp_path / "model")
    assert again.best_tags(UNSEEN) == full_tagger.best_tags(UNSEEN)
    for sentence in UNSEEN:
        np.testing.assert_allclose(again.posteriors(sentence), full_tagger.posteriors(sentence), atol=1e-5)
    assert (again.info, again.card, again.known) == (full_tagger.info, full_tagger.card, full_tagger.known)
    again.save(tmp_path / "again")
    for name in ("arrays.safetensors", "model.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_a_folder_needs_no_other(word_folders: Folders, tmp_path: Path) -> None:
    shutil.copytree(word_folders["words"], tmp_path / "words")
    model = train(WORDS, eigenwords=str(tmp_path / "words"))
    expected = model.best_tags(UNSEEN), model.confidence(UNSEEN)
    model.save(tmp_path / "model")
    shutil.rmtree(tmp_path / "words")
    again = spectralnlp.load(tmp_path / "model")
    assert again.best_tags(UNSEEN) == expected[0]
    for ours, before in zip(again.confidence(UNSEEN), expected[1], strict=True):
        np.testing.assert_allclose(ours, before, atol=1e-5)


@pytest.mark.parametrize("which", ["words_tagger", "full_tagger"])
def test_half_precision_tags_alike(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model: Tagger = request.getfixturevalue(which)
    model.save(tmp_path / "model")
    model.save(tmp_path / "compact", compact=True)
    again = spectralnlp.load(tmp_path / "compact")
    assert again.best_tags(UNSEEN) == model.best_tags(UNSEEN)
    for sentence in UNSEEN:
        np.testing.assert_allclose(again.posteriors(sentence), model.posteriors(sentence), atol=0.1)
    size, small = ((tmp_path / name / "arrays.safetensors").stat().st_size for name in ("model", "compact"))
    assert small < (0.7 if which == "full_tagger" else 0.9) * size


def test_folders_that_do_not_fit_are_refused(full_tagger: Tagger, tmp_path: Path) -> None:
    full_tagger.save(tmp_path / "model")
    for name in ("keys", "words", "evidence.0.vectors"):
        stored = load_model(tmp_path / "model")
        del stored.arrays[name]
        with pytest.raises(ModelError, match=name.rpartition(".")[2]):
            Tagger.from_stored(stored)
    stored = load_model(tmp_path / "model")
    stored.arrays["evidence.0.vectors"] = stored.arrays["evidence.0.vectors"][:2]
    with pytest.raises(ModelError, match=r"array evidence\.0\.\w+ is of shape") as caught:
        Tagger.from_stored(stored)
    assert "\n" not in str(caught.value)


def test_a_tagged_sentence_is_shown_as_words_and_tags() -> None:
    tagger = spectralnlp.load("en-tagger")
    assert repr(tagger.tag_tokens(["A", "dog", "sleeps", "."])) == "<Tagged A/DT dog/NN sleeps/VBZ ./.>"
    long = repr(tagger.tag_tokens(["dog"] * 100))
    assert long.startswith("<Tagged dog/NN ")
    assert long.endswith(" …>")
    assert long.count("dog/") == 12


def test_tags_that_are_integers_come_back_as_they_were(tmp_path: Path) -> None:
    words = [["a", "dog", "barks"], ["the", "cat", "sleeps"]]
    tags = [[0, 1, 2], [np.int64(0), np.int64(1), np.int64(2)]]
    records = [{"tokens": each, "tags": own} for each, own in zip(words, tags, strict=True)] * 10
    tagger = spectralnlp.train("tagger", records, epochs=3)
    assert (tagger.tags, tagger.labels) == ((0, 1, 2), (0, 1, 2))
    tagged = tagger.tag_tokens(words[0])
    assert tagged.tags == (0, 1, 2)
    assert [each["tag"] for each in tagged.to_json()["tokens"]] == [0, 1, 2]
    assert "\t_\t2\t" in tagged.to_conllu()
    assert ">2</text>" in tagged.to_svg()
    assert tagger.explain(words[0], 0, 1).tag == 1
    with pytest.raises(ConfigError, match="no tag True"):
        tagger.explain(words[0], 0, True)  # type: ignore[arg-type]
    assert spectralnlp.evaluate(tagger, records).to_flat_dict()["accuracy"] == 100
    tagger.save(tmp_path / "model")
    assert spectralnlp.load(tmp_path / "model").best_tags(words) == [[0, 1, 2]] * 2


def test_tokens_that_are_not_text_are_refused_with_their_sentence() -> None:
    tagger = spectralnlp.train("tagger", [(["a", "b"], ["X", "Y"])] * 10, epochs=1)
    for tag in (tagger.best_tags, tagger.confidence):
        with pytest.raises(InputError, match=r"sentence 2: token 1 is int, not text"):
            tag([["a"], [1]])  # type: ignore[list-item]
