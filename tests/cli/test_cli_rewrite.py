"""The command that rewrites trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_fakes import Run

TREES = """\
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN gull))) (. .)))
(S (NP-SBJ (NNS gulls)) (VP (VBP fly) (NP (-NONE- *T*))))
"""


@pytest.fixture
def trees(work_folder: Path) -> str:
    Path("trees.mrg").write_text(TREES)
    return "trees.mrg"


def test_trees_and_counts(run: Run, trees: str) -> None:
    status, out, err = run("rewrite", "--do", "prune t", "--", "-NONE-=t", trees)
    assert status == 0
    assert out.splitlines() == [TREES.splitlines()[0], "(S (NP-SBJ (NNS gulls)) (VP (VBP fly)))"]
    assert err == "spectralnlp: rewrites: 1; changed trees: 1 of 2\n"


def test_several_operations_in_place(run: Run, trees: str) -> None:
    done = ["--do", "relabel np NP", "--do", "insert (ADV so) >1 s"]
    status, out, err = run("rewrite", "S=s < NP-SBJ=np", trees, *done, "-o", trees)
    assert (status, out) == (0, "")
    assert "rewrites: 2; changed trees: 2 of 2" in err
    assert Path(trees).read_text().splitlines()[1] == (
        "(S (ADV so) (NP (NNS gulls)) (VP (VBP fly) (NP (-NONE- *T*))))"
    )


def test_a_dry_run_shows_what_would_change(run: Run, trees: str) -> None:
    Path("macros").write_text("TRACE\t-NONE-\n")
    out = run("rewrite", "TRACE=t", trees, "--do", "prune t", "--dry-run", "--macros", "macros").out
    assert out.splitlines() == [
        "trees.mrg:2:",
        "- (S (NP-SBJ (NNS gulls)) (VP (VBP fly) (NP (-NONE- *T*))))",
        "+ (S (NP-SBJ (NNS gulls)) (VP (VBP fly)))",
    ]


@pytest.mark.parametrize(
    ("pattern", "operation", "message"),
    [
        ("NP=np", "relabel vp X", "no node is called vp"),
        ("NP=np < (", "relabel np X", "pattern, column 10"),
        ("-NONE-=t", "delete t", "trees.mrg (sentence 2): a node NP would have no children; use prune"),
        ("S=s", "insert (X x) >1 s", "trees.mrg (sentence 1): the rewriting does not end"),
        ("S=s < VP=vp", "move s >1 vp", "trees.mrg (sentence 1): s would be below itself"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_written(
    run: Run, trees: str, pattern: str, operation: str, message: str
) -> None:
    status, out, err = run("rewrite", "--do", operation, "-o", trees, "--", pattern, trees)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert Path(trees).read_text() == TREES
    assert run("rewrite", "--do", operation, "--", pattern, trees).out == ""
