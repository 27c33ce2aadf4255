"""``spectralnlp forecast``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_fakes import Run


@pytest.fixture
def treebank(own_corpora: Path) -> Path:
    return own_corpora / "treebank" / "train.mrg"


def test_a_table_and_what_more_trees_bring(run: Run, treebank: Path) -> None:
    status, out, err = run("forecast", treebank, "--estimator", "pcfg", "--trees", 342, "--rounds", 1)
    assert status == 0
    assert err.count("round 1: F1") == 5
    lines = out.splitlines()
    assert lines[0].split() == ["trees", "runs", "observed", "curve", "95", "%"]
    assert [line.split()[0] for line in lines[1:8]] == ["34", "48", "68", "96", "136", "171", "342"]
    assert lines[-1].startswith("171 more sentences: ")


def test_as_json_into_a_file(run: Run, treebank: Path, own_corpora: Path, tmp_path: Path) -> None:
    dev = own_corpora / "treebank" / "dev.mrg"
    options = ("--estimator", "pcfg", "--dev", dev, "--minutes", 0, "--format", "json")
    options = (*options, "-o", tmp_path / "found.json")
    status, out, _ = run("forecast", treebank, *options)
    assert (status, out) == (0, "")
    found = json.loads((tmp_path / "found.json").read_text())
    assert [run["held_out"] for run in found["runs"]] == [0, 0, 0]
    assert [point["n_trees"] for point in found["points"]][-3:] == [171, 342, 1171]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--estimator", "hmm"), "hmm makes no parsers"),
        (("--estimator", "pcfg", "--trees", 100), "100 trees are no more than there are, 171"),
        (("--set", "preset=fst"), "no preset 'fst'"),
    ],
)
def test_errors_are_one_line(options: tuple[object, ...], message: str, run: Run, treebank: Path) -> None:
    status, out, err = run("forecast", treebank, *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
