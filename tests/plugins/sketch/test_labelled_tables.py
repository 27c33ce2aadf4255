"""Tables of labelled texts: train, evaluate, classify, update and forget, and the same in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spectralnlp_sketch import IntentClassifier, read_texts

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import SpectralError

TEXTS = ["how much, please", "what is the price", "when does it leave", "at what hour", "what does it cost"]
LABELS = ["price", "price", "times", "times", "price"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    rows = [f'{n},"{text}",{label}\n' for n, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))]
    path.write_text("id,Utterance,category\n" + "".join(rows))
    return path


def test_the_command_line(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "model")
    assert run(["train", "intent", str(table), "-o", model, "--keep-examples", "--dev", str(table)]) == 0
    assert f"{table}: texts are in the column 'Utterance', labels in 'category'" in capsys.readouterr().out
    assert run(["evaluate", model, str(table), "--format", "json"]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["accuracy"] == 100.0
    assert f"{table}: texts are in the column 'Utterance', labels in 'category'" in found.err
    assert run(["classify", model, str(table)]) == 0
    found = capsys.readouterr()
    assert [line.split("\t")[0] for line in found.out.splitlines()] == LABELS
    assert f"{table}: texts are in the column 'Utterance'" in found.err

    more = tmp_path / "more.jsonl"
    more.write_text('{"text": "is it dear", "label": "price"}\n')
    assert run(["update", model, str(more)]) == 0
    assert spectralnlp.load(model).info["training texts"] == 6
    assert run(["forget", model, str(more)]) == 0
    assert spectralnlp.load(model).info["training texts"] == 5


def test_columns_by_name_and_by_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named, bare = tmp_path / "named.tsv", tmp_path / "bare.csv"
    rows = list(zip(TEXTS, LABELS, strict=True))
    named.write_text("a\tb\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    bare.write_text("".join(f'"{text}",{label}\n' for text, label in rows))
    for path, text, label in ((named, "a", "b"), (bare, "1", "2")):
        how = ["--text-column", text, "--label-column", label]
        model = str(tmp_path / path.stem)
        assert run(["train", "intent", str(path), *how, "-o", model]) == 0
        assert run(["evaluate", model, str(path), *how]) == 0
        capsys.readouterr()
        assert run(["classify", model, str(path), "--text-column", text]) == 0
        assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == LABELS


def test_updates_take_tables_with_other_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, first, more = str(tmp_path / "model"), tmp_path / "first.csv", tmp_path / "more.jsonl"
    first.write_text("text,label\n" + "".join(f'"{a}",{b}\n' for a, b in zip(TEXTS, LABELS, strict=True)))
    rows = [{"what": f"once more {a}", "kind": b} for a, b in zip(TEXTS, LABELS, strict=True)]
    more.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["train", "intent", str(first), "--keep-examples", "-o", model]) == 0
    named = ["--text-column", "what", "--label-column", "kind"]
    for verb, left in (("update", 2 * len(TEXTS)), ("forget", len(TEXTS))):
        assert run([verb, model, str(more)]) == 2
        capsys.readouterr()
        assert run([verb, model, str(more), *named]) == 0
        assert f"{left:,} lines" in capsys.readouterr().out
    trees = tmp_path / "trees.mrg"
    trees.write_text("(S (NN a) (VB b))\n")
    assert run(["train", "pcfg", str(trees), "--keep-moments", "-o", str(tmp_path / "pcfg")]) == 0
    assert run(["update", str(tmp_path / "pcfg"), str(trees), *named]) == 2
    assert "--text-column means nothing to" in capsys.readouterr().err


def test_in_python(table: Path, tmp_path: Path) -> None:
    corpus = read_texts(table)
    assert list(corpus) == list(zip(TEXTS, LABELS, strict=True))
    assert corpus.remarks() == [f"{table}: texts are in the column 'Utterance', labels in 'category'"]
    assert IntentClassifier().fit(corpus).predict(TEXTS[:1]) == ["price"]
    model = spectralnlp.train("intent", str(table))
    assert spectralnlp.evaluate(model, str(table), text_column="Utterance").accuracy == 100
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"query": "a", "intent": 1}\n{"query": "b", "intent": null}\n{"query": "c", "intent": NaN}\n'
    )
    assert list(read_texts(rows)) == [("a", "1"), ("b", None), ("c", None)]
    plain = tmp_path / "plain.txt"
    plain.write_text("x\ta\tb\n")
    assert list(read_texts(plain, unlabelled=rows)) == [("a\tb", "x"), ("a", None), ("b", None), ("c", None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "id,utterance\n1,a\n",
            "no column of labels is recognised by its name; name it: label_column; ",
        ),
        ("id,label\n1,a\n", "no column of texts is recognised by its name; name it: text_column; "),
        ("text,label\na,x\n ,y\n", "rows.csv:3: an empty text"),
        ("text,label\na,x\nb,\n", "rows.csv:3: no label"),
        ("text,label\na,x,y\n", "rows.csv:2: 3 cells, and there are 2 columns"),
    ],
)
def test_bad_gold(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content)
    model = spectralnlp.train("intent", [(text, label) for text, label in zip(TEXTS, LABELS, strict=True)])
    with pytest.raises(SpectralError) as caught:
        spectralnlp.evaluate(model, str(path))
    assert message in str(caught.value)


def test_options_in_errors(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text("id,words\n1,a\n")
    assert run(["train", "intent", str(table), "-o", str(tmp_path / "model")]) == 2
    assert "name it: --text-column; there are 'id', 'words'" in capsys.readouterr().err
    for column in ("0", "9" * 5000):
        assert (
            run(["train", "intent", str(table), "-o", str(tmp_path / "model"), "--text-column", column]) == 2
        )
        assert "columns are numbered from 1" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
