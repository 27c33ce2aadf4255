from __future__ import annotations

import io
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import InputError
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.sentence_ends import MAX_TOKENS
from spectralnlp.text.sentences import (
    MAX_LINE,
    pieces,
    read_tagged,
    read_tokenized,
    split_sentences,
)
from spectralnlp.text.tokenizer import Tokenizer

ENGLISH = Tokenizer()
NEUTRAL = Tokenizer(Conventions(language="neutral", split_clitics=False))


def split(text: str, tokenizer: Tokenizer = ENGLISH) -> list[str]:
    sentences = split_sentences(io.StringIO(text), tokenizer)
    return [" ".join(text[s.start : s.end].split()) for s in sentences]


@pytest.mark.parametrize(
    "text",
    [
        "One. | Two! | Three?! | Four",
        "Mr. J. R. Smith, Ph.D., met Dr. Who at 3.30 p.m. on Jan. 5 in Fig. 3. | He left.",
        "He is in the U.S. | The end. | The U.S. Navy came, etc. | More came.",
        '"Why?" he asked. | "Because." | (It was.) | He said "No." | Then he (the man!) left.',
        "“Really?” | “Yes.” | ‘Fine.’ | It costs $1.50 a pound, e.g. here.",
        "Well... maybe. | So it goes... | But no… | Yes.",
        "no caps here. | and here! | ok",
    ],
)
def test_english(text: str) -> None:
    expected = text.split(" | ")
    assert split(" ".join(expected)) == expected
    assert split(text.replace(" | ", "\n")) == expected


def test_neutral() -> None:
    assert split("El grupo vino. ¿Qué dijo? Nada... y se fue.", NEUTRAL) == [
        "El grupo vino.",
        "¿Qué dijo?",
        "Nada... y se fue.",
    ]
    assert split("你好。世界！", NEUTRAL) == ["你好。", "世界！"]


def test_line_ends() -> None:
    wrapped = "Introduction\nThe striatum plays a role in motor activity and in\nParkinson's disease\nonly.\n"
    assert split(wrapped) == [
        "Introduction",
        "The striatum plays a role in motor activity and in Parkinson's disease only.",
    ]
    assert split("- item one\n- item two\nHeading\n\nText goes on\r\n\r\nhere") == [
        "- item one",
        "- item two",
        "Heading",
        "Text goes on",
        "here",
    ]
    review = "a film " * 30
    assert split(f"{review.strip()}\nother text") == [review.strip(), "other text"]


def test_nothing_but_blanks_is_no_sentence() -> None:
    assert split("") == split(" \n\n\t\r\n\x00\ufeff \n") == []


@given(
    st.lists(
        st.sampled_from(["A", "b", " ", "\n", ". ", '"', "?", "...", "U.S.", "😀", "(", ")", "\r\n"]),
        max_size=40,
    )
)
def test_sentences_partition_the_tokens_of_the_whole_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    for tokenizer in (ENGLISH, NEUTRAL):
        sentences = list(split_sentences(io.StringIO(text, newline=""), tokenizer))
        lines = text.replace("\r\n", " \n")  # a carriage return is blank to the tokeniser
        assert [t for s in sentences for t in s.tokens] == list(tokenizer.tokenize(lines))
        assert all(text[t.start : t.end] == t.text for s in sentences for t in s.tokens)


def test_a_finished_sentence_does_not_wait_for_the_next_line() -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in ("First one. Second", " goes on.\n", "Third.\n"):
            read.append(line)
            yield line

    sentences = split_sentences(lines(), ENGLISH)
    assert next(sentences).words == ["First", "one", "."]
    assert len(read) == 1
    assert next(sentences).words[0] == "Second"
    assert len(read) == 2


@pytest.mark.slow
def test_a_sentence_that_never_ends_is_cut_and_memory_bounded() -> None:
    def lines() -> Iterator[str]:
        for _ in range(20_000):
            yield "and so it goes on,\n"

    tracemalloc.start()
    lengths = [len(sentence) for sentence in split_sentences(lines(), ENGLISH)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert set(lengths[:-1]) == {MAX_TOKENS}
    assert sum(lengths) == 120_000
    assert peak < 5_000_000


@pytest.mark.slow
@pytest.mark.parametrize("unit", [")", ". ", '" ', "? ) ", "..., "])
def test_marks_without_end_take_linear_time(unit: str) -> None:
    text = unit * 50_000
    start = time.process_time()
    assert sum(map(len, split_sentences([text], ENGLISH))) > 0
    assert time.process_time() - start < 5


@pytest.mark.slow
def test_a_line_too_long_to_be_held_as_tokens_is_split_in_pieces() -> None:
    text = "word another. " * 20_000 + "\n"
    found = list(pieces(text))
    assert "".join(found) == text
    assert max(map(len, found)) <= MAX_LINE
    assert all(piece.endswith(" ") for piece in found[:-1])
    assert list(pieces("see No. 5\n")) == ["see No. 5\n"]
    assert list(map(len, pieces("a" * (MAX_LINE + 1)))) == [MAX_LINE, 1]
    sentences = list(split_sentences([text], ENGLISH))
    assert {tuple(s.words) for s in sentences} == {("word", "another", ".")}
    assert all(text[token.start : token.end] == token.text for s in sentences for token in s.tokens)
    long_sentence = "word " * (MAX_LINE // 5 + 10)
    assert [len(s) for s in split_sentences([long_sentence], ENGLISH)][:-1] == [MAX_TOKENS] * 13
    tracemalloc.start()
    assert sum(1 for _ in split_sentences([text], ENGLISH)) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_sentence_a_line_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spectralnlp.text.sentences.MAX_LINE_TOKENS", 3)
    assert len(list(read_tokenized(["a b c\n"]))) == 1
    for read, line in ((read_tokenized, "a b c d\n"), (read_tagged, "a_A b_B c_C d_D\n")):
        with pytest.raises(InputError, match=r"t.txt:2: a sentence of more than 3 tokens"):
            list(read(["\n", line], ENGLISH, "t.txt"))


def test_tokenized_lines_stay_aligned() -> None:
    text = '\ufeffHe said " ( no ) "\r\n\n \ndon\'t 😀 /\n'
    first, *blank, last = read_tokenized(io.StringIO(text, newline=""), ENGLISH)
    assert blank == [None, None]
    assert first is not None
    assert last is not None
    assert first.forms == ["He", "said", "``", "-LRB-", "no", "-RRB-", "''"]
    assert last.forms == ["don't", "😀", "\\/"]
    assert all(text[t.start : t.end] == t.text for s in (first, last) for t in s.tokens)
    (plain,) = read_tokenized(["( no )"])
    assert plain is not None
    assert plain.forms == ["(", "no", ")"]


def test_tagged_lines() -> None:
    tagged, blank = read_tagged(["a_b_NN _-LRB-_-LRB- __: \n", "\n"])
    assert blank is None
    assert tagged is not None
    assert (tagged.words, tagged.tags) == (["a_b", "_-LRB-", "_"], ("NN", "-LRB-", ":"))


@pytest.mark.parametrize("token", ["word", "word_", "_NN", "_"])
def test_a_token_without_a_tag_is_refused_with_its_line(token: str) -> None:
    with pytest.raises(InputError, match=r"in\.txt:2: no word_TAG"):
        list(read_tagged(["a_DT\n", f"b_NN {token}\n"], path="in.txt"))
