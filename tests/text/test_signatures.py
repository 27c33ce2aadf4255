from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import ConfigError
from spectralnlp.text.signatures import signature_by_name


@pytest.mark.parametrize(
    ("word", "position", "signature"),
    [
        ("Running", 0, "UNK-INITC-ing"),
        ("Dogs", 0, "UNK-INITC-KNOWNLC-s"),
        ("Dogs", 3, "UNK-CAPS-s"),
        ("NATO", 0, "UNK-CAPS"),
        ("mainly", 1, "UNK-LC-ly"),
        ("clarity", 1, "UNK-LC-ity"),
        ("glass", 1, "UNK-LC"),
        ("well-dressed", 1, "UNK-LC-DASH"),
        ("mid-1990s", 1, "UNK-LC-NUM-DASH-s"),
        ("1,000", 1, "UNK-NUM"),
        ("B2B", 1, "UNK-CAPS-NUM"),
        ("op", 1, "UNK-LC"),
        ("😀", 1, "UNK-SYM"),
        ("-LRB-", 0, "UNK-SYM"),
    ],
)
def test_english(word: str, position: int, signature: str) -> None:
    assert signature_by_name("english")(word, position, {"dogs"}) == signature


@pytest.mark.parametrize(
    ("word", "position", "signature"),
    [
        ("anunciaron", 2, "UNK~ron"),
        ("Compra", 0, "UNK-INIT-KNOWNLC~pra"),
        ("Compra", 1, "UNK-CAP~pra"),
        ("EDF", 1, "UNK-ALLCAP"),
        ("árabe", 1, "UNK~be"),
        ("G-3", 1, "UNK-ALLCAP-NUM-PUNCT"),
        ("7,24", 1, "UNK-NUMBER"),
        ("(", 1, "UNK-SYM"),
    ],
)
def test_neutral(word: str, position: int, signature: str) -> None:
    assert signature_by_name("neutral")(word, position, {"compra"}) == signature


@given(st.sampled_from(["english", "neutral"]), st.text(min_size=1), st.integers(0, 3))
def test_any_word_has_one(name: str, word: str, position: int) -> None:
    signature = signature_by_name(name)(word, position)
    assert signature.startswith("UNK")
    assert not any(map(str.isspace, signature))


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match="choose one of english, neutral"):
        signature_by_name("french")
