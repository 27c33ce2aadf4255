"""Reconstruct the raw text of a treebank's sentences, and the offsets of their words in it.

Most treebanks do not record blanks. Words and tags suffice to restore nearly all of them: punctuation and
clitics attach to the word before, quotation marks and brackets have directions, and hyphen tokens join words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from spectralnlp.text.conventions import DOUBLE_QUOTES, Conventions
from spectralnlp.text.cut_words import is_cut
from spectralnlp.text.english import CONTRACTIONS
from spectralnlp.text.scripts import is_continuous
from spectralnlp.text.tokens import Sentence, Token

_AFTER_NO_BLANK = frozenset(",.;:?!%)]}’”»›。、，！？।")
_BEFORE_NO_BLANK = frozenset("([{‘“„«‹¿¡")
_STOPS = re.compile(r"[?!.]{1,2}|[?!]+")
_CLITIC = re.compile(r"n['’]t|['’](?:s|m|d|ll|re|ve)", re.I)
_CURRENCIES = ("$", "€", "£", "¥", "#")
_SINGLE = frozenset("'’‘`")
_HYPHENS = frozenset("-‐‑–")
_HYPHEN_TAG = "HYPH"
_POSSESSIVE_TAG = "POS"
_QUOTE_TAGS = {"``": True, "''": False}  # of the Penn treebank: whether the mark opens
# Pairs of tokens that are written as one word: ("can", "not").
_WRITTEN_AS_ONE = frozenset((word[:cut], word[cut:]) for word, cut in CONTRACTIONS.items())


def place_words(
    words: Sequence[str],
    tags: Sequence[str] | None = None,
    conventions: Conventions | None = None,
    *,
    offset: int = 0,
) -> Sentence:
    """Return the words of a sentence with their offsets in reconstructed raw text.

    Args:
        words: the words as the treebank writes them.
        tags: Penn part-of-speech tags, one for each word; they distinguish hyphens from dashes and give the
            direction of quotation marks. Without tags, neighbouring words decide.
        conventions: the treebank's conventions; by default those of the Penn treebank.
        offset: offset of the first word in its document, in characters.

    Returns:
        Tokens whose ``text`` is raw text (``(`` for ``-LRB-``) and whose ``form`` is the treebank's word.
    """
    conventions = conventions or Conventions()
    texts = [conventions.plain(word) for word in words]
    left, right = _attachments(texts, words, tags or [""] * len(words), conventions)
    if not conventions.words_apart:
        left = [not _are_apart(*pair) for pair in pairwise(["", *texts])]
    tokens: list[Token] = []
    for index, (text, word) in enumerate(zip(texts, words, strict=True)):
        offset += index > 0 and not (left[index] or right[index - 1])
        tokens.append(Token(text, word, offset, offset + len(text)))
        offset += len(text)
    return Sentence(tuple(tokens))


def _are_apart(before: str, text: str) -> bool:
    """Return whether a blank belongs between two words of a text in a language written without blanks.

    This is the case between foreign words, such as two English words in a Japanese text.

    Args:
        before: the first word; may be empty.
        text: the second word.
    """
    return not is_continuous(before[-1:] + text[:1]) and before[-1:].isalnum() and text[:1].isalnum()


def text_of(sentences: Iterable[Sentence]) -> str:
    """Return the text of sentences, with each token at its offset and blanks between tokens."""
    pieces: list[str] = []
    end = 0
    for sentence in sentences:
        for token in sentence.tokens:
            pieces.append(" " * (token.start - end) + token.text)
            end = token.end
    return "".join(pieces)


def _attachments(
    texts: Sequence[str], words: Sequence[str], tags: Sequence[str], conventions: Conventions
) -> tuple[list[bool], list[bool]]:
    """Return which words are written without a blank before them, and which without a blank after them.

    Args:
        texts: the words in raw text.
        words: the words as the treebank writes them.
        tags: Penn part-of-speech tags of the words; empty if unknown.
        conventions: the treebank's conventions.

    Returns:
        Two lists with a truth value for each word: no blank before it, no blank after it.
    """
    english = conventions.language == "en"
    before, after = ["", *texts[:-1]], [*texts[1:], ""]
    left, right = [False] * len(texts), [False] * len(texts)
    inside: dict[bool, bool] = {}  # whether a quotation is open, of double and of single marks
    for i, (text, word, tag) in enumerate(zip(texts, words, tags, strict=True)):
        if conventions.cut_words and i and is_cut(words[i - 1 : i + 1]):
            left[i] = True
            continue
        opens = _opens(text, word, tag, before[i], inside)
        if opens is not None:
            left[i], right[i] = not opens, opens
            inside[text in _SINGLE] = opens
        elif text in _AFTER_NO_BLANK or _STOPS.fullmatch(text):
            left[i] = True
        elif text in _BEFORE_NO_BLANK:
            right[i] = True
        elif text.endswith(_CURRENCIES) and not text[:1].isdigit():
            right[i] = after[i][:1].isdigit()
        elif tag == _HYPHEN_TAG or _joins(text, tag, before[i], after[i], conventions):
            left[i] = right[i] = True
        elif english:
            clitic = tag == _POSSESSIVE_TAG or _CLITIC.fullmatch(text)
            left[i] = bool(clitic) or (before[i].lower(), text.lower()) in _WRITTEN_AS_ONE
    return left, right


def _opens(text: str, word: str, tag: str, before: str, inside: dict[bool, bool]) -> bool | None:
    """Return whether a quotation mark opens a quotation; None for other tokens, including apostrophes.

    Args:
        text: the token in raw text.
        word: the token as the treebank writes it.
        tag: its tag; empty if unknown.
        before: the token before.
        inside: whether a quotation has been opened and not closed: in single quotation marks (key True), and
            in double ones (key False). A missing key means no.
    """
    single = text in _SINGLE
    if not (single or text in DOUBLE_QUOTES) or tag == _POSSESSIVE_TAG:
        return None
    if tag in _QUOTE_TAGS:
        return _QUOTE_TAGS[tag]
    if word in ("`", "‘"):
        return True
    if not single and (directed := DOUBLE_QUOTES.get(word)) is not None:
        return directed
    if single and not inside.get(True) and before[-1:].lower() == "s":
        return False  # "the dogs' tails"
    return not inside.get(single, False)


def _joins(text: str, tag: str, before: str, after: str, conventions: Conventions) -> bool:
    """Return whether a token is a slash or untagged hyphen that raw text joins to the words around it.

    Args:
        text: the token in raw text.
        tag: its tag; empty if unknown.
        before: the token before.
        after: the token after.
        conventions: the treebank's conventions, which tell what it splits at hyphens and slashes.
    """
    if not (before[-1:].isalnum() and after[:1].isalnum()):
        return False
    if text == "/":
        return conventions.split_fractions if before[-1].isdigit() else conventions.split_slashes
    return text in _HYPHENS and not tag and conventions.split_hyphens
