from __future__ import annotations

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.scoring import EvalbScore, SentenceCounts, compare, significance


def system(recall: float, n: int = 200, seed: int = 0) -> list[SentenceCounts]:
    """A parser that finds each of 20 brackets a sentence with a given chance."""
    matched = np.random.default_rng(seed).binomial(20, recall, size=n)
    return [SentenceCounts(length=21, matched=int(m), gold=20, test=20, words=20) for m in matched]


def test_identical_systems_do_not_differ() -> None:
    a = system(0.8)
    comparison = compare(a, a, samples=200)
    assert (comparison.delta, comparison.p_value, comparison.interval) == (0, 1, (0, 0))


def test_a_clear_difference_is_significant() -> None:
    a, b = system(0.9), system(0.7, seed=1)
    comparison = compare(a, b, samples=999)
    assert comparison.p_value == pytest.approx(1 / 1000)
    assert comparison.score_a == pytest.approx(EvalbScore.total(a).f1)
    assert comparison.score_b == pytest.approx(EvalbScore.total(b).f1)
    low, high = comparison.interval
    assert 0 < low < comparison.delta < high


def test_swapping_the_systems_changes_only_the_sign() -> None:
    a, b = system(0.80), system(0.81, seed=1)
    there, back = compare(a, b, samples=500), compare(b, a, samples=500)
    assert there.delta == -back.delta
    assert there.p_value == back.p_value
    assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]))


def test_p_values_of_equal_systems_are_uniform() -> None:
    p_values = [
        compare(system(0.8, 50, seed), system(0.8, 50, seed + 1000), samples=199).p_value
        for seed in range(200)
    ]
    below = np.mean([[p <= level for p in p_values] for level in (0.1, 0.5, 0.9)], axis=1)
    assert np.abs(below - (0.1, 0.5, 0.9)).max() < 0.12


def test_all_swaps_of_a_small_case_by_hand() -> None:
    # Two sentences, A right and B wrong on both: of the four swaps, two are as extreme as what was seen.
    a = [SentenceCounts(length=1, matched=1, gold=1, test=1)] * 2
    b = [SentenceCounts(length=1, matched=0, gold=1, test=1)] * 2
    assert compare(a, b, samples=20_000).p_value == pytest.approx(0.5, abs=0.02)


def test_the_seed_decides() -> None:
    a, b = system(0.80), system(0.81, seed=1)
    assert compare(a, b, samples=300, random_state=7) == compare(a, b, samples=300, random_state=7)
    assert compare(a, b, samples=300, random_state=7) != compare(a, b, samples=300, random_state=8)


def test_memory_does_not_grow_with_samples() -> None:
    assert sum(significance._blocks(300_000, 1000)) == 300_000
    assert max(significance._blocks(300_000, 1000)) * 1000 == significance._CELLS
    assert significance._blocks(2, 2 * significance._CELLS) == [1, 1]


def test_it_says_what_was_done() -> None:
    comparison = compare(system(0.9), system(0.7, seed=1), samples=50, random_state=3)
    assert comparison.signature.startswith("PAIRED|p:randomisation|interval:bootstrap|n:50|seed:3|v:")
    assert str(comparison).endswith(comparison.signature)
    flat = comparison.to_flat_dict()
    assert flat["f1_delta"] == comparison.delta
    assert flat["comparison_signature"] == comparison.signature


def test_nonsense_is_refused() -> None:
    a = system(0.8, 3)
    with pytest.raises(InputError, match="found 3 and 2"):
        compare(a, a[:2])
    with pytest.raises(InputError, match="found 0 and 0"):
        compare([], [])
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        compare(a, a, samples=0)
