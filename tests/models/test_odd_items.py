"""What a parser is given by mistake: rows that are no text, empty tokens, unknown tags, no tree at all."""

from __future__ import annotations

from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.cli.models import load_parser
from spectralnlp.errors import InputError
from spectralnlp.text.sentences import read_tagged


@pytest.fixture(scope="module")
def parser(own_treebank: Path) -> spectralnlp.Parser:
    return spectralnlp.train("pcfg", own_treebank / "train.mrg", vertical=0)


def test_a_batch_names_the_row_that_is_no_text_and_can_skip_it(parser: spectralnlp.Parser) -> None:
    rows = ["The tower is high.", float("nan"), ["It", "is", ""], "It is."]
    with pytest.raises(InputError, match="item 2: float where tokens are expected"):
        list(parser.parse_many(rows))  # type: ignore[call-overload]
    errors: list[InputError] = []
    first, second, third, fourth = parser.parse_many(rows, on_bad=errors.append)  # type: ignore[call-overload]
    assert (len(first), second, third, len(fourth)) == (1, None, None, 1)
    assert [error.what for error in errors] == [
        "item 2: float where tokens are expected",
        "item 3: token 3 is empty",
    ]


@pytest.mark.parametrize("k", [0, -1])
def test_no_trees_at_all_are_refused(parser: spectralnlp.Parser, k: int) -> None:
    for parse in (lambda: parser.parse("It is.", k=k), lambda: parser.parse_tokens(["It"], k=k)):
        with pytest.raises(InputError, match=f"k {k} is out of range"):
            parse()
    with pytest.raises(InputError, match=f"k {k} is out of range"):
        parser.parse_many(["It is."], k=k)


def test_empty_tokens_are_refused(parser: spectralnlp.Parser) -> None:
    with pytest.raises(InputError, match="token 2 is empty"):
        parser.parse_tokens(["It", ""])


def test_unknown_tags_are_refused_with_near_ones(parser: spectralnlp.Parser) -> None:
    with pytest.raises(InputError, match="no tag 'NNX'; did you mean NN"):
        parser.parse_tokens(["The", "tower"], tags=["DT", "NNX"])
    with pytest.raises(InputError, match="line 2: the model has no tag 'NNX'; did you mean NN"):
        list(read_tagged(["The_DT\n", "tower_NNX\n"], known=parser.tags))


def test_fixed_tags_are_those_of_the_models_own_tagger() -> None:
    parser = load_parser("en", fixed_tags=True)
    assert parser.tag_evidence.fixed
    assert parser.tag_evidence.tagger.tags == spectralnlp.load_tagger("en-tagger").tags
