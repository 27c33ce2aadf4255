"""Evaluate patterns, as trees of conditions, at all nodes of an index at once.

``NP=n < (VP !<< =m)`` means: the label is NP; bind n; there is a child whose label is VP and which has no
descendant m. Every condition (`Expression`) has two methods:

- ``ways`` counts the ways in which it matches at each of many nodes. Relations sum over partners, ``&``
  multiplies, ``|`` adds; pairs of nodes are never formed, so memory is linear. If a condition depends on the
  node that a name is bound to, ``ways`` is an upper bound.
- ``extend`` joins the rows of a table (a node and the values of names) with the ways in which it matches
  there. It is needed for names and conditions on them only, after ``ways`` has excluded most nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.trees import head_finder
from spectralnlp_trees.tregex.columns import Integers, TreeColumns
from spectralnlp_trees.tregex.labels import LabelTest
from spectralnlp_trees.tregex.relations import Join, Mask

MOST_WAYS = 2**62  # counts stay below the limit of 64-bit integers


class Rows(NamedTuple):
    """Table of partial matches: columns of equal length.

    Attributes:
        node: the node to which the next condition is applied.
        names: by name, the node that is bound to it, or -1.
        texts: by variable, the number in `Run.texts` of the text bound to it, or -1.
        ways: number of matches that the row represents.
    """

    node: Integers
    names: dict[str, Integers]
    texts: dict[str, Integers]
    ways: Integers

    def take(self, places: Integers) -> Rows:
        """Return the rows at some positions."""
        names = {name: column[places] for name, column in self.names.items()}
        texts = {name: column[places] for name, column in self.texts.items()}
        return Rows(self.node[places], names, texts, self.ways[places])


# Positions of input rows, and the output rows made from them.
Extended = tuple[Integers, Rows]


@dataclass
class Run:
    """One search: an index, and caches of intermediate results for the conditions of a pattern.

    Args:
        index: index of the trees.
        head_rules: head rules for ``<#`` and similar relations.
    """

    index: TreeColumns
    head_rules: str = "english"
    masks: dict[LabelTest, Mask] = field(default_factory=dict)
    solved: dict[int, tuple[Integers, Integers]] = field(default_factory=dict)
    joins: dict[int, Join] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        head_finder(self.head_rules)  # checks the name even if no relation uses heads

    def fitting(self, test: LabelTest) -> Mask:
        """Return the nodes whose label passes a test."""
        if test not in self.masks:
            fits = np.fromiter(test.fits(self.index.vocabulary), bool, len(self.index.vocabulary))
            self.masks[test] = fits[self.index.label]
        return self.masks[test]

    def solutions(self, expression: Expression) -> tuple[Integers, Integers]:
        """Return the nodes at which a condition may match, and the number of ways at each."""
        if id(expression) not in self.solved:
            mask = expression.candidates(self)
            nodes = np.arange(len(self.index)) if mask is None else np.flatnonzero(mask)
            ways = expression.ways(self, nodes)
            self.solved[id(expression)] = nodes[ways > 0], ways[ways > 0]
        return self.solved[id(expression)]


class Expression:
    """Condition on a node; this base class matches every node in one way."""

    # Whether a match depends on the values of names and variables; whether the condition binds names.
    constrained, binds = False, False

    @property
    def refers_to(self) -> str | None:
        """Name whose node is the only possible match; None if there is no such name."""
        return None

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Count the ways in which the condition matches at each node; integers of the shape of ``nodes``."""
        return np.ones(len(nodes), np.intp)

    def candidates(self, run: Run) -> Mask | None:
        """Return the nodes that the labels permit, as a mask over all nodes; None for all nodes."""
        return None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Return the rows at which the condition matches, one for each distinct binding of names."""
        ways = self.ways(run, rows.node)
        kept = np.flatnonzero(ways)
        taken = rows.take(kept)
        return kept, taken._replace(ways=taken.ways * ways[kept])


def union(parts: Sequence[Extended]) -> Extended:
    """Merge tables; rows from the same input row are adjacent, and names that a table lacks are unbound."""
    places = np.concatenate([each for each, _ in parts])
    order = np.argsort(places, kind="stable")

    def joined(columns_of: Callable[[Rows], dict[str, Integers]]) -> dict[str, Integers]:
        names = dict.fromkeys(name for _, rows in parts for name in columns_of(rows))
        empty = [np.full(len(rows.node), -1) for _, rows in parts]
        return {
            name: np.concatenate(
                [columns_of(rows).get(name, none) for (_, rows), none in zip(parts, empty, strict=True)]
            )
            for name in names
        }

    together = Rows(
        node=np.concatenate([rows.node for _, rows in parts]),
        names=joined(lambda rows: rows.names),
        texts=joined(lambda rows: rows.texts),
        ways=np.concatenate([rows.ways for _, rows in parts]),
    )
    return places[order], together.take(order)


def without(places: Integers, n_rows: int) -> Integers:
    """Return the positions below ``n_rows`` that are not among ``places``."""
    left = np.ones(n_rows, bool)
    left[places] = False
    return np.flatnonzero(left)


def too_many() -> ConfigError:
    """Return the error for a pattern with more than 2^62 matches."""
    return ConfigError(
        "the pattern matches in too many ways to count",
        hint="count with `once`, or make the pattern more specific",
    )
