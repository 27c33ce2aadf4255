"""Long lines without punctuation take a bounded multiple of the time of ordinary text."""

from __future__ import annotations

from itertools import cycle, islice
from random import Random
from string import ascii_lowercase
from time import process_time

import pytest

import spectralnlp

pytestmark = pytest.mark.slow

N_WORDS = 1000
ORDINARY = "the keeper of the lighthouse saw many noisy gulls over the cold grey sea and he was glad ,"


def unknown(random: Random) -> str:
    return "".join(random.choices(ascii_lowercase, k=random.randint(2, 9)))


def line(words: str) -> str:
    return " ".join(islice(cycle(words.split()), N_WORDS))


RANDOM = Random(0)
LINES = {
    "one word": line("tree"),
    "of two tags": line("running"),
    "an adverb": line("twice"),
    "article": line("the"),
    "letter": line("a"),
    "digit": line("1"),
    "an unknown word": line("blorfly"),
    "two words": line("of the"),
    "three words": line("% Powell ensures"),
    "unknown words": " ".join(unknown(RANDOM) for _ in range(N_WORDS)),
    "unknown names": " ".join(unknown(RANDOM).title() for _ in range(N_WORDS)),
    "in capitals": " ".join(unknown(RANDOM).upper() for _ in range(N_WORDS)),
    "numbers": " ".join(str(RANDOM.randrange(100_000)) for _ in range(N_WORDS)),
    "opening brackets": "(" * 2 * N_WORDS,
    "closing brackets": ")" * 2 * N_WORDS,
    "brackets with blanks": "( " * 2 * N_WORDS,
    "quotes": "'" * 2 * N_WORDS,
    "brackets and words": "(a" * N_WORDS,
    "dashes": "-" * 2 * N_WORDS,
    "a hundred thousand commas": "," * 100_000,
    "fifty thousand dashes": "- " * 50_000,
}


@pytest.fixture(scope="module")
def ordinary() -> float:
    """CPU seconds of a thousand words of sentences that are joined by commas."""
    spectralnlp.load("en").parse(line(ORDINARY))
    return seconds(line(ORDINARY))


def seconds(text: str) -> float:
    started = process_time()
    parses = spectralnlp.load("en").parse(text)
    assert "".join(word for parse in parses for word in parse.sentence.words) == "".join(text.split())
    return process_time() - started


@pytest.mark.parametrize("kind", LINES)
def test_a_long_line_takes_a_bounded_time(kind: str, ordinary: float) -> None:
    assert seconds(LINES[kind]) < 15 * max(ordinary, 0.25)
