"""Classes of words are the tags that a first tagger gives them, and a tagger carries them with it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.errors import InputError
from spectralnlp.estimators.tagger import PerceptronTagger
from spectralnlp.estimators.tagger.kernels import ScoreWeights, emissions_of
from spectralnlp.estimators.tagger.self_tagging import TagCounts, classes_of, tag_classes
from spectralnlp.inference.chains.joint_features import N_JOINT, N_PAIRS
from spectralnlp.inference.chains.scorer import Scorer
from spectralnlp.inference.chains.templates import find_rows
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.parameters import WordClasses
from spectralnlp.storage import StoredArrays, StoredValues
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokenizer import Tokenizer

WORDS: list[TaggedSentence] = [
    (("The", "cat", "saw", "the", "dog", "."), ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT")),
    (("A", "dog", "barked", "."), ("DET", "NOUN", "VERB", "PUNCT")),
    (("this", "owl", "met", "a", "fox"), ("DET", "NOUN", "VERB", "DET", "NOUN")),
    (("Run", "!"), ("VERB", "PUNCT")),
] * 5
TEXT = "The hen saw the fox .\nA hen barked .\nthe cat met a Hen .\nA dog barked .\n"
TOKENIZER = Tokenizer(Conventions())


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_a_class_is_the_first_tag_and_a_second_that_is_not_rare() -> None:
    words = ["never", "once", "a", "b", "c", "d", "e"]
    counts = np.array(
        [
            [0, 0, 0],
            [1, 0, 0],
            [100, 5, 0],  # five in 105 are not more than a twentieth
            [100, 6, 0],
            [9, 0, 1],
            [2, 0, 0],
            [6, 100, 0],
        ]
    )
    classes = classes_of(words, counts)
    assert classes.words == ("a", "b", "c", "d", "e")
    a, b, c, d, e = classes.classes.tolist()
    assert a == d
    assert sorted({a, b, c, e}) == [1, 2, 3, 4]
    assert classes.of(["B", "b", "never", "x"]).tolist() == [b, b, 0, 0]


def test_one_tag_alone_is_a_class() -> None:
    assert classes_of(["a", "b"], np.array([[3], [2]])).classes.tolist() == [1, 1]


def test_counts_are_of_small_letters_and_grow() -> None:
    counts = TagCounts(2)
    many = [f"w{i}" for i in range(5000)]
    counts.add(["The", "the", "cat"], np.array([0, 1, 1], np.int32))
    counts.add(many, np.zeros(5000, np.int32))
    counts.add(["THE"], np.array([1], np.int32))
    assert counts.words == ["the", "cat", *many]
    assert counts.table[:2].tolist() == [[1, 2], [0, 1]]
    assert (counts.table[2:] == [1, 0]).all()
    assert len(counts.table) == 5002


def test_text_is_cut_as_training_data_and_sentences_learned_are_left_out() -> None:
    learner = PerceptronTagger(epochs=3).fit(WORDS)
    weights, features = learner.weights_, learner.features_
    raw = "The hen barked. It saw the hen.\n\nA hen barked, then it saw.\n"
    classes = tag_classes(weights, features, [raw], TOKENIZER, set())
    assert set(classes.words) == {"the", "hen", "barked", "it", "saw", "."}
    blocks = [line + "\n" for line in TEXT.splitlines()]
    apart = tag_classes(weights, features, blocks, TOKENIZER, {("A", "hen", "barked", ".")})
    whole = tag_classes(weights, features, [TEXT], TOKENIZER, {("A", "dog", "barked", ".")})
    assert "barked" not in whole.words, "once in what is left"
    assert "barked" not in apart.words
    assert {"the", "hen", "a", "."} <= set(apart.words) & set(whole.words)
    assert tag_classes(weights, features, [], TOKENIZER, set()).words == ()


def test_tables_are_the_scores_of_training_with_classes(text: str) -> None:
    learner = PerceptronTagger(epochs=4, text=text).fit(WORDS)
    weights = learner.weights_
    assert learner.features_.classes is not None
    assert "hen" in learner.features_.classes.words
    examples, keys = learner._number(WORDS, weights.tags)
    assert examples.joint.shape[1] == N_JOINT
    features = np.zeros((len(keys), len(weights.tags)), np.float32)
    features[find_rows(weights.keys, keys)] = weights.features
    of_classes = np.unique(examples.joint[:, N_PAIRS:])
    assert np.abs(features[of_classes[of_classes >= 0]]).max() > 0.05
    slow, starts = emissions_of(
        examples,
        np.arange(len(WORDS)),
        ScoreWeights(
            features, weights.words, weights.tokens, weights.transitions, weights.start, weights.end
        ),
    )
    scorer = Scorer(weights, learner.features_)
    fast, _ = scorer.emissions([words for words, _ in WORDS])
    np.testing.assert_allclose(fast, slow, atol=1e-4)
    for (first, last), (words, _) in zip(pairwise(starts), WORDS, strict=True):
        np.testing.assert_allclose(scorer.emissions([words])[0], slow[first:last], atol=1e-4)


def test_features_of_classes_seen_once_are_left_out(text: str) -> None:
    learner = PerceptronTagger(epochs=1, text=text).fit(WORDS)
    once = [*WORDS, (("The", "fox", "barked", "!"), ("DET", "NOUN", "VERB", "PUNCT"))]
    before, _ = learner._number(WORDS, learner.weights_.tags)
    examples, _ = learner._number(once, learner.weights_.tags)
    assert (before.joint[:, N_PAIRS:] >= 0).all(), "each sentence is there five times"
    assert (examples.joint[-4:, N_PAIRS:] < 0).any()
    assert (examples.joint[:, :N_PAIRS] >= 0).all()


def test_classes_are_packed_with_the_features() -> None:
    classes = WordClasses(words=("the", "hen"), classes=np.array([2, 1], np.int32))
    features = UnlabelledFeatures(classes=classes)
    arrays, values = StoredArrays(features.to_arrays()), StoredValues(features.to_json())
    again = UnlabelledFeatures.from_arrays(arrays, values)
    assert again.word_classes(["Hen", "fox", "the"]).tolist() == [1, 0, 2]
    assert "classes" not in UnlabelledFeatures().to_json(), "folders without them are as they were"
    assert (
        UnlabelledFeatures.from_arrays(arrays, StoredValues(UnlabelledFeatures().to_json())).classes is None
    )


def test_text_that_is_missing_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        PerceptronTagger(epochs=1, text=str(tmp_path / "none.txt")).fit(WORDS)
    assert "\n" not in str(caught.value)
