from __future__ import annotations

import pickle

import pytest

from spectralnlp.errors import ConfigError, InputError, SpectralError


def test_an_error_is_one_line_that_says_where_and_what_to_do() -> None:
    error = InputError("unbalanced\nbrackets", path="a.mrg", line=3, sentence=2, hint="add  one")
    assert str(error) == "a.mrg:3 (sentence 2): unbalanced brackets; add one"
    assert str(SpectralError("bad", sentence=2)) == "sentence 2: bad"


@pytest.mark.parametrize(
    ("hint", "plain"),
    [
        ("raise `memory`, or lower `max_words`", "raise memory, or lower max_words"),
        ("run `spectralnlp evaluate`", "run `spectralnlp evaluate`"),
        ("no quotes: ``never``", "no quotes: ``never``"),
    ],
)
def test_parameters_stand_in_backticks_in_the_message_alone(hint: str, plain: str) -> None:
    error = ConfigError("too much", hint=hint)
    assert str(error) == f"too much; {plain}"
    assert error.message == f"too much; {hint}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_no_line_is_longer_than_a_thousand_characters() -> None:
    error = InputError(f"no such thing: '{'x' * 10**6}'", path="p" * 300, hint="h" * 300)
    assert str(error) == f"{'p' * 300}: no such thing: '{'x' * 118}…; {'h' * 300}"
    assert len(str(InputError("x " * 10**6))) == 1000
    longest = InputError("x " * 10**6, path="p" * 10**6, hint="h" * 10**6, line=10**9, sentence=10**9)
    assert len(str(longest)) == 1000
