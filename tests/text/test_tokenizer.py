from __future__ import annotations

import pickle
import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokenizer import BLANK, Tokenizer

PENN = Tokenizer()
GUM = Tokenizer(
    Conventions(
        square=("[", "]"),
        double_quotes=('"', '"'),
        single_quotes=("'", "'"),
        typography="“”‘’–—…",
        split_hyphens=True,
        split_slashes=True,
        ascii_escapes=False,
    )
)
NEUTRAL = Tokenizer(Conventions(split_clitics=False, split_units=False, language="neutral", joiner="_"))

# Everything that a pattern gives a meaning to, and some that nothing does.
PIECES = [
    *"aZé5.,:;-'\"`()[]/\\*_&%$#@!?…–—’‘“” \t\n\r\x00\u00a0\u0301\u200b\u200d\ufeff😀🏽你。",
    *["n't", "'s", "U.S.", "Mr.", "No.", "can", "cannot", "http://", "www.", "a@b.c", "-LRB-", "...", "``"],
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=30)


def forms(tokenizer: Tokenizer, text: str) -> str:
    return " ".join(token.form for token in tokenizer.tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Hello," she said (twice).', "`` Hello , '' she said -LRB- twice -RRB- ."),
        ("I don't, can’t and won't; it's John's.", "I do n't , ca n't and wo n't ; it 's John 's ."),
        ("He cannot; I'm gonna. 'Tis so.", "He can not ; I 'm gon na . 'T is so ."),
        ("It shouldn't've.", "It should n't 've ."),
        ("the dogs' bones, 'em, rock 'n' roll, '90s", "the dogs ' bones , 'em , rock 'n' roll , '90s"),
        ("He said 'Yes.'", "He said ` Yes . '"),
        ("$1,000.50, 50%, 10:30, -5, .5 and £3", "$ 1,000.50 , 50 % , 10:30 , -5 , .5 and # 3"),
        (
            "Mr. J. R. Smith, Ph.D., of Acme Inc.'s U.S.-based",
            "Mr. J. R. Smith , Ph.D. , of Acme Inc. 's U.S.-based",
        ),
        ("No. 5 and no. Plan B.", "No. 5 and no . Plan B ."),
        ("1. First in 1990.", "1. First in 1990 ."),
        (
            "See https://a.b/c?d=e. Or (me@x.co.uk).",
            "See https:\\/\\/a.b\\/c?d=e . Or -LRB- me@x.co.uk -RRB- .",
        ),
        ("wait... what?! — so–so", "wait ... what ?! -- so-so"),
        ("well-known and/or AT&T", "well-known and\\/or AT&T"),
        ("good film.The end", "good film . The end"),
        (":-) 👍🏽 👩‍👩‍👧 🇪🇸🇫🇷 #tag", ":--RRB- 👍🏽 👩‍👩‍👧 🇪🇸 🇫🇷 #tag"),
        ("e\u0301te\u0301 नमस्ते", "e\u0301te\u0301 नमस्ते"),
        ('a " b " c', "a `` b '' c"),
    ],
)
def test_penn_treebank(text: str, expected: str) -> None:
    assert forms(PENN, text) == expected


def test_other_conventions() -> None:
    assert forms(GUM, 'a “well-known” non-lexical "and/or" 1/2 3–4 [x] don’t…') == (
        "a “ well - known ” non-lexical “ and / or ” 1/2 3 – 4 [ x ] do n’t …"
    )
    assert forms(GUM, "co-founder's two-fold") == "co-founder 's two-fold"
    assert forms(NEUTRAL, "¿Qué es EE.UU.? L'Hospitalet: 7,24% ($5)") == (
        "¿ Qué es EE.UU. ? L'Hospitalet : 7,24% -LRB- $5 -RRB-"
    )


def test_given_tokens_are_only_respelt() -> None:
    assert PENN.normalise("(") == "-LRB-"
    assert PENN.normalise("don't") == "don't"
    assert PENN.normalise_all(['"', "well/ill", '"']) == ["``", "well\\/ill", "''"]


@given(texts)
@example("I.'")
@example("a.\u0301")
def test_offsets_are_exact_and_cover_every_character_that_is_not_blank(text: str) -> None:
    for tokenizer in (PENN, GUM, NEUTRAL):
        tokens = list(tokenizer.tokenize(text))
        assert all(text[t.start : t.end] == t.text and t.text and t.form for t in tokens)
        assert all(a.end <= b.start for a, b in pairwise(tokens))
        assert "".join(t.text for t in tokens) == re.sub(f"[{BLANK}]", "", text)
        assert not any(re.search(r"\s", t.form) for t in tokens)


@given(texts)
def test_line_by_line_is_the_whole(text: str) -> None:
    offset, parts = 0, []
    for line in text.split("\n"):
        parts += PENN.tokenize(line + "\n", offset)
        offset += len(line) + 1
    assert parts == list(PENN.tokenize(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *["a", "a.", "-", "a-", "a'", '"', "1,", "www.", "http://", "http://.", "a@", ".", "(:", "a_"],
        *["n't", "'s", "é", "\u0301", "😀\u200d", "a ", "U.S.", "a&", "_", "(", "\\/"],
    ],
)
def test_time_is_linear(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        start = time.process_time()
        for _ in Tokenizer().tokenize(text):
            pass
        return time.process_time() - start

    # Quadratic time would be 64 times as long; a second of grace for a busy machine.
    assert seconds(160_000) < 24 * seconds(20_000) + 1


def test_goes_to_other_processes() -> None:
    copy = pickle.loads(pickle.dumps(GUM))
    assert copy.conventions == GUM.conventions
    assert forms(copy, "well-known") == "well - known"
