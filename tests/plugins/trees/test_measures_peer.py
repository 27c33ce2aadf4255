"""Structures and ratios are those of neosca, a rewriting of L2SCA."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("neosca")

from spectralnlp_trees import measure

from benchmarks.measures import every, values_of_neosca
from spectralnlp.trees import cleaned, read_trees

TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"


def test_fifty_trees_measure_as_there() -> None:
    trees = every([*cleaned(read_trees(TREEBANK / "train.mrg"))], 50)
    found = measure(trees)
    values = {**found.structures, **found.ratios}
    assert len(trees) == 50
    assert values == pytest.approx(values_of_neosca(trees), abs=0.005)
