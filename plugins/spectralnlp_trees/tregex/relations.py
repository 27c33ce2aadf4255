"""The relations between two nodes, as joins over the columns of an index.

In nearly all of them, the partners of a node stand next to each other in one order of the nodes: depth-first,
by parent, by the token where they begin or end, along heads. Such a relation is an `Interval`: an order and,
for each node, where its partners begin and end there. Sums over partners are differences of running sums,
and pairs are slices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from spectralnlp_trees.tregex.columns import Integers, TreeColumns

Mask = npt.NDArray[np.bool_]


class Interval(NamedTuple):
    """Partners of each node: ``order[low[i]:high[i]]``; an order of None is that of the numbers."""

    order: Integers | None
    low: Integers
    high: Integers


class Join(Protocol):
    """How the partners of nodes are summed up and listed."""

    def sums(self, values: Integers, at: Integers) -> Integers:
        """For each of the nodes ``at``, the sum of the values (one for each node) of its partners."""

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """Places in ``at``, which ascend, and the wanted partners of the nodes there."""

    def holds(self, at: Integers, partners: Integers) -> Mask:
        """Whether each of the nodes ``at`` has that node for a partner."""


class IntervalJoin:
    """A relation that is one interval, or several that do not overlap."""

    def __init__(self, *intervals: Interval) -> None:
        self.intervals = intervals

    def sums(self, values: Integers, at: Integers) -> Integers:
        """See `Join`."""
        total = np.zeros(len(at), np.intp)
        for order, low, high in self.intervals:
            running = running_sums(values if order is None else values[order])
            total += running[high[at]] - running[low[at]]
        return total

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """See `Join`."""
        places, partners = [], []
        for order, low, high in self.intervals:
            mask = wanted if order is None else wanted[order]
            running = running_sums(mask)
            inside = np.flatnonzero(mask)
            place, which = expand(running[low[at]], running[high[at]])
            places.append(place)
            partners.append(inside[which] if order is None else order[inside[which]])
        place = np.concatenate(places)
        by_place = np.argsort(place, kind="stable")
        return place[by_place], np.concatenate(partners)[by_place]

    def holds(self, at: Integers, partners: Integers) -> Mask:
        """See `Join`."""
        related = np.zeros(len(at), bool)
        for rank, (_, low, high) in zip(self._ranks, self.intervals, strict=True):
            place = partners if rank is None else rank[partners]
            related |= (low[at] <= place) & (place < high[at])
        return related

    @cached_property
    def _ranks(self) -> list[Integers | None]:
        """The place of each node in the order of each interval; -1 for nodes that are not there."""
        return [None if order is None else self._rank(order, len(low)) for order, low, _ in self.intervals]

    def _rank(self, order: Integers, n_nodes: int) -> Integers:
        rank = np.full(n_nodes, -1)
        rank[order] = np.arange(len(order))
        return rank


def running_sums(values: npt.NDArray[np.generic]) -> Integers:
    """Sums of the first 0, 1, 2 … values."""
    sums = np.zeros(len(values) + 1, np.intp)
    np.cumsum(values, out=sums[1:])
    return sums


def expand(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """All numbers of the ranges from ``low`` to ``high``, each with the place of its range."""
    counts = high - low
    place = np.repeat(np.arange(len(low)), counts)
    number = np.arange(len(place)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    return place, number


def interval_join(index: TreeColumns, symbol: str, number: int, size: int, head_rules: str) -> IntervalJoin:
    """The join of a relation of `INTERVALS`, made once for an index.

    Args:
        index: of the trees.
        symbol: a key of `INTERVALS`.
        number: the one in ``<2`` or ``<-1``; 0 for relations without.
        size: for ``<...``, the number of children that there must be.
        head_rules: for relations of heads; see `spectralnlp.trees.head_finder`.
    """

    def make() -> IntervalJoin:
        made = INTERVALS[symbol](Orders(index, number, size, head_rules))
        return IntervalJoin(*(made if isinstance(made, list) else [made]))

    key = (symbol, number, size, head_rules if "#" in symbol else "")
    return index.cached(key, make)


class Orders:
    """Orders of the nodes of an index, and intervals in them."""

    def __init__(self, index: TreeColumns, number: int, size: int, head_rules: str) -> None:
        self.index, self.number, self.size, self.head_rules = index, number, size, head_rules
        self.ids = np.arange(len(index))

    def one(self, target: Integers) -> Interval:
        """One partner, or none where the target is -1."""
        return Interval(None, np.maximum(target, 0), np.maximum(target, 0) + (target >= 0))

    def range(self, low: Integers, high: Integers) -> Interval:
        """Nodes by number."""
        return Interval(None, low, high)

    def of_parent(self, values: Integers) -> Integers:
        """The parent's value; -1 for roots."""
        return np.where(self.index.parent < 0, -1, values[self.index.parent])

    def chosen(self, is_partner: Mask) -> Interval:
        """The parent, where that is so."""
        return self.one(np.where(is_partner, self.index.parent, -1))

    # Children: order by parent; roots come first.

    def children(self) -> Interval:
        """All children."""
        order = self.index.cached("by parent", lambda: np.argsort(self.index.parent, kind="stable"))
        first = len(self.index.trees) + np.cumsum(self.index.arity) - self.index.arity
        return Interval(order, first, first + self.index.arity)

    def child(self, number: int, exists: Mask | None = None) -> Interval:
        """The child of a number, from 1, or from -1 backwards."""
        order, low, high = self.children()
        place = low + number - 1 if number > 0 else high + number
        there = (low <= place) & (place < high) & (True if exists is None else exists)
        return Interval(order, np.where(there, place, low), np.where(there, place + 1, low))

    def parent_of_child(self, number: int) -> Interval:
        """The parent, of whom the node is the child of a number."""
        position = self.index.position
        from_end = position - self.of_parent(self.index.arity)
        return self.chosen((position == number - 1) if number > 0 else (from_end == number))

    def sisters(self, after: bool, nearest: bool) -> Interval:
        """Sisters on one side; a root has none."""
        order, low, _ = self.children()
        rank = np.empty_like(order)
        rank[order] = self.ids
        is_root = self.index.parent < 0
        first = np.where(is_root, rank, low[self.index.parent])
        last = np.where(is_root, rank + 1, first + self.of_parent(self.index.arity))
        if after:
            return Interval(order, rank + 1, np.minimum(rank + 2, last) if nearest else last)
        return Interval(order, np.maximum(rank - 1, first) if nearest else first, rank)

    # Chains: neighbours by number, for a first child follows its parent.

    def next_where(self, mask: Mask) -> Integers:
        """The first node from here on for which that is so."""
        there = np.where(mask, self.ids, len(self.ids))
        return np.minimum.accumulate(there[::-1])[::-1]

    def last_before(self, mask: Mask) -> Integers:
        """The last node before this one for which that is so; -1 for none."""
        there = np.maximum.accumulate(np.where(mask, self.ids, -1))
        return np.append(-1, there)[: len(self.ids)]

    def words(self) -> Interval:
        """The words below a node."""
        is_word = self.index.arity == 0
        before = running_sums(is_word)
        return Interval(np.flatnonzero(is_word), before[self.ids + 1], before[self.index.end])

    def word(self, number: int) -> Interval:
        """The word of a number below a node, from 1, or from -1 backwards."""
        order, low, high = self.words()
        high = np.maximum(low, high)
        place = low + number - 1 if number > 0 else high + number
        there = (low <= place) & (place < high)
        return Interval(order, np.where(there, place, low), np.where(there, place + 1, low))

    # Tokens, and groups of nodes that share something.

    def sorted_by(self, name: str, column: Integers) -> tuple[Integers, Integers]:
        """The nodes in the order of a column, and the column in that order."""
        order = self.index.cached(f"by {name}", lambda: np.argsort(column, kind="stable"))
        return order, column[order]

    def equal(self, name: str, column: Integers, to: Integers) -> Interval:
        """The nodes whose value in a column is that."""
        order, values = self.sorted_by(name, column)
        return Interval(order, np.searchsorted(values, to), np.searchsorted(values, to, "right"))

    def group(self, name: str, column: Integers, below: bool) -> Interval:
        """On a path whose nodes share a value in a column: the nodes below this one, or above it."""
        order, low, high = self.equal(name, column, column)
        rank = np.empty_like(order)
        rank[order] = self.ids
        return Interval(order, rank + 1, high) if below else Interval(order, low, rank)

    def ended(self) -> Interval:
        """The nodes of the tree that end before this one begins."""
        order, ends = self.sorted_by("end", self.index.end)
        start = self.index.tree_start[self.index.tree]
        return Interval(
            order, np.searchsorted(ends, start, "right"), np.searchsorted(ends, self.ids, "right")
        )

    def heads(self) -> Integers:
        """The head child of each node."""
        return self.index.head_children(self.head_rules)

    def head_words(self) -> Integers:
        """The word that each node ends in along head children."""
        heads = self.heads()
        word = np.where(heads < 0, self.ids, heads)
        while (heads[word] >= 0).any():
            word = word[word]
        return word


def _head_group(orders: Orders, below: bool) -> Interval:
    return orders.group(f"head word by {orders.head_rules}", orders.head_words(), below)


def _tree(orders: Orders) -> Interval:
    start = orders.index.tree_start
    return orders.range(start[orders.index.tree], start[orders.index.tree + 1])


# What stands on the right-hand side of each relation, seen from the left-hand side.
INTERVALS: dict[str, Callable[[Orders], Interval | list[Interval]]] = {
    "<<": lambda o: o.range(o.ids + 1, o.index.end),
    "<<<": lambda o: o.words() if o.number == 0 else o.word(o.number),
    "<": lambda o: o.children() if o.number == 0 else o.child(o.number),
    ">": lambda o: o.one(o.index.parent) if o.number == 0 else o.parent_of_child(o.number),
    "<...": lambda o: o.child(o.number, o.index.arity == o.size),
    "<:": lambda o: o.child(1, o.index.arity == 1),
    ">:": lambda o: o.chosen(o.of_parent(o.index.arity) == 1),
    "<<:": lambda o: o.range(o.ids + 1, o.next_where(o.index.arity != 1) + 1),
    ">>:": lambda o: o.range(o.last_before(o.index.arity != 1) + 1, o.ids),
    "<<,": lambda o: o.range(o.ids + 1, o.next_where(o.index.arity == 0) + 1),
    ">>,": lambda o: o.range(o.last_before(o.index.arity == 0) + 1, o.ids),
    "<<-": lambda o: o.group("right", o.index.right, below=True),
    ">>-": lambda o: o.group("right", o.index.right, below=False),
    "..": lambda o: o.range(o.index.end, o.index.tree_start[o.index.tree + 1]),
    ",,": lambda o: o.ended(),
    ".": lambda o: o.equal("left", o.index.left, o.index.right),
    ",": lambda o: o.equal("right", o.index.right, o.index.left),
    "$": lambda o: [o.sisters(after=False, nearest=False), o.sisters(after=True, nearest=False)],
    "$++": lambda o: o.sisters(after=True, nearest=False),
    "$--": lambda o: o.sisters(after=False, nearest=False),
    "$+": lambda o: o.sisters(after=True, nearest=True),
    "$-": lambda o: o.sisters(after=False, nearest=True),
    "<#": lambda o: o.one(o.heads()),
    ">#": lambda o: o.chosen(o.of_parent(o.heads()) == o.ids),
    "<<#": lambda o: _head_group(o, below=True),
    ">>#": lambda o: _head_group(o, below=False),
    "==": lambda o: o.one(o.ids),
    "<=": lambda o: [o.one(o.ids), o.children()],
    ":": _tree,
}
