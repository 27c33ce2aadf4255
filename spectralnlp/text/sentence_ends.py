"""Split token streams into sentences, by rules or by a learned model, in bounded memory.

By the rules, a full stop or the like ends a sentence, but not after an abbreviation. They judge the gap
before each token. A splitter learned from a treebank (`SentenceEnds`) may overrule all but ``NEVER`` and
``ALWAYS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Protocol
from unicodedata import category

from spectralnlp.text.english import NEVER_FINAL, STARTERS, reports
from spectralnlp.text.tokens import Sentence, Token

# Maximum tokens of a sentence; a longer one is cut there.
MAX_TOKENS = 1000

# What the rules say of the gap before a token: no sentence ends there; neither a mark nor a line end shows
# that one does; one may end there; one probably does; one does.
NEVER, UNMARKED, PERHAPS, PROBABLY, ALWAYS = range(5)

# Bullets, dashes and numbers that begin an item of a list.
LIST_MARK = r"[-–—*•◦‣▪●]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[^\W\d_]|[ivxlc]{2,5})[.)]"
_MARKS = re.compile(rf"[>#]*(?:{LIST_MARK})|[>#]+")  # also marks of quoted mail, and of headings
_MARK_TOKENS = 5  # no mark has more tokens
_BULLETS = frozenset("•◦‣▪●")

_STOPS = re.compile(r"[.?!。！？؟।]|[?!]+|\.{4,}")
_SUSPENSIONS = frozenset(("...", "..", "…", "……"))
_CLOSERS = frozenset(
    ("'", '"', "''", "’", "”", "»", "›", *")]}」』）］｝】〉》〕", "-RRB-", "-RSB-", "-RCB-")
)
_MAX_CLOSERS = 8  # closing marks to look back over; bounded, so that a million of them take linear time
_N_RECENT = 64  # tokens remembered; more than the rules need, so that the list is seldom trimmed
_CONTINUERS = frozenset((",", ";", ":", "%", "-", "--", "–", "—"))
_ENDINGS = frozenset(".?!…。！？؟।")  # the last characters of stops, ellipses and abbreviations
# After a quotation that ends in one of these, a verb of saying may follow in the same sentence.
_QUESTIONS = frozenset("?!….")
_LONGEST_REPORT = 8  # tokens


@dataclass
class OpenText:
    """Tokens that a sentence splitter has read from a text, beginning with the current sentence.

    Attributes:
        tokens: the tokens read so far.
        gaps: for each token, what the rules say of the gap before it: ``NEVER``, ``UNMARKED``, ``PERHAPS``,
            ``PROBABLY`` or ``ALWAYS``.
        decided: number of tokens known to belong to the current sentence; 1 or more if there are tokens.
        previous: last token of the previous sentence; None at the beginning of a text.
    """

    tokens: list[Token] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
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
        for index, gap in enumerate(islice(text.gaps, text.decided, stop), text.decided):
            if gap >= PROBABLY or index - start >= MAX_TOKENS:
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

    @property
    def begins_small(self) -> bool:
        """Whether the buffered sentence begins with a lower-case letter."""
        return bool(self) and self._rules.begins_small

    def extend(self, tokens: Sequence[Token], *, unbroken: bool = False) -> None:
        """Add the tokens of the text's next line.

        Args:
            tokens: the tokens of a line, or of a piece of it.
            unbroken: see `SentenceRules.gaps`.
        """
        self._text.gaps += self._rules.gaps(tokens, unbroken=unbroken)
        self._text.tokens += tokens

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
            del text.tokens[:start], text.gaps[:start]
        text.decided = stop - start


class SentenceRules:
    """Rules that judge, gap by gap, where sentences end.

    Args:
        english: whether to use English abbreviations and verbs of saying.
    """

    def __init__(self, english: bool) -> None:
        self._english = english
        self._ends = _ends_english if english else _ends_neutral
        self._recent: list[Token] = []  # last tokens of the current sentence
        self._first = ""  # the current sentence's first token, without marks of quoted mail

    def gaps(self, tokens: Sequence[Token], *, unbroken: bool = False) -> Iterator[int]:
        """Judge the gap before each token of a line; call with the lines of a text in order.

        Args:
            tokens: the tokens of a line.
            unbroken: whether the text has lost its line ends. Otherwise headings and the like have lines of
                their own, and next to no sentence ends within a line without a mark.

        Yields:
            ``NEVER``, ``UNMARKED``, ``PERHAPS``, ``PROBABLY`` or ``ALWAYS``.
        """
        recent = self._recent
        for index, token in enumerate(tokens):
            gap = self._gap(tokens, index) if recent else PERHAPS
            if gap >= PROBABLY or not recent or self._first == ">":
                self._first = token.text
            if gap >= PROBABLY:
                recent.clear()
            elif len(recent) == _N_RECENT:
                del recent[: -_MAX_CLOSERS - 1]
            recent.append(token)
            yield PERHAPS if gap == UNMARKED and unbroken else gap

    @property
    def begins_small(self) -> bool:
        """Whether the current sentence begins with a lower-case letter."""
        return self._first[:1].islower()

    def begin(self) -> None:
        """Start a new text, and forget the tokens of the text before."""
        self._recent.clear()

    def _gap(self, tokens: Sequence[Token], index: int) -> int:
        """Judge the gap before the token of a line at ``index``; the current sentence has a token before."""
        recent, token = self._recent, tokens[index]
        last = recent[-1]
        if _is_list_mark(recent):
            return NEVER  # it belongs to its item
        # By rule, no sentence ends after a letter or digit; decide this common case quickly.
        if last.text[-1].isalnum():
            return UNMARKED if index and token.text not in _BULLETS else PERHAPS
        if _closes(token, last):
            return NEVER
        stop = recent[_last_open(recent)]
        if stop.text[-1] not in _ENDINGS:
            if stop is not last and stop.text == ",":
                return NEVER  # '"I know," Tom said'
            return PERHAPS if _is_emoji(last.text) or not index else UNMARKED
        if stop is not last and (token.text[0].islower() or self._reports(stop, tokens, index)):
            return NEVER  # '"Why?" he asked', '(the man!) left'
        if self._english and _is_never_final(stop.text):
            return NEVER
        if is_stop(stop.text) and self._begins_item(tokens[index : index + _MARK_TOKENS]):
            return ALWAYS
        return PROBABLY if _breaks(stop.text, last, token, self._ends) else PERHAPS

    def _begins_item(self, tokens: Sequence[Token]) -> bool:
        """Return whether tokens after a stop begin with the mark of a list item.

        A dash, or a number with a stop that may be an ordinal in other languages, can be something else.
        """
        if tokens[0].text in _CONTINUERS:
            return tokens[0].text == self._first
        for mark in accumulate(token.text for token in tokens):
            if _MARKS.fullmatch(mark):
                return mark[-1] != "." or (self._english and mark[0].isdigit())
        return False

    def _reports(self, stop: Token, tokens: Sequence[Token], index: int) -> bool:
        """Return whether a name and a verb of saying follow a quoted question, exclamation or ellipsis."""
        if not self._english or stop.text[-1] not in _QUESTIONS or stop.text == ".":
            return False
        return reports([each.text for each in tokens[index : index + _LONGEST_REPORT]])


def rule_gaps(tokens: Sequence[Token], *, english: bool) -> list[int]:
    """Return what the rules say of the gap before each token of a text without line ends."""
    return list(SentenceRules(english).gaps(tokens, unbroken=True))


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


def _is_list_mark(tokens: Sequence[Token]) -> bool:
    """Return whether tokens end with the mark of a list item that begins a sentence or follows a colon."""
    if tokens[-1].text[-1].isalnum():
        return False
    item: list[str] = []
    for token in tokens[: -_MARK_TOKENS - 2 : -1]:
        if token.text in (":", ";"):
            break
        item.insert(0, token.text)
    return len(item) <= _MARK_TOKENS and _MARKS.fullmatch("".join(item)) is not None


def _is_never_final(text: str) -> bool:
    """Return whether a token is an English abbreviation that never ends a sentence, not a capital letter."""
    stem = text.removesuffix(".")
    return stem != text and stem.lower() in NEVER_FINAL and not (len(stem) == 1 and stem.isupper())


def _is_emoji(text: str) -> bool:
    """Return whether a token is an emoji or emoticon, which may stand for a stop."""
    return category(text[0]) == "So" or (
        len(text) > 1 and text not in _CLOSERS | _CONTINUERS and not any(map(str.isalnum, text))
    )


def _breaks(stop: str, last: Token, token: Token, ends: Callable[[str, str], bool]) -> bool:
    """Return whether a sentence ends before a token.

    Args:
        stop: the last token before ``token`` that is not a closing quote or bracket; it ends in a stop.
        last: the last token before ``token``.
        token: the token to decide about; it does not close anything.
        ends: function for ambiguous cases, in which ``stop`` is an ellipsis or a word such as ``etc.``. It
            takes this word and the next word, and returns whether a sentence ends between them.
    """
    if token.text in _CONTINUERS or token.text in _SUSPENSIONS or is_stop(token.text):
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
