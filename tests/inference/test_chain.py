"""Chains of tags held against all sequences, written down one by one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from spectralnlp.inference.chains.linear_chains import best_tags, tag_marginals

LENGTHS = (4, 0, 1, 3, 0)
STARTS = np.cumsum([0, *LENGTHS], dtype=np.int64)
every_chain = pytest.mark.parametrize(
    ("seed", "n_tags", "forbidden"), list(product(range(4), [1, 2, 4], [0.0, 0.4]))
)


def random_chain(seed: int, n_tags: int, forbidden: float) -> list[NDArray[np.float32]]:
    """Emissions of all sentences, transitions, start and end; a share of the latter three -inf."""
    rng = np.random.default_rng(seed)
    chain = []
    for shape in ((int(STARTS[-1]), n_tags), (n_tags, n_tags), (n_tags,), (n_tags,)):
        scores = rng.normal(0, 2, shape).astype(np.float32)
        if chain:
            scores[rng.random(shape) < forbidden] = -np.inf
        chain.append(scores)
    for scores in chain[1:]:
        scores.flat[0] = 0.5  # the first tag alone is always possible
    return chain


def all_scores(chain: list[NDArray[np.float32]], first: int, last: int) -> dict[tuple[int, ...], float]:
    """The score of each sequence of tags of one sentence, added up in float64."""
    emissions, transitions, start, end = (each.astype(float) for each in chain)
    scores = {}
    for tags in product(range(len(start)), repeat=last - first):
        score = start[tags[0]] + end[tags[-1]]
        score += sum(emissions[first + t, tag] for t, tag in enumerate(tags))
        scores[tags] = score + sum(transitions[a, b] for a, b in pairwise(tags))
    return scores


@every_chain
def test_the_best_tags_are_the_best_of_all(seed: int, n_tags: int, forbidden: float) -> None:
    chain = random_chain(seed, n_tags, forbidden)
    emissions, *rest = chain
    found = best_tags(emissions, STARTS, *rest)
    assert found.dtype == np.int32
    for first, last in pairwise(STARTS):
        if first < last:
            scores = all_scores(chain, first, last)
            ours = scores[tuple(found[first:last].tolist())]
            assert np.isfinite(ours)
            assert ours == pytest.approx(max(scores.values()), abs=1e-4)


@every_chain
def test_marginals_and_sums_are_those_of_all(seed: int, n_tags: int, forbidden: float) -> None:
    chain = random_chain(seed, n_tags, forbidden)
    emissions, *rest = chain
    marginals, log_sums = tag_marginals(emissions, STARTS, *rest)
    for s, (first, last) in enumerate(pairwise(STARTS)):
        if first == last:
            assert log_sums[s] == 0
            continue
        scores = all_scores(chain, first, last)
        total = np.logaddexp.reduce(list(scores.values()))
        assert log_sums[s] == pytest.approx(total, abs=1e-4)
        expected = np.zeros((last - first, n_tags))
        for tags, score in scores.items():
            expected[range(last - first), tags] += np.exp(score - total)
        np.testing.assert_allclose(marginals[first:last], expected, atol=1e-5)


def test_transitions_of_any_size_add_up() -> None:
    emissions, transitions, *ends = random_chain(3, 3, 0.2)
    chain = (1500 * emissions, 1500 * transitions, *(1500 * each for each in ends))  # e to that is no number
    marginals, log_sums = tag_marginals(chain[0], STARTS, *chain[1:])
    for s, (first, last) in enumerate(pairwise(STARTS)):
        if first == last:
            continue
        scores = all_scores(chain, first, last)
        total = np.logaddexp.reduce(list(scores.values()))
        assert log_sums[s] == pytest.approx(total, rel=1e-6)
        best = max(scores, key=scores.__getitem__)
        assert marginals[range(first, last), best] == pytest.approx(np.ones(last - first), abs=1e-3)


def test_forbidden_tags_have_no_probability_and_are_not_chosen() -> None:
    no, yes = -np.inf, 0.0
    emissions = np.array([[0, 50], [0, 50], [50, 0]], np.float32)
    transitions = np.array([[yes, no], [yes, yes]], np.float32)  # from 0 never to 1
    start, end = np.array([yes, no], np.float32), np.array([yes, yes], np.float32)
    starts = np.array([0, 3], np.int64)
    assert best_tags(emissions, starts, transitions, start, end).tolist() == [0, 0, 0]
    marginals, _ = tag_marginals(emissions, starts, transitions, start, end)
    np.testing.assert_allclose(marginals, [[1, 0], [1, 0], [1, 0]])


def test_no_sentences_and_empty_ones() -> None:
    _, *rest = random_chain(0, 3, 0.0)
    nothing = np.zeros((0, 3), np.float32)
    for starts in ([0], [0, 0, 0]):
        bounds = np.array(starts, np.int64)
        assert best_tags(nothing, bounds, *rest).shape == (0,)
        marginals, log_sums = tag_marginals(nothing, bounds, *rest)
        assert marginals.shape == (0, 3)
        assert log_sums.tolist() == [0.0] * (len(starts) - 1)


def test_a_sentence_of_5000_tokens_stays_finite() -> None:
    rng = np.random.default_rng(0)
    _, *rest = random_chain(0, 4, 0.3)
    emissions = rng.normal(0, 300, (5000, 4)).astype(np.float32)
    starts = np.array([0, 5000], np.int64)
    marginals, log_sums = tag_marginals(emissions, starts, *rest)
    np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-6)
    assert np.isfinite(log_sums).all()
    tags = best_tags(emissions, starts, *rest)
    transitions, start, end = rest
    assert np.isfinite([start[tags[0]], end[tags[-1]], *transitions[tags[:-1], tags[1:]]]).all()
