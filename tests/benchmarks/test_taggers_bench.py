"""The benchmark of taggers on a few sentences: that its learners learn, and its numbers are what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import tagger_seeds, taggers, tagging

SPANS = [
    (("Ada", "King", "met", "Bo", "."), ("B-PER", "I-PER", "O", "B-PER", "O")),
    (("it", "rained", "."), ("O", "O", "O")),
] * 10


@pytest.mark.parametrize("which", ["ours", "crfsuite", "spacy"])
def test_learners_learn_spans(which: str) -> None:
    if which == "crfsuite":
        pytest.importorskip("pycrfsuite")
    if which == "spacy":
        pytest.importorskip("spacy")
    learners = {
        "ours": taggers.Ours,
        "crfsuite": lambda: tagging.CRFsuite(),
        "spacy": lambda: taggers.SpaCy(epochs=12),
    }
    found = taggers.measure(which, learners[which](), SPANS, SPANS[:2])
    assert found.score == found.scores.f1 == 100.0
    assert found.training > 0
    assert int(found.speed.replace(",", "")) > 0


def test_errors_gone() -> None:
    class Half:
        def fit(self, sentences: object) -> None: ...

        def tag(self, sentences: list[list[str]]) -> list[list[str]]:
            return [["X"] * len(words) for words in sentences]

    def found(*tags: str) -> taggers.Measured:
        return taggers.measure("", Half(), [(("a",), ("X",))], [(tuple("abcd"), tags)])

    good, bad = found("X", "X", "X", "Y"), found("X", "X", "Y", "Y")
    assert (good.score, bad.score) == (75.0, 50.0)
    assert good.reduction(bad) == "50.0"
    assert bad.reduction(good) == "-100.0"


def test_data_is_read_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taggers, "ROOT", tmp_path)
    (tmp_path / "tagging").mkdir()
    (tmp_path / "tagging" / "t").write_text("a DT B-NP\nb NN I-NP\n\nc NN O\n")
    data = taggers.Data("", "t", "t")
    assert data.read("train") == [(("a", "b"), ("B-NP", "I-NP")), (("c",), ("O",))]
    assert data.read("dev", 1) == [(("a", "b"), ("B-NP", "I-NP"))]
    assert taggers.Data("", "t", "t", "2").read("train")[1] == (("c",), ("NN",))


def test_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for path in paths:
        taggers.draw(["upos", "wnut"], [0, 300_000, 1_000_000], [[0.0, 0.0], [3.0, 5.0], [4.0, 9.0]], path)
    text = paths[0].read_text()
    assert text == paths[1].read_text(), "the same numbers give the same bytes"
    assert text.count("<svg") == 1


@pytest.mark.slow
def test_chosen_vectors_are_settings_of_the_tagger() -> None:
    assert set(tagger_seeds.CHOSEN) == set(taggers.TASKS)
    for chosen in tagger_seeds.CHOSEN.values():
        assert set(chosen) <= {"eigenwords", "eigentokens", "clusters"}
        assert {kind for kinds in chosen.values() for kind in kinds} <= set(tagger_seeds.VECTORS)
    for loss in tagger_seeds.LOSSES.values():
        assert taggers.measure("", taggers.Ours(**loss), SPANS, SPANS[:2]).score == 100.0
