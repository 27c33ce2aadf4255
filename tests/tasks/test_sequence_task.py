from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.errors import InputError
from spectralnlp.estimators.hmm import HMM
from spectralnlp.tasks.sequences import SequenceTask

LINES = ["a b a b c", "b a b a", "c a b", "", "a b c a b c"] * 5


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_train_save_load_evaluate(text: Path, tmp_path: Path) -> None:
    task = SequenceTask()
    model = task.train(HMM(n_states=3), task.read([text]))
    model.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    sequences = [["a", "b", "c"], ["c", "zzz"], []]
    np.testing.assert_allclose(loaded.score(sequences), model.score(sequences), rtol=1e-5)
    assert loaded.info["training symbols"] == 90
    report = task.evaluate(loaded, task.read([text]))
    per_sequence = loaded.score(task.read([text]))
    assert report.perplexity == pytest.approx(np.exp(-per_sequence.sum() / 90))
    assert 50 < report.accuracy <= 100


def test_the_command_line(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "model")
    assert run(["train", "hmm", str(text), "-o", model, "--set", "n_states=3"]) == 0
    capsys.readouterr()
    assert run(["evaluate", model, str(text), "--format", "json"]) == 0
    flat = json.loads(capsys.readouterr().out)
    assert 1 < flat["perplexity"] < 3
    assert flat["symbols"] == 90
    assert flat["unknown"] == 0


def test_a_column_of_lines_with_tabs(tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text("label\ta b\nlabel\tc\n")
    assert list(SequenceTask().read([path], text_column=2)) == [["a", "b"], ["c"]]
    with pytest.raises(InputError, match=":1: 2 columns, so there is no column 3"):
        list(SequenceTask().read([path], text_column=3))
