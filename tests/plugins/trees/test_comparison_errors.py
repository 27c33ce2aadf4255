"""Errors of trees: repairs end in the gold tree, mend what EVALB counts, and have the types of the paper."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spectralnlp_trees import ErrorType, find_errors
from spectralnlp_trees.comparison.workspace import counted_label, counted_tree

from spectralnlp.scoring import count_sentence
from spectralnlp.trees import Tree, read_brackets, read_trees

TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"
LABELS = ["NP", "VP", "PP", "S", "ADVP", "PRT", "QP", "NP-SBJ"]
TAGS = ["NN", "DT", "IN", "CC", "VB", ","]


def trees_over(n_words: int) -> st.SearchStrategy[Tree]:
    """Trees over so many words: random cuts, chains and labels."""

    @st.composite
    def build(draw: st.DrawFn) -> Tree:
        def over(start: int, end: int, depth: int) -> Tree:
            if end - start == 1:
                tree = Tree(draw(st.sampled_from(TAGS)), word=f"w{start}")
            else:
                inner = draw(st.sets(st.integers(start + 1, end - 1), min_size=1, max_size=3))
                cuts = [start, *sorted(inner), end]
                parts = [over(a, b, depth + 1) for a, b in pairwise(cuts)]
                tree = Tree(draw(st.sampled_from(LABELS)), parts)
            for label in draw(st.lists(st.sampled_from(LABELS), max_size=2)):
                tree = Tree(label, [tree])
            return tree

        return over(0, n_words, 0)

    return build()


PAIRS = st.integers(1, 9).flatmap(lambda n: st.tuples(trees_over(n), trees_over(n)))


def canonical(tree: Tree | None) -> str:
    assert tree is not None
    return str(tree.fold(lambda node, below: Tree(counted_label(node.label), below, node.word)))


def check(gold: Tree, tree: Tree) -> None:
    counts, found = count_sentence(gold, tree), find_errors(gold, tree)
    if found is None:
        assert not counts.words
        return
    assert canonical(found.repaired) == canonical(counted_tree(gold))
    assert len(found.missing) == counts.gold - counts.matched
    assert len(found.extra) == counts.test - counts.matched
    assert sum(error.fixed for error in found.errors) == len(found.missing) + len(found.extra)
    for error in found.errors:
        for repair in error.repairs:
            assert repair.fixed > 0 or repair.change == "reorder"
            assert repair.describe(found.words)


@settings(max_examples=150, deadline=None)
@given(PAIRS)
def test_repairs_make_the_gold_tree(pair: tuple[Tree, Tree]) -> None:
    check(*pair)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_repairs_make_the_gold_tree_of_a_treebank(data: st.DataObject) -> None:
    gold = data.draw(st.sampled_from(list(read_trees(TREEBANK / "dev.mrg"))))
    spoken = [word for tag, word in zip(gold.tags(), gold.words(), strict=True) if tag != "-NONE-"]
    other = data.draw(trees_over(len(spoken)))
    words = iter(spoken)
    check(gold, other.fold(lambda node, below: Tree(node.label, below, next(words) if node.word else None)))


# Gold tree, tree, types with the brackets that they cost.
HE_SAW = "(S (NP (PRP he)) (VP (VBD saw) {}))"
CASES = [
    (
        "a PP too low",
        HE_SAW.format("(NP (NN rain)) (PP (IN at) (NP (NN noon)))"),
        HE_SAW.format("(NP (NP (NN rain)) (PP (IN at) (NP (NN noon))))"),
        [("PP attachment", 1)],
    ),
    (
        "a PP too high, out of two phrases",
        HE_SAW.format("(NP (NP (NN rain)) (PP (IN at) (NP (NP (NN noon)) (PP (IN on) (NP (NN land))))))"),
        HE_SAW.format("(NP (NP (NN rain)) (PP (IN at) (NP (NN noon)))) (PP (IN on) (NP (NN land)))"),
        [("PP attachment", 5)],
    ),
    (
        "an adverb outside the verb phrase",
        "(S (NP (PRP he)) (VP (VBD ate) (ADVP (RB there))))",
        "(S (NP (PRP he)) (VP (VBD ate)) (ADVP (RB there)))",
        [("modifier attachment", 2)],
    ),
    (
        "a clause outside the verb phrase",
        HE_SAW.format("(NP (NN rain)) (SBAR (IN as) (S (NP (PRP it)) (VP (VBD fell))))"),
        "(S (NP (PRP he)) (VP (VBD saw) (NP (NN rain))) (SBAR (IN as) (S (NP (PRP it)) (VP (VBD fell)))))",
        [("clause attachment", 2)],
    ),
    (
        "a noun phrase outside the verb phrase",
        HE_SAW.format("(NP (NN rain)) (NP (DT this) (NN week))"),
        "(S (NP (PRP he)) (VP (VBD saw) (NP (NN rain))) (NP (DT this) (NN week)))",
        [("NP attachment", 2)],
    ),
    (
        "the scope of a conjunction",
        HE_SAW.format("(NP (NP (NN rain)) (PP (IN of) (NP (NP (NN ash)) (CC and) (NP (NN fire)))))"),
        HE_SAW.format("(NP (NP (NP (NN rain)) (PP (IN of) (NP (NN ash)))) (CC and) (NP (NN fire)))"),
        [("coordination", 4)],
    ),
    (
        "a conjunction at the beginning joins nothing",
        "(S (CC and) (NP (DT a) (NN cat)) (VP (VBD ran)))",
        "(S (CC and) (DT a) (NN cat) (VP (VBD ran)))",
        [("other", 1)],
    ),
    (
        "a unary node",
        HE_SAW.format("(S (VP (VBG raining) (NP (NN ash))))"),
        HE_SAW.format("(VP (VBG raining) (NP (NN ash)))"),
        [("unary", 1)],
    ),
    (
        "another label",
        HE_SAW.format("(ADVP (RB so) (RB much))"),
        HE_SAW.format("(ADJP (RB so) (RB much))"),
        [("different label", 2)],
    ),
    (
        "a phrase of one word",
        "(S (NP (PRP he)) (VP (ADVP (RB often)) (VBD ate)))",
        "(S (NP (PRP he)) (VP (RB often) (VBD ate)))",
        [("single-word phrase", 1)],
    ),
    (
        "two phrases within a noun phrase",
        HE_SAW.format("(NP (DT a) (ADJP (RB very) (JJ old)) (NML (NN tin) (NN roof)) (NN house))"),
        HE_SAW.format("(NP (DT a) (RB very) (JJ old) (NN tin) (NN roof) (NN house))"),
        [("NP-internal structure", 2)],
    ),
    (
        "labels in another order",
        "(S (VP (VB go) (ADVP (RB away))))",
        "(VP (S (VB go) (ADVP (RB away))))",
        [("unary", 0)],
    ),
    ("PRT is ADVP", "(VP (VB go) (PRT (RP on)))", "(VP (VB go) (ADVP (RP on)))", []),
    (
        "punctuation, roots and functions do not count",
        "(ROOT (S (NP-SBJ (PRP he)) (VP (VBD ate) (. .))))",
        "((S (NP (PRP he)) (VP (VBD ate)) (. .)))",
        [],
    ),
]


@pytest.mark.parametrize(
    ("gold", "tree", "expected"), [each[1:] for each in CASES], ids=[c[0] for c in CASES]
)
def test_types(gold: str, tree: str, expected: list[tuple[str, int]]) -> None:
    (wanted,), (own,) = read_brackets([gold]), read_brackets([tree])
    check(wanted, own)
    found = find_errors(wanted, own)
    assert found is not None
    assert [(error.type.value, error.fixed) for error in found.errors] == expected


def test_descriptions() -> None:
    gold, tree = read_brackets([CASES[2][1], CASES[2][2]])
    found = find_errors(gold, tree)
    assert found is not None
    (repair,) = found.errors[0].repairs
    assert repair.describe(found.words) == "ADVP “there” belongs under VP, not under S"


def test_other_words_have_no_errors_to_find() -> None:
    a, b, c = read_brackets(["(S (NN a) (NN b))", "(S (NN a) (NN c))", "(S (, ,))"])
    assert find_errors(a, b) is None
    assert find_errors(c, c) is None


def chain(depth: int, inner: Tree) -> Tree:
    tree = inner
    for _ in range(depth):
        tree = Tree("NP", [Tree("DT", word="a"), tree])
    return tree


def test_deep_trees_do_not_recurse() -> None:
    flat = Tree("NP", [Tree("DT", word="b"), Tree("NN", word="c")])
    other = Tree("VP", flat.children)
    gold, tree = chain(20_000, flat), chain(20_000, other)
    found = find_errors(gold, tree)
    assert found is not None
    assert [(error.type, error.fixed) for error in found.errors] == [(ErrorType.DIFFERENT_LABEL, 2)]


def test_trees_with_nothing_in_common_have_one_error() -> None:
    leaves = [Tree("NN", word="w") for _ in range(900)]
    gold = tree = leaves[0]
    for leaf in leaves[1:]:
        gold, tree = Tree("NP", [gold, leaf]), Tree("VP", [tree, leaf])
    found = find_errors(gold, tree)
    assert found is not None
    (error,) = found.errors
    assert (error.type, error.fixed) == (ErrorType.OTHER, 2 * 899)
    assert canonical(found.repaired) == canonical(counted_tree(gold))


@pytest.mark.parametrize(
    ("gold", "tree", "kind"),
    [
        (
            "(s (sn (n Ana)) (v ve) (sn (n luz)) (sp (p en) (sn (n casa))))",
            "(s (sn (n Ana)) (v ve) (sn (n luz) (sp (p en) (sn (n casa)))))",
            "sp attachment",
        ),
        ("(s (sn (n Ana)) (gv (v ve) (a bien)))", "(s (sn (n Ana)) (v ve) (a bien))", "gv attachment"),
        ("(S (NP (N Ana)) (VP (V sees) (A well)))", "(S (NP (N Ana) (V sees)) (VP (A well)))", "other"),
    ],
)
def test_other_labels_have_types_of_their_own(gold: str, tree: str, kind: str) -> None:
    found = find_errors(*read_brackets([gold, tree]))
    assert found is not None
    assert [str(error.type) for error in found.errors] == [kind]
