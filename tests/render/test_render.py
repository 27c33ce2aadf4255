from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.render import FORMATS, renderer
from spectralnlp.render.svg import stacked
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.brackets import read_brackets
from spectralnlp.trees.parse import Constituent, Parse
from spectralnlp.trees.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"
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


def test_svg_draws_deep_chains() -> None:
    drawing = renderer("svg")(parse_of("(X " * 3000 + "(NN a)" + ")" * 3000))
    assert drawing.count('class="phrase"') == 3000


def test_svg_says_what_each_group_is() -> None:
    drawing = renderer("svg")(parse_of(BRACKETS), scores=True)
    root = ElementTree.fromstring(drawing)
    keys = [group.get("data-key") for group in root.iter(f"{SVG}g") if group.get("class") == "phrase"]
    assert keys[:4] == ["TOP:0:7", "S:0:7", "NP:0:2", "VP:2:6"]
    words = [group.findall(f"{SVG}text")[1].text for group in root.iter(f"{SVG}g") if group.get("data-word")]
    assert words == ["The", "cat", "sat", "on", "the", "mat", "."]
    assert root.find(f"{SVG}title").text == "The cat sat on the mat ."


@pytest.mark.parametrize(
    "brackets",
    [
        BRACKETS,
        "(WHADVP (WRB How))",
        "(TOP (X (WHADVPWHADVP (WRB w)) (A (B b)) (Y (Z c))) (CCCCCCCCCCCC (D d) (EEEEEEEEEEE (F f))))",
        "(S " + "(NN word) " * 60 + "(NN 電電電電) (NN Würstchenbude))",
        "(LONGLABELLONGLABEL (A (B b) (C (D d) (E e) (F f) (G g) (H h))) (I (J i)))",
    ],
)
def test_svg_labels_are_within_the_drawing_and_apart(brackets: str) -> None:
    root = ElementTree.fromstring(renderer("svg")(parse_of(brackets)))
    width, height = float(root.get("width")), float(root.get("height"))
    rows: dict[float, list[tuple[float, float]]] = {}
    for text in root.iter(f"{SVG}text"):
        x, y, half = float(text.get("x")), float(text.get("y")), 0.27 * 15 * len(text.text)
        assert 0 < x - half < x + half < width
        assert 10 < y < height
        rows.setdefault(y, []).append((x - half, x + half))
    for row in rows.values():
        assert all(a[1] < b[0] for a, b in pairwise(sorted(row)))


def test_several_drawings_are_one_document() -> None:
    drawings = [renderer("svg")(parse_of(BRACKETS)), renderer("svg")(parse_of("(X (Y a))"))]
    root = ElementTree.fromstring(stacked(drawings))
    first, second = root
    assert float(second.get("y")) == float(first.get("height"))
    assert float(root.get("height")) == float(first.get("height")) + float(second.get("height"))
    assert float(root.get("width")) == float(first.get("width"))
    assert "\n" not in stacked(drawings)
    ElementTree.fromstring(stacked([]))


def test_unknown_format() -> None:
    with pytest.raises(ConfigError, match=", ".join(FORMATS)):
        renderer("xml")
