"""The benchmarks of TMPCA and of orders of training on made-up data: what they train on, what they print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks import labelled, tmpca, training_order
from benchmarks.training_order import CNN, Labelled, Network, Task


def test_sentences_of_dev_are_no_training_data(tmp_path: Path) -> None:
    trees = ["(3 (2 good) (2 film))", "(1 (2 bad) (2 film))", "(2 (2 a) (2 Film))"]
    (tmp_path / "train.txt").write_text("\n".join(trees), encoding="utf-8")
    (tmp_path / "dev.txt").write_text(trees[1], encoding="utf-8")
    sentences, labels = training_order.read_sst("train", tmp_path)
    assert sentences == [["good", "film"], ["a", "film"]]
    assert labels.tolist() == [3, 2]
    assert training_order.read_sst("dev", tmp_path)[0] == [["bad", "film"]]


@pytest.mark.parametrize("model", [*training_order.MODELS, "CNN"])
def test_models_learn_in_any_order(model: str) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 700)
    if model == "CNN":  # the label is a word, anywhere between padding and others
        words = np.stack([np.full(700, -1), labels, *rng.integers(3, 5, (2, 700))], axis=1)
        words[:, 1:] = rng.permuted(words[:, 1:], axis=1)
        data = Labelled(words, labels)
        task = Task(partial(CNN, np.eye(6)), data, data)
    else:
        data = Labelled(np.eye(3)[labels] + 0.1 * rng.standard_normal((700, 3)), labels)
        task = training_order.tasks(data, data)[model]
    assert training_order.run(task, "dec-swor", 0, np.ones(700), epochs=30) > 95


def check_gradients(
    scores_of: Callable[[], np.ndarray], weights: Sequence[np.ndarray], gradients: Sequence[np.ndarray]
) -> None:
    """Compare the gradients of weights, for examples of labels 0, 1, 2, 1, with differences of the loss."""

    def loss() -> float:
        scores = scores_of()
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(4), [0, 1, 2, 1]]))

    for each, gradient in zip(weights, gradients, strict=True):
        for index in list(np.ndindex(*each.shape))[::7]:
            each[index] += 1e-5
            above = loss()
            each[index] -= 2e-5
            below = loss()
            each[index] += 1e-5
            assert gradient[index] == pytest.approx((above - below) / 2e-5, abs=1e-8)


def test_gradients_of_the_convolutional_network() -> None:
    model = CNN(np.random.default_rng(0).standard_normal((6, 2)), 3, 0)
    model.bias += 0.1  # padding alone gives 0, where the maximum has a kink
    rows = np.array([[-1, 0, 1, 5], [2, 3, 4, 1], [-1, -1, -1, 0], [1, 1, 2, 3]])
    gradients = model.gradients(rows, np.array([0, 1, 2, 1]))
    check_gradients(lambda: model.scores(rows), model.adam.weights, gradients)


def test_gradients_of_a_network() -> None:
    model = Network((5, 4), 3, 3, 0)
    model.weights = [10 * each.astype(np.float64) for each in model.weights]
    model.biases = [each.astype(np.float64) for each in model.biases]
    rows = np.random.default_rng(1).standard_normal((4, 3))
    gradients = model.gradients(rows, np.array([0, 1, 2, 1]))
    check_gradients(lambda: model.layers(rows)[-1], (*model.weights, *model.biases), gradients)


def test_scores_of_rows_longer_than_the_sketch(capsys: pytest.CaptureFixture[str]) -> None:
    """Algorithm 3: more columns than rows, of low rank but for noise, which would make all scores equal."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 5)) @ rng.standard_normal((5, 700))
    rows += 1e-3 * rng.standard_normal(rows.shape)
    left = np.linalg.svd(rows, full_matrices=False)[0][:, :5]
    scores = training_order.sketched_scores(rows)
    assert np.corrcoef(scores, (left**2).sum(axis=1))[0, 1] > 0.99
    assert "600 × 700, OSNAP of 512 rows, 5 singular values" in capsys.readouterr().out


def test_intervals_of_paired_differences() -> None:
    """The same as a paired t test: 1.96 deviations would be too few for three seeds."""
    low, high = training_order.interval([1.0, 2.0, 3.0])
    assert (low, high) == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)


def test_models_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fasttext")
    (tmp_path / "trec").mkdir()
    lines = [
        f"NUM:count\tapples oranges fruit {i % 7}\nHUM:ind\tpresidents kings people {i % 7}"
        for i in range(150)
    ]
    (tmp_path / "trec" / "train.tsv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(labelled, "TEXTCAT", tmp_path)
    monkeypatch.setattr(tmpca, "corpus", labelled.corpus.__wrapped__)
    assert len(tmpca.read("trec").dev) == 30
    row = tmpca.row_of_models("trec")
    assert row[1:6] == ("100.0 / 1.000", None, None, "100.0 / 1.000", "100.0 / 1.000")
    assert row[-1] == "600 + 22"  # stages of 10 × 20, as in the paper's table 6, and the layer
