from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from importlib.resources import files

import pytest

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.render import FORMATS, renderer
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.brackets import read_brackets
from spectralnlp.trees.parse import Constituent, Parse
from spectralnlp.trees.tree import Tree

BRACKETS = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NP (DT the) (NN mat))))) (. .)))"


def parse_of(brackets: str) -> Parse:
    (tree,) = read_brackets([brackets])
    spans = tree.spans()[1:]  # without TOP
    constituents = tuple(Constituent(*span, posterior=1 - i / 100) for i, span in enumerate(spans))
    return Parse(tree, Sentence.from_words(tree.words()), -12.5, constituents, None)


def test_ptb() -> None:
    parse = parse_of("(TOP (S (X a) (X b)))")
    assert renderer("ptb")(parse) == "(TOP (S (X a) (X b)))"
    assert renderer("ptb")(parse, scores=True) == "(TOP (S (X a) (X b)))\t-12.5000\tS:0:2=1.0000"
    unknown = replace(parse, log_probability=None, constituents=())
    assert renderer("ptb")(unknown, scores=True).split("\t")[1:] == ["nan", ""]


def test_pretty() -> None:
    assert renderer("pretty")(parse_of(BRACKETS)).splitlines() == [
        "TOP → S",
        "├─ NP  The/DT cat/NN",
        "├─ VP",
        "│  ├─ sat/VBD",
        "│  └─ PP",
        "│     ├─ on/IN",
        "│     └─ NP → NP  the/DT mat/NN",
        "└─ ./.",
    ]


def test_pretty_with_scores() -> None:
    lines = renderer("pretty")(parse_of(BRACKETS), scores=True).splitlines()
    assert lines[0] == "# log-probability -12.5000"
    assert lines[1] == "TOP → S 1.00"
    assert lines[7] == "│     └─ NP 0.96 → NP 0.95  the/DT mat/NN"


def test_pretty_says_what_is_a_fallback() -> None:
    assert renderer("pretty")(replace(parse_of(BRACKETS), fallback="why")).startswith("# fallback: why\n")


def test_pretty_draws_deep_chains_and_long_sentences() -> None:
    chain = "(X " * 3000 + "(NN a)" + ")" * 3000
    assert len(renderer("pretty")(parse_of(chain)).splitlines()) == 1
    flat = "(S " + "(NN word) " * 400 + ")"
    assert len(renderer("pretty")(parse_of(flat)).splitlines()) == 401


def test_json_is_as_its_schema_says() -> None:
    schema = json.loads((files("spectralnlp.render") / "parse.schema.json").read_text())
    line = renderer("json")(replace(parse_of(BRACKETS), log_probability=float("-inf")))
    assert "\n" not in line
    value = json.loads(line)
    properties = schema["properties"]
    assert list(value) == schema["required"] == list(properties)
    assert set(value["tokens"][0]) == set(properties["tokens"]["items"]["properties"])
    assert set(value["constituents"][0]) == set(properties["constituents"]["items"]["properties"])
    assert value["log_probability"] is None
    assert value["tree"] == BRACKETS
    verb_phrase = value["constituents"][2]
    assert (verb_phrase["label"], verb_phrase["start"], verb_phrase["end"]) == ("VP", 2, 6)
    text = " ".join(token["text"] for token in value["tokens"])
    assert text[verb_phrase["start_char"] : verb_phrase["end_char"]] == "sat on the mat"


def test_svg_is_one_line_of_xml_whatever_the_token() -> None:
    awkward = Tree("TOP", [Tree("X", word="<&>\x01\ud800"), Tree("Y", word="😀\n")])
    parse = Parse(awkward, Sentence.from_words(awkward.words()), None, (), None)
    document = renderer("svg")(parse)
    assert "\n" not in document
    texts = [node.text for node in ElementTree.fromstring(document).iter() if node.tag.endswith("text")]
    assert "<&>��" in texts
    assert "TOP" in texts


def test_svg_with_scores() -> None:
    assert "0.97" in renderer("svg")(parse_of(BRACKETS), scores=True)


def test_svg_refuses_what_is_too_deep() -> None:
    with pytest.raises(InputError, match="pretty"):
        renderer("svg")(parse_of("(X " * 3000 + "(NN a)" + ")" * 3000))


def test_unknown_format() -> None:
    with pytest.raises(ConfigError, match=", ".join(FORMATS)):
        renderer("xml")
