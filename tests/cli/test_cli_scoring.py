"""The commands that report: evaluate, score, info, inspect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_fakes import Run

TREES = "(TOP (S (NP (DT the) (NN cat)) (VP (VB sat)) (. .)))\n" * 30


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.mrg"
    path.write_text(TREES)
    return path


def test_evaluate(run: Run, gold: Path) -> None:
    status, out, err = run("evaluate", "fake", gold)
    assert (status, err) == (0, "")
    assert "EVALB|prm:COLLINS|tags:gold|len:all" in out
    flat = json.loads(run("evaluate", "fake", gold, "--format", "json").out)
    assert flat["f1"] == 100.0
    assert flat["f1_40"] == 100.0
    assert not any(isinstance(value, dict | list) for value in flat.values())


def test_evaluate_against_another_model(run: Run, gold: Path) -> None:
    flat = json.loads(run("evaluate", "fake", gold, "--against", "worse", "--format", "json").out)
    assert flat["f1_delta"] == pytest.approx(flat["f1"] - flat["f1_against"])
    assert flat["p_value"] < 0.01
    out = run("evaluate", "fake", gold, "--against", "worse").out
    assert "p = " in out
    assert out.count("EVALB|") == 2


def test_an_option_that_the_task_does_not_know_is_refused(run: Run, gold: Path) -> None:
    status, out, err = run("evaluate", "fake", gold, "--text-column", "2")
    assert (status, out) == (2, "")
    assert err == "spectralnlp: --text-column means nothing to faking; leave it out\n"


def test_score(run: Run, gold: Path, tmp_path: Path) -> None:
    predicted = tmp_path / "predicted.mrg"
    predicted.write_text(TREES.replace("\n", "\n(())\n", 1).removesuffix(TREES[: TREES.index("\n") + 1]))
    flat = json.loads(run("score", gold, predicted, "--format", "json").out)
    assert (flat["f1"], flat["sentences"], flat["skipped"]) == (100.0, 30, 1)
    assert "tags:predicted" in run("score", gold, predicted, "--predicted-tags").out
    lines = run("score", gold, predicted, "--per-sentence").out.splitlines()
    assert lines[0].split()[:3] == ["1", "4", "0"]
    assert lines[1].split()[:3] == ["2", "4", "2"]
    assert lines[30] == ""


def test_a_treebank_of_any_format_scores_as_itself(run: Run, own_corpora: Path, tmp_path: Path) -> None:
    for path in sorted((own_corpora / "formats").iterdir()):
        flat = json.loads(run("score", path, path, "--format", "json").out)
        assert (flat["f1"], flat["errors"]) == (100.0, 0), path
    (tmp_path / "a").mkdir()
    for name in ("1.mrg", "2.mrg"):
        (tmp_path / "a" / name).write_text(TREES)
    assert json.loads(run("score", tmp_path / "a", tmp_path / "a", "--format", "json").out)["sentences"] == 60


def test_score_with_a_parameter_file(run: Run, gold: Path, tmp_path: Path) -> None:
    prm = tmp_path / "mine.prm"
    prm.write_text("CUTOFF_LEN 10\n")
    assert "prm:mine#" in run("score", gold, gold, "--prm", prm).out
    assert run("score", gold, gold, "--prm", tmp_path / "no.prm").status == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("(S (NN a))\n", "30 gold trees but 1 predicted"),
        ("", "no trees"),
        ("(())\n(S (NN a)\n", "predicted.mrg:2 (sentence 2)"),
    ],
)
def test_score_refuses_bad_predictions(
    run: Run, gold: Path, tmp_path: Path, text: str, complaint: str
) -> None:
    predicted = tmp_path / "predicted.mrg"
    predicted.write_text(text)
    status, out, err = run("score", gold, predicted)
    assert (status, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_info(run: Run) -> None:
    out = run("info", "fake").out
    assert out.splitlines()[0].split() == ["name", "fake"]
    assert "  sentences  7" in out
    assert "copycat" in run("info").out


def test_inspect(run: Run) -> None:
    out = run("inspect", "fake", "NP").out
    assert out.splitlines()[0] == "NP  2 states"
    assert out.splitlines()[1] == "  singular values 0.5  0.1"
    assert "cat 0.5  dog 0.25" in out
    assert "NP -> DT NN" in out
