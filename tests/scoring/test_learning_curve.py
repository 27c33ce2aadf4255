"""Learning curves: planted ones are found again, and intervals hold what they should."""

from __future__ import annotations

import numpy as np
import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.scoring import CurveRun, SentenceCounts, fit_curve

SIZES = (500, 707, 1000, 1414, 2000)


def run(n_trees: int, f1: float, held_out: int = 0) -> CurveRun:
    """A run whose sentences are all alike, so that resampling them changes nothing."""
    counts = SentenceCounts(length=100, matched=round(100 * f1), gold=10_000, test=10_000)
    return CurveRun(n_trees, [counts] * 10, held_out)


def planted(n_trees: float, rate: float) -> float:
    """A curve with the usual rate or another."""
    return float(88.0 - 15.0 * (n_trees / 500.0) ** -rate)


@pytest.mark.parametrize("rate", [0.6, 0.7])
def test_a_planted_curve_is_extended(rate: float) -> None:
    *_, point = fit_curve([run(n, planted(n, rate)) for n in SIZES], [4000])
    assert point.f1 == pytest.approx(planted(4000, rate), abs=0.4)
    assert point.interval[0] < planted(4000, rate) < point.interval[1]
    assert point.observed is None


def test_steeper_data_say_that_less_is_to_come() -> None:
    gains = []
    for rate in (0.0001, 1.0):
        level = [75 + 10 * (1 - 2.0 ** (-rate * k)) / (1 - 2.0 ** (-rate * 4)) for k in range(5)]
        runs = [run(250 * 2**k, level[k]) for k in range(5) for _ in range(5)]
        gains.append(fit_curve(runs, [8000])[-1].gain)
    assert gains[0] > gains[1] + 0.8


def test_gains_count_from_the_trees_that_there_are() -> None:
    points = fit_curve([run(n, planted(n, 0.65)) for n in SIZES], [4000], n_now=2500)
    now = next(point for point in points if point.n_trees == 2500)
    assert now.gain == 0.0
    assert points[-1].gain == pytest.approx(points[-1].f1 - now.f1, abs=1e-9)
    assert [point.n_trees for point in points] == [*SIZES, 2500, 4000]


def test_easier_held_out_sentences_do_not_bend_the_curve() -> None:
    runs = [run(n, planted(n, 0.65) + 4.0 * fold, fold) for n in SIZES for fold in (0, 1)]
    without = [each for each in runs if each.held_out == 0 or each.n_trees < 2000]
    whole, part = (fit_curve(each, [4000])[-1].f1 for each in (runs, without))
    assert part == pytest.approx(whole, abs=0.3)  # and not lower by half of the 4 points


def test_uncertainty_grows_with_distance_and_falls_with_runs() -> None:
    rng = np.random.default_rng(0)

    def runs(n_each: int) -> list[CurveRun]:
        return [run(n, planted(n, 0.65) + rng.normal(0, 0.5)) for n in SIZES for _ in range(n_each)]

    def width(interval: tuple[float, float]) -> float:
        return interval[1] - interval[0]

    few, many = (fit_curve(runs(n), [3000, 16000]) for n in (1, 20))
    assert width(few[-1].gain_interval) > width(few[-2].gain_interval)
    assert width(many[2].interval) < width(few[2].interval)


def test_f1_stays_below_a_hundred() -> None:
    runs = [run(n, f1) for n, f1 in ((100, 80.0), (200, 90.0), (400, 99.0))]
    assert fit_curve(runs, [6400])[-1].interval[1] <= 100.0


def test_two_sizes_are_no_curve() -> None:
    with pytest.raises(ConfigError, match="three sizes, not 2"):
        fit_curve([run(500, 80.0), run(1000, 82.0)], [2000])
