"""Doubtful nodes of a treebank, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from spectralnlp.display import one_line
from spectralnlp_trees.comparison.workspace import Bracket


class Kind(StrEnum):
    """What is doubtful of a node."""

    TAG = "tag"
    LABEL = "label"
    MOVED = "moved"  # one of its edges
    EXTRA = "extra"
    MISSING = "missing"


class Change(NamedTuple):
    """What would mend a tree: a node of it that goes, one that comes, or one in the place of the other.

    Attributes:
        kind: what is doubtful.
        node: what the treebank has; None where a bracket is missing.
        proposed: what it might have; None for a bracket too many.
    """

    kind: Kind
    node: Bracket | None
    proposed: Bracket | None

    @property
    def place(self) -> Bracket:
        """The doubtful node, or the missing one."""
        place = self.node or self.proposed
        assert place is not None  # one of them is there
        return place


@dataclass(frozen=True)
class Occurrence:
    """A place where the same words are.

    Attributes:
        tree: its number among all, from 0.
        start, end: tokens, ``end`` exclusive.
        labels: of the brackets over just these words, from above, or the tag; none where it is no bracket.
    """

    tree: int
    start: int
    end: int
    labels: tuple[str, ...]

    __repr__ = one_line


@dataclass(frozen=True)
class Doubt:
    """A doubtful node.

    Attributes:
        tree: its number among all, from 0.
        change: what is doubtful, and what is proposed.
        doubt: log-odds of the change, against what is usual of such nodes; the larger, the more doubtful.
        posterior: of what the treebank has, among the trees that cross none of its brackets.
        proposed_posterior: of the change.
        as_is, as_proposed: how often the same words, between the same words, are elsewhere annotated as here
            and as proposed.
        others: some of the places with the same words, first those between the same words.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import audit
        >>> trees = list(spectralnlp.read_treebank("corpora/treebank/train.mrg"))
        >>> doubt = audit(trees, most=1)[0]
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
        """Return the columns of a row: tokens are counted from 1, and the last one counts."""
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
