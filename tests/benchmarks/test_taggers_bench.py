"""The benchmark of taggers on a few sentences: that its learners learn, and its numbers are what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import tagger_folds, taggers, tagging
from spectralnlp.estimators.tagger import estimator

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


def test_data_is_read_by_column(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("a DT B-NP\nb NN I-NP\n\nc NN O\n")
    data = taggers.Data("", str(path), str(path))
    assert data.read("train") == [(("a", "b"), ("B-NP", "I-NP")), (("c",), ("O",))]
    assert data.read("dev", 1) == [(("a", "b"), ("B-NP", "I-NP"))]
    assert taggers.Data("", str(path), str(path), "2").read("train")[1] == (("c",), ("NN",))


def test_rows_change_what_the_tagger_has() -> None:
    for row in tagger_folds.ROWS.values():
        with row.changed():
            assert taggers.measure("", taggers.Ours(), SPANS, SPANS[:2]).score == 100.0
    assert estimator._MEMBERS == 3, "and change it back"


def test_folds_are_of_documents(tmp_path: Path) -> None:
    word = "1\tx\t_\tX\tX\t_\t_\t_\t_\t_\n\n"
    text = (
        f"# newdoc id = a\n# sent_id = 1\n{word}# sent_id = 2\n{word}# newdoc id = b\n# sent_id = 3\n{word}"
    )
    path = tmp_path / "t.conllu"
    path.write_text(text)
    sentences, of = tagger_folds.documents(taggers.Data("", str(path), "", "upos"))
    assert (len(sentences), of.tolist()) == (3, [0, 0, 1])


def test_differences_are_in_pairs_of_documents() -> None:
    whole = np.tile(np.array([10, 8, 0, 0, 4, 4, 2]), (20, 1))
    better = whole + np.array([0, 1, 0, 0, 0, 0, 1])
    assert tagger_folds.difference(better, whole, spans=False) == "+10.00 [+10.00, +10.00]"
    assert tagger_folds.difference(better, whole, spans=True) == "+25.00 [+25.00, +25.00]"
