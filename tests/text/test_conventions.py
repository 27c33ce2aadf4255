from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spectralnlp.errors import ModelError
from spectralnlp.text.conventions import Conventions

PENN = Conventions()
LITERAL = Conventions(
    round=("(", ")"),
    square=("[", "]"),
    curly=("{", "}"),
    double_quotes=('"', '"'),
    single_quotes=("'", "'"),
    typography="’“”—",
    ascii_escapes=False,
)


# A word, its form in the Penn Treebank, and its form where brackets and quotation marks stay as they are.
FORMS = r"""
( -LRB- (
-LRB- -LRB- (
} -RCB- }
“ `` “
'' '' ”
« `` “
’ ' ’
‘ ` '
don’t don't don’t
— -- —
– -- --
1990–92 1990-92 1990-92
… ... ...
1/2 1\/2 1/2
1\/2 1\/2 1/2
* \* *
£ # £
:) :-RRB- :)
😀 😀 😀
"""


@pytest.mark.parametrize(
    ("word", "penn", "literal"),
    [*map(str.split, FORMS.strip().splitlines()), ("10\u00a0000", "10_000", "10_000")],
)
def test_forms(word: str, penn: str, literal: str) -> None:
    assert PENN.form(word) == penn
    assert LITERAL.form(word) == literal


@given(
    st.text(alphabet=st.sampled_from("ab1()[]{}-LRB/\\*'\"`“”‘’–—…£_ .€é😀\u00a0"), min_size=1, max_size=8)
)
@example("'‘")
@example(r"\\*")
def test_a_form_is_never_empty_never_blank_and_already_its_own(word: str) -> None:
    for conventions in (PENN, LITERAL):
        form = conventions.form(word)
        assert form
        assert not any(map(str.isspace, form))
        assert conventions.form(form) == form or form in ('"', "-")


def test_quotation_marks_that_do_not_point_take_turns() -> None:
    assert LITERAL.forms(["Yes", ".", '"']) == ["Yes", ".", "”"]  # the quotation began in a sentence before
    assert PENN.forms(['"', "a", '"', "b", '"', "c", "”"]) == ["``", "a", "''", "b", "``", "c", "''"]


def test_survives_json() -> None:
    for conventions in (PENN, LITERAL):
        assert Conventions.from_dict(json.loads(json.dumps(conventions.to_dict()))) == conventions


@pytest.mark.parametrize(
    "values", [{"colour": 1}, {"round": "()"}, {"round": ["(", 1]}, {"split_units": "yes"}]
)
def test_damaged_fields_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ModelError, match=next(iter(values))):
        Conventions.from_dict(values)


def test_nothing_seen_is_the_penn_treebank() -> None:
    assert Conventions.learn([]) == Conventions.learn(["dogs", "bark"]) == PENN


def test_learns_what_is_shown() -> None:
    split = [
        "He",
        "ca",
        "n’t",
        "see",
        "the",
        "well",
        "-",
        "known",
        "and",
        "/",
        "or",
        "well",
        "-",
        "known",
        "$",
        "5",
        "thing",
        "(",
        "[",
        "]",
        ")",
        "at",
        "1/2",
        '"',
        "price",
        '"',
    ]
    learned = Conventions.learn(split)
    assert learned.split_hyphens
    assert learned.split_slashes
    assert not learned.split_fractions
    assert learned.split_clitics
    assert not learned.ascii_escapes
    assert (learned.round, learned.square, learned.double_quotes) == (("(", ")"), ("[", "]"), ('"', '"'))
    assert learned.typography == "’"
    whole = Conventions.learn(
        ["He", "don't", "see", "well-known", "$5", "and/or", "5%", "1\\/2", "-LRB-", "-LCB-"]
    )
    split = (whole.split_hyphens, whole.split_slashes, whole.split_clitics, whole.split_units)
    assert not any(split)
    assert whole.ascii_escapes
    spanish = Conventions.learn(
        [
            "El",
            "grupo",
            "-",
            "que",
            "compra",
            "-",
            "es",
            "de",
            "José_María",
            "(",
            "-Fpa-",
            "-Fpa-",
            "21%",
            "en_virtud_de",
        ]
        * 30
    )
    assert (spanish.language, spanish.joiner, spanish.round) == ("neutral", "_", ("-Fpa-", "-Fpt-"))
    assert not spanish.split_units
