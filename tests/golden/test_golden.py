"""Predictions are what they were when the golden files were written; see make_golden.py."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import golden_arrays
import golden_cases
import pytest

from spectralnlp.cli.app import run as run_command

HERE = Path(__file__).parent

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("name", golden_cases.CASES)
def test_what_commands_print_is_that_of_before(
    name: str, own_corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: Sequence[str]) -> str:
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", output)
            status = run_command(command)
        output.flush()
        assert status == 0, command
        return output.buffer.getvalue().decode()  # type: ignore[attr-defined]

    golden = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    found = golden_cases.predictions(name, run, own_corpora, tmp_path)
    assert not (lines := golden_cases.difference(found, golden)), lines


@pytest.mark.parametrize("name", golden_arrays.CASES)
def test_arrays_are_those_of_before(name: str, own_corpora: Path, tmp_path: Path) -> None:
    golden = json.loads((HERE / "arrays.json").read_text(encoding="utf-8"))[name]
    found = golden_arrays.CASES[name].predict(own_corpora, tmp_path)
    assert golden_arrays.differences(found, golden) == []


def test_differences_of_text_are_seen() -> None:
    golden = '(S (A a))\t-32.8750\n{"f1": 90.0, "n": 12}\n'
    assert not golden_cases.difference(golden.replace("-32.8750", "-32.8751"), golden)
    assert golden_cases.difference(golden.replace("-32.8750", "-32.9750"), golden)
    assert golden_cases.difference(golden.replace("(A a)", "(B a)"), golden)
    assert golden_cases.difference(golden.replace("90.0", "91.0"), golden)
    assert golden_cases.difference(golden.replace('"n": 12', '"n": 13'), golden)
    assert golden_cases.difference(golden.splitlines()[0], golden)


def test_differences_of_arrays_are_seen() -> None:
    golden = {"trees": ["(S (A a))", "(S (B b))"], "dev": [90.0, 12.0]}
    assert golden_arrays.differences({**golden, "dev": [90.001, 12.0]}, golden) == []
    assert golden_arrays.differences({**golden, "dev": [91.0, 12.0]}, golden)
    assert golden_arrays.differences({**golden, "dev": [90.0]}, golden)
    assert golden_arrays.differences({**golden, "trees": ["(S (A a))", "(S (C b))"]}, golden)
    assert golden_arrays.differences({"dev": [90.0, 12.0]}, golden)
