"""Predictions are what they were when the golden files were written; see make_golden.py."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from golden_cases import CASES, difference, predictions

from spectralnlp.cli.app import run as run_command

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * case.slow) for name, case in CASES.items()],
)
def test_predictions_are_those_of_before(
    name: str, own_corpora: Path, models: Path, monkeypatch: pytest.MonkeyPatch
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
    found = predictions(name, run, own_corpora, models)
    assert not (lines := difference(found, golden)), lines


def test_differences_are_seen() -> None:
    golden = '(S (A a))\t-32.8750\n{"f1": 90.0, "n": 12}\n'
    assert not difference(golden.replace("-32.8750", "-32.8751"), golden)
    assert difference(golden.replace("-32.8750", "-32.9750"), golden)
    assert difference(golden.replace("(A a)", "(B a)"), golden)
    assert difference(golden.replace("90.0", "91.0"), golden)
    assert difference(golden.replace('"n": 12', '"n": 13'), golden)
    assert difference(golden.splitlines()[0], golden)
