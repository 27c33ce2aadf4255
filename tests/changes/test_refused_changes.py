"""Changes that go wrong: another task's examples, another model in the folder, a kill while it is written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from spectralnlp_sketch import IntentClassifier

import spectralnlp
from spectralnlp import CRFTagger, InMemoryCorpus, Tree, changes, registry
from spectralnlp.errors import InputError, ModelError, SpectralError

TREE = Tree.from_string("(S (NP (DT the) (NN cat)) (VP (VB sleeps)))")
SENTENCES = [((a, noun, "sleeps"), ("DT", "NN", "VB")) for a in ("a", "the") for noun in ("cat", "dog")]
TEXTS = [
    (form.format(noun), label)
    for form, label in (("how much is the {}", "price"), ("when does the {} leave", "times"))
    for noun in ("boat", "bus", "ship")
]


class KilledError(BaseException):
    """The process ends here."""


def change_of(name: str) -> changes.Change:
    """A model, trained in a moment."""
    data: dict[str, tuple[Any, list[Any]]] = {
        "tagger": (CRFTagger(epochs=1), SENTENCES),
        "intent": (IntentClassifier(calibration=False), TEXTS),
        "hmm": (registry.estimators.get("hmm")(n_states=1), [["a", "b"], ["b", "a"]]),
        "pcfg": (registry.estimators.get("pcfg")(), [TREE]),
    }
    estimator, examples = data[name]
    return changes.train(name, estimator, InMemoryCorpus(examples))


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("tagger", [SENTENCES[0], ("a text", "price")]),
        ("tagger", [SENTENCES[0], TREE]),
        ("tagger", [SENTENCES[0], ["a", "b"]]),
        ("tagger", [SENTENCES[0], (("a", "b"), (1, 2.5))]),
        ("intent", [("a text", "price"), SENTENCES[0]]),
        ("intent", [("a text", "price"), TREE]),
        ("intent", [("a text", "price"), ("another", 3)]),
        ("hmm", [["a", "b"], TREE]),
        ("hmm", [["a", "b"], "a text"]),
        ("pcfg", [TREE, "a text"]),
        ("pcfg", [TREE, SENTENCES[0]]),
    ],
)
def test_examples_of_another_task_are_refused(name: str, examples: list[Any]) -> None:
    model = change_of(name).model
    for change in (model.update, model.forget):
        with pytest.raises(SpectralError) as refusal:
            change(iter(examples))
        assert "\n" not in str(refusal.value)
        if name != "intent":
            assert str(refusal.value).startswith("memory (sentence 2): ")


@pytest.mark.parametrize(
    ("name", "stranger"), [("tagger", (("a", "cat"), ("DT", "NN"))), ("intent", ("a cat", "price"))]
)
def test_an_example_that_was_never_there_is_named_by_its_number(name: str, stranger: Any) -> None:
    change = change_of(name)
    known = (SENTENCES if name == "tagger" else TEXTS)[:2]
    with pytest.raises(
        InputError, match=r"memory \(sentence 3\): not in the model, the first of 1 among 3 lines"
    ):
        change.model.forget([*known, stranger])


def test_a_folder_that_holds_another_model_by_now_is_refused(tmp_path: Path) -> None:
    change = change_of("hmm")
    change.save(tmp_path / "m")
    model = spectralnlp.load(tmp_path / "m")
    assert "c" in model.update([["b", "c"]]).symbols
    more = changes.update(change.kept, InMemoryCorpus([["b", "d"]]))
    more.save(tmp_path / "m", overwrite=True)
    with pytest.raises(ModelError, match="changed since the model was loaded; load it again"):
        model.update([["b", "c"]])
    shutil.rmtree(tmp_path / "m")
    with pytest.raises(ModelError, match="no such model"):
        model.forget([["a", "b"]])


@pytest.mark.parametrize("name", ["tagger", "intent"])
@pytest.mark.parametrize("verb", ["update", "forget"])
def test_a_kill_loses_nothing(name: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at each flush to the disk in turn: the folder holds the old model or the new one, whole."""
    folder, change = tmp_path / "m", change_of(name)
    change.save(folder)
    kept, last = changes.KeptMoments.load(folder, verb), (SENTENCES if name == "tagger" else TEXTS)[-1]
    corpus = InMemoryCorpus([last])
    changed = (
        changes.forget(kept, corpus) if verb == "forget" else changes.update(kept, corpus, add_known=True)
    )
    before = contents(folder)
    changed.save(tmp_path / "new")
    whole, flush = (before, contents(tmp_path / "new")), os.fsync
    for n_flushes in range(1, 20):
        left = n_flushes

        def fsync(descriptor: int) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise KilledError
            flush(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # nobody tidies up after a kill
            try:
                changed.save(folder, overwrite=True)
            except KilledError:
                pass
            else:
                break
        assert contents(folder) in whole
        assert changes.KeptMoments.load(folder, verb).estimator == name
    assert n_flushes > 5  # five files, at least
    assert contents(folder) == whole[1]
    changed.save(folder, overwrite=True)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}
