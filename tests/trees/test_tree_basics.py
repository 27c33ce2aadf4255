from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from tree_strategies import nasty_words, plain_labels, plain_words, trees

from spectralnlp.trees import Tree, read_brackets


def parse(text: str) -> Tree:
    (tree,) = read_brackets([text])
    return tree


def test_node_is_a_phrase_or_a_preterminal():
    with pytest.raises(ValueError, match="either children or a word"):
        Tree("NP")
    with pytest.raises(ValueError, match="either children or a word"):
        Tree("NP", [Tree("NN", word="dog")], "dog")


def test_views_of_a_sentence():
    tree = parse("(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))")
    assert tree.words() == ["I", "see", "stars"]
    assert tree.tags() == ["PRP", "VBP", "NNS"]
    assert tree.spans() == [("S", 0, 3), ("NP", 0, 1), ("VP", 1, 3), ("NP", 2, 3)]
    assert tree.fold(lambda node, below: 1 + max(below, default=0)) == 4
    assert [node.label for node in tree.postorder()] == ["PRP", "NP", "VBP", "NNS", "NP", "VP", "S"]


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("(", "-LRB-"),
        (":(", ":-LRB-"),
        ("a)b", "a-RRB-b"),
        ("/", "/"),
        ("1 1/2", "1_1/2"),
        ("", "_"),
        ("a\u00a0b", "a\u00a0b"),
        ("\r\n", "__"),
        ("a\\b", "a\\b"),
        ("a\\", "a\\ "),
    ],
)
def test_tokens_are_written_so_that_brackets_stay_brackets(word, written):
    assert str(Tree("X", word=word)) == f"(X {written})"


@pytest.mark.parametrize("word", ["a\\", "\\", "a\\\\", "\\b"])
def test_backslashes_are_read_by_us_and_by_nltk(word):
    nltk = pytest.importorskip("nltk")
    tree = Tree("S", [Tree("X", word=word), Tree("Y", word="b")])
    assert parse(str(tree)) == tree
    assert nltk.Tree.fromstring(str(tree)).leaves() == [word, "b"]


@given(trees(plain_labels, nasty_words))
def test_what_is_written_can_be_read_and_written_again(tree):
    again = parse(str(tree))
    assert str(again) == str(tree)
    assert [label for label, *_ in again.spans()] == [label for label, *_ in tree.spans()]


@given(trees(plain_labels, plain_words))
def test_plain_trees_survive_writing_pickling_and_nltk(tree):
    assert parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert Tree.from_nltk(tree.to_nltk()) == tree
    assert hash(parse(str(tree))) == hash(tree)


def test_trees_that_differ_anywhere_are_unequal():
    tree = parse("(S (A a) (B b))")
    for other in ("(T (A a) (B b))", "(S (A a) (B c))", "(S (A a))", "(S (A a) (C b))"):
        assert parse(other) != tree
    assert tree != "(S (A a) (B b))"
