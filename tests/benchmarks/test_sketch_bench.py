"""The benchmarks of TMPCA and of orders of training on made-up data: what they train on, what they print."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import tmpca, training_order
from benchmarks.training_order import Labelled


def test_sentences_of_dev_are_no_training_data(tmp_path: Path) -> None:
    trees = ["(3 (2 good) (2 film))", "(1 (2 bad) (2 film))", "(2 (2 a) (2 Film))"]
    (tmp_path / "train.txt").write_text("\n".join(trees), encoding="utf-8")
    (tmp_path / "dev.txt").write_text(trees[1], encoding="utf-8")
    sentences, labels = training_order.read_sst(tmp_path / "train.txt")
    assert sentences == [["good", "film"], ["a", "film"]]
    assert labels.tolist() == [3, 2]
    assert training_order.read_sst(tmp_path / "dev.txt")[0] == [["bad", "film"]]


@pytest.mark.parametrize("model", training_order.MODELS)
def test_models_learn_in_any_order(model: str) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 700)
    data = Labelled(np.eye(3)[labels] + 0.1 * rng.standard_normal((700, 3)), labels)
    assert training_order.run(model, "dec-swor", 0, data, data, epochs=20) > 95


def test_models_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fasttext")
    (tmp_path / "trec").mkdir()
    lines = [
        f"NUM:count\tapples oranges fruit {i % 7}\nHUM:ind\tpresidents kings people {i % 7}"
        for i in range(150)
    ]
    (tmp_path / "trec" / "train.tsv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(tmpca, "TEXTCAT", tmp_path)
    assert len(tmpca.read("trec").dev) == 30
    rows = tmpca.rows_of_models("trec")
    assert [row[1] for row in rows] == ["bag of words", "fastText", "TMPCA + dense"]
    assert all(float(str(row[2])) == 100 for row in rows)
    assert rows[-1][-1] == "600 + 22"  # stages of 10 × 20, as in the paper's table 6, and the layer
