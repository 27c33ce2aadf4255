"""Tagged sentences in every format."""

from __future__ import annotations

import json

import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.render.tags import UNIVERSAL, tag_renderer
from spectralnlp.text.tokens import Sentence, Token

SENTENCE = Sentence((Token("I", "I", 5, 6), Token("can", "can", 7, 10), Token("n't", "n't", 10, 13)))


def test_tagged() -> None:
    render = tag_renderer("tagged")
    assert render(SENTENCE, ["PRON", "AUX", "PART"], "tags", None) == "I_PRON can_AUX n't_PART"
    assert render(SENTENCE, ["A", "B", "C"], "tags", [1, 0.5, 0.12345]) == "I_A:1.000 can_B:0.500 n't_C:0.123"
    blank = Sentence.from_words(["New York", "x"])
    assert render(blank, ["A", "B"], "tags", None) == "New_York_A x_B"


def test_conllu_puts_tags_where_they_belong() -> None:
    render = tag_renderer("conllu")
    assert render(SENTENCE, ["PRON", "MD", "PART"], "tags", None).split("\n") == [
        "# text = I cann't",
        "1\tI\t_\tPRON\t_\t_\t_\t_\t_\t_",
        "2\tcan\t_\t_\tMD\t_\t_\t_\t_\tSpaceAfter=No",
        "3\tn't\t_\tPART\t_\t_\t_\t_\t_\t_",
        "",
    ]
    lines = render(SENTENCE, ["B-X", "O", "O"], "bio", [0.5, 1.0, 0.25]).split("\n")
    assert [line.split("\t")[9] for line in lines[1:4]] == [
        "Tag=B-X|Confidence=0.500",
        "Tag=O|Confidence=1.000|SpaceAfter=No",
        "Tag=O|Confidence=0.250",
    ]
    assert {len(line.split("\t")) for line in lines[1:4]} == {10}
    assert len(UNIVERSAL) == 17


def test_json_has_offsets_and_spans() -> None:
    render = tag_renderer("json")
    given = json.loads(render(SENTENCE, ["A", "B", "C"], "tags", None))
    assert given == {
        "tokens": [
            {"text": "I", "start": 5, "end": 6, "tag": "A"},
            {"text": "can", "start": 7, "end": 10, "tag": "B"},
            {"text": "n't", "start": 10, "end": 13, "tag": "C"},
        ]
    }
    given = json.loads(render(SENTENCE, ["O", "B-é", "I-é"], "bio", [0.5, 1, 0.33333]))
    assert given["spans"] == [{"label": "é", "start": 7, "end": 13}]
    assert [token["confidence"] for token in given["tokens"]] == [0.5, 1.0, 0.3333]
    assert "\n" not in render(SENTENCE, ["O", "O", "O"], "bio", None)


def test_other_formats() -> None:
    with pytest.raises(ConfigError, match=r"no output format 'xml'.*tagged, conllu, json"):
        tag_renderer("xml")
