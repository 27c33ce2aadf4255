"""Words joined to raw text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.text.conventions import Conventions
from spectralnlp.text.detokenizer import place_words, text_of
from spectralnlp.text.tokenizer import Tokenizer

PENN = Conventions()
GUM = Conventions(
    round=("(", ")"),
    square=("[", "]"),
    double_quotes=('"', '"'),
    single_quotes=("'", "'"),
    typography="’",
    split_hyphens=True,
    split_slashes=True,
    ascii_escapes=False,
)


def joined(words: str, conventions: Conventions = PENN, tags: Sequence[str] | None = None) -> str:
    return text_of([place_words(words.split(), tags, conventions)])


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("`` Hello , '' she said -LRB- twice -RRB- .", '"Hello," she said (twice).'),
        ("I do n't , ca n't ; it 's John 's .", "I don't, can't; it's John's."),
        ("He can not ; I 'm gon na . 'T is so .", "He cannot; I'm gonna. 'Tis so."),
        ("He said ` Yes . '", "He said 'Yes.'"),
        ("the dogs ' bones", "the dogs' bones"),
        ("$ 5 , US$ 6 , 50 % and a $ sign", "$5, US$6, 50% and a $ sign"),
        ("and\\/or 1\\/2 of it -- well-known ...", "and/or 1/2 of it -- well-known ..."),
        ("-LCB- a -RCB- Why ?! friend-LRB-s-RRB-", "{a} Why?! friend(s)"),
    ],
)
def test_penn(words: str, text: str) -> None:
    assert joined(words) == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("adult - learned and / or", "adult-learned and/or"),
        ("from 1914 – 1918", "from 1914–1918"),
        ('He said " yes " and " no " [ 1 ] .', 'He said "yes" and "no" [1].'),
        ("the dogs ’ bones , they ’re ’ here ’", "the dogs’ bones, they’re ’here’"),
    ],
)
def test_hyphens_and_upright_quotation_marks(words: str, text: str) -> None:
    assert joined(words, GUM) == text


def test_tags_tell_what_words_do_not() -> None:
    assert joined("a - b", GUM, ["NN", ":", "NN"]) == "a - b"
    assert joined("a - b", replace(GUM, split_hyphens=False), ["NN", "HYPH", "NN"]) == "a-b"
    assert joined('" a "', GUM, ["''", "NN", "``"]) == '" a "'
    assert joined("James ' and '", GUM, ["NNP", "POS", "CC", "``"]) == "James' and '"


def test_other_languages() -> None:
    spanish = Conventions(round=("-Fpa-", "-Fpt-"), joiner="_", ascii_escapes=False, language="neutral")
    assert joined("¿ Por_qué no -Fpa- hoy -Fpt- ?", spanish) == "¿Por qué no (hoy)?"


def test_offsets() -> None:
    first = place_words(["It", "'s", "-LRB-"], offset=3)
    assert [(t.text, t.form, t.start, t.end) for t in first.tokens] == [
        ("It", "It", 3, 5),
        ("'s", "'s", 5, 7),
        ("(", "-LRB-", 8, 9),
    ]
    second = place_words(["so"], offset=first.end + 1)
    assert text_of([first, second]) == "   It's ( so"


@given(st.lists(st.sampled_from([*"ab.,'\"`-/($5", "n't", "''", "``", "-LRB-", "x_y"]), min_size=1))
def test_text_has_every_word_at_its_place(words: list[str]) -> None:
    for conventions in (PENN, GUM, replace(PENN, joiner="_")):
        sentence = place_words(words, None, conventions)
        text = text_of([sentence])
        assert [text[token.start : token.end] for token in sentence.tokens] == sentence.words
        assert sentence.forms == words


@pytest.mark.parametrize("conventions", [PENN, GUM])
def test_tokenising_gives_the_words_back(conventions: Conventions) -> None:
    text = "`` I 'm sure -LRB- 5 % -RRB- that he can not , '' said J. Smith 's dog ."
    words = conventions.forms(text.split())
    tokens = Tokenizer(conventions).tokenize(text_of([place_words(words, None, conventions)]))
    assert [token.form for token in tokens] == words
