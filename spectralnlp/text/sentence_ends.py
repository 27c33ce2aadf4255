"""Split token streams into sentences, by rules or by a learned model, in bounded memory.

By the rules, a full stop or the like ends a sentence, but not after an abbreviation. They decide before each
token whether a sentence ends there; a splitter learned from a treebank (`SentenceEnds`) may overrule them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from spectralnlp.text.english import NEVER_FINAL, STARTERS
from spectralnlp.text.tokens import Sentence, Token

# Maximum tokens of a sentence; a longer one is cut there.
MAX_TOKENS = 1000

_STOPS = re.compile(r"[.?!。！？؟।]|[?!]+|\.{4,}")
_SUSPENSIONS = frozenset(("...", "..", "…", "……"))
_CLOSERS = frozenset(
    ("'", '"', "''", "’", "”", "»", "›", *")]}」』）］｝】〉》〕", "-RRB-", "-RSB-", "-RCB-")
)
_MAX_CLOSERS = 8  # closing marks to look back over; bounded, so that a million of them take linear time
_N_RECENT = 64  # tokens remembered; more than the rules need, so that the list is seldom trimmed
_CONTINUERS = frozenset((",", ";", ":", "%", "-", "--", "–", "—"))


@dataclass
class OpenText:
    """Tokens that a sentence splitter has read from a text, beginning with the current sentence.

    Attributes:
        tokens: the tokens read so far.
        by_rule: for each token, whether the rules end a sentence before it.
        decided: number of tokens known to belong to the current sentence; 1 or more if there are tokens.
        previous: last token of the previous sentence; None at the beginning of a text.
    """

    tokens: list[Token] = field(default_factory=list)
    by_rule: list[bool] = field(default_factory=list)
    decided: int = 1
    previous: Token | None = None


class SentenceEnds(Protocol):
    """Protocol of sentence splitters, which decide where the sentences of a text end.

    Attributes:
        ahead: number of following tokens needed to decide whether a token begins a sentence.
        batch: minimum number of tokens to decide at once, except at the end of the text.
    """

    ahead: int
    batch: int

    def find(self, text: OpenText, stop: int) -> Sequence[int]:
        """Return the indices of the tokens that begin sentences, ascending.

        No sentence may be longer than ``MAX_TOKENS``.

        Args:
            text: the tokens; only those from index ``text.decided`` on may begin sentences.
            stop: end index (exclusive) of the tokens to decide about. At least ``ahead`` tokens follow,
                unless the text ends here.
        """


class RuleBasedSentenceEnds:
    """Sentence splitter that uses only rules."""

    ahead, batch = 0, 1

    def find(self, text: OpenText, stop: int) -> Sequence[int]:
        """Return the indices of tokens that begin sentences; see `SentenceEnds`."""
        beginnings, start = [], 0
        for index, ends in enumerate(islice(text.by_rule, text.decided, stop), text.decided):
            if ends or index - start >= MAX_TOKENS:
                beginnings.append(index)
                start = index
        return beginnings


class Pending:
    """Buffer of tokens whose sentences have not ended yet.

    Args:
        english: whether to use the rules for English.
        ends: sentence splitter that decides where sentences end; None for the rules.
    """

    def __init__(self, english: bool, ends: SentenceEnds | None = None) -> None:
        self._rules = SentenceRules(english)
        self._ends = ends or RuleBasedSentenceEnds()
        self._text = OpenText()

    def __bool__(self) -> bool:
        return bool(self._text.tokens)

    @property
    def is_complete(self) -> bool:
        """Whether the buffered tokens end with a sentence-final mark, before any closing quotes."""
        return bool(self) and is_complete(self._text.tokens)

    def extend(self, tokens: Iterable[Token]) -> None:
        """Add the next tokens of the text."""
        text, end_before = self._text, self._rules.end_before
        for token in tokens:
            text.tokens.append(token)
            text.by_rule.append(end_before(token))

    def settle(self) -> Iterator[Sentence]:
        """Yield and remove the sentences whose ends no longer depend on tokens that may be added later."""
        stop = len(self._text.tokens) - self._ends.ahead
        if stop - self._text.decided >= self._ends.batch:
            yield from self._cut(stop)

    def close(self) -> Iterator[Sentence]:
        """Yield all remaining sentences at the end of a text, and start a new text."""
        yield from self._cut(len(self._text.tokens))
        if self:
            yield Sentence(tuple(self._text.tokens))
        self._text = OpenText()
        self._rules.begin()

    def _cut(self, stop: int) -> Iterator[Sentence]:
        """Yield and remove the sentences that end before the token with index ``stop``."""
        text = self._text
        if stop <= text.decided:
            return
        start = 0
        for end in self._ends.find(text, stop):
            yield Sentence(tuple(text.tokens[start:end]))
            start = end
        if start:
            text.previous = text.tokens[start - 1]
            del text.tokens[:start], text.by_rule[:start]
        text.decided = stop - start


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
