"""Settings chosen from the examples, before an estimator learns from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from spectralnlp import InMemoryCorpus, changes, registry, train
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.parser.tuning import Trials, trials_of
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.tasks.tuning import choose_settings
from spectralnlp.trees import Tree, read_brackets

TASK = ParsingTask()


def attachments(n: int, seed: int = 0) -> list[Tree]:
    """Trees whose attachments depend on the mother of a phrase: parent annotation tells them apart."""
    random = Random(seed)
    trees = []
    for _ in range(n):
        noun, verb = random.choice("abcd"), random.choice("vw")
        subject = f"(NP (D the) (N {noun}))"
        thing = (
            f"(NP (NP (D a) (N {noun})) (PP (P of) (NP (N {noun}))))" if verb == "v" else f"(NP (N {noun}))"
        )
        rest = "" if verb == "v" else f" (PP (P of) (NP (D the) (N {noun})))"
        trees.append(f"(S {subject} (VP (V {verb}) {thing}{rest}))")
    return list(read_brackets(trees))


SMALL_PCFG = {"grammars": "clusters", "n_clusters": 1, "pruner_states": 0, "tune": "quick"}
SMALL_PCFG |= {"closed_cells": False, "span_scorer": False, "sentence_ends": False}
ALTERNATIVES = ({"binarisations": "head^1"}, {"binarisations": "right"}, {"binarisations": "head"})


@pytest.fixture
def few_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    def trials(tune: str, pooled: bool) -> Trials:
        return Trials(alternatives=ALTERNATIVES, settings={}, most_trees=400, most_held_out=200)

    monkeypatch.setattr("spectralnlp.tasks.tuning.trials_of", trials)


def chosen(learner: LPCFGParser, trees: Sequence[Tree]) -> tuple[LPCFGParser, list[str]]:
    lines: list[str] = []
    return choose_settings(TASK, learner, InMemoryCorpus(trees), lines.append), lines


@pytest.mark.usefixtures("few_alternatives")
def test_an_alternative_is_taken_that_scores_better_and_not_by_chance() -> None:
    learner = LPCFGParser(**SMALL_PCFG)
    found, lines = chosen(learner, attachments(800))
    assert found.get_params() == {**learner.get_params(), "binarisations": "head^1", "tune": "none"}
    assert learner.get_params()["binarisations"] == "head"
    assert lines[0] == "tune: 400 examples to learn from, 150 to score"
    assert lines[1].startswith("tune: binarisations=head^1: ")
    assert lines[1].endswith(", taken")
    assert lines[-1] == "tune: binarisations=head^1 is set"
    assert not any("binarisations=head:" in line for line in lines)  # what it has already


@pytest.mark.usefixtures("few_alternatives")
def test_without_evidence_settings_stay() -> None:
    trees = list(read_brackets(["(S (NP (N a)) (VP (V b)))", "(S (NP (N c)) (VP (V d)))"])) * 300
    found, lines = chosen(LPCFGParser(**SMALL_PCFG), trees)
    assert found.get_params()["binarisations"] == "head"
    assert lines[-1] == "tune: nothing is set"


def test_few_examples_choose_nothing() -> None:
    _, lines = chosen(LPCFGParser(**SMALL_PCFG), attachments(499))
    assert lines == ["tune: settings stay as they are, for there are fewer than 500 examples"]


def test_nothing_is_chosen_unless_asked_for() -> None:
    learner = LPCFGParser()
    assert chosen(learner, []) == (learner, [])


@pytest.mark.parametrize("tune", ["quick", "full"])
def test_the_alternatives_of_lpcfg_are_settings(tune: str) -> None:
    trials = trials_of(tune, pooled=False)  # type: ignore[arg-type]
    for settings in (*trials.alternatives, trials.settings):
        LPCFGParser(**settings).validate()


SMALL = {
    "grammars": "clusters",
    "n_clusters": 1,
    "nodes_per_state": 10.0,
    "pruner_states": 0,
    "closed_cells": False,
}
SMALL |= {"span_scorer": False, "sentence_ends": False}


@pytest.fixture
def one_alternative(monkeypatch: pytest.MonkeyPatch) -> None:
    def trials(tune: str, pooled: bool) -> Trials:
        return Trials(alternatives=({"n_clusters": 4},), settings={}, most_trees=400, most_held_out=200)

    monkeypatch.setattr("spectralnlp.tasks.tuning.trials_of", trials)


@pytest.mark.usefixtures("one_alternative")
def test_models_name_the_settings_that_were_chosen() -> None:
    trees = attachments(800)
    parser = train("lpcfg", trees, tune="quick", **SMALL)
    assert parser.info["parameters"]["n_clusters"] == 4
    learner = registry.estimators.get("lpcfg")(tune="quick", **SMALL)
    change = changes.train("lpcfg", learner, InMemoryCorpus(trees))
    assert change.kept.settings["n_clusters"] == 4
    assert change.kept.settings["tune"] == "none"
