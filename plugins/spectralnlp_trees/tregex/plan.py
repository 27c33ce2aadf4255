"""Evaluate search patterns, represented as nested conditions on a node, at all nodes of a treebank at once.

``NP=n < (VP !<< =m)`` means: the label is NP; bind the node to the name n; there is a child whose label is
VP and which has no descendant m. Every condition (`Expression`) has two methods:

- ``ways`` counts the ways in which the condition matches at each of many nodes. A relation adds up the ways
  of the related nodes, ``&`` multiplies, ``|`` adds; pairs of nodes are never stored, so memory is linear. If
  a condition depends on the node that a name is bound to, ``ways`` only excludes nodes, by the number 0.
- ``extend`` takes a table of partial matches (a current node, and the nodes bound to names), keeps the rows
  whose current node meets the condition, and adds new bindings. It is needed only for names and conditions on
  them, after ``ways`` has excluded most nodes.
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

MAX_WAYS = 2**62  # counts stay below the limit of 64-bit integers


class Rows(NamedTuple):
    """Table of partial matches, as columns of equal length; a row is a partial match.

    Attributes:
        node: current node of each row, at which the next condition is tested.
        names: by name in the pattern, the node bound to the name in each row; -1 if unbound.
        texts: by variable in the pattern, the index in `Run.texts` of the text bound to it; -1 if unbound.
        ways: number of matches that each row represents.
    """

    node: Integers
    names: dict[str, Integers]
    texts: dict[str, Integers]
    ways: Integers

    def take(self, places: Integers) -> Rows:
        """Return the table of the rows at some indices, in the order of the indices."""
        names = {name: column[places] for name, column in self.names.items()}
        texts = {name: column[places] for name, column in self.texts.items()}
        return Rows(self.node[places], names, texts, self.ways[places])


# Positions of input rows, and the output rows made from them.
Extended = tuple[Integers, Rows]


@dataclass
class Run:
    """State of a search for one pattern: the trees, and cached results of the pattern's conditions.

    Args:
        index: index of the trees.
        head_rules: head rules for ``<#`` and similar relations, ``english`` or ``neutral``.
        masks: by label test, the nodes whose label passes.
        solved: by condition, the result of `solutions`.
        joins: by relation, the object that finds related nodes.
        texts: index of each text that a variable was bound to.
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
        """Return the nodes whose label passes a test, as a mask (n_nodes,)."""
        if test not in self.masks:
            fits = np.fromiter(test.fits(self.index.vocabulary), bool, len(self.index.vocabulary))
            self.masks[test] = fits[self.index.label]
        return self.masks[test]

    def solutions(self, expression: Expression) -> tuple[Integers, Integers]:
        """Return the nodes at which a condition may match, and the result of its ``ways`` for these nodes."""
        if id(expression) not in self.solved:
            mask = expression.candidates(self)
            nodes = np.arange(len(self.index)) if mask is None else np.flatnonzero(mask)
            ways = expression.ways(self, nodes)
            self.solved[id(expression)] = nodes[ways > 0], ways[ways > 0]
        return self.solved[id(expression)]


class Expression:
    """Condition on a node, a part of a pattern; this base class matches every node in one way."""

    # Whether a match depends on the values of names and variables; whether the condition binds names.
    constrained, binds = False, False

    @property
    def refers_to(self) -> str | None:
        """Name of the node that this condition refers to (``=name``); None if it refers to none."""
        return None

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition matches at each node.

        Args:
            run: the search.
            nodes: numbers of the nodes.

        Returns:
            Integers of the shape of ``nodes``. If the condition is `constrained`, only 0 is exact: it
            excludes a match.
        """
        return np.ones(len(nodes), np.intp)

    def candidates(self, run: Run) -> Mask | None:
        """Return the nodes whose labels permit a match, as a mask (n_nodes,); None for all nodes."""
        return None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Keep the partial matches whose current node meets this condition, and add the names that it binds.

        Args:
            run: the search.
            rows: partial matches.

        Returns:
            Indices into ``rows``, ascending, and the resulting partial matches; a partial match occurs
            several times if the condition binds names in several ways.
        """
        ways = self.ways(run, rows.node)
        kept = np.flatnonzero(ways)
        taken = rows.take(kept)
        return kept, taken._replace(ways=taken.ways * ways[kept])


def union(parts: Sequence[Extended]) -> Extended:
    """Merge the results of alternative conditions that were tested on the same partial matches.

    The merged rows are in the order of these partial matches. If a row comes from an alternative that does
    not bind a name, the name is unbound (-1) in this row.

    Args:
        parts: results of `Expression.extend` for the same rows.

    Returns:
        For each merged row, the index of the partial match that it extends, ascending; and the merged rows.
    """
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
    """Return the integers from 0 to ``n_rows`` - 1 that are not in ``places``, ascending."""
    left = np.ones(n_rows, bool)
    left[places] = False
    return np.flatnonzero(left)


def too_many() -> ConfigError:
    """Return the error for a pattern that matches in more than 2^62 ways."""
    return ConfigError(
        "the pattern matches in too many ways to count",
        hint="count with `once`, or make the pattern more specific",
    )
