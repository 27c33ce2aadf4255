"""``spectralnlp_spacy.search``: patterns over documents, whose matches are spans."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")

import spacy
from spectralnlp_spacy import count, search
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_trees import PatternError, TreeIndex

from spectralnlp.trees import add_root, clean, read_trees


def test_documents_match_as_their_trees_do(gold_docs, own_treebank) -> None:
    docs = gold_docs(spacy.blank("en").vocab)
    trees = TreeIndex(
        add_root(tree) for tree in map(clean, read_trees(own_treebank / "train.mrg")) if tree is not None
    )
    for pattern in ("NP < NN=noun", "VP < (NP $+ PP)", "S !> __", "NN . IN", "TOP < S"):
        expected = [(each.text, each.label) for each in trees.search(pattern)]
        found = list(search(iter(docs), pattern))
        assert [(" ".join(t.text for t in each.span), each.span.label_) for each in found] == expected
        assert count(docs, pattern) == len(expected)
        assert count(docs, pattern, once=True) == trees.count(pattern, once=True)


def test_matches_are_spans_of_their_document(nlp) -> None:
    texts = ["The keeper feeds\n the gulls. They like it.", "The lamp is old."]
    docs = list(nlp.pipe(texts))
    found = list(search(docs, "NP=phrase < /^(.)/#1%first ?< NN=noun"))
    assert found
    for match in found:
        assert match.span.doc in docs
        assert match.named["phrase"].text == match.span.text == match.text
        assert match.variables["first"]
    (sentence, other) = docs[0].sents
    assert count(sentence, "NP") + count(other, "NP") == count(docs[0], "NP")
    inside = list(search(other, "NP"))
    assert all(each.span.start >= other.start for each in inside)


def test_what_cannot_be_searched_is_refused(nlp) -> None:
    with pytest.raises(PatternError):
        search(nlp("A lamp."), "NP <")
    with pytest.raises(ComponentError):
        list(search(spacy.blank("en")("A lamp."), "NP"))
    assert list(search([], "NP")) == []
    assert count(nlp(""), "NP") == 0
