"""Basic conditions of a search pattern on a node: its label, its name, a named node, a related node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spectralnlp_trees.tregex.chains import AncestorJoin, DescendantChainJoin, SequenceJoin
from spectralnlp_trees.tregex.columns import Integers, TreeColumns
from spectralnlp_trees.tregex.labels import LabelTest
from spectralnlp_trees.tregex.plan import MAX_WAYS, Expression, Extended, Rows, Run, too_many
from spectralnlp_trees.tregex.relations import INTERVALS, Join, Mask, interval_join


@dataclass(frozen=True, eq=False)
class Label(Expression):
    """Test of a node's label, by literals or a regular expression.

    Attributes:
        test: test of the label; None for a wildcard, which all labels pass.
        groups: pairs (number of a group of the regular expression, name of a variable). The text that the
            group matches is bound to the variable; if the variable is bound already, its text must be equal.
    """

    test: LabelTest | None
    groups: tuple[tuple[int, str], ...] = ()

    @property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values to which names and variables of the pattern are bound."""
        return bool(self.groups)

    binds = constrained

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition of a pattern matches at each node."""
        if self.test is None:
            return np.ones(len(nodes), np.intp)
        return run.fitting(self.test)[nodes].astype(np.intp)

    def candidates(self, run: Run) -> Mask | None:
        """Return a mask of the nodes whose labels permit this condition to match; None for all nodes."""
        return None if self.test is None else run.fitting(self.test)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Select the partial matches that meet this condition, and bind the texts of its regular expression.

        Args:
            run: search of this condition in an index of trees.
            rows: partial matches, each with its current node and what has been bound so far.

        Returns:
            The index in ``rows`` of each match that is kept, and these matches with the new bindings.
        """
        kept, rows = super().extend(run, rows)
        if not self.groups or self.test is None:
            return kept, rows
        labels, which = np.unique(run.index.label[rows.node], return_inverse=True)
        numbers = [number for number, _ in self.groups]
        texts = [self.test.groups(run.index.vocabulary[label], numbers) for label in labels.tolist()]
        place = {text: run.texts.setdefault(text, len(run.texts)) for each in texts for text in each}
        for column, (_, variable) in enumerate(self.groups):
            by_label = np.array([place[each[column]] for each in texts], np.intp)
            mine = by_label[which]
            held = rows.texts.get(variable, np.full(len(mine), -1))
            same = np.flatnonzero((held < 0) | (held == mine))
            rows = rows._replace(texts={**rows.texts, variable: mine}).take(same)
            kept, which = kept[same], which[same]
        return kept, rows


@dataclass(frozen=True, eq=False)
class Bind(Expression):
    """Definition of a name (``=name``): binds the node to the name, and matches every node."""

    name: str
    binds = True

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Bind the name to the current node of each partial match; return all indices, and new rows."""
        return np.arange(len(rows.node)), rows._replace(names={**rows.names, self.name: rows.node})


@dataclass(frozen=True, eq=False)
class SameAs(Expression):
    """Reference to a named node: matches that node, or nodes that have something in common with it.

    Attributes:
        name: name of the node.
        by: what must be the same: ``node``, ``label`` or ``category``, which is the basic category.
    """

    name: str
    by: str = "node"
    constrained = True

    @property
    def refers_to(self) -> str | None:
        """Name of the node that this condition refers to (``=name``); None if it refers to none."""
        return self.name if self.by == "node" else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Keep the rows (partial matches) that meet this condition; return their indices and these rows."""
        named = rows.names.get(self.name, np.full(len(rows.node), -1))
        values = run.index.categories if self.by == "category" else run.index.label
        same = named == rows.node if self.by == "node" else values[named] == values[rows.node]
        kept = np.flatnonzero(same & (named >= 0))
        return kept, rows.take(kept)


@dataclass(frozen=True, eq=False)
class Related(Expression):
    """Condition that a node has a related node, such as a child, that meets another condition.

    The related node is called the partner.

    Attributes:
        symbol: symbol of the relation: a key of `INTERVALS`, ``>>``, or one of ``<+ >+ .+ ,+``.
        partner: condition on the partner.
        number: the number in ``<2`` and ``<-1``; 0 for relations without a number.
        size: for ``<...``, which lists all children, the required number of children.
        links: for chains such as ``<+(C)``, the condition C on the nodes between a node and its partner.
    """

    symbol: str
    partner: Expression
    number: int = 0
    size: int = 0
    links: Label | None = None

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values to which names and variables of the pattern are bound."""
        return self.partner.constrained

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether a match of this condition binds a node or a text to a name of the pattern."""
        return self.partner.binds

    def join(self, run: Run) -> Join:
        """Return the relation, an object that finds the partners of nodes; it is made once per search."""
        if id(self) not in run.joins:
            run.joins[id(self)] = self._make_join(run)
        return run.joins[id(self)]

    def _make_join(self, run: Run) -> Join:
        if self.symbol in INTERVALS:
            return interval_join(run.index, self.symbol, self.number, self.size, run.head_rules)
        test = None if self.links is None else self.links.test
        links = np.ones(len(run.index), bool) if test is None else run.fitting(test)
        return CHAINS[self.symbol](run.index, links)

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition of a pattern matches at each node."""
        partners, ways = run.solutions(self.partner)
        values = np.zeros(len(run.index), np.intp)
        values[partners] = np.minimum(ways, 1) if self.constrained else ways
        if not self.constrained and float(values.max(initial=0)) * len(partners) > MAX_WAYS:
            raise too_many()
        return self.join(run).sums(values, nodes)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Extend partial matches by the partners of their current nodes, and by what these bind in turn.

        Args:
            run: search of this condition in an index of trees.
            rows: partial matches, each with its current node and what has been bound so far.

        Returns:
            The index in ``rows`` of the match that each new one extends, and the new matches.
        """
        if not (self.constrained or self.binds):
            return super().extend(run, rows)
        if self.partner.refers_to is None:
            wanted = np.zeros(len(run.index), bool)
            wanted[run.solutions(self.partner)[0]] = True
            places, partners = self.join(run).pairs(wanted, rows.node)
        else:
            named = rows.names.get(self.partner.refers_to, np.full(len(rows.node), -1))
            there = np.flatnonzero(named >= 0)
            places = there[self.join(run).holds(rows.node[there], named[there])]
            partners = named[places]
        which, made = self.partner.extend(run, rows.take(places)._replace(node=partners))
        places = places[which]
        return places, made._replace(node=rows.node[places])


# Joins of the relations that are not intervals; arguments are the index and the links of a chain.
CHAINS: dict[str, Callable[[TreeColumns, Mask], Join]] = {
    ">>": lambda index, links: AncestorJoin(index),
    ">+": AncestorJoin,
    "<+": DescendantChainJoin,
    ".+": lambda index, links: SequenceJoin(index, links, ahead=True),
    ",+": lambda index, links: SequenceJoin(index, links, ahead=False),
}
