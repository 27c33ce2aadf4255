"""Measures are those of a plain walk, add up, and survive any tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_counts import plain_counts
from spectralnlp_trees import RATIOS, STRUCTURES, Measures, measure, measure_each

from spectralnlp.trees import Tree, add_root, cleaned, read_brackets, read_trees, strip_root

TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"
# Structures that the treebank has none of.
RARE = [
    "(ROOT (SQ (VBZ Is) (NP (PRP she)) (ADJP (JJ ready)) (. ?)))",
    "(ROOT (FRAG (NP (DT The) (NN end)) (. .)))",
    "(ROOT (FRAG (SBAR (IN If) (S (NP (PRP you)) (VP (VBP go)))) (. .)))",
    "(ROOT (S (VP (VB Go) (ADVP (RB home))) (. .)))",
    "(ROOT (S (S (VP (VBG Reading))) (VP (VBZ helps)) (. .)))",
    "(ROOT (S (SBAR (IN That) (S (NP (PRP he)) (VP (VBD left)))) (VP (VBZ hurts)) (. .)))",
    "(ROOT (SINV (`` ``) (S (NP (PRP I)) (VP (VBP know))) (VP (VBD said)) (NP (NNP Ada)) (. .)))",
    "(ROOT (S (S (NP (PRP I)) (VP (VBP cook))) (CC and) (S (NP (PRP he)) (VP (VBZ eats))) (. .)))",
    "(ROOT (S (NP (PRP I)) (VP (VP (VBP cook)) (CC and) (VP (VBP eat))) (: --) (. .)))",
    "(ROOT (SBARQ (WHNP (WP Who)) (SQ (VP (VBD called) (NP (PRP$ my) (NN house)))) (. ?)))",
]


@pytest.fixture(scope="module")
def trees() -> list[Tree]:
    """Fifty trees."""
    own = [*read_trees(TREEBANK / "dev.mrg"), *list(read_trees(TREEBANK / "train.mrg"))[60:70]]
    found = [add_root(strip_root(tree), "ROOT") for tree in cleaned(own)] + list(read_brackets(RARE))
    assert len(found) == 50
    return found


def test_structures_are_those_of_a_plain_walk(trees: list[Tree]) -> None:
    expected = [plain_counts(tree) for tree in trees]
    assert [dict(each.structures) for each in measure_each(trees)] == expected
    total = {name: sum(each[name] for each in expected) for name in STRUCTURES}
    assert all(total.values())
    together = measure(trees)
    assert together.structures == total
    for name, (of, by) in RATIOS.items():
        assert round(together.ratios[name], 2) == round(total[of] / total[by], 2)


def test_a_text_is_the_sum_of_its_trees(trees: list[Tree]) -> None:
    together = measure(trees)
    assert Measures.total(measure_each(trees)) == together
    assert measure(trees[:20]) + measure(trees[20:]) == together
    assert together.n_trees == 50


def test_shape_by_hand() -> None:
    text = "(ROOT (S (NP-SBJ (NP (DT the) (NN cat)) (PP (IN of) (NP (NN rain)))) (VP (VBD sat) (, ,)) (. .)))"
    found = measure(read_brackets([text, "(S (NP (NN rain)) (VP (-NONE- *)))"]))
    # S over NP, PP, NP over "rain" in the first; S over NP in the second.
    assert dict(found.depths) == {4: 1, 2: 1}
    # S 2, NP 2, NP 2, PP 2, NP 1, VP 1; S 1, NP 1.
    assert dict(found.arities) == {2: 4, 1: 4}
    assert found.mean_arity == 1.5
    # The PP alone ends in a phrase and begins with a word; S and the large NP have phrases on both sides.
    # The second S has one child, a phrase on both sides.
    assert dict(found.branching) == {"left": 0, "right": 1}
    profile = {each.label: (each.count, each.mean, each.median, each.longest) for each in found.lengths()}
    assert profile["NP"] == (4, 2.0, 1.5, 4)
    assert profile["S"] == (2, 3.0, 3.0, 5)


def test_hyphened_words_count_and_dashes_do_not() -> None:
    text = "(S (NN well-known) (HYPH -) (: --) (CD 5) ($ $) (PRP$ my) (-LRB- -LRB-))"
    assert measure(read_brackets([text])).structures["W"] == 3


def test_nothing_to_measure() -> None:
    empty = measure([])
    assert empty == Measures.total([])
    assert set(empty.to_flat_dict().values()) == {0, None}  # None: no constituent has a length
    assert [each.n_trees for each in measure_each(read_brackets(["(S (-NONE- *))", "(S (NN a))"]))] == [0, 1]


def test_deep_trees_do_not_recurse() -> None:
    tree = Tree("NN", word="a")
    for _ in range(20_000):
        tree = Tree("NP", [tree])
    tree = Tree("NP", [tree, Tree("NN", word="b")])
    deep = Tree("NN", word="a")
    for _ in range(20_000):
        deep = Tree("NP", [Tree("DT", word="b"), deep])
    assert measure([deep]).greatest_depth == 20_000
    assert measure([tree]).n_trees == 1


# ---------------------------------------------------------------------------------------------------------
# Trees with other labels than the Penn treebank's

PORTUGUESE = [
    "(top (fcl (np (art O) (n farol)) (v-fin arde) (. .)))",
    "(top (fcl (np (pron Ela)) (v-fin diz) (fcl (conj-s que) (np (art o) (n barco)) (v-fin chega)) (. .)))",
]


def test_what_other_labels_say_nothing_of_is_left_out() -> None:
    found = measure(read_brackets(PORTUGUESE))
    assert dict(found.structures) == {"W": 9, "S": 2}
    assert found.ratios == {"MLS": 4.5}
    flat = found.to_flat_dict(["fcl", "NP"])
    assert (flat["C"], flat["C/T"], flat["NP_length"]) == (None, None, None)
    assert flat["fcl_length"] == pytest.approx((3 + 6 + 4) / 3)
    assert [dict(each.structures) for each in measure_each(read_brackets(PORTUGUESE))] == [
        {"W": 3, "S": 1},
        {"W": 6, "S": 1},
    ]
    english = measure(read_brackets(RARE))
    assert set((found + english).structures) == {"W", "S"}  # clauses of some are clauses of no text


def test_structures_of_ones_own() -> None:
    patterns = {"C": ["fcl"], "T": ["fcl > top"], "RC": ["fcl > np", "acl"]}
    found = measure(read_brackets(PORTUGUESE), structures=patterns)
    assert dict(found.structures) == {"W": 9, "S": 2, "C": 3, "T": 2, "RC": 0}
    assert found.ratios["C/T"] == 1.5
    assert found.to_flat_dict()["RC"] == 0
    assert "DC/C" not in found.ratios
