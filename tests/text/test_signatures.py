from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import ConfigError
from spectralnlp.text.signatures import signature_by_name, signature_chain

# The words that were seen in lower case in training.
KNOWN = {"english": {"dogs"}, "neutral": {"compra"}}


@pytest.mark.parametrize(
    ("scheme", "word", "position", "signature"),
    [
        ("english", "Running", 0, "UNK-INITC-ing"),
        ("english", "Dogs", 0, "UNK-INITC-KNOWNLC-s"),
        ("english", "Dogs", 3, "UNK-CAPS-s"),
        ("english", "NATO", 0, "UNK-CAPS"),
        ("english", "mainly", 1, "UNK-LC-ly"),
        ("english", "clarity", 1, "UNK-LC-ity"),
        ("english", "glass", 1, "UNK-LC"),
        ("english", "well-dressed", 1, "UNK-LC-DASH"),
        ("english", "mid-1990s", 1, "UNK-LC-NUM-DASH-s"),
        ("english", "1,000", 1, "UNK-NUM"),
        ("english", "B2B", 1, "UNK-CAPS-NUM"),
        ("english", "op", 1, "UNK-LC"),
        ("english", "😀", 1, "UNK-SYM"),
        ("english", "-LRB-", 0, "UNK-SYM"),
        ("neutral", "anunciaron", 2, "UNK~ron"),
        ("neutral", "Compra", 0, "UNK-INIT-KNOWNLC~pra"),
        ("neutral", "Compra", 1, "UNK-CAP~pra"),
        ("neutral", "EDF", 1, "UNK-ALLCAP"),
        ("neutral", "友", 1, "UNK-HAN1"),
        ("neutral", "友情", 1, "UNK-HAN2~情"),
        ("neutral", "中华人民", 0, "UNK-HAN4~民"),
        ("neutral", "árabe", 1, "UNK~be"),
        ("neutral", "G-3", 1, "UNK-ALLCAP-NUM-PUNCT"),
        ("neutral", "7,24", 1, "UNK-NUMBER"),
        ("neutral", "(", 1, "UNK-SYM"),
        ("neutral", "Landsbanka$", 1, "UNK-JOINED-CAP~nka"),
        ("neutral", "$inum", 1, "UNK-CLITIC~um"),
        ("neutral", "$", 1, "UNK-SYM"),
    ],
)
def test_the_signature_of_a_word(scheme: str, word: str, position: int, signature: str) -> None:
    assert signature_by_name(scheme)(word, position, KNOWN[scheme]) == signature


@given(st.sampled_from(["english", "neutral"]), st.text(min_size=1), st.integers(0, 3))
def test_any_word_has_one(name: str, word: str, position: int) -> None:
    signature = signature_by_name(name)(word, position)
    assert signature.startswith("UNK")
    assert not any(map(str.isspace, signature))


@pytest.mark.parametrize(
    ("signature", "word", "endings"),
    [
        ("UNK-LC-ly", "Mainly", ["ainly", "inly", "nly", "ly", "y"]),
        ("UNK-LC", "nationalist", ["alist", "list", "ist", "st", "t"]),
        ("UNK-CAPS", "Op", ["p"]),
        ("UNK-CAPS", "I", []),
        ("UNK-LC-DASH", "Miami-on", ["on", "n"]),
        ("UNK-LC-NUM", "covid19", []),
        ("UNK-LC", "árbol", ["rbol", "bol", "ol", "l"]),
        ("UNK-JOINED", "land$", ["and", "nd", "d"]),
        ("UNK-CLITIC", "$inum", ["num", "um", "m"]),
        ("UNK-CAPS", "US$", []),
    ],
)
def test_chains_lose_a_letter_at_a_time(signature: str, word: str, endings: list[str]) -> None:
    assert signature_chain(signature, word) == [*(f"{signature}~{ending}" for ending in endings), signature]


def test_a_chain_replaces_the_ending_of_a_neutral_signature() -> None:
    assert signature_chain("UNK-CAP~pra", "Opra") == ["UNK-CAP~pra", "UNK-CAP~ra", "UNK-CAP~a", "UNK-CAP"]


@given(st.sampled_from(["english", "neutral"]), st.text(min_size=1), st.integers(0, 3))
def test_chains_of_any_word_grow_coarser(name: str, word: str, position: int) -> None:
    signature = signature_by_name(name)(word, position)
    chain = signature_chain(signature, word)
    assert chain[-1] == signature.partition("~")[0]
    assert 1 <= len(chain) <= 6
    assert [len(each) for each in chain[:-1]] == sorted({len(each) for each in chain[:-1]}, reverse=True)


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match="choose one of english, neutral"):
        signature_by_name("french")
