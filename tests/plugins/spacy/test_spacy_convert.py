"""``spectralnlp convert``: what becomes of each kind of file, and of bad ones."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import DocBin

from spectralnlp.cli.app import run

CONLLU = """\
# text = Go now
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
2\tnow\tnow\tADV\tRB\t_\t1\tadvmod\t_\t_

"""
COLUMNS = "Mrs. NNP B-PER\nOkafor NNP I-PER\nwaits VBZ O\n\nAnna NNP B-PER\n"


def converted(path: Path, *options: str):
    """The documents that ``convert`` makes of a file, and its exit status."""
    output = path.with_suffix(".spacy")
    status = run(["convert", str(path), "-o", str(output), *options])
    docs = list(DocBin().from_disk(output).get_docs(spacy.blank("en").vocab)) if output.exists() else []
    return status, docs


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_conllu_gives_both_tags(tmp_path) -> None:
    status, (doc,) = converted(write(tmp_path, "a.conllu", CONLLU))
    assert status == 0
    assert [(t.text, t.pos_, t.tag_) for t in doc] == [("Go", "VERB", "VB"), ("now", "ADV", "RB")]
    _, (doc,) = converted(write(tmp_path, "b.conllu", CONLLU * 2), "--sentences", "2")
    assert [len(sentence) for sentence in doc.sents] == [2, 2]


@pytest.mark.parametrize("field", ["ents", "spans"])
def test_columns_give_entities_or_spans(tmp_path, field) -> None:
    status, (first, second) = converted(write(tmp_path, "a.txt", COLUMNS), "--field", field)
    assert status == 0
    found = first.ents if field == "ents" else first.spans["chunks"]
    assert [(span.text, span.label_) for span in found] == [("Mrs. Okafor", "PER")]
    assert len(second) == 1


def test_another_column_gives_tags(tmp_path) -> None:
    _, (doc, _) = converted(write(tmp_path, "a.txt", COLUMNS), "--column", "2")
    assert [token.tag_ for token in doc] == ["NNP", "NNP", "VBZ"]


def test_labelled_texts_give_all_labels(tmp_path) -> None:
    pytest.importorskip("sklearn")
    _, docs = converted(write(tmp_path, "a.tsv", "yes\tof course I do\nno\tnot at all\n"))
    assert [doc.cats for doc in docs] == [{"no": 0.0, "yes": 1.0}, {"no": 1.0, "yes": 0.0}]
    assert docs[0].text == "of course I do"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (COLUMNS, (), "the tags are spans; choose where to write them: --field ents"),
        (COLUMNS, ("--column", "7"), "no column '7'"),
        (COLUMNS, ("--field", "mood"), "no field 'mood'"),
        (COLUMNS, ("--kind", "poems"), "no kind 'poems'"),
        ("(S (NN a)", (), "sentence 1"),
    ],
)
def test_bad_input_ends_in_one_line_and_leaves_no_file(tmp_path, capsys, text, options, message) -> None:
    status, docs = converted(write(tmp_path, "a.txt", text), *options)
    complaint = capsys.readouterr().err
    assert status == 2
    assert message in complaint
    assert complaint.count("\n") == 1
    assert docs == []
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_bad_trees_can_be_skipped(tmp_path, capsys) -> None:
    trees = "(S (NN a))\n(S ())\n(S (NN b))\n"
    status, docs = converted(write(tmp_path, "a.mrg", trees), "--skip-bad")
    assert status == 0
    assert [doc.text.strip() for doc in docs] == ["a", "b"]
    assert "skipped" in capsys.readouterr().err


def test_standard_input(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONLLU.encode())))
    assert run(["convert", "-", "-o", str(tmp_path / "a.spacy")]) == 0
    (doc,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank("en").vocab)
    assert doc.text.split() == ["Go", "now"]
