"""Parses, trees and tagged sentences as values: drawn, written, converted."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.models.tagged import Tagged
from spectralnlp.render import renderer
from spectralnlp.render.svg import in_page
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.brackets import read_brackets
from spectralnlp.trees.parse import Constituent, Parse

BRACKETS = "(TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late))) (. .)))"
SVG = "{http://www.w3.org/2000/svg}"
CONLLU = """\
# text = It is late .
# constituency = (TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late))) (. .)))
1\tIt\t_\t_\tPRP\t_\t_\t_\t_\t_
2\tis\t_\t_\tVBZ\t_\t_\t_\t_\t_
3\tlate\t_\t_\tJJ\t_\t_\t_\t_\t_
4\t.\t_\t_\t.\t_\t_\t_\t_\t_
"""


@pytest.fixture
def parse() -> Parse:
    (tree,) = read_brackets([BRACKETS])
    constituents = tuple(Constituent(*span, posterior=0.5) for span in tree.spans()[1:])
    return Parse(tree, Sentence.from_words(tree.words()), -1.5, constituents, None)


def test_a_parse_writes_itself(parse: Parse) -> None:
    assert parse.to_svg(scores=True) == renderer("svg")(parse, True)
    assert parse._repr_svg_() == parse.to_svg() == renderer("svg")(parse)
    assert parse._repr_html_() == f'<div style="overflow-x: auto">{parse.to_svg()}</div>'
    assert json.dumps(parse.to_json()) == renderer("json")(parse)
    assert parse.to_text().startswith("TOP → S\n")
    assert "NP 0.50" in parse.to_text(scores=True)
    assert parse.to_conllu() == parse.tree.to_conllu() == CONLLU


def test_a_tree_writes_itself(parse: Parse) -> None:
    tree = parse.tree
    assert tree._repr_svg_() == tree.to_svg()
    assert tree._repr_html_() == in_page(tree.to_svg())
    first = tree.to_json()["children"][0]["children"][0]
    assert first == {"label": "NP", "children": [{"label": "PRP", "word": "It"}]}
    (deep,) = read_brackets(["(X " * 3000 + "(NN a)" + ")" * 3000])
    assert deep.to_json()["label"] == "X"


def test_nltk_is_named_where_it_is_missing(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nltk")
    assert parse.to_nltk().leaves() == ["It", "is", "late", "."]
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(ConfigError, match="pip install nltk"):
        parse.to_nltk()


def texts_of(drawing: str) -> list[str]:
    return [text.text for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def test_a_tagged_sentence_writes_itself() -> None:
    tagged = Tagged(
        Sentence.from_words(["It", "is", "<late>"]), ("PRON", "AUX", "ADJ"), confidence=(1, 1, 0.5)
    )
    assert texts_of(tagged._repr_svg_()) == ["It", "PRON", "is", "AUX", "<late>", "ADJ"]
    assert tagged.to_nltk() == [("It", "PRON"), ("is", "AUX"), ("<late>", "ADJ")]
    assert tagged.to_json()["tokens"][2] == {
        "text": "<late>",
        "start": 6,
        "end": 12,
        "tag": "ADJ",
        "confidence": 0.5,
    }
    assert tagged.to_conllu().splitlines()[1] == "1\tIt\t_\tPRON\t_\t_\t_\t_\t_\tConfidence=1.000"


def test_spans_are_drawn_over_their_words() -> None:
    words = ["Ada", "King", "met", "B", "."]
    tagged = Tagged(Sentence.from_words(words), ("B-PER", "I-PER", "O", "B-ORGANISATION", "O"), "bio")
    drawing = tagged.to_svg()
    assert texts_of(drawing) == [*words, "PER", "ORGANISATION"]
    places = [float(text.get("x")) for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")]
    assert all(a < b for a, b in pairwise(places[:5]))
    assert places[0] < places[5] < places[1]
    assert places[6] == places[3]
    assert tagged.to_json()["spans"][0] == {"label": "PER", "start": 0, "end": 8}
