"""Settings chosen from the examples, before an estimator learns from all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from spectralnlp import LPCFG, PCFG, InMemoryCorpus, changes, registry, train
from spectralnlp.estimator import Tuning
from spectralnlp.estimators.lpcfg.tuning import tuning_of
from spectralnlp.tasks.parsing import ParsingTask
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


@dataclass(kw_only=True, eq=False, repr=False)
class Tuned(PCFG):
    """A grammar that tries what it is told."""

    tune: bool = True

    def tuning(self) -> Tuning | None:
        if not self.tune:
            return None
        final = {"tune": False}
        return Tuning(alternatives=ALTERNATIVES, trial={}, final=final, most_examples=400, most_held_out=200)


ALTERNATIVES: Sequence[Mapping[str, object]] = ({"vertical": 0}, {"vertical": 2}, {"vertical": 1})


def test_an_alternative_is_taken_that_scores_better_and_not_by_chance() -> None:
    lines: list[str] = []
    learner = Tuned(vertical=0)
    chosen = TASK.tuned(learner, InMemoryCorpus(attachments(800)), lines.append)
    assert isinstance(chosen, Tuned)
    assert chosen.vertical == 2
    assert learner.vertical == 0
    assert lines[0] == "tune: 400 examples to learn from, 150 to score"
    assert lines[1].startswith("tune: vertical=2: ")
    assert lines[1].endswith(", taken")
    assert lines[-1] == "tune: vertical=2 is set"
    assert not any("vertical=0" in line for line in lines)  # what it has already


def test_without_evidence_settings_stay() -> None:
    lines: list[str] = []
    trees = list(read_brackets(["(S (NP (N a)) (VP (V b)))", "(S (NP (N c)) (VP (V d)))"])) * 300
    chosen = TASK.tuned(Tuned(vertical=1), InMemoryCorpus(trees), lines.append)
    assert chosen.get_params()["vertical"] == 1
    assert lines[-1] == "tune: nothing is set"


def test_few_examples_choose_nothing() -> None:
    lines: list[str] = []
    TASK.tuned(Tuned(), InMemoryCorpus(attachments(499)), lines.append)
    assert lines == ["tune: settings stay as they are, for there are fewer than 500 examples"]


def test_nothing_is_chosen_unless_asked_for() -> None:
    learner = LPCFG()
    assert learner.tuning() is None
    assert TASK.tuned(learner, InMemoryCorpus([])) is learner


@pytest.mark.parametrize("tune", ["quick", "full"])
def test_the_alternatives_of_lpcfg_are_settings(tune: str) -> None:
    plan = tuning_of(tune, pooled=False)  # type: ignore[arg-type]
    for settings in (*plan.alternatives, plan.trial, plan.final):
        LPCFG(**settings).validate()
    assert plan.final == {"tune": "none"}


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
    def plan(tune: str, pooled: bool) -> Tuning:
        tried = ({"n_clusters": 4},)
        return Tuning(
            alternatives=tried, trial={}, final={"tune": "none"}, most_examples=400, most_held_out=200
        )

    monkeypatch.setattr("spectralnlp.estimators.lpcfg.estimator.tuning_of", plan)


@pytest.mark.usefixtures("one_alternative")
def test_fit_learns_with_what_was_chosen_and_keeps_hyper_parameters() -> None:
    trees = attachments(800)
    learner = LPCFG(tune="quick", **SMALL).fit(trees)  # type: ignore[arg-type]
    assert learner.chosen_ == {"n_clusters": 4}
    assert (learner.tune, learner.n_clusters) == ("quick", 1)
    assert max(learner.grammars_[0].n_states) > 1


@pytest.mark.usefixtures("one_alternative")
def test_models_name_the_settings_that_were_chosen() -> None:
    trees = attachments(800)
    parser = train("lpcfg", trees, tune="quick", **SMALL)
    assert parser.info["parameters"]["n_clusters"] == 4
    learner = registry.estimators.get("lpcfg")(tune="quick", **SMALL)
    change = changes.train("lpcfg", learner, InMemoryCorpus(trees))
    assert change.kept.settings["n_clusters"] == 4
    assert change.kept.settings["tune"] == "none"
