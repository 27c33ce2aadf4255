"""Patterns as expressions that are true or false at a node, and how they are evaluated for all nodes at once.

``NP=n < (VP !<< =m)`` is: the label is NP; bind n; there is a child of which it is true that the label is VP
and not that some node below it is m. Every expression can do two things:

- ``ways``: in how many ways it matches at each of many nodes. Relations sum over partners, ``&`` multiplies,
  ``|`` adds; no pair of nodes is made, so memory is linear. Where an expression depends on what a name stands
  for, ``ways`` is only an upper bound that is 0 where there is no match.
- ``extend``: the rows of a table (a node, and what names stand for), each joined with the ways in which it
  matches. Only names and conditions on them need it, and ``ways`` has thrown out most nodes before.
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

MOST_WAYS = 2**62  # that a column of integers can hold


class Rows(NamedTuple):
    """Partial matches: columns of one length.

    Attributes:
        node: the node that the next expression is asked about.
        names: by name, the node that it stands for, or -1.
        texts: by variable, the number of the text that it holds in `Run.texts`, or -1.
        ways: how many matches the row stands for.
    """

    node: Integers
    names: dict[str, Integers]
    texts: dict[str, Integers]
    ways: Integers

    def take(self, places: Integers) -> Rows:
        """The rows at these places."""
        names = {name: column[places] for name, column in self.names.items()}
        texts = {name: column[places] for name, column in self.texts.items()}
        return Rows(self.node[places], names, texts, self.ways[places])


# Places of rows that were given, and the rows made of them.
Extended = tuple[Integers, Rows]


@dataclass
class Run:
    """One search: an index, and what has been found out about the expressions of a pattern.

    Args:
        index: of the trees.
        head_rules: by which ``<#`` and the like find heads.
    """

    index: TreeColumns
    head_rules: str = "english"
    masks: dict[LabelTest, Mask] = field(default_factory=dict)
    found: dict[int, tuple[Integers, Integers]] = field(default_factory=dict)
    joins: dict[int, Join] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        head_finder(self.head_rules)  # also where no relation asks for heads

    def fitting(self, test: LabelTest) -> Mask:
        """The nodes whose label fits."""
        if test not in self.masks:
            fits = np.fromiter(test.fits(self.index.vocabulary), bool, len(self.index.vocabulary))
            self.masks[test] = fits[self.index.label]
        return self.masks[test]

    def solutions(self, expression: Expression) -> tuple[Integers, Integers]:
        """The nodes where an expression may match, and in how many ways."""
        if id(expression) not in self.found:
            mask = expression.candidates(self)
            nodes = np.arange(len(self.index)) if mask is None else np.flatnonzero(mask)
            ways = expression.ways(self, nodes)
            self.found[id(expression)] = nodes[ways > 0], ways[ways > 0]
        return self.found[id(expression)]


class Expression:
    """A condition on a node."""

    # Whether it depends on what names and variables stand for, and whether it binds some.
    constrained, binds = False, False

    @property
    def refers_to(self) -> str | None:
        """The name of the only node at which it can match; None where it is not said."""
        return None

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """In how many ways it matches at each node."""
        return np.ones(len(nodes), np.intp)

    def candidates(self, run: Run) -> Mask | None:
        """The nodes that labels leave over; None for all."""
        return None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """The rows at which it matches, once for each way that names can tell apart."""
        ways = self.ways(run, rows.node)
        kept = np.flatnonzero(ways)
        taken = rows.take(kept)
        return kept, taken._replace(ways=taken.ways * ways[kept])


def union(parts: Sequence[Extended]) -> Extended:
    """Rows of several tables, those of one origin together; a name that a table lacks is empty there."""
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
    """The places below ``n_rows`` that are not among these."""
    left = np.ones(n_rows, bool)
    left[places] = False
    return np.flatnonzero(left)


def too_many() -> ConfigError:
    """The error of a pattern whose matches cannot be counted in 62 bits."""
    return ConfigError(
        "the pattern matches in too many ways to count", hint="count with `once`, or say more of its nodes"
    )
