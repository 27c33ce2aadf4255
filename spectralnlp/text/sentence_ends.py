"""Sentences of a stream of tokens, by rules or by what was learned of a treebank, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from spectralnlp.text.sentence_rules import SentenceRules, is_complete
from spectralnlp.text.tokens import Sentence, Token

# A sentence that has not ended after so many tokens is cut there.
MAX_TOKENS = 1000


@dataclass
class OpenText:
    """Tokens of a text, from the first one of a sentence on.

    Attributes:
        tokens: as far as the text was read.
        by_rule: whether the rules end a sentence before each token.
        decided: how many tokens are known to belong to the sentence; 1 or more where there are tokens.
        previous: the last token of the sentence before; None at the beginning of a text.
    """

    tokens: list[Token] = field(default_factory=list)
    by_rule: list[bool] = field(default_factory=list)
    decided: int = 1
    previous: Token | None = None


class SentenceEnds(Protocol):
    """A decision where the sentences of a text end.

    Attributes:
        ahead: tokens after the first one of a sentence that are needed to know that it is one.
        batch: tokens to decide on at a time, at least, where the text goes on.
    """

    ahead: int
    batch: int

    def find(self, text: OpenText, stop: int) -> Sequence[int]:
        """Return which tokens begin sentences, ascending, from ``text.decided`` to ``stop``, exclusive.

        No sentence may be longer than ``MAX_TOKENS``. Tokens from ``stop`` on are the next words of the text,
        ``ahead`` of them at least; where there are none, the text ends.
        """


class EndsByRule:
    """Sentence ends as the rules have them."""

    ahead, batch = 0, 1

    def find(self, text: OpenText, stop: int) -> Sequence[int]:
        """Return which tokens begin sentences; see `SentenceEnds`."""
        found, start = [], 0
        for index, ends in enumerate(islice(text.by_rule, text.decided, stop), text.decided):
            if ends or index - start >= MAX_TOKENS:
                found.append(index)
                start = index
        return found


class Pending:
    """Tokens of a stream whose sentences have not ended yet.

    Args:
        english: whether the rules are those of English.
        ends: decides; None to go by the rules.
    """

    def __init__(self, english: bool, ends: SentenceEnds | None = None) -> None:
        self._rules = SentenceRules(english)
        self._ends = ends or EndsByRule()
        self._text = OpenText()

    def __bool__(self) -> bool:
        return bool(self._text.tokens)

    @property
    def is_complete(self) -> bool:
        """Whether the tokens end with a plain stop, so that the line end settles it."""
        return bool(self) and is_complete(self._text.tokens)

    def extend(self, tokens: Iterable[Token]) -> None:
        """Add the next tokens of the text."""
        text, end_before = self._text, self._rules.end_before
        for token in tokens:
            text.tokens.append(token)
            text.by_rule.append(end_before(token))

    def settle(self) -> Iterator[Sentence]:
        """Yield the sentences that are known to have ended, whatever comes next."""
        stop = len(self._text.tokens) - self._ends.ahead
        if stop - self._text.decided >= self._ends.batch:
            yield from self._cut(stop)

    def close(self) -> Iterator[Sentence]:
        """Yield all sentences; what comes next is another text."""
        yield from self._cut(len(self._text.tokens))
        if self:
            yield Sentence(tuple(self._text.tokens))
        self._text = OpenText()
        self._rules.begin()

    def _cut(self, stop: int) -> Iterator[Sentence]:
        """Yield the sentences that end before token ``stop``."""
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
