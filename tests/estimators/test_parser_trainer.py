"""Parsers of grammars and components: settings and their owners, and what is learned from which trees."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from grammar_bytes import fingerprint, own_trees

from spectralnlp import LPCFG, PCFG, InMemoryCorpus, load, registry, train
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.component import Component, Context, Fold
from spectralnlp.estimators.parser.open_cells import OpenCells
from spectralnlp.estimators.parser.parsers import COMPONENTS, LPCFGParser, PCFGParser
from spectralnlp.estimators.parser.span_scorer import SpanScoring
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.runtime import accumulate, executing
from spectralnlp.trees import Tree

SMALL = {"grammars": "clusters", "n_states": 2, "pruner_states": 0}


@pytest.fixture(scope="module")
def trees(own_treebank: Path) -> list[Tree]:
    return own_trees(own_treebank)


@pytest.fixture
def few_trees_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for component in (OpenCells, SpanScoring):
        monkeypatch.setattr(component, "least_trees", 1)


@pytest.mark.parametrize("name", ["lpcfg", "pcfg"])
def test_each_setting_has_one_owner(name: str) -> None:
    kind = registry.estimators.get(name)
    owned = [field.name for part in kind.parts for field in fields(part)]
    assert sorted(owned) == sorted(kind().get_params())


@pytest.mark.parametrize(
    ("setting", "owner"), [({"n_states": 0}, "LPCFG"), ({"span_scorer": 2}, "SpanScoring")]
)
def test_errors_name_the_owner(setting: dict[str, object], owner: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{owner}\.{next(iter(setting))}: got "):
        train("lpcfg", [], **setting)


def test_grammars_alone_know_no_component() -> None:
    assert {field.name for part in COMPONENTS for field in fields(part)}.isdisjoint(LPCFG().get_params())
    with pytest.raises(ConfigError, match="LPCFG has no hyper-parameter 'span_scorer'"):
        LPCFG().set_params(span_scorer=False)


def test_the_grammars_of_a_parser_are_those_of_the_estimator(trees: list[Tree]) -> None:
    alone = LPCFG(**SMALL).fit(InMemoryCorpus(trees))  # type: ignore[arg-type]
    assert fingerprint(alone) == fingerprint(LPCFGParser(**SMALL).fit(InMemoryCorpus(trees)))
    assert train(LPCFG(**SMALL), InMemoryCorpus(trees)).components == {}  # type: ignore[arg-type]


@pytest.mark.usefixtures("few_trees_are_enough")
def test_any_grammar_gets_components(trees: list[Tree], tmp_path: Path) -> None:
    plain = train("pcfg", InMemoryCorpus(trees))
    assert plain.components == {}
    parser = train("pcfg", InMemoryCorpus(trees), closed_cells=True, span_scorer=True)
    assert sorted(parser.components) == ["open_cells", "span_scorer"]
    for ours, theirs in zip(parser.grammar_sets, plain.grammar_sets, strict=True):
        assert all(np.array_equal(a, theirs.to_arrays()[name]) for name, a in ours.to_arrays().items())
    parser.save(tmp_path / "model")
    words = trees[0].words()
    assert load(tmp_path / "model").parse_tokens(words).tree == parser.parse_tokens(words).tree


def test_a_pcfg_of_logged_trees_is_that_of_counts(trees: list[Tree]) -> None:
    for settings in ({}, {"vertical": 0, "horizontal": 0}, {"unaries": "collapse"}):
        learner, corpus = PCFG(**settings), InMemoryCorpus(trees)  # type: ignore[arg-type]
        bank = learner.treebank(accumulate(learner.init_trees(corpus), corpus))
        learner.describe(bank)
        learner.grammar_sets_ = learner.learner(bank).learn()
        assert fingerprint(learner) == fingerprint(PCFG(**settings).fit(corpus))  # type: ignore[arg-type]


class Noting(Component):
    """Notes the number of trees that it is given, and learns that."""

    name = "noted"
    learned = "beside"
    is_on = True

    def learn(self, context: Context) -> int:
        return context.trees.first.n_trees


def test_a_component_is_a_file_and_a_line(trees: list[Tree]) -> None:
    class NotingParser(LPCFGParser):
        """A parser with a component more."""

        parts = (*LPCFGParser.parts, Noting)

    fitted = NotingParser(**SMALL).fit(InMemoryCorpus(trees))
    assert fitted.components_ == {"noted": len(trees)}


@pytest.mark.usefixtures("few_trees_are_enough")
def test_folds_are_learned_without_their_trees(trees: list[Tree]) -> None:
    contexts: list[tuple[int, int]] = []

    class Spy(SpanScoring):
        def learn(self, context: Context) -> None:  # type: ignore[override]
            def read(fold: Fold) -> tuple[int, int]:
                assert fold.others.whole is context
                assert set(fold.others.components) == {"open_cells"}
                return int(fold.held_out.sum()), fold.others.trees.first.n_trees

            contexts.extend(context.jackknife(3, read))

    class SpyParser(ParserTrainer):
        """A parser that looks at its folds."""

        unlearning = "replay"
        parts = (LPCFG, OpenCells, Spy)

    SpyParser(**SMALL).fit(InMemoryCorpus(trees))
    assert sum(held_out for held_out, _ in contexts) == len(trees)
    assert all(held_out + others == len(trees) for held_out, others in contexts)


@pytest.mark.usefixtures("few_trees_are_enough")
def test_the_share_that_is_done_grows(trees: list[Tree]) -> None:
    shares: list[float] = []
    with executing(show_share=shares.append):
        LPCFGParser(**SMALL).fit(InMemoryCorpus(trees))
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.1
    assert 0.85 < shares[-1] < 1  # the model is still put together
    assert len(shares) > len(trees)  # a step for each tree of the folds


def test_pcfg_parsers_keep_their_defaults() -> None:
    assert PCFGParser().get_params()["span_scorer"] is False
    assert replace(PCFGParser(), vertical=2).get_params()["vertical"] == 2
    assert PCFGParser().least_trees() == 0
    assert LPCFGParser().least_trees() == 500


def brackets(path: Path, trees: list[Tree]) -> str:
    path.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
    return str(path)


def test_silver_trees_of_weight_one_teach_grammars_as_gold_ones(trees: list[Tree], tmp_path: Path) -> None:
    # (closed cells keep the trees, which a pcfg alone would only count)
    silver = brackets(tmp_path / "silver.mrg", trees[90:])
    for name, settings in (("lpcfg", SMALL), ("pcfg", {"closed_cells": True})):
        kind = registry.estimators.get(name)
        both = kind(**settings).fit(InMemoryCorpus(trees))
        with_silver = kind(**settings, silver=silver, silver_weight=1.0).fit(InMemoryCorpus(trees[:90]))
        assert fingerprint(with_silver.grammar_) == fingerprint(both.grammar_)


def test_silver_trees_count_less(trees: list[Tree], tmp_path: Path) -> None:
    silver = brackets(tmp_path / "silver.mrg", trees[90:])
    fitted = LPCFGParser(**SMALL, silver=silver, silver_weight=0.25).fit(InMemoryCorpus(trees[:90]))
    assert fitted.grammar_.n_trees_ == round(90 + 0.25 * len(trees[90:]))


@pytest.mark.usefixtures("few_trees_are_enough")
def test_no_grammar_parses_a_silver_tree_that_it_was_learned_from(
    trees: list[Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silver = brackets(tmp_path / "silver.mrg", trees[90:])
    shown: list[Fold] = []
    jackknife = Context.jackknife

    def spy(self: Context, n_folds: int, read: object, repetitions: int = 1) -> object:
        def look(fold: Fold) -> object:
            shown.append(fold)
            return read(fold)  # type: ignore[operator]

        return jackknife(self, n_folds, look, repetitions)

    monkeypatch.setattr(Context, "jackknife", spy)
    fitted = LPCFGParser(**SMALL, silver=silver).fit(InMemoryCorpus(trees[:90]))
    assert {"open_cells", "span_scorer"} <= fitted.components_.keys()
    is_silver = np.arange(len(trees)) >= 90
    for fold in shown:
        assert (fold.others.learner.trees.is_silver == is_silver[~fold.held_out]).all()
        assert 0 < fold.held_out[is_silver].mean() < 0.5
    assert (sum(fold.held_out.astype(int) for fold in shown[:3]) == 1).all()


def test_gold_trees_are_seen_more_often_than_silver_ones(trees: list[Tree], tmp_path: Path) -> None:
    silver = brackets(tmp_path / "silver.mrg", trees[90:])
    trainer = LPCFGParser(**SMALL, silver=silver, silver_weight=0.3)
    corpus = InMemoryCorpus(trees[:90])
    treebank = trainer.treebank(accumulate(trainer.init_moments(corpus), corpus))
    assert treebank.copies(1000).tolist() == [3] * 90 + [1] * (len(trees) - 90)
    few = treebank.copies(40)
    assert set(few[:90]) == {3}
    assert 27 <= few[90:].sum() <= 40
    assert set(treebank.gold.copies(40)) == {1}


def test_missing_silver_trees_are_an_error(trees: list[Tree], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.mrg"):
        LPCFGParser(**SMALL, silver=str(tmp_path / "nowhere.mrg")).fit(InMemoryCorpus(trees))
