"""Orders of training: what each policy is, and that they feed other people's learners."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from spectralnlp_sketch import ordered_batches, training_order
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.order import POLICIES

SCORES = np.array([0.1, 0.4, 0.0, 0.4, 0.2, 0.05])


def order(policy: str, seed: int = 0, epochs: int = 1, scores: np.ndarray = SCORES) -> list[list[int]]:
    return [each.tolist() for each in training_order(scores, policy, epochs=epochs, random_state=seed)]


def test_dec_falls_and_keeps_ties() -> None:
    assert order("dec", epochs=2) == [[1, 3, 4, 0, 5, 2]] * 2


@pytest.mark.parametrize("policy", POLICIES)
def test_each_epoch_is_an_order_and_seeds_repeat(policy: str) -> None:
    epochs = order(policy, epochs=3)
    assert len(epochs) == 3
    assert all(len(epoch) == 6 for epoch in epochs)
    assert epochs == order(policy, epochs=3)
    if policy != "dec-swr":
        assert all(sorted(epoch) == list(range(6)) for epoch in epochs)
    if policy != "dec":
        assert epochs != order(policy, seed=1, epochs=3)
        assert epochs[0] != epochs[1] or epochs[1] != epochs[2]


def test_sampling_is_in_proportion_to_the_scores() -> None:
    drawn = np.concatenate(order("dec-swr", epochs=3000))
    np.testing.assert_allclose(np.bincount(drawn, minlength=6) / len(drawn), SCORES / SCORES.sum(), atol=0.02)
    first = [epoch[0] for epoch in order("dec-swor", epochs=3000)]
    np.testing.assert_allclose(np.bincount(first, minlength=6) / 3000, SCORES / SCORES.sum(), atol=0.04)
    assert all(epoch[-1] == 2 for epoch in order("dec-swor", epochs=50))  # no leverage comes last


def test_scores_of_zero_are_all_alike() -> None:
    assert sorted(order("dec-swor", scores=np.zeros(4))[0]) == [0, 1, 2, 3]
    assert len(order("dec-swr", scores=np.zeros(4))[0]) == 4


def test_feeds_a_partial_fit_classifier() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = (X[:, 0] > 0).astype(int)
    model = SGDClassifier(random_state=0)
    for rows, labels in ordered_batches((X, y), (X**2).sum(axis=1), "dec-swor", size=32, epochs=5):
        model.partial_fit(rows, labels, classes=[0, 1])
    assert model.score(X, y) > 0.9


def test_batches_of_lists_are_lists_as_spacys_are() -> None:
    texts = ["a", "b", "c", "d", "e", "f"]
    assert list(ordered_batches(texts, SCORES, "dec", size=4)) == [["b", "d", "e", "a"], ["f", "c"]]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(SizeError, match="no policy is called 'asc'"):
        training_order(SCORES, "asc")
    with pytest.raises(MatrixError, match="score 1 is -1"):
        training_order([0.5, -1.0], "dec")
    with pytest.raises(MatrixError, match="score 0 is nan"):
        training_order([np.nan], "dec")
    with pytest.raises(MatrixError, match="6 scores for 2 examples"):
        ordered_batches(["a", "b"], SCORES)
    with pytest.raises(SizeError, match="size"):
        ordered_batches(list("abcdef"), SCORES, size=0)
