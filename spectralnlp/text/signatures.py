"""Signatures: classes that replace rare and unknown words in a lexicon.

A signature keeps features of a word's spelling that hint at its part of speech: capitals, digits, dashes, an
ending.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from unicodedata import category

from spectralnlp.errors import ConfigError
from spectralnlp.text.cut_words import JOINT, written

# ``signature(word, position, known=())``; ``position`` counts from 0, ``known`` contains frequent words.
Signature = Callable[..., str]

_BRACKET_FORM = re.compile(r"-[LR][RSC]B-")
_LAST_LETTERS = re.compile(r"[^\W\d_]{1,5}\Z")
# Han ideographs, with extensions and compatibility forms.
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_LONGEST_HAN = 4
# Prefixes of the signatures of parts of cut words: ``land$ $ið``.
_CUT = ("UNK-JOINED", "UNK-CLITIC")
# Signs that Unicode counts as punctuation.
_SIGNS = frozenset("#*\\_|•‣·§¶†‡")
# The first of these with which a word ends is part of its signature.
_ENGLISH_SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")


def english_signature(word: str, position: int, known: Container[str] = ()) -> str:
    """Return the spelling class of an English word, which replaces it in a lexicon if rare or unknown.

    The classes are those of level 5 of the Berkeley parser (Petrov et al. 2006), such as ``UNK-LC-ing`` for
    *flurbing*. A class is ``UNK`` and, joined by hyphens in this order, those of the following that apply:

    - one of ``INITC`` (one capital, which begins the sentence), ``INITC-KNOWNLC`` (the same, if the
      lower-cased word is known), ``CAPS`` (any other initial capital, or a capital in a word that begins
      with a digit or a mark) and ``LC`` (lower-case letters);
    - ``NUM`` (has a digit) and ``DASH`` (has a hyphen);
    - one of ten endings, such as ``ing`` and ``s``.

    Unlike in the Berkeley parser, a token of symbols alone (emoji, brackets) is ``UNK-SYM``.

    Args:
        word: the token as the treebank writes it.
        position: index of the token in its sentence, from 0.
        known: words that need no signature.
    """
    if _is_symbol(word):
        return "UNK-SYM"
    lowered = word.lower()
    capitals = sum(c.isupper() or c.istitle() for c in word)
    digits, dash = any(map(str.isdigit, word)), "-" in word
    signature = "UNK"
    if word[0].isupper() and position == 0 and capitals == 1:
        signature += "-INITC-KNOWNLC" if lowered in known else "-INITC"
    elif word[0].isupper() or (not word[0].isalpha() and capitals):
        signature += "-CAPS"
    elif any(map(str.islower, word)):
        signature += "-LC"
    signature += ("-NUM" if digits else "") + ("-DASH" if dash else "")
    if lowered.endswith("s") and len(word) >= 3:
        return signature if lowered[-2] in "siu" else signature + "-s"
    if len(word) >= 5 and not dash and not (digits and capitals):
        ending = next((suffix for suffix in _ENGLISH_SUFFIXES if lowered.endswith(suffix)), None)
        return f"{signature}-{ending}" if ending else signature
    return signature


def neutral_signature(word: str, position: int, known: Container[str] = ()) -> str:
    """Return the spelling class of a word in any language, which replaces it in a lexicon if rare or unknown.

    A class is ``UNK`` and, joined by hyphens in this order, those of the following that apply:

    - one of ``ALLCAP`` (all capitals), ``INIT`` (a capital that begins the sentence), ``INIT-KNOWNLC`` (the
      same, if the lower-cased word is known) and ``CAP`` (a capital elsewhere);
    - ``NUM`` (has a digit) and ``PUNCT`` (has punctuation);
    - ``~`` and an ending (without a hyphen before): the last three characters of words of six or more, the
      last two of words of four or five, if they are letters.

    Exceptions are ``UNK-SYM`` for a token without letters and digits; ``UNK-NUMBER`` for digits, with or
    without punctuation; ``UNK-HAN1`` to ``UNK-HAN4`` for one to four or more Han characters, with ``~`` and
    the last one if there are several. If the treebank splits a word in two, such as ``land$ $ið``, each part
    has the class of its letters, with ``JOINED`` (first part) or ``CLITIC`` (second part) after ``UNK``.

    Args:
        word: the token as the treebank writes it.
        position: index of the token in its sentence, from 0.
        known: words that need no signature.
    """
    if _is_symbol(word):
        return "UNK-SYM"
    if (part := written(word)) != word:
        side = "CLITIC" if word.startswith(JOINT) else "JOINED"
        return neutral_signature(part, position, known).replace("UNK", f"UNK-{side}", 1)
    if _HAN.fullmatch(word):
        ending = f"~{word[-1]}" if len(word) > 1 else ""
        return f"UNK-HAN{min(len(word), _LONGEST_HAN)}{ending}"
    if not any(map(str.isalpha, word)):
        return "UNK-NUMBER"
    signature = "UNK"
    if word.isupper() and len(word) > 1:
        signature += "-ALLCAP"
    elif word[0].isupper() and position == 0:
        signature += "-INIT-KNOWNLC" if word.lower() in known else "-INIT"
    elif word[0].isupper():
        signature += "-CAP"
    if any(map(str.isdigit, word)):
        signature += "-NUM"
    if not word.isalnum():
        signature += "-PUNCT"
    ending = word.lower()[-3 if len(word) >= 6 else -2 :]
    if len(word) >= 4 and ending.isalpha():
        signature += f"~{ending}"
    return signature


def signature_chain(signature: str, word: str) -> list[str]:
    """Return increasingly coarse spelling classes of a word, which keep fewer and fewer final letters.

    An estimate for one class backs off to the next, as for the suffixes of TnT (Brants 2000, section 2.3).
    Suffixes consist of letters only, and never include the word's first character.

    Args:
        signature: the word's signature from a signature function; an ending after ``~`` is replaced.
        word: the token.

    Returns:
        The classes, finest first: ``["UNK-LC-ly~ainly", …, "UNK-LC-ly~y", "UNK-LC-ly"]`` for *plainly*.
    """
    look = signature.partition("~")[0]
    if look.startswith(_CUT):
        word = written(word)
    letters = _LAST_LETTERS.search(word.lower(), 1)
    ending = letters[0] if letters else ""
    return [*(f"{look}~{ending[start:]}" for start in range(len(ending))), look]


def other_spelling(word: str) -> str:
    """Return a word with a final ``$`` added, or removed if the word has one.

    A final ``$`` marks the first part of a word that the treebank splits: ``land$ $ið``. The result is used
    to look up a word that the lexicon has only in the other form.
    """
    return word.removesuffix(JOINT) if word.endswith(JOINT) else f"{word}{JOINT}"


def is_sign(word: str) -> bool:
    """Return whether a token is a bullet, a mathematical sign, an emoji or another sign, not punctuation.

    Signs of currencies, quotation marks, brackets and the usual punctuation marks do not count.
    """
    return bool(word) and all(
        c in _SIGNS or (category(c) in ("Sm", "So", "Sk", "Cf", "Mn", "Me") and c != "`") for c in word
    )


def _is_symbol(word: str) -> bool:
    return not any(map(str.isalnum, word)) or _BRACKET_FORM.fullmatch(word) is not None


_SIGNATURES: dict[str, Signature] = {"english": english_signature, "neutral": neutral_signature}


def signature_by_name(name: str) -> Signature:
    """Return the signature function ``english`` or ``neutral``; raises ConfigError for another name."""
    try:
        return _SIGNATURES[name]
    except KeyError:
        raise ConfigError(
            f"no signature {name!r}", hint=f"choose one of {', '.join(sorted(_SIGNATURES))}"
        ) from None
