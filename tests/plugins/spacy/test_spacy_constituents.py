"""Constituents in documents: whatever trees go in come out, nested, over every word."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")

import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spectralnlp_spacy.constituents import (
    Bracket,
    brackets_of,
    build_trees,
    read_brackets,
    read_chains,
    tree_of,
    write_constituents,
)
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_spacy.extensions import Getters, NotAConstituentError
from spectralnlp_spacy.sentences import words_of

from spectralnlp.trees import Tree

VOCAB = spacy.blank("en").vocab
KEY = "constituents"
LABELS = st.sampled_from(["S", "NP", "VP", "PP", "X"])
LEAVES = st.builds(lambda tag, word: Tree(tag, word=word), st.sampled_from(["NN", "VB"]), st.just("word"))
TREES = st.recursive(
    LEAVES, lambda below: st.builds(Tree, LABELS, st.lists(below, min_size=1, max_size=3)), max_leaves=12
).map(lambda tree: tree if tree.children else Tree("S", [tree]))


@st.composite
def documents(draw):
    """A document of one to three sentences with white space here and there, and its trees."""
    trees = draw(st.lists(TREES, min_size=1, max_size=3))
    words, tags, starts, places = [], [], [], []
    for tree in trees:
        starts.append(len(words))
        place = []
        for leaf in tree.preterminals():
            if draw(st.booleans()):
                words.append("\n")
                tags.append("")
            place.append(len(words))
            words.append(leaf.word)
            tags.append(leaf.label)
        places.append(place)
    doc = Doc(VOCAB, words=words, sent_starts=[i in starts for i in range(len(words))])
    brackets = [
        bracket
        for tree, place in zip(trees, places, strict=True)
        for bracket in brackets_of(tree, place, 0.5)
    ]
    write_constituents(doc, KEY, brackets, tags)
    return doc, trees, brackets


@given(documents())
def test_constituents_rebuild_the_trees(made) -> None:
    doc, trees, brackets = made
    assert read_brackets(doc, KEY) == brackets
    restored = Doc(VOCAB).from_bytes(doc.to_bytes())
    for document in (doc, restored):
        found = [
            tree_of(document, KEY, s.start, s.end) for s in document.sents if words_of(doc, s.start, s.end)
        ]
        assert found == trees


@given(documents())
def test_constituents_nest_and_cover_every_word(made) -> None:
    doc, _, _ = made
    spans = [(bracket.start, bracket.end) for bracket in read_brackets(doc, KEY)]
    assert not any(a < c < b < d for a, b in spans for c, d in spans)
    assert all(any(start <= word < end for start, end in spans) for word in words_of(doc))


@given(documents())
def test_getters_agree_with_the_tree(made) -> None:
    doc, trees, _ = made
    getters = Getters(KEY)
    sentences = [sent for sent in doc.sents if words_of(doc, sent.start, sent.end)]
    for sentence, tree in zip(sentences, trees, strict=True):
        assert getters.parse_string(sentence) == str(tree)
        assert getters.parent(sentence) is None
        chain = [tree.label]
        while len(tree.children) == 1 and not tree.children[0].is_preterminal:
            tree = tree.children[0]
            chain.append(tree.label)
        assert getters.labels(sentence) == tuple(chain)
        words = words_of(doc, sentence.start, sentence.end)
        if len(words) > 1:
            children = list(getters.children(sentence))
            assert [len(words_of(doc, c.start, c.end)) for c in children] == [
                len(c.words()) for c in tree.children
            ]
            assert all(getters.parent(child) == doc[words[0] : words[-1] + 1] for child in children)
        unique = {(c.start, c.end) for c in read_chains(doc, KEY, sentence.start, sentence.end)}
        constituents = [(c.start, c.end) for c in getters.constituents(sentence)]
        assert set(constituents) == unique
        assert len(constituents) == len(unique)
        assert unique >= {(word, word + 1) for word in words}


def test_a_span_that_is_no_constituent_says_so() -> None:
    doc = Doc(VOCAB, words=["a", "b", "c"], sent_starts=[True, False, False])
    write_constituents(doc, KEY, [Bracket("S", 0, 3), Bracket("NP", 1, 3)], ["X", "Y", "Z"])
    with pytest.raises(NotAConstituentError, match=r"\[SN011\] 'a b'"):
        Getters(KEY).labels(doc[0:2])


def test_a_document_that_was_not_parsed_says_so() -> None:
    doc = Doc(VOCAB, words=["a"])
    with pytest.raises(ComponentError, match=r"\[SN010\].*spectral_parser"):
        Getters(KEY).labels(doc[0:1])


def test_crossing_constituents_are_refused() -> None:
    leaves = [Tree("X", word="w") for _ in range(3)]
    with pytest.raises(ComponentError, match="do not nest"):
        build_trees([Bracket("A", 0, 2), Bracket("B", 1, 3)], leaves, Tree)


def test_documents_put_together_keep_their_constituents() -> None:
    doc = Doc(VOCAB, words=["a", "b"], tags=["X", "Y"], sent_starts=[True, False])
    write_constituents(doc, KEY, [Bracket("S", 0, 2, 0.9)], ["X", "Y"])
    both = Doc.from_docs([doc, doc])
    assert [Getters(KEY).parse_string(each) for each in both.sents] == ["(S (X a) (Y b))"] * 2
    assert Getters(KEY).confidence(both[0:2]) is None


# ---------------------------------------------------------------------------------------------------------
# Tokens that are merged and split


def harbour(attrs: bool = True):
    """A document of two sentences with constituents; without ``attrs``, as Doc.from_docs leaves them."""
    words = ["The", "New", "Harbour", "is", "old", ".", "It", "sleeps", "."]
    tags = ["DT", "NNP", "NNP", "VBZ", "JJ", ".", "PRP", "VBZ", "."]
    doc = Doc(VOCAB, words=words, tags=tags, sent_starts=[i in (0, 6) for i in range(9)])
    brackets = [
        ("S", 0, 6),
        ("NP", 0, 3),
        ("VP", 3, 5),
        ("ADJP", 4, 5),
        ("S", 6, 9),
        ("NP", 6, 7),
        ("VP", 7, 8),
    ]
    write_constituents(doc, KEY, [Bracket(*each, 0.5) for each in brackets], tags, [(6, "why")])
    if not attrs:
        doc.spans[KEY].attrs.clear()
    return doc


def trees(doc) -> list[str]:
    return [str(tree_of(doc, KEY, sent.start, sent.end)) for sent in doc.sents]


SECOND = "(S (NP (PRP It)) (VP (VBZ sleeps)) (. .))"


@pytest.mark.parametrize("attrs", [True, False])
def test_constituents_follow_merged_tokens(attrs) -> None:
    doc = harbour(attrs)
    with doc.retokenize() as changes:
        changes.merge(doc[1:3])
    first = "(S (NP (DT The) (NNP New_Harbour)) (VP (VBZ is) (ADJP (JJ old))) (. .))"
    assert trees(doc) == [first, SECOND]
    assert [span.text for span in doc.spans[KEY]][:3] == [
        "The New Harbour is old .",
        "The New Harbour",
        "is old",
    ]
    getters = Getters(KEY)
    assert getters.labels(doc[0:2]) == ("NP",)
    assert [getters.fallback(sent) for sent in doc.sents] == [None, "why" if attrs else None]
    assert getters.confidence(doc[0:2]) == (0.5 if attrs else None)


def test_a_constituent_that_ends_within_a_merged_token_is_left_out() -> None:
    doc = harbour()
    with doc.retokenize() as changes:
        changes.merge(doc[2:4])
    assert trees(doc)[0] == "(S (DT The) (NNP New) (NNP Harbour_is) (ADJP (JJ old)) (. .))"
    assert trees(doc)[1] == SECOND


def test_constituents_follow_tokens_that_are_merged_and_split() -> None:
    doc = harbour()
    with doc.retokenize() as changes:
        changes.merge(doc[1:3])
        changes.split(doc[7], ["sle", "eps"], heads=[(doc[7], 1), (doc[7], 0)], attrs={"TAG": ["JJ", "DT"]})
    assert len(doc) == 9  # as many as before
    assert trees(doc)[1] == "(S (NP (PRP It)) (VP (JJ sle) (DT eps)) (. .))"
    assert trees(doc)[0].startswith("(S (NP (DT The) (NNP New_Harbour)) (VP")
