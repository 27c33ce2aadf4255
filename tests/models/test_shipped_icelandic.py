"""The Icelandic models that ship: text becomes tokens as in their treebank; the languages of spaCy."""

from __future__ import annotations

from pathlib import Path

import pytest

import spectralnlp
from spectralnlp import registry

pytestmark = pytest.mark.usefixtures("language_models")

TEXT = "Skipið kom að landi um kvöldið. Hvað sagði maðurinn?"


@pytest.mark.slow
def test_icelandic_text_is_parsed_with_articles_cut_off() -> None:
    first, second = spectralnlp.load("is").parse(TEXT)
    assert first.tree.words() == ["Skip$", "$ið", "kom", "að", "landi", "um", "kvöld$", "$ið", "."]
    assert second.tree.words()[-3:] == ["maður$", "$inn", "?"]
    assert {"IP", "NP", "PP"} <= {node.label for node in first.tree.nodes()}
    assert "".join(token.text for token in first.sentence.tokens) == "Skipiðkomaðlandiumkvöldið."


@pytest.mark.slow
def test_icelandic_words_are_tagged() -> None:
    (first, *_) = spectralnlp.load("is-tagger").tag(TEXT)
    assert first.sentence.words[:2] == ["Skip", "ið"]
    assert first.tags[:4] == ("N-N", "D-N", "VBDI", "P")


@pytest.mark.parametrize("name", ["is", "is-tagger"])
def test_they_are_small_and_say_where_they_come_from(name: str) -> None:
    folder = Path(registry.models.get(name))
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 25_000_000
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in card
    assert "IcePaHC" in card
    assert "ACCURACY" not in card


@pytest.mark.slow
def test_spacy_takes_the_grammar_of_the_pipelines_language() -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("is")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("spectral_parser")
    doc = nlp("Hann kom heim.")
    assert [token.text for token in doc] == ["Hann", "kom", "heim", "."]
    assert next(doc.sents)._.parse_string.startswith("(")
    assert doc[1].tag_ == "VBDI"


@pytest.mark.slow
def test_a_language_without_a_grammar_is_not_parsed_as_english() -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("sv")
    nlp.add_pipe("spectral_parser")
    with pytest.raises(ValueError, match="none is installed for the language 'sv'"):
        nlp("Han kom hem.")
