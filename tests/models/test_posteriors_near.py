"""Posteriors among the trees that cross none of a tree's brackets."""

from __future__ import annotations

import pytest

import spectralnlp
from spectralnlp.trees import Tree, read_brackets


@pytest.fixture(scope="module")
def parser() -> spectralnlp.Parser:
    return spectralnlp.train("pcfg", "corpora/treebank/train.mrg")


def test_a_flat_tree_leaves_everything_open(parser: spectralnlp.Parser) -> None:
    parse = parser.parse_tokens(["The", "keeper", "climbs", "the", "tower", "before", "supper", "."])
    tree = parse.tree.children[0]
    near = parser.posteriors_near(Tree("S", tree.preterminals()))
    assert near is not None
    for each in parse.constituents:
        found = near.brackets[each.label, each.start, each.end]
        assert found == pytest.approx(each.posterior, abs=1e-4)
    for posteriors in near.tags:
        assert sum(posteriors.values()) == pytest.approx(1.0, abs=1e-4)


def test_nothing_crosses_the_tree(parser: spectralnlp.Parser) -> None:
    noun = "(NP (DT the) (NN tower) (PP (IN before) (NP (NN supper))))"
    (tree,) = read_brackets([f"(S (NP (DT The) (NN keeper)) (VP (VBZ climbs) {noun}) (. .))"])
    near = parser.posteriors_near(tree)
    assert near is not None
    assert near.brackets["NP", 3, 7] > 0.0  # other brackets are optional, and others possible
    for label, start, end in near.brackets:
        for _, first, last in tree.spans():
            crosses = first < start < last < end or start < first < end < last
            assert not crosses, (label, start, end)
