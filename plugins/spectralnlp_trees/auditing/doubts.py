"""Data classes for suspected annotation errors of a treebank, their corrections and their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from spectralnlp.display import one_line
from spectralnlp_trees.comparison.workspace import Bracket


class Kind(StrEnum):
    """Kind of an annotation error: wrong tag, label or edge of a node, or an extra or missing node."""

    TAG = "tag"
    LABEL = "label"
    MOVED = "moved"  # one of its edges
    EXTRA = "extra"
    MISSING = "missing"


class Change(NamedTuple):
    """Proposed correction of a tree: remove a node, add one, or replace one by another.

    Attributes:
        kind: kind of the annotation error.
        node: node that the treebank has; None for a missing bracket.
        proposed: node that is proposed; None for an extra bracket.
    """

    kind: Kind
    node: Bracket | None
    proposed: Bracket | None

    @property
    def place(self) -> Bracket:
        """The doubtful node or, if a bracket is missing, the proposed node."""
        place = self.node or self.proposed
        assert place is not None  # at least one is not None
        return place


@dataclass(frozen=True)
class Occurrence:
    """Another occurrence in the treebank of the words of a doubtful node.

    Attributes:
        tree: number of the tree, from 0.
        start, end: range of tokens, ``end`` exclusive.
        labels: labels of the brackets over exactly these words, topmost first, or the tag; empty if the words
            are not a bracket.
    """

    tree: int
    start: int
    end: int
    labels: tuple[str, ...]

    __repr__ = one_line


@dataclass(frozen=True)
class Doubt:
    """Node of a treebank that is probably an annotation error, with the evidence.

    Attributes:
        tree: number of the tree, from 0.
        change: the doubtful node and the proposed correction.
        doubt: score of the change; larger values are more doubtful. It is the log-odds of the change, lowered
            if nodes with this label are often doubted or the tree has stronger doubts.
        posterior: probability that a parser gives to the present annotation. The parser was not trained on
            this tree. It considers only trees whose brackets do not cross those of this tree, unless its
            grammar derives no such tree.
        proposed_posterior: probability that the same parser gives to the proposed annotation.
        as_is: number of other occurrences of the words, between the same neighbours, with the present
            annotation.
        as_proposed: number of such occurrences with the proposed annotation.
        others: some other occurrences of the words, those with the same neighbours first.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import audit
        >>> trees = list(spectralnlp.read_treebank("corpora/treebank/train.mrg"))
        >>> doubt = audit(trees, limit=1)[0]
        >>> doubt.tree < len(trees), sorted(doubt.to_flat_dict())[:3]
        (True, ['as_is', 'as_proposed', 'doubt'])
    """

    tree: int
    change: Change
    doubt: float
    posterior: float
    proposed_posterior: float
    as_is: int = 0
    as_proposed: int = 0
    others: tuple[Occurrence, ...] = ()

    __repr__ = one_line

    def to_flat_dict(self) -> dict[str, Any]:
        """Return the suspected error as the cells of a table row, by column name.

        The node covers the tokens from ``first`` to ``last``, which is inclusive; tokens count from 1.
        """
        node, proposed, place = self.change.node, self.change.proposed, self.change.place
        return {
            "doubt": round(self.doubt, 2),
            "kind": self.change.kind.value,
            "first": place.start + 1,
            "last": place.end,
            "treebank": node.label if node else "",
            "proposed": proposed.label if proposed else "",
            "proposed_first": proposed.start + 1 if proposed else "",
            "proposed_last": proposed.end if proposed else "",
            "posterior": round(self.posterior, 4),
            "proposed_posterior": round(self.proposed_posterior, 4),
            "as_is": self.as_is,
            "as_proposed": self.as_proposed,
        }
