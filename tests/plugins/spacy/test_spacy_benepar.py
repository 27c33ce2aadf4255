"""benepar's documented behaviour, line by line of docs/how-to/from-benepar.md; and spaCy's own idioms."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("spacy")

import spacy
import spectralnlp_spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab
from spectralnlp_spacy.constituents import Bracket, write_constituents
from spectralnlp_spacy.errors import ComponentError
from spectralnlp_spacy.noun_phrases import base_noun_phrases
from spectralnlp_spacy.sentences import words_of

TEXT = "The old keeper saw a ship in the harbor. She waited!\n\n"
TREES = [
    "(S (NP (DT The) (JJ old) (NN keeper)) (VP (VBD saw) (NP (NP (DT a) (NN ship)) (PP (IN in) "
    "(NP (DT the) (NN harbor))))) (. .))",
    "(S (NP (PRP She)) (VP (VBD waited)) (. !))",
]


@pytest.fixture
def doc(nlp):
    return nlp(TEXT)


def test_every_sentence_has_a_parse_string_white_space_an_empty_one(doc) -> None:
    *strings, last = [sent._.parse_string for sent in doc.sents]
    assert [string.split()[0] for string in strings] == ["(S", "(S"]
    assert strings[1] == TREES[1]
    assert last == ""


def test_white_space_alone_has_nothing(nlp) -> None:
    (sentence,) = nlp("\n").sents
    assert sentence._.labels == ()
    assert list(sentence._.constituents) == list(sentence._.children) == []
    assert sentence._.parent is sentence._.tree is sentence._.confidence is sentence._.fallback is None
    assert sentence[0]._.parse_string == ""
    with pytest.raises(ComponentError, match="SN010"):
        Doc(nlp.vocab, words=["\n"])[0:1]._.parse_string  # noqa: B018


def test_labels_are_a_tuple_and_empty_for_a_word(doc) -> None:
    sentence = next(doc.sents)
    assert sentence._.labels == ("S",)
    assert doc[0:3]._.labels == ("NP",)
    assert doc[0:1]._.labels == ()


def test_a_unary_chain_is_one_span_with_several_labels(nlp) -> None:
    doc = Doc(nlp.vocab, words=["Go"], sent_starts=[True])
    write_constituents(doc, "constituents", [Bracket("S", 0, 1), Bracket("VP", 0, 1)], ["VB"])
    assert doc[0:1]._.labels == ("S", "VP")
    assert doc[0:1]._.parse_string == "(S (VP (VB Go)))"
    assert len(list(doc[0:1]._.constituents)) == 1


def test_constituents_come_parents_first_with_the_sentence_first(doc) -> None:
    sentence = next(doc.sents)
    spans = list(sentence._.constituents)
    assert all(isinstance(span, Span) for span in spans)
    assert spans[0] == sentence
    assert [span.text for span in spans[1:5]] == ["The old keeper", "The", "old", "keeper"]


def test_children_and_parents(doc) -> None:
    sentence = next(doc.sents)
    first, *_, last = sentence._.children
    assert (first.text, last.text) == ("The old keeper", ".")
    assert first._.parent == sentence
    assert sentence._.parent is None


def test_tokens_behave_as_spans_of_length_one(doc) -> None:
    token = doc[2]
    assert (token._.labels, token._.parse_string, token._.parent.text) == (
        (),
        "(NN keeper)",
        "The old keeper",
    )
    assert not token.has_extension("children")
    assert not token.has_extension("constituents")


def test_a_span_that_is_no_constituent_raises(doc) -> None:
    for name in ("labels", "parse_string", "parent"):
        with pytest.raises(spectralnlp_spacy.NonConstituentException, match="SN011"):
            getattr(doc[1:5]._, name)
    assert spectralnlp_spacy.NonConstituentException is spectralnlp_spacy.NotAConstituentError


def test_documents_go_through_a_docbin_and_json(doc, nlp) -> None:
    strings = [sent._.parse_string for sent in doc.sents]
    (packed,) = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert [sent._.parse_string for sent in packed.sents] == strings
    assert next(packed.sents)._.confidence == next(doc.sents)._.confidence
    written = json.loads(json.dumps(doc.to_json()))
    again = Doc(nlp.vocab).from_json(written)
    assert [sent._.parse_string for sent in again.sents] == strings  # posteriors are not in it
    assert again[0:3]._.confidence is None


def test_a_sentence_as_a_document_keeps_its_tree(doc, nlp) -> None:
    for sentence in doc.sents:
        copy = sentence._.as_doc()
        assert copy.text == sentence.as_doc().text
        assert [span._.parse_string for span in copy.sents] == [sentence._.parse_string]
        if words_of(copy):
            assert next(copy.sents)._.confidence == sentence._.confidence
            assert [chunk.text for chunk in copy.noun_chunks] == [c.text for c in sentence.noun_chunks]
    part = doc[3:6]._.as_doc()
    assert [span.text for span in part.spans["constituents"]] == ["a ship"]
    with pytest.raises(ComponentError, match=r"span\._\.as_doc"):
        next(doc.sents).as_doc()[0:1]._.labels  # noqa: B018


def test_fallbacks_go_with_the_copy(nlp) -> None:
    doc = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, True])
    write_constituents(
        doc, "constituents", [Bracket("X", 0, 1), Bracket("X", 1, 2)], ["A", "B"], [(1, "why")]
    )
    assert [next(sent._.as_doc().sents)._.fallback for sent in doc.sents] == [None, "why"]


# ---------------------------------------------------------------------------------------------------------
# Noun chunks


def test_noun_chunks_are_base_noun_phrases(doc, nlp) -> None:
    chunks = list(doc.noun_chunks)
    assert [chunk.text for chunk in chunks][:2] == ["The old keeper", "a ship"]
    assert chunks[-1].text == "She"
    assert {chunk.label_ for chunk in chunks} == {"NP"}
    assert [chunk.text for chunk in list(doc.sents)[1].noun_chunks] == ["She"]
    (again,) = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert [chunk.text for chunk in again.noun_chunks] == [chunk.text for chunk in chunks]


@pytest.mark.parametrize(
    ("brackets", "tags", "expected"),
    [
        ([("NP", 0, 3)], "DT NN NN", [(0, 3)]),
        ([("NP", 0, 5), ("NP", 0, 2), ("PP", 2, 5), ("NP", 3, 5)], "DT NN IN DT NN", [(0, 2), (3, 5)]),
        ([("NP", 0, 3), ("NP", 0, 2)], "NNP POS NN", [(0, 3)]),
        ([("NP", 0, 5), ("NP", 0, 4), ("NP", 0, 2)], "NNP POS NN POS NN", [(0, 5)]),
        (
            [("NP", 0, 7), ("NP", 0, 6), ("NP", 0, 2), ("PP", 2, 5), ("NP", 3, 5)],
            "DT NN IN NNP NNP POS NN",
            [(0, 2), (3, 5)],
        ),
        ([("NP", 0, 2), ("NP-SBJ", 0, 2)], "DT NN", [(0, 2)]),
        ([("NP", 0, 3), ("NP", 0, 1), ("NP", 2, 3)], "NN CC NN", [(0, 1), (2, 3)]),
        ([("VP", 0, 2)], "VB RB", []),
    ],
)
def test_what_a_base_noun_phrase_is(brackets, tags, expected) -> None:
    words = tags.split()
    doc = Doc(spacy.blank("en").vocab, words=words)
    write_constituents(doc, "constituents", [Bracket(*each) for each in brackets], words)
    assert base_noun_phrases(doc, "constituents", 0, len(doc)) == expected


def test_a_dependency_parse_and_other_documents_keep_spacys_noun_chunks(nlp) -> None:
    doc = nlp("The keeper waited.")
    for token, dep in zip(doc, ["det", "nsubj", "ROOT", "punct"], strict=True):
        token.dep_, token.pos_ = dep, {"det": "DET", "nsubj": "NOUN"}.get(dep, "VERB")
    doc[0].head, doc[1].head, doc[3].head = doc[1], doc[2], doc[2]
    assert [chunk.text for chunk in doc.noun_chunks] == ["The keeper"]
    with pytest.raises(ValueError, match="E029"):
        list(nlp.make_doc("not parsed").noun_chunks)
    plain = spacy.blank("en")
    plain.add_pipe("spectral_parser", config={"noun_chunks": False})
    assert plain.vocab.get_noun_chunks is spacy.blank("en").vocab.get_noun_chunks


@pytest.mark.parametrize("vocab", [Vocab(), spacy.blank("en").vocab, spacy.blank("xx").vocab])
def test_noun_chunks_of_a_document_over_another_vocabulary(nlp, vocab) -> None:
    words = ["The", "keeper", "waited", "."]
    doc = nlp.get_pipe("spectral_parser")(Doc(vocab, words=words, sent_starts=[True, False, False, False]))
    expected = [chunk.text for chunk in nlp("The keeper waited.").noun_chunks]
    assert [chunk.text for chunk in doc.noun_chunks] == expected
    assert [chunk.text for chunk in doc[:3].noun_chunks] == expected


# ---------------------------------------------------------------------------------------------------------
# Tags of earlier components, and usual taggers


def parsed_with(parser_folder, use_tags, tags):
    """The document's own tags, those of the parser, and its constituents."""
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config={"model": str(parser_folder), "use_tags": use_tags})
    words = ["The", "keeper", "climbs", "the", "stairs", "."]
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[True, *[False] * 5], tags=tags))
    tokens = [token.tag_ for token in doc]
    assert [tag for _, tag in next(doc.sents)._.tree.pos()] == tokens  # whoever has set them
    group = doc.spans["constituents"]
    return tokens, group.attrs["tags"], [(span.start, span.end, span.label_) for span in group]


def test_tags_of_earlier_components(parser_folder) -> None:
    none = [""] * 6
    strange = ["DT", "NN", "NNS", "DT", "NNS", "."]
    tokens, tags, brackets = parsed_with(parser_folder, "none", strange)
    assert tokens == strange != tags
    for use_tags in ("evidence", "fixed"):
        assert parsed_with(parser_folder, use_tags, none) == (tags, tags, brackets)
    assert parsed_with(parser_folder, "fixed", strange)[:2] == (strange, strange)
    partly = parsed_with(parser_folder, "fixed", ["", "", "NNS", "", "", ""])
    assert partly[0][2] == partly[1][2] == "NNS"
    with pytest.raises(ComponentError, match=r"SN009.*evidence"):
        parsed_with(parser_folder, "sometimes", none)


@pytest.mark.slow
def test_the_tagger_has_a_usual_model_or_says_what_there_is() -> None:
    for attribute, tags in (("tag", ["DT", "NN"]), ("pos", ["DET", "NOUN"])):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("spectral_tagger", config={"attribute": attribute})
        doc = nlp("The keeper waited.")
        assert [getattr(token, f"{attribute}_") for token in doc][:2] == tags
    german = spacy.blank("de")
    german.add_pipe("sentencizer")
    german.add_pipe("spectral_tagger")
    with pytest.raises(ComponentError, match="installed are en-tagger, en-upos"):
        german("Das Haus.")
