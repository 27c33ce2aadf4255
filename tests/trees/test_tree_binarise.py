from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import nasty_labels, plain_words, trees

from spectralnlp.errors import ConfigError
from spectralnlp.trees import (
    Binariser,
    Tree,
    head_leaf_positions,
    is_intermediate,
    labels_of,
    read_brackets,
    restore,
    split_annotation,
    symbol_of,
    unary_chains,
)

binarisers = st.builds(
    Binariser,
    direction=st.sampled_from(["head", "left", "right"]),
    vertical=st.integers(0, 3),
    horizontal=st.integers(-1, 3),
    mark_direction=st.booleans(),
    unaries=st.sampled_from(["compress", "collapse"]),
    annotate_tags=st.booleans(),
    heads=st.sampled_from(["english", "neutral"]),
)
nasty_trees = trees(nasty_labels, plain_words)


def parse(text: str) -> Tree:
    (tree,) = read_brackets([text])
    return tree


def compressed(tree: Tree) -> Tree:
    """The tree that compression leaves, found the slow way."""
    labels, node = [tree.label], tree
    while len(node.children) == 1:
        node = node.children[0]
        labels.append(node.label)
    below = Tree(labels[-1], [compressed(child) for child in node.children], node.word)
    repeats = len(labels) == 1 or (labels[0] == labels[-1] and not below.is_preterminal)
    return below if repeats else Tree(labels[0], [below])


def bare(tree: Tree) -> Tree:
    return tree.fold(lambda node, below: Tree(split_annotation(node.label)[0], below, node.word))


# ---------------------------------------------------------------------------------------------------------
# Symbols


@given(st.lists(nasty_labels, min_size=1))
def test_symbols_can_be_taken_apart(labels):
    symbol = symbol_of(*labels)
    assert labels_of(symbol) == tuple(labels)
    assert split_annotation(symbol) == (symbol, "")
    assert split_annotation(f"{symbol}^S@NP^{symbol}") == (symbol, f"S@NP^{symbol}")
    assert not is_intermediate(symbol)


@pytest.mark.parametrize("label", ["ADVP|PRT", "-LRB-", "PRP$", ".", "grup.nom.ms", "S*"])
def test_ordinary_labels_are_their_own_symbols(label):
    assert symbol_of(label) == label


# ---------------------------------------------------------------------------------------------------------
# Known trees


FLAT = "(NP (DT a) (JJ b) (NN c) (PP (IN d) (NP (NN e))) (. f))"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "(NP (DT a) (@NP< (JJ b) (@NP> (@NP> (NN c) (PP (IN d) (NP (NN e)))) (. f))))"),
        (
            {"direction": "left"},
            "(NP (@NP> (@NP> (@NP> (DT a) (JJ b)) (NN c)) (PP (IN d) (NP (NN e)))) (. f))",
        ),
        (
            {"direction": "right"},
            "(NP (DT a) (@NP< (JJ b) (@NP< (NN c) (@NP< (PP (IN d) (NP (NN e))) (. f)))))",
        ),
        (
            {"mark_direction": False, "unaries": "collapse"},
            "(NP (DT a) (@NP (JJ b) (@NP (@NP (NN c) (PP (IN d) (NP+NN e))) (. f))))",
        ),
        (
            {"vertical": 1, "horizontal": 1},
            "(NP (DT a) (@NP<^@JJ (JJ b) (@NP>^@. (@NP>^@PP (NN c) (PP^NP (IN d) (NP^PP (NN e)))) (. f))))",
        ),
        (
            {"vertical": 2, "horizontal": -1, "annotate_tags": True, "direction": "right"},
            "(NP (DT^NP a) (@NP<^@JJ^NN^PP^. (JJ^NP b) (@NP<^@NN^PP^. (NN^NP c) (@NP<^@PP^. "
            "(PP^NP (IN^PP^NP d) (NP^PP^NP (NN^NP^PP e))) (.^NP f)))))",
        ),
        (
            {"annotate_tags": True},
            "(NP (DT^NP a) (@NP< (JJ^NP b) (@NP> (@NP> (NN^NP c) (PP (IN^PP d) (NP (NN^NP e)))) (.^NP f))))",
        ),
    ],
)
def test_a_flat_phrase(settings, expected):
    assert str(Binariser(**settings).binarise(parse(FLAT))) == expected


@pytest.mark.parametrize(
    ("settings", "tree", "expected"),
    [
        ({}, "(ROOT (S (VP (VB go) (RB on))))", "(ROOT (VP (VB go) (RB on)))"),
        ({}, "(NP (QP (NP (NN a) (NN b))))", "(NP (NN a) (NN b))"),
        ({}, "(X (Y (X x)))", "(X (X x))"),  # a phrase over a tag, whatever they are called
        ({"unaries": "collapse"}, "(NP (QP (NP (NN a) (NN b))))", "(NP+QP+NP (NN a) (NN b))"),
        ({"unaries": "collapse"}, "(S (VP (VB go)))", "(S+VP+VB go)"),
        (
            {"vertical": 2},
            "(S (NP (A a)) (VP (X (Y (B b) (C c)))))",
            "(S (NP^S (A a)) (VP^S (Y^VP^S (B b) (C c))))",
        ),
        (
            {"vertical": 2, "unaries": "collapse"},
            "(S (NP (A a)) (VP (X (Y (B b) (Z (C c) (D d))))))",
            "(S (NP+A a) (VP+X+Y^S (B b) (Z^Y^X (C c) (D d))))",
        ),
        ({"vertical": 1}, "(S (A a) (VP (B b) (C c) (D d)))", "(S (A a) (VP^S (@VP>^S (B b) (C c)) (D d)))"),
    ],
)
def test_chains(settings, tree, expected):
    assert str(Binariser(**settings).binarise(parse(tree))) == expected


def test_the_chain_seen_most_often_comes_back():
    tree = parse("(S (VP (X (Y (VB go) (RB on)))) (NP (NP (NN x))) (FRAG (Q (FRAG (UH oh) (UH oh)))))")
    assert list(unary_chains(tree)) == [("VP", "X", "Y"), ("NP", "NP", "NN")]
    chains = {(chain[0], chain[-1]): chain for chain in unary_chains(tree)}
    restored = restore(Binariser().binarise(tree), chains)
    assert restored == parse("(S (VP (X (Y (VB go) (RB on)))) (NP (NP (NN x))) (FRAG (UH oh) (UH oh)))")


def test_an_added_root_may_stay():
    tree = Tree("TOP", [Binariser(unaries="collapse").binarise(parse("(S (VP (VB go)))"))])
    assert restore(tree) == parse("(TOP (S (VP (VB go))))")


def test_an_intermediate_cannot_be_the_root():
    with pytest.raises(ValueError, match="intermediate"):
        restore(parse("(@NP> (DT a) (NN b))"))


# ---------------------------------------------------------------------------------------------------------
# Laws


@given(nasty_trees, binarisers)
def test_every_node_is_binary_or_a_word_or_a_lone_unary(tree, binariser):
    for node in binariser.binarise(tree).nodes():
        assert len(node.children) <= 2
        if len(node.children) == 1:
            assert binariser.unaries == "compress"
            assert len(node.children[0].children) != 1


@given(nasty_trees, binarisers)
def test_binarising_inverts_exactly(tree, binariser):
    binary = binariser.binarise(tree)
    expected = tree if binariser.unaries == "collapse" else compressed(tree)
    assert restore(binary) == restore(bare(binary)) == expected


@given(nasty_trees)
def test_each_chain_comes_back_if_it_is_the_only_one_of_its_pair(tree):
    found = Counter(unary_chains(tree))
    chains = {(chain[0], chain[-1]): chain for chain in found}
    restored = restore(Binariser().binarise(tree), chains)
    if len(chains) == len(found):
        assert Counter(unary_chains(restored)) == found


@given(nasty_trees, binarisers)
def test_annotation_never_joins_what_was_apart(tree, binariser):
    plain = Binariser(direction=binariser.direction, unaries=binariser.unaries, heads=binariser.heads)
    if binariser.mark_direction:
        assert bare(binariser.binarise(tree)) == plain.binarise(tree)


@pytest.mark.parametrize(
    ("direction", "unaries"), list(itertools.product(["head", "left", "right"], ["compress", "collapse"]))
)
def test_deep_and_wide_trees(direction, unaries):
    chain = parse("".join(f"(X{i} " for i in range(1000)) + "(Y y)" + ")" * 1000)
    wide = Tree("S", [chain, *(Tree("NN", word=str(i)) for i in range(400))])
    binariser = Binariser(direction=direction, unaries=unaries, vertical=1, horizontal=2)
    binary = binariser.binarise(wide)
    assert restore(binary, {chain[:: len(chain) - 1]: chain for chain in unary_chains(wide)}) == wide
    assert len(head_leaf_positions(binary)) == len(binary.postorder())


# ---------------------------------------------------------------------------------------------------------
# Settings


@given(binarisers)
def test_settings_survive_json(binariser):
    assert Binariser.from_dict(json.loads(json.dumps(binariser.to_dict()))) == binariser


@pytest.mark.parametrize(
    "settings",
    [
        {"direction": "up"},
        {"unaries": "keep"},
        {"vertical": -1},
        {"horizontal": -2},
        {"heads": "x"},
        {"depth": 1},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError):
        Binariser.from_dict(settings)


# ---------------------------------------------------------------------------------------------------------
# Heads


def heads_by_label(tree: Tree) -> list[tuple[str, str]]:
    words = tree.words()
    return [(n.label, words[p]) for n, p in zip(tree.postorder(), head_leaf_positions(tree), strict=True)]


def test_heads_of_a_head_outward_tree():
    tree = Binariser().binarise(parse("(S (NP (DT the) (JJ old) (NN man) (RB here)) (VP (VBZ eats)) (. .))"))
    assert heads_by_label(tree) == [
        ("DT", "the"),
        ("JJ", "old"),
        ("NN", "man"),
        ("RB", "here"),
        ("@NP>", "man"),
        ("@NP<", "man"),
        ("NP", "man"),
        ("VBZ", "eats"),
        ("VP", "eats"),
        (".", "."),
        ("@S>", "eats"),
        ("S", "eats"),
    ]


def test_heads_of_other_binarisations_are_those_of_the_phrase():
    tree = parse("(NP (DT the) (JJ old) (NN man) (RB here))")
    left = Binariser(direction="left").binarise(tree)
    assert heads_by_label(left) == [
        ("DT", "the"),
        ("JJ", "old"),
        ("@NP>", "old"),
        ("NN", "man"),
        ("@NP>", "man"),
        ("RB", "here"),
        ("NP", "man"),
    ]


@given(nasty_trees, binarisers)
def test_a_phrase_has_the_same_head_however_it_is_binarised(tree, binariser):
    def phrases(binary: Tree) -> list[int]:
        positions = head_leaf_positions(binary, binariser.heads)
        nodes = binary.postorder()
        assert all(0 <= position < len(binary.words()) for position in positions)
        return [p for n, p in zip(nodes, positions, strict=True) if not is_intermediate(n.label)]

    other = Binariser(direction="left", unaries=binariser.unaries, heads=binariser.heads)
    assert phrases(binariser.binarise(tree)) == phrases(other.binarise(tree))
