"""What renderers need of trees and parses: `spectralnlp.Tree` and `spectralnlp.Parse` have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from spectralnlp.text.tokens import Sentence


class DrawnTree(Protocol):
    """A label with children, or a preterminal with its word."""

    @property
    def label(self) -> str:
        """The category."""

    @property
    def word(self) -> str | None:
        """The token under a preterminal; None for every other node."""

    @property
    def children(self) -> Sequence[DrawnTree]:
        """Subtrees from left to right."""

    def nodes(self) -> Iterator[DrawnTree]:
        """All nodes, a parent before its children, from left to right."""

    def preterminals(self) -> Sequence[DrawnTree]:
        """The nodes over words, from left to right."""

    def words(self) -> list[str]:
        """The tokens of the sentence."""

    def tags(self) -> list[str]:
        """The label of each token's preterminal."""

    def spans(self) -> list[tuple[str, int, int]]:
        """(label, start, end) of every node that is not a preterminal, parents first."""


class ScoredSpan(Protocol):
    """One bracket of a tree, with its probability."""

    @property
    def label(self) -> str:
        """The category."""

    @property
    def start(self) -> int:
        """The first token."""

    @property
    def end(self) -> int:
        """The token after the last."""

    @property
    def posterior(self) -> float:
        """Probability under the model, in [0, 1]."""


class ScoredTree(Protocol):
    """One of a sentence's k best trees."""

    @property
    def tree(self) -> DrawnTree:
        """The tree."""

    @property
    def score(self) -> float:
        """Total gain of the decoder."""


class ParsedSentence(Protocol):
    """A sentence and its tree."""

    @property
    def tree(self) -> DrawnTree:
        """The tree, under its root."""

    @property
    def sentence(self) -> Sentence:
        """The tokens, with character offsets."""

    @property
    def log_probability(self) -> float | None:
        """Natural logarithm of the sentence's probability; None where it is not known."""

    @property
    def constituents(self) -> Sequence[ScoredSpan]:
        """Those of the tree without its root, parents first."""

    @property
    def fallback(self) -> str | None:
        """None, or why this is not simply the grammar's best tree."""

    @property
    def alternatives(self) -> Sequence[ScoredTree]:
        """The k best trees, the best first, where more than one was asked for."""
