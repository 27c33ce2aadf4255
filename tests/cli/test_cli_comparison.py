"""The commands that measure texts and compare trees."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from cli_fakes import Run

import spectralnlp
from spectralnlp.cli.score import predictions
from spectralnlp.scoring import score_trees

GOLD = """\
(S (NP (PRP he)) (VP (VBD ate) (ADVP (RB there))) (. .))
(S (NP (PRP she)) (VP (VBD left)))
"""
A = """\
(S (NP (PRP he)) (VP (VBD ate)) (ADVP (RB there)) (. .))
(())
"""
B = """\
(S (NP (PRP he)) (VP (VBD ate) (ADVP (RB there))) (. .))
(S (NP (NN she)) (NP (VBD left)))
"""


@pytest.fixture
def files(work_folder: Path) -> None:
    Path("gold").mkdir()
    for name, line in zip(("TB_news_1", "TB_talk_1"), GOLD.splitlines(), strict=True):
        Path("gold", f"{name}.mrg").write_text(line + "\n")
    Path("gold.mrg").write_text(GOLD)
    Path("a.mrg").write_text(A)
    Path("b.mrg").write_text(B)


@pytest.mark.usefixtures("files")
def test_compare_one_parser(run: Run) -> None:
    status, out, err = run("compare", "gold", "a.mrg")
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1] == ["a", "75.00", "75.00", "75.00", "0.00", "2", "1", "2", "1"]
    assert ["modifier", "attachment", "1", "2", "100.0%"] in lines
    assert [line[0] for line in lines[-2:]] == ["news", "talk"]


@pytest.mark.usefixtures("files")
def test_compare_two_parsers(run: Run) -> None:
    status, out, _ = run("compare", "gold.mrg", "a.mrg", "b.mrg", "--format", "json")
    values = json.loads(out)
    assert status == 0
    assert values["parsers"]["b"]["errors"]["different label"] == {"errors": 1, "brackets": 2, "share": 100.0}
    assert values["significance"]["f1_against"] == pytest.approx(600 / 7)
    assert values["parsers"]["a"]["groups"] == {}


@pytest.mark.usefixtures("files")
def test_compare_writes_a_page(run: Run) -> None:
    status, _, _ = run("compare", "gold.mrg", "a.mrg", "b.mrg", "--html", "page.html", "--worst", 1)
    page = Path("page.html").read_text()
    assert (status, page.count("<section")) == (0, 1)
    assert "<title>a and b against gold.mrg</title>" in page


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gold.mrg", "a.mrg", "--format", "xml"], "no output format 'xml'"),
        (["gold.mrg", "a.mrg", "--group-by", "year"], "no grouping 'year'"),
        (["gold.mrg", "gold/TB_news_1.mrg"], "1 trees, but there are 2 gold trees"),
        (["gold.mrg", "a.mrg", "--html", "gold"], "this is a folder"),
        (["gold.mrg", "none.mrg"], "none.mrg"),
    ],
)
def test_compare_refuses(run: Run, arguments: list[str], message: str) -> None:
    status, out, err = run("compare", *arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err


@pytest.mark.usefixtures("files")
def test_groups(run: Run) -> None:
    for how, names in {"file": ["TB_news_1", "TB_talk_1"], "folder": ["gold"], "none": []}.items():
        out = run("compare", "gold", "a.mrg", "--group-by", how, "--format", "json").out
        assert [*json.loads(out)["parsers"]["a"]["groups"]] == names


@pytest.mark.usefixtures("files")
def test_compare_cleans_as_evaluate_does(run: Run) -> None:
    Path("repeated.mrg").write_text(GOLD.replace("(NP (PRP he))", "(NP (NP (PRP he)) (NP (-NONE- *)))"))
    compared = json.loads(run("compare", "repeated.mrg", "b.mrg", "--format", "json").out)
    gold = spectralnlp.read_treebank("repeated.mrg")  # as `evaluate` reads
    assert compared["parsers"]["b"]["f1"] == score_trees(gold, predictions("b.mrg")).overall.f1
    assert run("compare", "repeated.mrg", "b.mrg").out.splitlines()[1].split()[1] == "85.71"


@pytest.mark.usefixtures("files")
def test_rows_for_programs(run: Run) -> None:
    for form, between in (("tsv", "\t"), ("csv", ",")):
        lines = run("compare", "gold.mrg", "a.mrg", "b.mrg", "--format", form).out.splitlines()
        assert lines[0].split(between) == ["parser", "table", "row", "column", "value"]
        scores = json.loads(run("compare", "gold.mrg", "a.mrg", "b.mrg", "--format", "json").out)["parsers"]
        assert between.join(["b", "score", "all", "f1", str(scores["b"]["f1"])]) in lines


@pytest.mark.usefixtures("files")
def test_diff(run: Run) -> None:
    status, out, err = run("diff", "gold.mrg", "b.mrg", "--context", 0)
    assert (status, err) == (0, "")
    assert out == "2: she left\n-   VP left\n+   NP left\n- PRP she\n+ NN she\n\n"
    (line,) = run("diff", "gold.mrg", "b.mrg", "--format", "json").out.splitlines()
    assert json.loads(line)["tree"] == 2
    assert run("diff", "gold.mrg", "gold").out == ""


@pytest.mark.usefixtures("files")
def test_diff_refuses(run: Run) -> None:
    Path("short.mrg").write_text(GOLD.splitlines()[0])
    Path("other.mrg").write_text(GOLD.replace("left", "went"))
    for file, message in {"short.mrg": "the other file has more trees", "other.mrg": "same words"}.items():
        status, _, err = run("diff", "gold.mrg", file)
        assert status == 2
        assert message in err
        assert "sentence 2" in err
    assert run("diff", "gold.mrg", "gold.mrg", "--format", "x").status == 2


@pytest.mark.usefixtures("files")
def test_measure(run: Run) -> None:
    status, out, err = run("measure", "gold")
    assert (status, err) == (0, "")
    first, second = csv.DictReader(io.StringIO(out))
    assert (first["file"], first["trees"], first["W"], first["MLS"]) == (
        "gold/TB_news_1.mrg",
        "1",
        "3",
        "3.0",
    )
    assert (second["W"], second["C/S"], second["NP_length"]) == ("2", "1.0", "1.0")


@pytest.mark.usefixtures("files")
def test_measure_formats(run: Run) -> None:
    header, *rows = run("measure", "gold.mrg", "--by-sentence", "--format", "tsv").out.splitlines()
    assert header.split("\t")[:3] == ["file", "tree", "W"]
    assert [row.split("\t")[:3] for row in rows] == [["gold.mrg", "1", "3"], ["gold.mrg", "2", "2"]]
    values = json.loads(run("measure", "-", "--format", "json", stdin=GOLD).out)
    assert (values["file"], values["W"]) == ("<stdin>", 5)
    assert values["lengths"][0] == {"label": "NP", "count": 2, "mean": 1.0, "median": 1.0, "longest": 1}
    assert run("measure", "gold.mrg", "--format", "xml").status == 2
    assert run("measure", "gold.mrg", "--tokenized").status == 2


def test_text_is_parsed_on_the_way(run: Run, work_folder: Path) -> None:
    Path("text.txt").write_text("a b c\n\nd e\n")
    out = run("measure", "text.txt", "--model", "fake", "--tokenized", "--by-sentence").out
    assert [row["tree"] for row in csv.DictReader(io.StringIO(out))] == ["1", "3"]


PORTUGUESE = """\
(top (fcl (np (art O) (n farol)) (v-fin arde) (pp (prp de) (np (n noite)))))
(top (fcl (np (pron Ela)) (v-fin chega)))
"""
ATTACHED = """\
(top (fcl (np (art O) (n farol)) (vp (v-fin arde) (pp (prp de) (np (n noite))))))
(top (fcl (np (pron Ela)) (v-fin chega)))
"""


def test_measure_other_labels(run: Run, work_folder: Path) -> None:
    Path("pt.mrg").write_text(PORTUGUESE)
    status, out, err = run("measure", "pt.mrg")
    (row,) = csv.DictReader(io.StringIO(out))
    assert status == 0
    assert (row["W"], row["C"], row["C/T"], row["np_length"]) == ("7", "", "", "1.3333")
    assert "NP_length" not in row
    assert "--structures FILE" in err
    Path("pt.tsv").write_text("# clauses\nC\tfcl\nT\tfcl > top\nC\ticl\n")
    status, out, err = run("measure", "pt.mrg", "--structures", "pt.tsv", "--format", "json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["C"], found["C/T"], found["DC"], found["fcl_length"]) == (2, 1.0, None, 3.5)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "table of structures is empty"),
        ("C fcl\n", "bad.tsv:1: not a row"),
        ("W\tfcl\n", "bad.tsv:1: not a row"),
        ("C\tfcl\nT\tfcl < (\n", "bad.tsv:2: pattern, column 8"),
    ],
)
def test_tables_of_structures_that_are_refused(run: Run, work_folder: Path, table: str, message: str) -> None:
    Path("pt.mrg").write_text(PORTUGUESE)
    Path("bad.tsv").write_text(table)
    status, out, err = run("measure", "pt.mrg", "--structures", "bad.tsv", "-o", "out.csv")
    assert (status, out) == (2, "")
    assert message in err
    assert not Path("out.csv").exists()


def test_compare_other_labels(run: Run, work_folder: Path) -> None:
    Path("gold.mrg").write_text(PORTUGUESE)
    Path("attached.mrg").write_text(ATTACHED)
    lines = [line.split() for line in run("compare", "gold.mrg", "attached.mrg").out.splitlines()]
    assert ["vp", "attachment", "1", "1", "100.0%"] in lines
    assert not any(line[:1] == ["PP"] for line in lines)  # rows of nothing
    table = "label\tnp\tNP\nlabel\tpp\tPP\nlabel\tfcl\tS\nlabel\tvp\tVP\n"
    Path("pt.map").write_text(table)
    lines = [
        line.split()
        for line in run("compare", "gold.mrg", "attached.mrg", "--map", "pt.map").out.splitlines()
    ]
    assert ["VP", "attachment", "1", "1", "100.0%"] in lines
    assert run("compare", "gold.mrg", "attached.mrg", "--map", "gold.mrg").status == 2


def test_diff_takes_models(own_treebank: Path, work_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import spectralnlp
    from spectralnlp.cli import app

    spectralnlp.train("pcfg", own_treebank / "train.mrg").save("model")
    Path("gold.mrg").write_text("(S (NP (DT The) (NN keeper)) (NP (VBZ sleeps)) (. .))\n")
    assert app.run(["diff", "gold.mrg", "model"]) == 0
    assert capsys.readouterr().out == (
        "1: The keeper sleeps\n    NP The keeper\n-   NP sleeps\n+   VP sleeps\n\n"
    )
    assert app.run(["diff", "model", "gold.mrg"]) == 0
    assert "+   NP sleeps\n" in capsys.readouterr().out
    assert app.run(["diff", "model", "model"]) == 2
    assert "two models, and nothing to parse" in capsys.readouterr().err
