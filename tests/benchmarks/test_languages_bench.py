"""The table of treebanks: a row for each, beside the Berkeley parser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import languages, report
from spectralnlp.trees import read_trees


def test_a_row_has_the_margin_over_the_berkeley_parser(
    own_treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("train", "dev"):
        folder = tmp_path / "corpora" / "treebanks" / "icon" / part
        folder.mkdir(parents=True)
        trees = [str(tree) for tree in read_trees(own_treebank / f"{part}.mrg")]
        (folder / "trees.mrg").write_text("\n".join(trees[:100]), encoding="utf-8")
    golden = tmp_path / "golden" / "berkeley.md"
    golden.parent.mkdir()
    golden.write_text("| treebank | trees | F1 |\n|---|---:|---:|\n| icon (5 cycles) | 8,000 | 50.00 | – |\n")
    monkeypatch.setattr(report, "apart", lambda function, *arguments: function(*arguments))
    arguments = ["--corpora", str(tmp_path / "corpora"), "--treebank", "icon", "--setting", "pcfg"]
    monkeypatch.setattr(sys, "argv", ["languages", *arguments])
    languages.main()
    header, _, row = (line.split(" | ") for line in capsys.readouterr().out.splitlines()[-3:])
    values = dict(zip(header, row, strict=True))
    assert values["| treebank, setting"] == "| icon, `pcfg`"
    assert float(values["− Berkeley"]) == pytest.approx(float(values["F1"]) - 50, abs=0.011)
    golden.unlink()
    assert languages.berkeley_of(tmp_path / "corpora") == {}
