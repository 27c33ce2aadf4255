"""Split token streams into sentences, by rules or by a learned model, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from spectralnlp.text.sentence_rules import SentenceRules, is_complete
from spectralnlp.text.tokens import Sentence, Token

# Maximum tokens of a sentence; a longer one is cut there.
MAX_TOKENS = 1000


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
