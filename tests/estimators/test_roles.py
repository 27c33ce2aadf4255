"""A label that is a tag and a phrase keeps both roles: what stands over a word is a preterminal."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp import registry
from spectralnlp.runtime import InMemoryCorpus, accumulate
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree

TREEBANK = Path(__file__).parents[2] / "corpora" / "treebank"
# Sorts before the mark that the library writes, so that symbols keep their order and seeds their symbols.
APART = "?"


@cache
def trees(name: str) -> list[Tree]:
    return list(ParsingTask().read([TREEBANK / f"{name}.mrg"]))


@cache
def shared_names() -> dict[str, str]:
    """Each tag by the name of a phrase, as far as there are phrases."""
    nodes = [node for tree in trees("train") for node in tree.postorder()]
    tags = sorted({node.label for node in nodes if node.word is not None})
    phrases = sorted({node.label for node in nodes if node.word is None})
    return {tag: phrases[i] if i < len(phrases) else tag for i, tag in enumerate(tags)}


def renamed(tree: Tree, name: Callable[[str, bool], str]) -> Tree:
    return tree.fold(lambda node, below: Tree(name(node.label, node.word is not None), below, node.word))


def both(label: str, is_tag: bool) -> str:
    return shared_names()[label] if is_tag else label


def apart(label: str, is_tag: bool) -> str:
    mark = APART if is_tag and shared_names()[label] != label else ""
    return both(label, is_tag) + mark


def parses(kind: str, settings: dict[str, Any], name: Callable[[str, bool], str], decoder: str) -> list[str]:
    learner = registry.estimators.get(kind)(heads="neutral", signatures="english", **settings)
    parser = ParsingTask().train(learner, InMemoryCorpus([renamed(tree, name) for tree in trees("train")]))
    parsed = (parser.parse_tokens(tree.words(), decoder=decoder).tree for tree in trees("dev")[:15])
    return [str(renamed(tree, lambda label, _: label.removesuffix(APART))) for tree in parsed]


@pytest.mark.parametrize("decoder", ["mbr", "max-rule"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [("pcfg", {}), ("lpcfg", {"n_states": 4}), ("lpcfg", {"binarisations": "head+left^1"})],
    ids=["pcfg", "lpcfg", "pool"],
)
def test_labels_with_two_roles_parse_as_if_renamed_apart(
    kind: str, settings: dict[str, Any], decoder: str
) -> None:
    assert parses(kind, settings, both, decoder) == parses(kind, settings, apart, decoder)


def test_a_slip_costs_no_brackets_and_is_reported() -> None:
    slip = Tree("S", [Tree("NP", word="misannotated"), Tree("VP", [Tree("VBD", word="fell")])])
    lines: list[str] = []
    learner = registry.estimators.get("lpcfg")(n_states=4)
    parser = ParsingTask().train(learner, InMemoryCorpus([*trees("train"), slip]), report=lines.append)
    (line,) = [line for line in lines if "misannotated" in line]
    assert "NP: 1 word (misannotated)" in line
    parse = parser.parse_tokens(trees("dev")[0].words())
    assert max(each.posterior for each in parse.constituents if each.label == "NP") > 0.5


def test_given_tags_find_their_role() -> None:
    learner = registry.estimators.get("pcfg")(heads="neutral", signatures="english")
    parser = ParsingTask().train(learner, InMemoryCorpus([renamed(tree, both) for tree in trees("train")]))
    gold = renamed(trees("dev")[0], both)
    parse = parser.parse_tokens(gold.words(), tags=gold.tags())
    assert parse.tree.tags() == gold.tags()
    assert np.isfinite(parser.tree_log_probability(renamed(trees("train")[0], both)))
    assert {each.symbol for each in parser.inspect("NP")} == {"NP", "NP (over a word)"}


def test_what_forgot_the_second_role_is_what_never_saw_it() -> None:
    slip = Tree("S", [Tree("NP", word="misannotated"), Tree("VP", [Tree("VBD", word="fell")])])
    learner = registry.estimators.get("pcfg")()
    corpus = InMemoryCorpus(trees("train"))
    moments = accumulate(learner.init_moments(corpus), corpus)
    plain = {name: array.tobytes() for name, array in moments.arrays().items()}
    more = accumulate(moments.empty_like(), InMemoryCorpus([slip]))
    moments.merge(more)
    assert ("NP@^S", "misannotated", "1") in moments.events_by_kind().word
    moments.subtract(more)
    assert not any("NP@" in key for key in moments.events_by_kind().word)
    assert {name: array.tobytes() for name, array in moments.arrays().items()} == plain
