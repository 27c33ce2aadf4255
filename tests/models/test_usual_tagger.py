"""A parser that names an installed tagger listens to it, unless told otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spectralnlp import load
from spectralnlp.models.parser import Parser

WORDS = ["The", "grommet", "was", "zorbed", "."]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return replace(load("en"), tagger="en-tagger")


def test_it_is_the_tagger_that_would_be_given(parser: Parser, tmp_path: Path) -> None:
    given = replace(parser, tagger=None).with_tagger(load("en-tagger"))
    expected = given.parse_tokens(WORDS)
    assert parser.parse_tokens(WORDS) == expected
    parser.save(tmp_path / "model")
    assert load(tmp_path / "model").tagger == "en-tagger"
    alone = replace(parser, tagger=None).parse_tokens(WORDS)
    assert alone.constituents != expected.constituents


def test_a_tagger_that_is_not_installed_is_not_missed(parser: Parser) -> None:
    alone = replace(parser, tagger=None).parse_tokens(WORDS)
    assert replace(parser, tagger="never-installed").parse_tokens(WORDS) == alone
