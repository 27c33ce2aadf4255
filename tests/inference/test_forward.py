from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from spectralnlp.inference.chains.forward_backward import HiddenFilter, expected_counts
from spectralnlp.parameters import HiddenMarkov


def random_model(k: int = 3, V: int = 4, seed: int = 0) -> HiddenMarkov:
    rng = np.random.default_rng(seed)
    return HiddenMarkov(
        symbols=tuple("abcd"),
        initial=rng.dirichlet(np.ones(k)),
        transition=rng.dirichlet(np.ones(k), k).T.copy(),
        emission=rng.dirichlet(np.ones(V), k).T.copy(),
    )


def test_expected_counts_equal_the_sum_over_all_paths() -> None:
    model = random_model()
    sequences = [[0, 2, 1], [3], [1, 1, 0, 2]]
    start, moves, emitted = np.zeros(3), np.zeros((3, 3)), np.zeros((4, 3))
    symbols = np.array([x for sequence in sequences for x in sequence], np.int32)
    offsets = np.cumsum([0, *map(len, sequences)])
    logarithm = expected_counts(model, symbols, offsets, start, moves, emitted)

    true_start, true_moves, true_emitted = np.zeros(3), np.zeros((3, 3)), np.zeros((4, 3))
    true_logarithm = 0.0
    for sequence in sequences:
        paths = list(product(range(3), repeat=len(sequence)))
        joint = np.array([_joint(model, path, sequence) for path in paths])
        true_logarithm += np.log(joint.sum())
        for path, weight in zip(paths, joint / joint.sum(), strict=True):
            true_start[path[0]] += weight
            for t, (state, x) in enumerate(zip(path, sequence, strict=True)):
                true_emitted[x, state] += weight
                if t:
                    true_moves[state, path[t - 1]] += weight
    assert logarithm == pytest.approx(true_logarithm)
    np.testing.assert_allclose(start, true_start)
    np.testing.assert_allclose(moves, true_moves)
    np.testing.assert_allclose(emitted, true_emitted)


def _joint(model: HiddenMarkov, path: tuple[int, ...], sequence: list[int]) -> float:
    p = model.initial[path[0]]
    for t, (state, x) in enumerate(zip(path, sequence, strict=True)):
        if t:
            p *= model.transition[state, path[t - 1]]
        p *= model.emission[x, state]
    return float(p)


def test_filtering_gives_the_probability_of_all_paths() -> None:
    model, sequence = random_model(seed=1), [2, 0, 3]
    filter_ = HiddenFilter(model)
    states, product_of_predictions = filter_.start(1), 1.0
    for x in sequence:
        p, states = filter_.predict(states)
        product_of_predictions *= p[0, x]
        states = filter_.update(states, np.array([x], np.int32))
    total = sum(_joint(model, path, sequence) for path in product(range(3), repeat=3))
    assert product_of_predictions == pytest.approx(total)
