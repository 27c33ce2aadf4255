from __future__ import annotations

import pytest
from hypothesis import given
from tree_strategies import plain_labels, plain_words, trees

from spectralnlp.trees import (
    Tree,
    add_root,
    clean,
    read_brackets,
    strip_functions,
    strip_repeats,
    strip_root,
    strip_traces,
)


def parse(text: str) -> Tree:
    (tree,) = read_brackets([text])
    return tree


@pytest.mark.parametrize(
    ("strip", "before", "after"),
    [
        (strip_traces, "(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))"),
        (strip_traces, "(S (SBAR (-NONE- 0) (S (-NONE- *T*-1))) (UH oh))", "(S (UH oh))"),
        (strip_traces, "(S (sn.e-SUJ *0*) (grup.verb (vmip3s0 va)))", "(S (grup.verb (vmip3s0 va)))"),
        (strip_traces, "(S (SYM *) (NN *P))", "(S (SYM *) (NN *P))"),
        (strip_root, "( (S (X x)))", "(S (X x))"),
        (strip_root, "(TOP (S (X x)))", "(S (X x))"),
        (strip_root, "( (ROOT (X x)))", "(X x)"),
        (strip_root, "( (S (X x)) (Y y))", "(TOP (S (X x)) (Y y))"),
        (strip_root, "(ROOT (X x) (Y y))", "(TOP (X x) (Y y))"),
        (strip_root, "(S (TOP (X x)))", "(S (TOP (X x)))"),
        (strip_root, "(ROOT word)", "(ROOT word)"),
        (
            strip_repeats,
            "(S (NP (NP (NP (PRP it)))) (VP (VP (VB go) (RB on))))",
            "(S (NP (PRP it)) (VP (VB go) (RB on)))",
        ),
        (strip_repeats, "(X (X (X x)))", "(X (X x))"),  # the lowest is a tag, whatever it is called
        (strip_repeats, "(X (Y (X x)))", "(X (Y (X x)))"),
        (strip_repeats, "(NP (NP (X x)) (NP (X x)))", "(NP (NP (X x)) (NP (X x)))"),
    ],
)
def test_stripped(strip, before, after):
    assert strip(parse(before)) == parse(after)


def test_nothing_is_left_of_a_tree_of_traces():
    assert strip_traces(parse("( (S (NP (-NONE- *))))")) is None
    assert clean(parse("( (S (NP (-NONE- *))))")) is None


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-SBJ-1=2", "NP"),
        ("-LRB-", "-LRB-"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("sn.co-SUJ.p", "sn.co"),
        ("S*", "S*"),
        ("grup.nom.ms", "grup.nom.ms"),
        ("", ""),
        ("-", "-"),
    ],
)
def test_strip_functions(label, category):
    assert strip_functions(Tree(label, [Tree("NN", word="x")])).label == category


def test_tags_keep_their_signs():
    tree = parse("(NP-SBJ (-LRB- -LRB-) (PRP$ my) (NN-X dog) (-NONE- *-1))")
    assert strip_functions(tree).tags() == ["-LRB-", "PRP$", "NN-X", "-NONE-"]


def test_cleaning_is_all_of_it():
    raw = "( (S (NP-SBJ-1 (NP (PRP it)) (S (-NONE- *EXP*-2))) (VP (VBZ is) (ADJP-PRD (JJ so))) (. .)) )"
    assert clean(parse(raw)) == parse("(S (NP (PRP it)) (VP (VBZ is) (ADJP (JJ so))) (. .))")


def test_add_root_does_not_double():
    tree = parse("(S (X x))")
    assert add_root(tree) == add_root(add_root(tree)) == parse("(TOP (S (X x)))")
    assert add_root(parse("(TOP word)")) == parse("(TOP (TOP word))")
    assert add_root(tree, "ROOT").label == "ROOT"


@given(trees(plain_labels, plain_words))
def test_cleaning_twice_is_cleaning_once(tree):
    cleaned = clean(tree)
    assert cleaned is None or clean(cleaned) == cleaned


@given(trees(plain_labels, plain_words))
def test_cleaning_keeps_the_words_that_are_there(tree):
    cleaned = clean(tree)
    kept = [n.word for n in tree.preterminals() if n.label != "-NONE-" and n.word != "*0*"]
    assert ([] if cleaned is None else cleaned.words()) == kept
