"""``spectralnlp convert --to conllu`` and its like, ``parse --format conllu``, and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp.cli.app import run

TREES = (
    "(S (NP-SBJ (PRP It)) (VP (VBZ rains)) (. .))\n\n( (S (NP (-NONE- *)) (VP (VB Go))) )\n(S (-NONE- *))\n"
)


def _rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "some.mrg"
    path.write_text(TREES, "utf-8")
    return path


def test_trees_become_brackets(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", str(treebank), "--to", "brackets"]) == 0
    written = capsys.readouterr().out
    assert written.splitlines() == [
        "(S (NP-SBJ (PRP It)) (VP (VBZ rains)) (. .))",
        "( (S (NP (-NONE- *)) (VP (VB Go))))",
        "(S (-NONE- *))",
    ]
    treebank.write_text(written)
    assert run(["convert", str(treebank), "--to", "brackets"]) == 0
    assert capsys.readouterr().out == written
    assert run(["convert", str(treebank), "--to", "brackets", "--clean"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "(S (NP (PRP It)) (VP (VBZ rains)) (. .))",
        "(S (VP (VB Go)))",
    ]


def test_brackets_of_other_formats_have_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "corpora/formats/dutch.alpino.xml", "--to", "brackets"]) == 0
    assert "-su (" in capsys.readouterr().out.splitlines()[0]
    assert run(["convert", "corpora/formats/dutch.alpino.xml", "--to", "brackets", "--clean"]) == 0
    assert "-su (" not in capsys.readouterr().out
    assert run(["convert", "corpora/formats/dutch.alpino.xml", "--to", "conllu", "--clean"]) == 2
    assert "--clean is for --to brackets" in capsys.readouterr().err


@pytest.mark.parametrize("scheme", ["conllu", "stanford-conllu", "heads-conllu"])
def test_trees_become_conllu(treebank: Path, capsys: pytest.CaptureFixture[str], scheme: str) -> None:
    assert run(["convert", str(treebank), "--to", scheme]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line[:1] == "#"] == [
        "# sent_id = some-1",
        "# text = It rains .",
        "# sent_id = some-2",
        "# text = Go",
    ]
    rows = _rows(out)
    assert {len(row) for row in rows} == {10}
    assert [row[1] for row in rows] == ["It", "rains", ".", "Go"]
    assert rows[2][7] == "punct"
    assert out.endswith("\n\n")


def test_a_file_is_written_whole_or_not_at_all(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = treebank.with_name("out.conllu")
    assert run(["convert", str(treebank), "--to", "conllu", "-o", str(output)]) == 0
    assert len(_rows(output.read_text("utf-8"))) == 4
    assert capsys.readouterr().err == "spectralnlp: left out: 2 empty elements\n"
    output.unlink()
    treebank.write_text(TREES + "(S (NP", "utf-8")
    assert run(["convert", str(treebank), "--to", "conllu", "-o", str(output)]) == 2
    assert [path.name for path in treebank.parent.iterdir()] == ["some.mrg"]
    assert capsys.readouterr().err.count("\n") == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TREES.encode())))
    assert run(["convert", "-", "--to", "conllu"]) == 0
    assert "# sent_id = stdin-1" in capsys.readouterr().out


def test_bad_trees_are_left_out(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    treebank.write_text("(S (NP))\n" + TREES, "utf-8")
    assert run(["convert", str(treebank), "--to", "conllu", "--skip-bad"]) == 0
    out, err = capsys.readouterr()
    assert len(_rows(out)) == 4
    assert "skipped" in err


ODD_TAGS = (
    "(S (NP (PRP He)) (VP (BES 's) (NP (-LSB- -LSB-) (JJ|NN new) (NNS-4 boats) (-RSB- -RSB-))) (SU /))\n"
)


@pytest.mark.parametrize("scheme", ["conllu", "stanford-conllu"])
def test_tags_of_other_treebanks_in_penn_style(
    treebank: Path, capsys: pytest.CaptureFixture[str], scheme: str
) -> None:
    treebank.write_text(ODD_TAGS, "utf-8")
    assert run(["convert", str(treebank), "--to", scheme]) == 0
    rows = _rows(capsys.readouterr().out)
    assert [row[4] for row in rows] == ["PRP", "BES", "-LSB-", "JJ|NN", "NNS-4", "-RSB-", "SU"]
    assert [row[3] for row in rows] == ["PRON", "AUX", "PUNCT", "ADJ", "NOUN", "PUNCT", "PUNCT"]
    assert [row[7] for row in rows] == ["nsubj", "cop", "punct", "amod", "root", "punct", "punct"]


def test_trees_with_unknown_tags_are_left_out(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    treebank.write_text("(S (NP (PRP It)) (VP (XYZ rains)))\n" + TREES, "utf-8")
    assert run(["convert", str(treebank), "--to", "conllu"]) == 2
    assert "tree 1 are not the Penn treebank's: XYZ; --skip-bad leaves it out" in capsys.readouterr().err
    assert run(["convert", str(treebank), "--to", "conllu", "--skip-bad"]) == 0
    out, err = capsys.readouterr()
    assert [row[1] for row in _rows(out)] == ["It", "rains", ".", "Go"]
    assert "skipped 1 in all" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "x"], "no format 'x'; choose from spacy, brackets, conllu, stanford-conllu, heads-conllu"),
        ([], "--to spacy needs a file to write; add -o FILE"),
        (["--to", "heads-conllu", "--head-rules", "/nowhere"], "/nowhere"),
    ],
)
def test_bad_options(
    treebank: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["convert", str(treebank), *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_other_languages_are_named(own_corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own_corpora / "formats" / "icelandic.psd"
    assert run(["convert", str(path), "--to", "conllu"]) == 2
    err = capsys.readouterr().err
    assert "are not the Penn treebank's" in err
    assert "--to heads-conllu is for other languages" in err
    assert run(["convert", str(path), "--to", "heads-conllu"]) == 0


def test_parses_as_conllu(tmp_path: Path, own_treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model"
    assert run(["train", "pcfg", str(own_treebank / "train.mrg"), "-o", str(model)]) == 0
    text = tmp_path / "text.txt"
    text.write_text("The keeper sleeps.\n\nIt is late.\n", "utf-8")
    capsys.readouterr()
    assert run(["parse", str(text), "-m", str(model), "--format", "conllu"]) == 0
    out = capsys.readouterr().out
    assert "# sent_id = 1\n# text = The keeper sleeps.\n" in out
    assert "# sent_id = 2\n# text = It is late.\n" in out
    rows = _rows(out)
    assert [row[7] for row in rows][:4] == ["det", "nsubj", "root", "punct"]
    assert rows[2][9] == "SpaceAfter=No"
