"""Words are read in the letter case that is likely in their sentence; trees keep them as they are written."""

from __future__ import annotations

import pytest

import spectralnlp
from spectralnlp.inference.words.letter_case import likely_case
from spectralnlp.models.parser import Parser


@pytest.fixture(scope="module")
def parser() -> Parser:
    parser = spectralnlp.load("en")
    assert isinstance(parser, Parser)
    return parser


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("PLEASE USE THE STAIRS IN LONDON .", "please use the stairs in London ."),
        ("i met john in london on monday", "I met John in London on Monday"),
        ("I am HUNGRY .", "I am hungry ."),
        ("The UK and the US agree .", "The UK and the US agree ."),
        ("We may march on .", "We may march on ."),
        ("some of the water", "some of the water"),
        ("12 : 30 !", "12 : 30 !"),
        ("Zzyzx QXQX .", "Zzyzx QXQX ."),
    ],
)
def test_words_are_read_in_their_likely_case(parser: Parser, text: str, read_as: str) -> None:
    assert " ".join(parser.forest_parser.likely_case(text.split())) == read_as


@pytest.mark.parametrize("text", ["SEE JOHN ON FRIDAY .", "i can see john on monday ."])
def test_the_tree_has_the_words_as_written(parser: Parser, text: str) -> None:
    words = text.split()
    parse = parser.parse_tokens(words)
    assert parse.tree.words() == words
    as_usual = parser.parse_tokens(parser.forest_parser.likely_case(words))
    assert parse.tree.spans() == as_usual.tree.spans()


def test_a_sentence_without_letters_of_two_cases_is_returned_as_it_is(parser: Parser) -> None:
    lexicon = parser.grammar_sets[0].coarse.lexicon
    words = ["漁師", "は", "港", "に", "いる", "。"]
    assert likely_case(lexicon, words) is words
