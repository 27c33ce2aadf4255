from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from spectralnlp.inference.chains.refined_em import StateCounts, expected_state_counts

# Two sentences, tags 0 1 0 and 1; pairs (0, 1) and (1, 0); tag 0 has two states, tag 1 three.
TAG = np.array([0, 1, 0, 1], np.int32)
PAIR = np.array([0, 1, -1, -1], np.int32)
WORD = np.array([2, 0, 1, 3], np.int32)
WORD_TAG = np.array([1, 0, 0, 1])
N_STATES = np.array([2, 3])
WEIGHT = np.array([1.0, 1.0, 1.0, 2.0])


def random_parameters(seed: int = 0) -> StateCounts:
    rng = np.random.default_rng(seed)
    own = np.arange(3) < N_STATES[:, None]
    moves = rng.random((2, 3, 3)) * own[[0, 1], :, None] * own[[1, 0], None, :]
    return StateCounts(
        rng.random((2, 3)) * own, rng.random((2, 3)) * own, moves, rng.random((4, 3)) * own[WORD_TAG]
    )


def test_expected_counts_equal_the_sum_over_all_refinements() -> None:
    parameters = random_parameters()
    counts, logarithm = expected_state_counts(TAG, PAIR, WORD, WEIGHT, parameters)
    true = StateCounts(*(np.zeros_like(block) for block in parameters))
    true_logarithm = 0.0
    for sentence in ([0, 1, 2], [3]):
        paths = list(product(*(range(N_STATES[TAG[i]]) for i in sentence)))
        joint = np.array([_joint(parameters, sentence, path) for path in paths])
        true_logarithm += WEIGHT[sentence[0]] * np.log(joint.sum())
        for path, share in zip(paths, WEIGHT[sentence[0]] * joint / joint.sum(), strict=True):
            true.starts[TAG[sentence[0]], path[0]] += share
            true.ends[TAG[sentence[-1]], path[-1]] += share
            for at, (i, state) in enumerate(zip(sentence, path, strict=True)):
                true.words[WORD[i], state] += share
                if at:
                    true.moves[PAIR[i - 1], path[at - 1], state] += share
    assert logarithm == pytest.approx(true_logarithm)
    for got, expected in zip(counts, true, strict=True):
        np.testing.assert_allclose(got, expected)


def _joint(parameters: StateCounts, sentence: list[int], path: tuple[int, ...]) -> float:
    p = parameters.starts[TAG[sentence[0]], path[0]]
    for at, (i, state) in enumerate(zip(sentence, path, strict=True)):
        if at:
            p *= parameters.moves[PAIR[i - 1], path[at - 1], state]
        p *= parameters.words[WORD[i], state]
    return float(p * parameters.ends[TAG[sentence[-1]], path[-1]])
