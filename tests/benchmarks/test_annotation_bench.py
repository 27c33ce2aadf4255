"""The simulation of annotating: where a noisy curve reaches its target."""

from __future__ import annotations

import pytest

pytest.importorskip("spectralnlp_annotate")

from benchmarks.annotation import reached, rising


def test_a_curve_that_falls_is_pooled() -> None:
    assert rising([1.0, 3.0, 2.0, 4.0]) == [1.0, 2.5, 2.5, 4.0]
    assert rising([3.0, 2.0, 1.0, 5.0]) == [2.0, 2.0, 2.0, 5.0]
    assert rising([1.0, 2.0]) == [1.0, 2.0]


def test_where_a_curve_reaches_a_score() -> None:
    points = [(0, 0, 0, 70.0), (10, 5, 100, 74.0), (20, 9, 180, 72.0), (40, 12, 300, 75.0)]
    assert reached(points, 71.5) == (5.0, 50.0)
    assert reached(points, 73.0) == (10.0, 100.0)  # not 7.5: the next round falls to 72
    assert reached(points, 74.0) == (30.0, 240.0)
    assert reached(points, 76.0) is None
    assert reached(points, 69.0) == (0.0, 0.0)
