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
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.search.chains import AncestorJoin, DescendantChainJoin, SequenceJoin
from spectralnlp.search.index import Integers, TreeIndex
from spectralnlp.search.labels import LabelTest
from spectralnlp.search.relations import INTERVALS, Join, Mask, interval_join

_MOST_WAYS = 2**62


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

    index: TreeIndex
    head_rules: str = "english"
    masks: dict[LabelTest, Mask] = field(default_factory=dict)
    found: dict[int, tuple[Integers, Integers]] = field(default_factory=dict)
    joins: dict[int, Join] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def fitting(self, test: LabelTest) -> Mask:
        """The nodes whose label fits."""
        if test not in self.masks:
            fits = np.fromiter(map(test.accepts, self.index.vocabulary), bool, len(self.index.vocabulary))
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

    # Whether it depends on what names and variables stand for, and whether it gives them something to stand for.
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


@dataclass(frozen=True, eq=False)
class Label(Expression):
    """The label fits; its groups, (number, variable), hold the same text wherever the variable stands."""

    test: LabelTest | None
    groups: tuple[tuple[int, str], ...] = ()

    @property
    def constrained(self) -> bool:  # type: ignore[override]
        return bool(self.groups)

    binds = constrained

    def ways(self, run: Run, nodes: Integers) -> Integers:
        if self.test is None:
            return np.ones(len(nodes), np.intp)
        return run.fitting(self.test)[nodes].astype(np.intp)

    def candidates(self, run: Run) -> Mask | None:
        return None if self.test is None else run.fitting(self.test)

    def extend(self, run: Run, rows: Rows) -> Extended:
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
    """The name stands for the node."""

    name: str
    binds = True

    def extend(self, run: Run, rows: Rows) -> Extended:
        return np.arange(len(rows.node)), rows._replace(names={**rows.names, self.name: rows.node})


@dataclass(frozen=True, eq=False)
class SameAs(Expression):
    """The node is the one that a name stands for; with ``by_label``, it has its label."""

    name: str
    by_label: bool = False
    constrained = True

    @property
    def refers_to(self) -> str | None:
        return None if self.by_label else self.name

    def extend(self, run: Run, rows: Rows) -> Extended:
        named = rows.names.get(self.name, np.full(len(rows.node), -1))
        label = run.index.label
        same = label[named] == label[rows.node] if self.by_label else named == rows.node
        kept = np.flatnonzero(same & (named >= 0))
        return kept, rows.take(kept)


@dataclass(frozen=True, eq=False)
class Related(Expression):
    """There is a partner at which an expression matches.

    Attributes:
        symbol: a key of `INTERVALS`, ``>>``, or one of ``<+ >+ .+ ,+``.
        partner: the expression.
        number: in ``<2`` and ``<-1``; 0 for relations without.
        size: in ``<...``, the number of children.
        links: in ``<+(C)`` and the like, the description C.
    """

    symbol: str
    partner: Expression
    number: int = 0
    size: int = 0
    links: Label | None = None

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        return self.partner.constrained

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        return self.partner.binds

    def join(self, run: Run) -> Join:
        """How partners are found."""
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
        partners, ways = run.solutions(self.partner)
        values = np.zeros(len(run.index), np.intp)
        values[partners] = np.minimum(ways, 1) if self.constrained else ways
        if not self.constrained and float(values.max(initial=0)) * len(partners) > _MOST_WAYS:
            raise too_many()
        return self.join(run).sums(values, nodes)

    def extend(self, run: Run, rows: Rows) -> Extended:
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


@dataclass(frozen=True, eq=False)
class Combined(Expression):
    """Several expressions at the same node."""

    parts: Sequence[Expression]

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        return any(part.constrained for part in self.parts)

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        return any(part.binds for part in self.parts)


class All(Combined):
    """All of them match."""

    @property
    def refers_to(self) -> str | None:
        return self.parts[0].refers_to

    def ways(self, run: Run, nodes: Integers) -> Integers:
        ways = np.ones(len(nodes), np.intp)
        for part in self.parts:
            going = np.flatnonzero(ways)
            factor = part.ways(run, nodes[going])
            if self.constrained:
                factor = np.minimum(factor, 1)
            elif float(ways.max(initial=0)) * float(factor.max(initial=0)) > _MOST_WAYS:
                raise too_many()
            ways[going] *= factor
        return ways

    def candidates(self, run: Run) -> Mask | None:
        masks = [mask for part in self.parts if (mask := part.candidates(run)) is not None]
        return reduce(np.logical_and, masks) if masks else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        places = np.arange(len(rows.node))
        for part in self.parts:
            which, rows = part.extend(run, rows)
            places = places[which]
        return places, rows


class Any(Combined):
    """One of them matches; the ways of all of them are counted."""

    def ways(self, run: Run, nodes: Integers) -> Integers:
        total = np.zeros(len(nodes), np.intp)
        for part in self.parts:
            total += part.ways(run, nodes)
        return total

    def candidates(self, run: Run) -> Mask | None:
        masks = [part.candidates(run) for part in self.parts]
        known = [mask for mask in masks if mask is not None]
        return reduce(np.logical_or, known) if len(known) == len(masks) else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        return union([part.extend(run, rows) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Not(Expression):
    """It does not match."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        return self.part.constrained

    def ways(self, run: Run, nodes: Integers) -> Integers:
        if self.constrained:  # it may match, whatever the upper bound of what is negated
            return np.ones(len(nodes), np.intp)
        return (self.part.ways(run, nodes) == 0).astype(np.intp)

    def extend(self, run: Run, rows: Rows) -> Extended:
        if not self.constrained:
            return super().extend(run, rows)
        kept = without(self.part.extend(run, rows)[0], len(rows.node))
        return kept, rows.take(kept)


@dataclass(frozen=True, eq=False)
class Perhaps(Expression):
    """It matches in some ways or, if it does not, in one that leaves its names empty."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        return self.part.constrained

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        return self.part.binds

    def ways(self, run: Run, nodes: Integers) -> Integers:
        return np.maximum(self.part.ways(run, nodes), 1)

    def extend(self, run: Run, rows: Rows) -> Extended:
        if not (self.constrained or self.binds):
            return super().extend(run, rows)
        matched = self.part.extend(run, rows)
        missed = without(matched[0], len(rows.node))
        return union([matched, (missed, rows.take(missed))])


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
    return ConfigError("the pattern matches in too many ways to count", hint="count with `once`, or say more of its nodes")


# The joins of relations that are no intervals, of an index and the links of a chain.
CHAINS: dict[str, Callable[[TreeIndex, Mask], Join]] = {
    ">>": lambda index, links: AncestorJoin(index),
    ">+": AncestorJoin,
    "<+": DescendantChainJoin,
    ".+": lambda index, links: SequenceJoin(index, links, ahead=True),
    ",+": lambda index, links: SequenceJoin(index, links, ahead=False),
}
