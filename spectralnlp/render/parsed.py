"""What renderers read of a parse: protocols that `spectralnlp.Tree` and `Parse` implement, and posteriors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from spectralnlp.text.tokens import Sentence


class DrawnTree(Protocol):
    """A tree node: a label with children, or a preterminal with its word."""

    @property
    def label(self) -> str:
        """Category of the node, such as ``NP``."""

    @property
    def word(self) -> str | None:
        """The token under a preterminal; None for every other node."""

    @property
    def children(self) -> Sequence[DrawnTree]:
        """Subtrees from left to right."""

    def nodes(self) -> Iterator[DrawnTree]:
        """Iterate over all nodes in preorder, from left to right."""

    def preterminals(self) -> Sequence[DrawnTree]:
        """Return the preterminals (nodes over words), from left to right."""

    def words(self) -> list[str]:
        """Return the tokens of the sentence."""

    def tags(self) -> list[str]:
        """Return the label of each token's preterminal."""

    def spans(self) -> list[tuple[str, int, int]]:
        """Return (label, start, end) of every node that is not a preterminal, parents first."""


class ScoredSpan(Protocol):
    """A bracket of a tree, with its posterior."""

    @property
    def label(self) -> str:
        """Category of the bracket, such as ``NP``."""

    @property
    def start(self) -> int:
        """Index of the first token."""

    @property
    def end(self) -> int:
        """Index of the token after the last."""

    @property
    def posterior(self) -> float:
        """Posterior probability of the constituent under the model, in [0, 1]."""


class ScoredTree(Protocol):
    """One of a sentence's k best trees."""

    @property
    def tree(self) -> DrawnTree:
        """The tree, including its root node."""

    @property
    def score(self) -> float:
        """The decoder's total score of the tree, comparable within one sentence."""


class ParsedSentence(Protocol):
    """A sentence and its tree."""

    @property
    def tree(self) -> DrawnTree:
        """The tree, including its root node."""

    @property
    def sentence(self) -> Sentence:
        """The tokens, with character offsets."""

    @property
    def log_probability(self) -> float | None:
        """Natural logarithm of the sentence's probability; None if it is unknown."""

    @property
    def constituents(self) -> Sequence[ScoredSpan]:
        """The constituents of the tree except its root, parents first."""

    @property
    def fallback(self) -> str | None:
        """Why the tree is not the grammar's best one; None if it is."""

    @property
    def alternatives(self) -> Sequence[ScoredTree]:
        """The k best trees, best first; empty unless more than one was requested."""


def node_posteriors(parse: ParsedSentence) -> list[float | None]:
    """Return the posterior of every node that is not a preterminal, parents first.

    A node gets None if it is not among the constituents of the parse, such as the root TOP. Constituents are
    matched to nodes in order, by label, start and end.
    """
    posteriors: list[float | None] = []
    constituents = iter(parse.constituents)
    awaited = next(constituents, None)
    for span in parse.tree.spans():
        if awaited is not None and span == (awaited.label, awaited.start, awaited.end):
            posteriors.append(awaited.posterior)
            awaited = next(constituents, None)
        else:
            posteriors.append(None)
    return posteriors
