"""Taggers that learn further: what is new is learned, what is known stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp import CRFTagger, InMemoryCorpus, changes
from spectralnlp.changes import kept_moments as kept_module
from spectralnlp.errors import ModelError
from spectralnlp.text.conll import TaggedSentence

NOUNS = ["dog", "cat", "owl", "fox", "hen"]
SENTENCES: list[TaggedSentence] = [
    ((article, noun, verb, "."), ("DET", "NOUN", "VERB", "PUNCT"))
    for noun in NOUNS
    for article in ("the", "a")
    for verb in ("saw", "met", "ran")
]
NEW: list[TaggedSentence] = [(("wow", "the", "zebu", "ran"), ("INTJ", "DET", "NOUN", "VERB"))]
SPANS: list[TaggedSentence] = [
    (("Ada", "King", "met", "her", "dog", "in", "the", "yard", "."), ("B-PER", "I-PER", *"OOOOOOO")),
    (("it", "rained", "on", "New", "York", "."), ("O", "O", "O", "B-LOC", "I-LOC", "O")),
] * 8


def trained(sentences: list[TaggedSentence], **settings: Any) -> changes.Change:
    return changes.train("tagger.v1", CRFTagger(**settings), InMemoryCorpus(sentences))


def test_a_new_tag_and_new_words_join_the_weights_that_are_there() -> None:
    first = trained(SENTENCES)
    further = changes.update(first.kept, InMemoryCorpus(NEW)).model
    assert further.tag_tokens(NEW[0][0]).tags == NEW[0][1]
    assert further.about["training sentences"] == len(SENTENCES) + 1
    before, after = (model.best_tags([words for words, _ in SENTENCES]) for model in (first.model, further))
    assert before == after


@pytest.mark.parametrize("examples", [SENTENCES, SPANS])
def test_learning_goes_on_alike_from_a_folder(examples: list[TaggedSentence], tmp_path: Path) -> None:
    first = trained(examples[:-1], epochs=3)
    first.save(tmp_path / "model")
    kept = changes.KeptMoments.load(tmp_path / "model", "update")
    ours, theirs = (
        changes.update(each, InMemoryCorpus(examples[-1:]), add_known=True) for each in (first.kept, kept)
    )
    for name, array in ours.kept.state.arrays().items():  # type: ignore[union-attr]
        np.testing.assert_array_equal(array, theirs.kept.state.arrays()[name])  # type: ignore[union-attr]
    np.testing.assert_array_equal(ours.model.weights.features, theirs.model.weights.features)


def test_tags_of_another_kind_are_learned_all_again() -> None:
    first = trained(SPANS[:1], epochs=2)  # B and I alone may become tags like any others
    further = changes.update(first.kept, InMemoryCorpus(SENTENCES)).model
    anew = trained([*SPANS[:1], *SENTENCES], epochs=2).model
    np.testing.assert_array_equal(further.weights.features, anew.weights.features)


def test_tags_that_are_all_unknown_are_warned_of() -> None:
    first = trained(SENTENCES, epochs=1)
    lines = _reports(first, [(("price", "owl"), ("how", "much"))])
    assert any(
        line.startswith("none of the added tags is known to the model ('how', 'much')") for line in lines
    )
    assert not any("no tag" in line for line in _reports(first, NEW))


def _reports(first: changes.Change, new: list[TaggedSentence]) -> list[str]:
    lines = list[str]()
    changes.update(first.kept, InMemoryCorpus(new), report=lines.append)
    return lines


def test_with_vectors_all_is_learned_again(word_folders: dict[str, Path]) -> None:
    assert trained(SENTENCES, epochs=1, eigenwords=str(word_folders["words"])).kept.state is None


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("state.tags", lambda array: array[:3]),
        ("state.keys", lambda array: array[::-1]),
        ("state.counts", lambda array: array + 1),
        ("state.columns", lambda array: array + 9),
        ("state.sums", lambda array: -array),
        ("state.weights", lambda array: array[1:]),
        ("state.weights.chain", lambda array: array * np.nan),
        ("state.numbers", lambda array: array[1:]),
    ],
)
def test_a_state_that_was_changed_is_refused(
    name: str, change: Callable[[Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = kept_module.save_kept_moments

    def save_changed(folder: Path, described: Any, arrays: dict[str, Any]) -> None:
        save(folder, described, {**arrays, name: np.ascontiguousarray(change(arrays[name]))})

    monkeypatch.setattr(kept_module, "save_kept_moments", save_changed)
    trained(SENTENCES, epochs=1).save(tmp_path / "model")
    with pytest.raises(ModelError) as refused:
        changes.KeptMoments.load(tmp_path / "model", "update")
    assert "\n" not in str(refused.value)
