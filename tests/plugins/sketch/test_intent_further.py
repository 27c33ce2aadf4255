"""Classifiers that learn further: the head is at the optimum of all texts, given directions that stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spectralnlp_sketch import IntentClassifier
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.intent import estimator as estimator_module
from spectralnlp_sketch.intent import head_learner
from spectralnlp_sketch.labelled import Example

import spectralnlp
from spectralnlp import InMemoryCorpus, changes
from spectralnlp.changes import kept_moments as kept_module
from spectralnlp.cli import app
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.storage import MOMENTS, load_kept_moments

NOUNS = ["boat", "ferry", "train", "bus", "ship", "tram"]
FORMS = {
    "price": ["how much is the {}", "what does a {} cost", "the price of a {} please", "is the {} expensive"],
    "times": ["when does the {} leave", "at what hour is the {}", "is there a late {}", "the next {} please"],
    "lost": [
        "i left my bag on the {}",
        "did you find a hat in the {}",
        "my {} ticket is gone",
        "lost in a {}",
    ],
}
EXAMPLES = [
    Example(FORMS[label][number].format(noun), label)
    for noun in NOUNS
    for number in range(4)
    for label in FORMS
]
HELD_OUT = [form.format("taxi") for forms in FORMS.values() for form in forms]


@pytest.fixture(autouse=True)
def _many_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of two dozen texts have many."""
    monkeypatch.setattr(estimator_module, "is_few_shot", lambda labels: len(labels) < 20)


def trained(examples: list[Example]) -> changes.Change:
    return changes.train("intent.v1", IntentClassifier(), InMemoryCorpus(examples))


def scores(classifier: IntentClassifier, texts: list[str]) -> np.ndarray:
    """Scores before any correction."""
    rows = classifier.prior_.ngrams.rows_of(texts)
    return rows @ classifier.classifier_.table + classifier.classifier_.bias


@pytest.mark.parametrize("n_new", [1, 7])
def test_a_head_goes_on_to_the_optimum_of_all_texts(
    n_new: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(head_learner, "fit_svm", _exact(head_learner.fit_svm))
    some, new = EXAMPLES[:-n_new], EXAMPLES[-n_new:]
    trained(some).save(tmp_path / "model")
    kept = changes.KeptMoments.load(tmp_path / "model", "update")
    further = changes.update(kept, InMemoryCorpus(new)).model
    state = kept.state
    assert state is not None
    # From nothing, with the directions and pairs that are there.
    zeros = np.zeros((len(EXAMPLES) + 3, 3), np.float32)
    monkeypatch.setattr(type(state), "duals_for", lambda self, keys, labels: zeros[: len(keys)])
    again = changes.update(kept, InMemoryCorpus(new)).model
    np.testing.assert_allclose(further.table, again.table, atol=2e-3)
    np.testing.assert_allclose(further.bias, again.bias, atol=2e-3)
    assert [each.label for each in further.classify_many(HELD_OUT)] == [
        each.label for each in again.classify_many(HELD_OUT)
    ]


def test_a_head_goes_on_alike_in_memory_and_from_a_folder(tmp_path: Path) -> None:
    first = trained([EXAMPLES[0], *EXAMPLES[:-7]])  # one of them twice
    new = [*EXAMPLES[-7:], EXAMPLES[0], Example("a zebra on the quay", "lost")]
    first.save(tmp_path / "model")
    kept = changes.KeptMoments.load(tmp_path / "model", "update")
    states: list[Any] = [first.kept.state, kept.state]
    assert [each.features is None for each in states] == [False, True]
    ours, theirs = (changes.update(each, InMemoryCorpus(new), add_known=True) for each in (first.kept, kept))
    for change in ours, theirs:
        text = change.model.learned_texts.evidence("the boat", np.array([1.0, -1.0, 0.0]), 3)
        assert str(text) == str(ours.model.learned_texts.evidence("the boat", np.array([1.0, -1.0, 0.0]), 3))
    np.testing.assert_array_equal(ours.model.table, theirs.model.table)
    np.testing.assert_array_equal(ours.model.familiarity, theirs.model.familiarity)


def _exact(fit: Callable[..., object]) -> Callable[..., object]:
    return lambda *arguments, **settings: fit(*arguments, **{**settings, "passes": 2000, "tolerance": 1e-5})


def test_a_label_and_words_that_are_new_are_learned() -> None:
    first = trained(EXAMPLES)
    new = [Example(f"may i bring my {pet} along", "pets") for pet in ("dog", "cat", "parrot")]
    changed = first
    for each in new:
        changed = changes.update(changed.kept, InMemoryCorpus([each]))
    assert changed.model.labels == ("lost", "pets", "price", "times")
    assert changed.model.classify("may i bring my parrot").label == "pets"
    before, after = (list(model.classify_many(HELD_OUT)) for model in (first.model, changed.model))
    assert [each.label for each in before] == [each.label for each in after]
    assert changed.model.about["training texts"] == len(EXAMPLES) + 3


def test_a_text_is_forgotten_and_its_label_with_it() -> None:
    pets = [Example(f"may i bring my {pet} along", "pets") for pet in ("dog", "cat")]
    changed = changes.forget(trained(EXAMPLES + pets).kept, InMemoryCorpus(pets))
    assert changed.model.labels == ("lost", "price", "times")
    with pytest.raises(InputError, match="not in the model, the first of 2 among 2 lines"):
        changes.forget(changed.kept, InMemoryCorpus(pets))


def test_labels_keep_their_types() -> None:
    examples = [Example(text, list(FORMS).index(label)) for text, label in EXAMPLES]
    changed = changes.update(trained(examples[:-1]).kept, InMemoryCorpus(examples[-1:]))
    kinds = [example.label for example in changed.kept.moments.corpus()]  # type: ignore[attr-defined]
    assert kinds == [example.label for example in examples]


def test_a_model_of_few_texts_is_learned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimator_module, "is_few_shot", lambda labels: True)
    first = trained(EXAMPLES[:-1])
    assert first.kept.state is None
    changed = changes.update(first.kept, InMemoryCorpus(EXAMPLES[-1:]))
    np.testing.assert_array_equal(changed.model.table, trained(EXAMPLES).model.table)


def test_the_command_line_goes_on_or_learns_all_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        return app.run([str(each) for each in arguments]), *capsys.readouterr()

    old, new = tmp_path / "old.tsv", tmp_path / "new.tsv"
    old.write_text("".join(f"{label}\t{text}\n" for text, label in EXAMPLES[:-3]), encoding="utf-8")
    new.write_text("".join(f"{label}\t{text}\n" for text, label in EXAMPLES[-3:]), encoding="utf-8")
    model, further, whole, both = (tmp_path / name for name in ("model", "further", "whole", "both"))
    assert run("train", "intent", old, "-o", model, "--keep-examples")[0] == 0
    assert run("update", model, new, "-o", further)[0] == 0
    assert run("update", model, new, "-o", whole, "--from-scratch")[0] == 0
    assert run("train", "intent", old, new, "-o", both)[0] == 0
    found = [spectralnlp.load(each) for each in (further, whole, both)]
    np.testing.assert_array_equal(found[1].table, found[2].table)
    labels = [[each.label for each in model.classify_many(HELD_OUT)] for model in found]
    assert labels[0] == labels[1]
    status, out, _ = run("info", further)
    assert status == 0
    size = (further / MOMENTS).stat().st_size
    assert f"kept, of {len(EXAMPLES)} documents (lines), {size / 1e6:.1f} MB" in out
    stored = load_kept_moments(further)
    assert stored is not None
    assert size < sum(array.nbytes for array in stored[1].all().values())
    status, _, errors = run("update", further, new)
    assert (status, errors.count("\n")) == (2, 1)
    array = bytearray((model / MOMENTS).read_bytes())
    array[-1] ^= 1
    (model / MOMENTS).write_bytes(bytes(array))
    with pytest.raises(ModelError):
        changes.KeptMoments.load(model, "update")


def test_a_model_learns_further_and_forgets_in_python(tmp_path: Path) -> None:
    change = trained(EXAMPLES)
    assert change.model.update(["a dog"], ["pets"]).labels == ("lost", "pets", "price", "times")
    change.save(tmp_path / "model")
    model = spectralnlp.load(tmp_path / "model")
    more = model.update(["may i bring my dog", "are cats on board allowed"], ["pets", "pets"])
    assert (model.labels, more.labels) == (("lost", "price", "times"), ("lost", "pets", "price", "times"))
    assert more.classify("may i bring my dog").label == "pets"
    more.save(tmp_path / "more", keep_moments=True)
    less = spectralnlp.load(tmp_path / "more").forget(["may i bring my dog"], ["pets"])
    assert less.about["training texts"] == len(EXAMPLES) + 1
    less.save(tmp_path / "alone")
    with pytest.raises(ConfigError, match="keeps no moments, so it cannot be updated"):
        spectralnlp.load(tmp_path / "alone").update(["a text"], ["pets"])
    with pytest.raises(InputError, match="1 examples and 2 labels"):
        less.update(["a text"], ["pets", "price"])
    with pytest.raises(InputError, match="in the model already"):
        less.update(*zip(*EXAMPLES[:1], strict=True))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("moments.labels", lambda array: np.frombuffer(b'"a"\0[]\0"c"', np.uint8)),
        ("moments.labels", lambda array: array[:-1]),
        ("state.labels", lambda array: array[:-2]),
        ("state.duals", lambda array: array[1:]),
        ("state.duals", lambda array: array - 1),
        ("state.projection", lambda array: array[1:]),
        ("state.columns", lambda array: array[::-1]),
        ("state.idf", lambda array: array * 0),
        ("state.numbers", lambda array: array[1:]),
        ("state.keys", lambda array: array[:, 1:]),
    ],
)
def test_a_state_that_was_changed_is_refused(
    name: str, change: Callable[[np.ndarray], np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = kept_module.save_kept_moments

    def save_changed(folder: Path, row_type: object, arrays: dict[str, np.ndarray]) -> None:
        save(folder, row_type, {**arrays, name: np.ascontiguousarray(change(arrays[name]))})

    monkeypatch.setattr(kept_module, "save_kept_moments", save_changed)
    trained(EXAMPLES).save(tmp_path / "model")
    with pytest.raises(ModelError, match=name.replace(".", r"\.")) as refused:
        changes.KeptMoments.load(tmp_path / "model", "update")
    assert "\n" not in str(refused.value)


def test_labels_of_several_types_are_refused() -> None:
    with pytest.raises(TextError, match="labels of the types int and str"):
        IntentClassifier().fit(["a b", "c d"], [1, "x"])


def test_labels_of_numpy_are_labels() -> None:
    texts, labels = [text for text, _ in EXAMPLES], [list(FORMS).index(label) for _, label in EXAMPLES]
    fitted = IntentClassifier().fit(texts, np.array(labels))
    assert fitted.predict(texts[:3]).tolist() == labels[:3]
    kept = trained(list(map(Example, texts, labels))).kept
    change = changes.update(kept, InMemoryCorpus([("a dog", np.int64(7))]))
    assert change.model.labels == ("0", "1", "2", "7")


@pytest.mark.parametrize("text", ["a\0b", "a \ud800"])
def test_a_text_that_cannot_be_kept_is_named(text: str) -> None:
    with pytest.raises(InputError, match=r"memory \(sentence 73\): text that cannot be kept"):
        trained([*EXAMPLES, Example(text, "price")])
