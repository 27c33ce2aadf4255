from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import nasty_labels, plain_words, trees

from spectralnlp.runtime import InMemoryCorpus, accumulate
from spectralnlp.trees import Binariser, PhraseHeads, Tree, read_brackets
from spectralnlp.trees.rebinarise import Phrases, rebinarise
from spectralnlp.trees.treelog import TreeLog, TreeTable

labels = st.one_of(st.sampled_from(["NP", "NN", "S"]), nasty_labels)
sides = st.sampled_from(["left", "right"])
rules = st.lists(
    st.builds(
        PhraseHeads,
        label=labels,
        wanted=st.lists(st.tuples(labels, sides), max_size=3).map(tuple),
        otherwise=st.sampled_from(["left", "right", "neutral"]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each.label,
).map(tuple)
binarisers = st.builds(
    Binariser,
    direction=st.sampled_from(["head", "left", "right"]),
    vertical=st.integers(0, 2),
    mark_direction=st.booleans(),
    unaries=st.sampled_from(["compress", "collapse"]),
    heads=st.just("learned"),
    head_rules=rules,
)
treebanks = st.lists(trees(labels, plain_words), max_size=3)


def table_of(observed: list[Tree], binariser: Binariser) -> TreeTable:
    return accumulate(TreeLog(binariser.to_dict()), InMemoryCorpus(observed)).table()


def assert_equal(table: TreeTable, expected: TreeTable) -> None:
    for field in fields(TreeTable):
        ours, theirs = getattr(table, field.name), getattr(expected, field.name)
        np.testing.assert_array_equal(ours, theirs, err_msg=field.name)
        assert getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)


@given(treebanks, binarisers)
def test_a_table_is_that_of_trees_binarised_with_the_rules(observed, binariser):
    before = table_of(observed, replace(binariser, head_rules=()))
    assert_equal(rebinarise(before, Phrases.of(before), binariser), table_of(observed, binariser))


@given(treebanks, binarisers)
def test_phrases_are_those_of_the_trees(observed, binariser):
    phrases = Phrases.of(table_of(observed, replace(binariser, head_rules=())))
    expected: dict[tuple[str, tuple[str, ...]], int] = {}
    for tree in observed:
        for node in tree.nodes():
            if len(node.children) > 1:
                production = node.label, tuple(child.label for child in node.children)
                expected[production] = expected.get(production, 0) + 1
    assert phrases.counts() == expected


@pytest.mark.parametrize("direction", ["head", "left", "right"])
def test_a_wide_phrase(direction):
    wide = Tree("S", [Tree("NN" if i % 3 else "NP", word=str(i)) for i in range(300)])
    rule = PhraseHeads("S", (("NP", "right"),))
    binariser = Binariser(direction=direction, heads="learned", head_rules=(rule,))
    before = table_of([wide], replace(binariser, head_rules=()))
    assert_equal(rebinarise(before, Phrases.of(before), binariser), table_of([wide], binariser))


def test_logs_are_kept_from_the_left_until_heads_are_learned():
    (tree,) = read_brackets(["(NP (DT the) (JJ old) (NN man) (RB here))"])
    before = table_of([tree], Binariser(heads="learned"))
    assert_equal(before, table_of([tree], Binariser(direction="left", heads="neutral")))
