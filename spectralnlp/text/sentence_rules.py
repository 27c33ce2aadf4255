"""Rules for sentence ends: a full stop or the like ends a sentence, but not after an abbreviation.

The rules decide before each token whether a sentence ends there. A splitter learned from a treebank
(`spectralnlp.text.sentence_ends.SentenceEnds`) may overrule them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from spectralnlp.text.english import NEVER_FINAL, STARTERS
from spectralnlp.text.tokens import Token

_STOPS = re.compile(r"[.?!。！？؟।]|[?!]+|\.{4,}")
_SUSPENSIONS = frozenset(("...", "..", "…", "……"))
_CLOSERS = frozenset(
    ("'", '"', "''", "’", "”", "»", "›", *")]}」』）］｝】〉》〕", "-RRB-", "-RSB-", "-RCB-")
)
_MAX_CLOSERS = 8  # closing marks to look back over; bounded, so that a million of them take linear time
_N_RECENT = 64  # tokens remembered; more than the rules need, so that the list is seldom trimmed
_CONTINUERS = frozenset((",", ";", ":", "%", "-", "--", "–", "—"))


class SentenceRules:
    """Rules that decide, token by token, where sentences end.

    Args:
        english: whether to use English abbreviations.
    """

    def __init__(self, english: bool) -> None:
        self._ends = _ends_english if english else _ends_neutral
        self._recent: list[Token] = []  # last tokens of the current sentence

    def end_before(self, token: Token) -> bool:
        """Whether a sentence ends before a token; call with the tokens of a text in order."""
        recent = self._recent
        ends = False
        # No sentence ends after a token that ends in a letter or digit; decide this common case quickly.
        if recent and not recent[-1].text[-1].isalnum() and _breaks(recent, token, self._ends):
            ends = True
            recent.clear()
        elif len(recent) == _N_RECENT:
            del recent[: -_MAX_CLOSERS - 1]
        recent.append(token)
        return ends

    def begin(self) -> None:
        """Start a new text, and forget the tokens of the text before."""
        self._recent.clear()


def rule_ends(tokens: Iterable[Token], *, english: bool) -> list[bool]:
    """Return, for each token of a text, whether the rules end a sentence before it."""
    rules = SentenceRules(english)
    return [rules.end_before(token) for token in tokens]


def is_stop(text: str) -> bool:
    """Return whether a token is a full stop, question mark or other mark that can end a sentence."""
    return _STOPS.fullmatch(text) is not None


def is_complete(tokens: Sequence[Token]) -> bool:
    """Return whether tokens end with a sentence-final mark, before any closing quotes and brackets."""
    return is_stop(tokens[_last_open(tokens)].text)


def _last_open(tokens: Sequence[Token]) -> int:
    """Return the index of the last token that is not a closing quote or bracket.

    At most 8 closing quotes and brackets are skipped.
    """
    last = len(tokens) - 1
    index = last
    while index > max(0, last - _MAX_CLOSERS) and tokens[index].text in _CLOSERS:
        index -= 1
    return index


def _breaks(before: Sequence[Token], token: Token, ends: Callable[[str, str], bool]) -> bool:
    """Return whether a sentence ends before a token.

    Args:
        before: the current sentence's tokens before ``token``; at least one.
        token: the token to decide about.
        ends: function for ambiguous cases, in which ``before`` ends with an ellipsis or with a word such as
            ``etc.``. It takes this word and the next word, and returns whether a sentence ends between them.
    """
    last = before[-1]
    index = _last_open(before)
    stop = before[index].text
    if stop[-1] not in ".?!…。！？؟।" or token.text in _CONTINUERS:
        return False
    if token.text in _SUSPENSIONS or is_stop(token.text):
        return False
    if _closes(token, last):
        return False
    if index < len(before) - 1 and token.text[0].islower():  # '"Why?" he asked', '(the man!) left'
        return False
    if is_stop(stop):
        return not (token.start == last.end and token.text[0].islower())
    return ends(stop, token.text)


def _closes(token: Token, last: Token) -> bool:
    """Return whether a token is a closing quotation mark or bracket, and so cannot begin a sentence.

    An upright quotation mark closes if no blank separates it from ``last``, the token before, or if its
    ``form`` is a closing quotation mark.
    """
    if token.text in ("'", '"'):
        return token.start == last.end or token.form in ("''", "”")
    return token.text in _CLOSERS


def _ends_neutral(stop: str, following: str) -> bool:
    """Return whether a sentence ends after an ellipsis or an abbreviation, in any language.

    Initials do not end sentences.

    Args:
        stop: the ellipsis, or a word with a full stop.
        following: the next word.
    """
    if stop in _SUSPENSIONS:
        return not following[0].islower()
    return len(stop) > 2 and stop[:-1].isalpha() and following[0].isupper()


def _ends_english(stop: str, following: str) -> bool:
    """Return whether an English sentence ends after an ellipsis or an abbreviation.

    Args:
        stop: the ellipsis, or a word with a full stop.
        following: the next word.
    """
    if stop in _SUSPENSIONS:
        return not (following[0].islower() or following[0].isdigit())
    stem = stop.removesuffix(".")
    if stem == stop or stem.lower() in NEVER_FINAL:
        return False
    if len(stem) == 1 and following == "A":  # "J. A. Smith"
        return False
    return following in STARTERS or (stem.lower() == "etc" and following[0].isupper())
