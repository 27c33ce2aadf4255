"""``spectral_parser`` under constraints: spans of a document that its trees must have."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc, Span
from spectralnlp_spacy.errors import ComponentError

import spectralnlp

FIRST = ["Marta", "walks", "."]
SECOND = ["The", "keeper", "saw", "the", "old", "ship", "in", "the", "harbor", "."]


@pytest.fixture(scope="module")
def parser_pipe(parser_folder):
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_parser", config={"model": str(parser_folder), "constraints": "known"})
    return nlp


def document(nlp, spans, first=FIRST, second=SECOND):
    words = [*first, *second]
    doc = Doc(nlp.vocab, words=words, sent_starts=[i in (0, len(first)) for i in range(len(words))])
    if spans is not None:
        doc.spans["known"] = [Span(doc, start, end, label=label) for start, end, label in spans]
    return doc


def constituents(doc):
    return {(span.start, span.end, span.label_) for span in doc.spans["constituents"]}


def test_spans_are_constituents(parser_pipe, parser_folder) -> None:
    core = spectralnlp.load(parser_folder)
    free, bound = parser_pipe.pipe([document(parser_pipe, None), document(parser_pipe, [(6, 12, "NP")])])
    expected = core.parse_tokens(SECOND, brackets=[(3, 9, "NP")])
    assert {(c.start + 3, c.end + 3, c.label) for c in expected.constituents} <= constituents(bound)
    assert [span.label_ for span in bound.spans["known"]] == ["NP"]
    assert constituents(parser_pipe(document(parser_pipe, []))) == constituents(free)


def test_a_span_without_a_label_is_some_constituent(parser_pipe) -> None:
    for end in (6, 8, 10):
        doc = parser_pipe(document(parser_pipe, [(4, end, ""), (0, 3, "")]))
        assert {(4, end), (0, 3)} <= {(start, stop) for start, stop, _ in constituents(doc)}


def test_white_space_in_and_around_spans_is_no_word(parser_pipe) -> None:
    spaced = ["\n", "The", "keeper", "  ", "saw", "the", "\n", "old", "ship", "in", "the", "harbor", "."]
    spans = [(3, 7, "NP"), (9, 13, ""), (6, 7, "VP")]  # the last one is white space only
    doc = parser_pipe(document(parser_pipe, spans, second=spaced))
    found = constituents(doc)
    assert (4, 6, "NP") in found
    assert (10, 13) in {span[:2] for span in found}


def test_k_best_trees_have_the_spans(parser_pipe) -> None:
    doc = parser_pipe(document(parser_pipe, [(4, 8, "")]))
    for each in parser_pipe.get_pipe("spectral_parser").k_best(doc[3:13], 3):
        assert (1, 5) in {(start, end) for _, start, end in each.tree.spans()}


@pytest.mark.parametrize(
    ("spans", "what"),
    [
        ([(1, 5, "NP")], "[SN017] 'spectral_parser': in doc.spans['known'], 'NP' over tokens 1 to 5"),
        ([(3, 5, "NP"), (4, 6, "")], "brackets (0, 2, 'NP') and (1, 3) cross"),
        ([(3, 5, "XYZ")], "'XYZ' is no phrase of the model"),
        ([(3, 5, "DT")], "'DT' is a tag, no phrase"),
    ],
)
def test_spans_that_cannot_be_met_are_refused(parser_pipe, spans, what) -> None:
    with pytest.raises(ComponentError) as refusal:
        parser_pipe(document(parser_pipe, spans))
    assert what in str(refusal.value)
    assert "'known'" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_long_sentence_with_spans_is_parsed_as_a_whole(parser_folder) -> None:
    nlp = spacy.blank("en")
    config = {"model": str(parser_folder), "constraints": "known", "max_length": 6}
    nlp.add_pipe("spectral_parser", config=config)
    for span in ((3, 9), (3, 10)):
        doc = nlp(document(nlp, [(*span, "")]))
        assert span in {each[:2] for each in constituents(doc)}
        assert doc[3:4].sent._.fallback is None


def test_the_setting_is_saved(parser_pipe, tmp_path) -> None:
    parser_pipe.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    doc = again(document(again, [(4, 8, "")]))
    assert (4, 8) in {span[:2] for span in constituents(doc)}
