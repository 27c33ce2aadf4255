"""``spectral_parser`` with ``dependencies``: heads and relations of tokens, and sentences that stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy")

TEXT = "The keeper sleeps. It is cold in the tower, and the gulls are noisy.  The lamp burns."


def _pipeline(parser_folder: Path, **settings: Any) -> Any:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("spectral_parser", config={"model": str(parser_folder), **settings})
    return nlp


def test_heads_and_relations_are_those_of_the_trees(parser_folder: Path) -> None:
    doc = _pipeline(parser_folder, dependencies=True)(TEXT)
    assert doc.has_annotation("DEP")
    for sentence in doc.sents:
        words = [token for token in sentence if not token.is_space]
        assert [token.head.i for token in sentence].count(sentence.root.i) >= 1
        assert {token.sent.start for token in sentence} == {sentence.start}
        assert [token for token in words if token.dep_ == "ROOT"] == [sentence.root]
    first = next(doc.sents)
    assert [(token.dep_, token.head.text) for token in first][:2] == [("det", "keeper"), ("nsubj", "sleeps")]


def test_sentences_stay(parser_folder: Path) -> None:
    without, with_ = _pipeline(parser_folder)(TEXT), _pipeline(parser_folder, dependencies=True)(TEXT)
    assert [s.text for s in without.sents] == [s.text for s in with_.sents]
    assert not without.has_annotation("DEP")


@pytest.mark.filterwarnings("ignore:.*SW002")
def test_white_space_and_long_sentences(parser_folder: Path) -> None:
    nlp = _pipeline(parser_folder, dependencies=True, max_length=4)
    for text in (
        "",
        "  ",
        " It is late. ",
        "It is cold in the tower and the gulls are noisy and the lamp burns.",
    ):
        doc = nlp(text)
        assert all(token.head.sent == token.sent for token in doc)
        assert sum(token.head is token or token.head == token for token in doc) == len(list(doc.sents))


def test_a_parse_that_is_there_stays(parser_folder: Path) -> None:
    from spacy.tokens import Doc

    nlp = _pipeline(parser_folder, dependencies=True)
    doc = Doc(nlp.vocab, words=["It", "burns"], heads=[1, 1], deps=["mine", "ROOT"])
    assert [token.dep_ for token in nlp.get_pipe("spectral_parser")(doc)] == ["mine", "ROOT"]


def test_noun_chunks_stay_those_of_the_trees(parser_folder: Path) -> None:
    from spacy.tokens import DocBin

    nlp = _pipeline(parser_folder, dependencies=True)
    doc = nlp("The keeper climbs the stairs. It is cold.")
    assert doc.has_annotation("DEP")
    (again,) = DocBin(docs=[doc]).get_docs(nlp.vocab)
    part = next(doc.sents)._.as_doc()
    for each in (doc, again, part):
        assert [chunk.text for chunk in each.noun_chunks][:2] == ["The keeper", "the stairs"]
