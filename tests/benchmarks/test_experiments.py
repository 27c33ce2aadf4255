"""The experiments' commands on a tiny treebank: that they run, and that what they compute is right."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import ladder, learning_curve, peers, reliability, report
from benchmarks.reliability import Bin
from spectralnlp.trees import read_trees

COMMANDS = ("ladder", "states", "learning_curve", "reliability", "genres")


@pytest.fixture(scope="module")
def corpora(own_treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our own trees where the commands look for GUM's."""
    root = tmp_path_factory.mktemp("corpora")
    for part, names in (("train", ["GUM_news_a.ptb"]), ("dev", ["GUM_news_b.ptb", "GUM_fiction_c.ptb"])):
        folder = root / "treebanks" / "gum" / part
        folder.mkdir(parents=True)
        trees = [str(tree) for tree in read_trees(own_treebank / f"{part}.mrg")]
        for number, name in enumerate(names):
            (folder / name).write_text("\n".join(trees[number::12]), encoding="utf-8")
    return root


def run(
    name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Run a command and return its output; settings are measured in this process, which starts faster."""
    module = importlib.import_module(f"benchmarks.{name}")
    monkeypatch.setattr(report, "apart", lambda function, *arguments: function(*arguments))
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    module.main()
    return capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(name, ["--help"], monkeypatch, capsys)
    assert stopped.value.code == 0
    assert "--corpora" in capsys.readouterr().out


@pytest.mark.slow
def test_commands_print_tables(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--corpora", str(corpora), "--treebank", "gum"]
    monkeypatch.setattr(ladder, "LADDER", (ladder.Step("all", "pcfg"), ladder.Step("none", "nothing-at-all")))
    monkeypatch.setattr(ladder, "FEATURES", (ladder.Step("plain", "pcfg:preset=plain"),))
    monkeypatch.setattr(ladder, "TUTORIAL_RUNGS", (ladder.Step("rung", "lpcfg:preset=tutorial", 88.82),))
    printed = run("ladder", [*where, "--seeds", "2"], monkeypatch, capsys)
    assert "| all | `pcfg` |" in printed
    assert " ± 0.00 |" in printed
    assert "Left out: none, `nothing-at-all`:" in printed
    assert "| rung | 88.82 | " in printed

    few = ["--states", "2", "--em-states", "2", "--em-iterations", "2", "--em-every", "1"]
    printed = run("states", [*where, *few], monkeypatch, capsys)
    assert printed.count("\n| 2 | ") == 2

    drawing, kept = tmp_path / "curve.svg", ["--results", str(tmp_path / "kept")]
    wanted = [*where, "--setting", "pcfg", "--seeds", "2", *kept]
    run("learning_curve", [*wanted, "--sizes", "5"], monkeypatch, capsys)
    printed = run(
        "learning_curve", [*wanted, "--sizes", "5,9999", "--plot", str(drawing)], monkeypatch, capsys
    )
    assert "| 5 | " in printed
    assert len((tmp_path / "kept").read_text().splitlines()) == 4  # nothing was run again
    assert ElementTree.parse(drawing).getroot().tag.endswith("svg")

    drawing = tmp_path / "diagram.svg"
    printed = run("reliability", [*where, "--setting", "pcfg", "--svg", str(drawing)], monkeypatch, capsys)
    assert "Expected calibration error: 0." in printed
    assert ElementTree.parse(drawing).getroot().tag.endswith("svg")

    printed = run("genres", [*where, "--model", "en"], monkeypatch, capsys)
    assert "| fiction * |" in printed
    assert "| news |" in printed


def test_bins_of_posteriors() -> None:
    bins = reliability.bins_of([(0.12, False), (0.18, True), (1.0, True), (0.95, True)])
    assert [(b.low, b.count, b.right) for b in bins] == [(0.1, 2, 0.5), (0.9, 2, 1.0)]
    assert [b.posterior for b in bins] == pytest.approx([0.15, 0.975])
    assert reliability.calibration_error(bins) == pytest.approx((0.35 + 0.025) / 2)
    assert reliability.calibration_error([Bin(0.4, 3, 0.45, 0.45)]) == 0.0


def test_chance_error_is_that_of_right_posteriors() -> None:
    posteriors = [0.25, 0.85]
    bins = [Bin(0.2, 60, posteriors[0], 0.0), Bin(0.8, 140, posteriors[1], 0.0)]
    drawn = np.random.default_rng(0).binomial([60, 140], posteriors, (20_000, 2)) / [60, 140]
    simulated = (np.abs(drawn - posteriors).mean(0) * [0.3, 0.7]).sum()
    assert reliability.chance_error(bins) == pytest.approx(simulated, rel=0.02)


def test_samples_are_nested(own_treebank: Path, tmp_path: Path) -> None:
    trees = list(peers.treebank(own_treebank / "train.mrg"))

    def sample(size: int, seed: int) -> Counter[str]:
        learning_curve.write_sample(trees, size, seed, tmp_path)
        return Counter(str(tree) for tree in read_trees(tmp_path / "train.mrg"))

    assert sample(10, 0) < sample(20, 0)
    assert sample(10, 0) != sample(10, 1)
    assert sample(999, 0).total() == len(trees)
