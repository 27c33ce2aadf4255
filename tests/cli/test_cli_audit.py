"""The command that finds likely errors of annotation."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from cli_fakes import Run

from spectralnlp import read_treebank

TREEBANK = Path(__file__).parents[2] / "corpora" / "treebank"


@pytest.fixture
def trees(work_folder: Path) -> Path:
    """Forty trees, a line each."""
    lines = [str(tree) for tree in read_treebank(TREEBANK / "train.mrg")][:40]
    path = Path("own.mrg")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_audit_writes_rows(run: Run, trees: Path) -> None:
    status, out, err = run("audit", str(trees), "--rows", "5")
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert [row["row"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert {row["file"] for row in rows} == {"own.mrg"}
    for row in rows:
        words = row["sentence"].split()
        assert words.index("[") + 1 == int(row["first"])
        assert words.index("]") - 1 == int(row["last"])


def test_audit_writes_what_the_ending_says(run: Run, trees: Path) -> None:
    for ending in ("json", "html", "mrg"):
        status, out, err = run("audit", str(trees), "--rows", "3", "-o", f"out.{ending}")
        assert (status, out, err) == (0, "", "")
    found = json.loads(Path("out.json").read_text())
    assert (found["trees"], len(found["doubts"])) == (40, 3)
    assert {"brackets", "mended", "others", "kind"} <= {*found["doubts"][0]}
    assert Path("out.html").read_text().count("<section") == 3
    doubtful = Path("out.mrg").read_text().splitlines()
    assert 1 <= len(doubtful) <= 3
    assert doubtful[0] == found["doubts"][0]["brackets"]


def test_audited_trees_keep_functions_and_traces(run: Run, trees: Path) -> None:
    added = "(S-1 (NP-SBJ (-NONE- *)) ("
    annotated = [line.replace("(S (", added, 1) for line in trees.read_text().splitlines()]
    trees.write_text("\n".join(annotated) + "\n")
    for ending in ("json", "mrg"):
        assert run("audit", str(trees), "--rows", "9", "-o", f"out.{ending}").status == 0
    doubts = json.loads(Path("out.json").read_text())["doubts"]
    shown = {each["brackets"] for each in doubts}
    assert {*Path("out.mrg").read_text().splitlines()} == shown <= {*annotated}
    mended = [each["mended"] for each in doubts if each["brackets"].startswith(added)]
    assert mended
    assert all("(NP-SBJ (-NONE- *))" in each for each in mended)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["own.mrg", "-o", "out.xml"], "no format for the ending '.xml'"),
        (["few.mrg"], "1 trees are too few"),
        (["broken.mrg", "-o", "out.tsv"], "broken.mrg:1"),
    ],
)
def test_bad_input_is_one_line(run: Run, trees: Path, arguments: list[str], message: str) -> None:
    Path("few.mrg").write_text("(S (NP (NNS Gulls)) (VP (VBP fly)))\n")
    Path("broken.mrg").write_text("(S (NP (NNS Gulls)\n")
    status, out, err = run("audit", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not Path("out.csv").exists()
    assert not Path("out.tsv").exists()


def test_bad_trees_are_left_out_if_asked(run: Run, trees: Path) -> None:
    with trees.open("a") as file:
        file.write("(S (NP (NNS Gulls) (VP (VBP fly)))\n")
    status, _, err = run("audit", str(trees), "--rows", "1", "--skip-bad")
    assert status == 0
    assert "skipped own.mrg:41" in err
