"""Head rules learned from a treebank in which the heads are evident."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp import changes, load, train
from spectralnlp.changes import KeptMoments
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.shared.head_learning import learn_heads
from spectralnlp.runtime import Corpus, Partition
from spectralnlp.storage import ARRAYS, META
from spectralnlp.trees import Binariser, PhraseHeads, Tree

SMALL: dict[str, Any] = {
    "grammars": "clusters",
    "n_states": 2,
    "pruner_states": 0,
    "span_scorer": False,
    "closed_cells": False,
    "sentence_ends": False,
    "heads": "learned",
}


def clause(rng: np.random.Generator, verb: str) -> Tree:
    """A clause of one verb with any number of complements, which come in any order around it."""

    def complements(most: int) -> list[Tree]:
        return [Tree(str(rng.choice(["o", "p", "q"])), word="x") for _ in range(rng.integers(0, most))]

    return Tree("c", [*complements(3), Tree(verb, word=verb), *complements(4), Tree(".", word=".")])


def treebank(verb: str, seed: int, n_trees: int = 150) -> list[Tree]:
    rng = np.random.default_rng(seed)
    return [clause(rng, verb) for _ in range(n_trees)]


def productions(trees: list[Tree]) -> dict[tuple[str, tuple[str, ...]], int]:
    counts: dict[tuple[str, tuple[str, ...]], int] = {}
    for tree in trees:
        rule = tree.label, tuple(child.label for child in tree.children)
        counts[rule] = counts.get(rule, 0) + 1
    return counts


def test_the_child_around_which_the_others_stand_is_the_head() -> None:
    (rules,) = learn_heads(productions(treebank("v", 0)))
    for children in (["o", "v", "p", "o", "."], ["v", "o", "."], ["p", "p", "v", "."]):
        assert children[rules.head(children)] == "v"


def test_the_order_of_the_trees_does_not_matter() -> None:
    trees = treebank("v", 1)
    assert learn_heads(productions(trees)) == learn_heads(productions(trees[::-1]))


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {("np", ("d", "n")): 1000},
        {("np", ("d", "a", "n")): 2},
        {("np", tuple("abcdefghijklmnop")): 1000},
    ],
)
def test_without_evidence_nothing_is_learned(counts: dict[Any, int]) -> None:
    assert learn_heads(counts) == ()


def test_a_rule_shows_what_is_wanted() -> None:
    rule = PhraseHeads("np", (("n", "left"), ("prop", "right")), "right")
    assert str(rule) == "np: n or prop, else the last"
    assert str(PhraseHeads("np", ((",", "left"), ("n", "left")))) == "np: n or …, else as neutral"
    assert str(PhraseHeads("np", (), "left")) == "np: the first"
    assert [rule.head(["n", "n"]), rule.head(["prop", "prop"]), rule.head(["d", "a"])] == [0, 1, 1]
    assert PhraseHeads("np").head(["d", "n", "."]) == 1


# ---------------------------------------------------------------------------------------------------------
# In models


@pytest.fixture(scope="module")
def documents() -> list[list[Tree]]:
    """Which heads are learned depends on which documents are there."""
    return [treebank("v", 2), treebank("w", 3), treebank("v", 4, 20)]


class Documents(Corpus[Tree]):
    """A document a list of trees."""

    def __init__(self, documents: list[list[Tree]]) -> None:
        self.documents = documents

    def partitions(self) -> list[Partition[Tree]]:
        return [Partition(f"{n}", n, 0, partial(iter, each)) for n, each in enumerate(self.documents)]


def corpus(*documents: list[Tree]) -> Corpus[Tree]:
    return Documents(list(documents))


def kept_model(*documents: list[Tree]) -> changes.Change:
    return changes.train("lpcfg", LPCFGParser(**SMALL, binarisations="head+right"), corpus(*documents))


def saved(change: changes.Change, folder: Path) -> dict[str, bytes]:
    change.save(folder)
    return {name: (folder / name).read_bytes() for name in (ARRAYS, META)}


def test_updates_and_unlearning_learn_the_heads_again(documents: list[list[Tree]], tmp_path: Path) -> None:
    first, both = kept_model(documents[0]), kept_model(documents[0], documents[1])
    rules = [each.model.grammar_sets[0].binariser.head_rules for each in (first, both)]
    assert rules[0] != rules[1]
    first.save(tmp_path / "first")
    updated = changes.update(KeptMoments.load(tmp_path / "first", "update"), corpus(documents[1]))
    assert saved(updated, tmp_path / "updated") == saved(both, tmp_path / "both")
    forgot = changes.forget(KeptMoments.load(tmp_path / "both", "forget"), corpus(documents[1]))
    assert saved(forgot, tmp_path / "forgot") == saved(first, tmp_path / "again")


def test_heads_make_the_binarisation_of_every_grammar_set(documents: list[list[Tree]]) -> None:
    fitted = LPCFGParser(**SMALL, binarisations="head+left").fit(corpus(documents[0]))
    assert fitted.grammar_.heads_ == "learned"
    head, left = (each.binariser for each in fitted.grammar_.grammar_sets_)
    assert (head.direction, left.direction) == ("head", "left")
    assert head.head_rules == left.head_rules == learn_heads(productions(documents[0]))
    binary = {node.label for tree in documents[0] for node in head.binarise(tree).nodes()}
    assert binary <= set(fitted.grammar_.grammar_sets_[0].coarse.symbols)


def test_a_saved_parser_has_its_heads(documents: list[list[Tree]], tmp_path: Path) -> None:
    parser = train(LPCFGParser(**SMALL), corpus(documents[0]))
    parser.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.grammar_sets[0].binariser == parser.grammar_sets[0].binariser
    assert again.info["heads learned"] == parser.info["heads learned"]
    tree = documents[0][0]
    assert again.tree_log_probability(tree) == pytest.approx(parser.tree_log_probability(tree), rel=1e-4)


@pytest.mark.parametrize(
    "rules",
    [
        "v",
        [["v", "left"]],
        [{"wanted": []}],
        [{"label": "c", "wanted": [["v", "middle"]]}],
        [{"label": "c", "wanted": [], "otherwise": 1}],
        [{"label": "c"}, {"label": "c"}],
    ],
)
def test_head_rules_that_make_no_sense_are_refused(rules: Any) -> None:
    with pytest.raises(ConfigError):
        Binariser.from_dict({"heads": "learned", "head_rules": rules})


def test_learned_rules_have_no_other_name() -> None:
    with pytest.raises(ConfigError, match="not learned"):
        Binariser(heads="english", head_rules=(PhraseHeads("c"),))


def test_a_model_with_a_damaged_rule_is_refused(documents: list[list[Tree]], tmp_path: Path) -> None:
    train(LPCFGParser(**SMALL), corpus(documents[0])).save(tmp_path / "m")
    header = json.loads((tmp_path / "m" / META).read_text(encoding="utf-8"))
    header["metadata"]["grammar_sets"][0]["binariser"]["head_rules"][0]["wanted"] = [["v", 3]]
    (tmp_path / "m" / META).write_text(json.dumps(header), encoding="utf-8")
    with pytest.raises(ModelError, match="head_rules"):
        load(tmp_path / "m")
