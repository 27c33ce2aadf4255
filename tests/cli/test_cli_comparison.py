"""The commands that measure texts and compare trees."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from cli_fakes import Run

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
def test_repeated_nodes_can_be_left_out(run: Run) -> None:
    Path("repeated.mrg").write_text(GOLD.replace("(NP (PRP he))", "(NP (NP (PRP he)) (NP (-NONE- *)))"))
    assert run("compare", "repeated.mrg", "b.mrg").out.splitlines()[1].split()[1:3] == ["75.00", "85.71"]
    assert run("compare", "repeated.mrg", "b.mrg", "--clean").out.splitlines()[1].split()[1] == "85.71"


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
