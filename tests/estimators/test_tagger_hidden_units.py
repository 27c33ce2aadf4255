"""Hidden units see what is around a token, learn finer tags, and add their scores to those of the chain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import spectralnlp
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.tagger import PerceptronTagger
from spectralnlp.estimators.tagger.finer_tags import refine
from spectralnlp.estimators.tagger.hidden_kernels import Batch, Rows, add_features, descend_features
from spectralnlp.estimators.tagger.hidden_units import Tagged, learn_hidden
from spectralnlp.estimators.tagger.self_tagging import TaggedText
from spectralnlp.inference.chains.scorer import Scorer
from spectralnlp.inference.chains.templates import find_rows, word_keys
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_table import WordTable, hidden_clusters
from spectralnlp.parameters import HiddenLayer, WordClasses
from spectralnlp.storage import StoredArrays

SENTENCES = [
    (("The", "cats", "sleep", "."), ("DET", "NOUN", "VERB", "PUNCT"), ("DT", "NNS", "VBP", ".")),
    (("A", "dog", "barks", "."), ("DET", "NOUN", "VERB", "PUNCT"), ("DT", "NN", "VBZ", ".")),
    (("Dogs", "bark"), ("NOUN", "VERB"), ("NNS", "VBP")),
] * 12
TEXT = "The dogs sleep .\nA cat barks .\nthe cat sleeps .\nA dog barks .\nOwls sleep .\n" * 4


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> spectralnlp.Tagger:
    return train(tmp_path_factory.mktemp("text"))


def train(folder: Path, **settings: object) -> spectralnlp.Tagger:
    path = folder / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    asked = {"text": str(path), "finer": "xpos", "epochs": 2, "hidden_units": 8, **settings}
    return spectralnlp.train(PerceptronTagger(**asked), SENTENCES)  # type: ignore[arg-type]


def test_fine_tags_are_pairs_seen_often_enough() -> None:
    words = ("a",) * 31
    fine = refine([(words, ("X",) * 30 + ("Y",))], [("p",) * 30 + ("p",)], ["X", "Y"])
    assert fine.names == ("0.0", "0.1", "1.0")
    assert fine.tag_of.tolist() == [0, 0, 1]
    assert fine.sentences == [(words, ("0.1",) * 30 + ("1.0",))]


def test_a_tagged_text_is_numbered_as_a_table_numbers_it() -> None:
    sentences = [("the", "cat", "saw", "the", "dog"), ("A", "cat")]
    log = TaggedText()
    log.add(sentences[:1], np.array([1, 0, 2, 1, 0], np.int32))
    log.add(sentences[1:], np.array([300, 0], np.int32))
    table = WordTable(UnlabelledFeatures())
    table.add(["dog", "A"])
    encoded, tags = log.encoded(table)
    expected = table.encode(sentences)
    assert encoded.types.tolist() == expected.types.tolist()
    assert encoded.starts.tolist() == expected.starts.tolist()
    assert tags.tolist() == [1, 0, 2, 1, 0, 300, 0]


def one_place() -> tuple[Batch, Rows]:
    """Two words, the second one known by features 0 (its name) and 1 in the middle place, 1 in the next."""
    types = np.array([1, 0, 2, 3, 0, 1], np.int32)
    starts = np.zeros(7 * 4 + 1, np.int64)
    starts[2 * 4 + 3 + 1 :] = 2
    starts[3 * 4 + 3 + 1 :] = 3
    named = starts[:-1].copy()
    named[2 * 4 + 3] += 1
    seen = Rows(starts, np.array([0, 1, 1], np.int32), named, 4)
    dropped = np.zeros((2, 5), bool)
    return Batch(types, np.array([2, 3]), np.array([True, False]), dropped), seen


def test_rows_of_features_are_added_up_where_they_are_seen() -> None:
    batch, seen = one_place()
    features = np.array([[1, 2], [10, 20]], np.float32)
    units = np.zeros((2, 2), np.float32)
    add_features(batch, seen, features, units)
    assert units.tolist() == [[10, 20], [11, 22]]
    batch.dropped[1, 2] = True  # the name of the second word is forgotten
    units[:] = 0
    add_features(batch, seen, features, units)
    assert units.tolist() == [[10, 20], [10, 20]]


def test_steps_are_as_adagrad_says() -> None:
    batch, seen = one_place()
    features, sums = np.zeros((2, 2), np.float32), np.full(2, 0.5, np.float32)
    gradients = np.array([[1, 1], [2, 0]], np.float32)
    descend_features(batch, seen, features, sums, gradients, np.float32(0.1))
    first = -0.1 * np.array([1, 1]) / np.sqrt(1.5)
    expected = [-0.1 * np.array([2, 0]) / np.sqrt(2.5), first - 0.1 * np.array([2, 0]) / np.sqrt(3.5)]
    np.testing.assert_allclose(features, expected, rtol=1e-5)
    np.testing.assert_allclose(sums, [2.5, 3.5])


def test_the_scorer_adds_the_scores_of_hidden_units(learned: spectralnlp.Tagger) -> None:
    layer = learned.weights.hidden
    assert layer is not None
    sentences = [("The", "owls", "sleep"), ("Dogs",)]
    together, starts = Scorer(learned.weights, learned.features).emissions(sentences)
    alone, _ = Scorer(replace(learned.weights, hidden=None), learned.features).emissions(sentences)
    table = WordTable(learned.features)
    encoded = table.encode(sentences)
    every = slice(0, len(table))
    rows = [find_rows(each, layer.keys) for each in word_keys(table.hashes, hidden_clusters(table, every))]
    padded = np.concatenate([layer.features, np.zeros((1, layer.n_hidden), np.float32)])
    for t, place in enumerate(encoded.places):
        slots = [(slot, encoded.types[place + slot - 2]) for slot in range(5)]
        slots.append((5 if t in starts else 6, encoded.types[place]))
        units = layer.bias + sum(padded[rows[slot][word]].sum(axis=0) for slot, word in slots)
        fine = np.maximum(units, 0) @ layer.outputs + layer.fine_bias
        expected = [fine[layer.tag_of == tag].max() for tag in range(len(learned.tags))]
        np.testing.assert_allclose(together[t] - alone[t], expected, atol=1e-4)


def test_the_tagger_tags_and_is_stored_with_its_units(learned: spectralnlp.Tagger, tmp_path: Path) -> None:
    assert learned.tag_tokens(["The", "dogs", "bark", "."]).tags == ("DET", "NOUN", "VERB", "PUNCT")
    learned.save(tmp_path / "tagger")
    again = spectralnlp.load(tmp_path / "tagger")
    assert isinstance(again, spectralnlp.Tagger)
    first, layer = learned.weights.hidden, again.weights.hidden
    assert first is not None
    assert layer is not None
    assert again.info["hidden units"] == 8
    for name, array in first.to_arrays().items():
        np.testing.assert_array_equal(layer.to_arrays()[name], array)
    learned.save(tmp_path / "small", compact=True)
    small = spectralnlp.load(tmp_path / "small")
    assert isinstance(small, spectralnlp.Tagger)
    assert small.best_tags([["A", "cat", "barks"]]) == learned.best_tags([["A", "cat", "barks"]])


def test_the_same_seed_gives_the_same_units(learned: spectralnlp.Tagger, tmp_path: Path) -> None:
    again, other = train(tmp_path), train(tmp_path, random_state=1)
    assert learned.weights.hidden is not None
    assert again.weights.hidden is not None
    assert other.weights.hidden is not None
    np.testing.assert_array_equal(again.weights.hidden.features, learned.weights.hidden.features)
    assert not np.array_equal(other.weights.hidden.bias, learned.weights.hidden.bias)


def learn(tags: list[int]) -> tuple[HiddenLayer, NDArray[np.float32]]:
    """What is learned of four sentences, and scores of the last ones."""
    sentences = [("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")] * 4000
    table = WordTable(UnlabelledFeatures(classes=WordClasses(words=("a",), classes=np.array([1], np.int32))))
    tagged = Tagged(table.encode(sentences), np.array(tags * 4000, np.int32))
    held_out = np.zeros(len(tagged.tags), bool)
    held_out[-8:] = True
    rng = np.random.default_rng(0)
    return learn_hidden(table, tagged, tagged, held_out, np.array([0, 1, 0], np.int32), 16, rng)


def test_units_learn_what_is_not_linear() -> None:
    unlike = [2, 1, 1, 2, 0, 0, 0, 0]  # whether the words of a sentence differ, and if so which is first
    layer, scores = learn(unlike)
    assert layer.outputs.shape == (16, 3)
    assert scores.argmax(axis=1).tolist() == [0, 1, 1, 0, 0, 0, 0, 0]


def test_what_finer_asks_for() -> None:
    with pytest.raises(ConfigError, match="with text"):
        spectralnlp.train(PerceptronTagger(finer="xpos"), SENTENCES)
    with pytest.raises(InputError, match="without finer tags"):
        spectralnlp.train(PerceptronTagger(finer="xpos"), [sentence[:2] for sentence in SENTENCES])


def test_units_that_leave_out_a_tag_are_refused(learned: spectralnlp.Tagger) -> None:
    layer = learned.weights.hidden
    assert layer is not None
    arrays = layer.to_arrays() | {"tag_of": np.zeros_like(layer.tag_of)}
    sizes = {"n_tags": 4, "n_offsets": 5, "n_word_numbers": 0}
    with pytest.raises(ModelError, match="leaves out a tag"):
        HiddenLayer.from_arrays(StoredArrays(arrays).part(**sizes), layer.n_hidden)
