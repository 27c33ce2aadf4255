"""``spectralnlp_spacy.render``: drawings of documents and sentences, for files, pages and notebooks."""

from __future__ import annotations

import sys
import types
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("spacy")

import spectralnlp_spacy
from spacy_texts import TEXT
from spectralnlp_spacy.errors import ComponentError

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: str) -> list[str]:
    return [element.text for element in ET.fromstring(drawing).iter(f"{SVG}text")]


def test_a_sentence_is_one_drawing(nlp) -> None:
    sentence = next(nlp(TEXT).sents)
    drawn = texts(spectralnlp_spacy.render(sentence, options={"scores": False}))
    words = {token.text for token in sentence}
    assert [text for text in drawn if text in words - {"."}] == [t.text for t in sentence][:-1]
    assert drawn[0] == "TOP"
    scored = texts(spectralnlp_spacy.render(sentence))  # posteriors stand below labels
    assert scored[:2] == ["TOP", "S"]
    assert 0 <= float(scored[2]) <= 1


def test_documents_are_a_drawing_a_sentence(nlp) -> None:
    docs = list(nlp.pipe([TEXT, "", "The lamp is ready."]))
    lines = spectralnlp_spacy.render(docs, jupyter=False).splitlines()
    assert len(lines) == 4
    assert all(texts(line)[0] == "TOP" for line in lines)


def test_a_page_is_whole_and_escaped(nlp, tmp_path) -> None:
    page = spectralnlp_spacy.render(nlp("The <b> lamp & co."), page=True)
    assert page.startswith("<!DOCTYPE html>")
    assert "<b>" not in page
    assert page.count("<figure>") == page.count("</svg></figure>") == 1
    (tmp_path / "tree.html").write_text(page, encoding="utf-8")


def test_notebooks_show_it(nlp, monkeypatch) -> None:
    shown = []
    display = types.SimpleNamespace(HTML=lambda text: ("html", text), display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert spectralnlp_spacy.render(nlp(TEXT), jupyter=True) is None
    ((kind, text),) = shown
    assert kind == "html"
    assert text.count(">TOP<") == 3


def test_what_was_not_parsed_cannot_be_drawn(nlp) -> None:
    with pytest.raises(ComponentError, match="SN010"):
        spectralnlp_spacy.render(nlp.make_doc("Hi"))
