"""Forecasts: parts that grow by blocks, folds, budgets of time, and what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from spectralnlp import PCFG, InMemoryCorpus, read_treebank
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.hmm import HMM
from spectralnlp.tasks import forecasting
from spectralnlp.tasks.forecasting import forecast
from spectralnlp.trees import Tree


@pytest.fixture
def trees(own_corpora: Path) -> list[Tree]:
    return list(read_treebank(own_corpora / "treebank" / "train.mrg"))


def test_folds_are_scored_in_turn_and_parts_are_nested(trees: list[Tree]) -> None:
    blocks = [[tree] for tree in trees]
    seen: list[Tree] = []
    for number in range(5):
        taught, scored = forecasting._parts(blocks, None, number, 0)
        assert len(taught) + len(scored) == len(trees)
        assert {id(tree) for tree in taught}.isdisjoint(id(tree) for tree in scored)
        seen += scored
    assert sorted(id(tree) for tree in seen) == sorted(id(tree) for tree in trees)


def test_a_forecast_and_what_it_says(trees: list[Tree]) -> None:
    lines: list[str] = []
    found = forecast(PCFG(), InMemoryCorpus(trees), [400], rounds=2, report=lines.append)
    assert len(lines) == len(found.runs) == 10
    assert {run.held_out for run in found.runs} == {0, 1}
    last = found.points[-1]
    assert last.n_trees == 400
    assert last.gain_interval[0] < last.gain < last.gain_interval[1]
    said = found.to_table().splitlines()[-1]
    assert said.startswith(f"229 more sentences: {found.now.f1:.1f} to {last.f1:.1f} (")
    assert found.check is not None
    assert found.to_json()["points"][-1]["n_trees"] == 400


def test_given_held_out_trees_are_scored_in_every_run(trees: list[Tree]) -> None:
    held_out = InMemoryCorpus(trees[:30])
    found = forecast(PCFG(), InMemoryCorpus(trees[30:]), [300], held_out=held_out, rounds=1)
    assert {len(run.counts) for run in found.runs} == {30}
    assert found.runs[-1].n_trees == found.n_trees == len(trees) - 30


def test_without_time_three_sizes_are_tried_all_the_same(trees: list[Tree]) -> None:
    found = forecast(PCFG(), InMemoryCorpus(trees), [400], seconds=0.0)
    assert len(found.runs) == 3


def test_what_cannot_be_forecast(trees: list[Tree]) -> None:
    with pytest.raises(ConfigError, match="not sequences"):
        forecast(HMM(), InMemoryCorpus([]))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="100 trees are no more than there are, 171"):
        forecast(PCFG(), InMemoryCorpus(trees), [100])
    with pytest.raises(InputError, match="3 trees are too few"):
        forecast(PCFG(), InMemoryCorpus(trees[:3]), [100])
