"""Moments that version 0.1.0 kept, before its modules were moved (``kept-0.1.0``): they change as ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from change_runs import Run

import spectralnlp
from spectralnlp.storage import META, MOMENTS

OLD = Path(__file__).parent / "kept-0.1.0"


@pytest.mark.parametrize("estimator", ["pcfg", "lpcfg", "rhmm", "eigenwords", "topics", "hmm"])
def test_older_moments_take_data_in_and_give_it_back(estimator: str, run: Run, tmp_path: Path) -> None:
    more = OLD / ("second.mrg" if estimator in ("pcfg", "lpcfg", "rhmm") else "second.txt")
    assert run("update", OLD / estimator, more, "-o", tmp_path / "grown").status == 0
    assert (tmp_path / "grown" / MOMENTS).read_bytes() != (OLD / estimator / MOMENTS).read_bytes()
    assert run("forget", tmp_path / "grown", more, "-o", tmp_path / "back").status == 0
    assert (tmp_path / "back" / MOMENTS).read_bytes() == (OLD / estimator / MOMENTS).read_bytes()
    spectralnlp.load(tmp_path / "back")


def test_moments_of_another_format_are_refused_with_the_version_that_reads_them(
    run: Run, tmp_path: Path
) -> None:
    for file in (OLD / "pcfg").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    header = tmp_path / "moments.json"
    header.write_text(header.read_text().replace('"format_version": 1', '"format_version": 0'))
    refused = run("update", tmp_path, OLD / "second.mrg")
    assert refused.status == 2
    assert "moments of format 0, of spectralnlp 0.1.0, and this is spectralnlp" in refused.err
    assert len(refused.err.splitlines()) == 1
    assert (tmp_path / META).exists()
