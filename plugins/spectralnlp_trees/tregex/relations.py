"""Find related nodes, such as children or sisters of nodes, for the relations of search patterns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from spectralnlp_trees.tregex.columns import Integers, TreeColumns

Mask = npt.NDArray[np.bool_]


class Interval(NamedTuple):
    """Relation between nodes, stored as one range per node in an ordered list of nodes.

    The order is such that the nodes to which a node is related are adjacent in the list.

    Args:
        order: the list, as node numbers; None for the list of all nodes in ascending order.
        low, high: for each node, the range of positions in ``order`` at which its related nodes stand,
            ``high`` exclusive; integers (n_nodes,).
    """

    order: Integers | None
    low: Integers
    high: Integers


class Join(Protocol):
    """Interface of relations between nodes; the nodes related to a node are called its partners."""

    def sums(self, values: Integers, at: Integers) -> Integers:
        """Return, for each node in ``at``, the sum of ``values`` over all related nodes.

        Args:
            values: an integer for each node of the index.
            at: numbers of nodes.
        """

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """List all pairs of a node in ``at`` and a partner of this node that is in the mask ``wanted``.

        Args:
            wanted: mask (n_nodes,) of the nodes that may be partners.
            at: numbers of nodes.

        Returns:
            For each pair, the position of the first node in ``at``, ascending; and the partner's number.
        """

    def holds(self, at: Integers, partners: Integers) -> Mask:
        """Return a mask that says, for each i, whether node ``at[i]`` is related to node ``partners[i]``.

        Args:
            at: numbers of nodes.
            partners: as many numbers of nodes.
        """


class IntervalJoin:
    """Union of one or several `Interval` relations that have no pair of related nodes in common.

    Args:
        intervals: the relations.
    """

    def __init__(self, *intervals: Interval) -> None:
        self.intervals = intervals

    def sums(self, values: Integers, at: Integers) -> Integers:
        """Return, for each node in ``at``, the sum of ``values`` over all related nodes."""
        total = np.zeros(len(at), np.intp)
        for order, low, high in self.intervals:
            running = running_sums(values if order is None else values[order])
            total += running[high[at]] - running[low[at]]
        return total

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """List all pairs of a node in ``at`` and a related node that is in the mask ``wanted``.

        Returns:
            For each pair, the position of the first node in ``at``, ascending; and the number of the second
            node.
        """
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
        """Return a mask that says, for each i, whether node ``at[i]`` is related to node ``partners[i]``."""
        related = np.zeros(len(at), bool)
        for rank, (_, low, high) in zip(self._ranks, self.intervals, strict=True):
            place = partners if rank is None else rank[partners]
            related |= (low[at] <= place) & (place < high[at])
        return related

    @cached_property
    def _ranks(self) -> list[Integers | None]:
        """For each interval, the position of each node in its ``order``, or -1; None if ``order`` is None."""
        return [None if order is None else self._rank(order, len(low)) for order, low, _ in self.intervals]

    def _rank(self, order: Integers, n_nodes: int) -> Integers:
        rank = np.full(n_nodes, -1)
        rank[order] = np.arange(len(order))
        return rank


def running_sums(values: npt.NDArray[np.generic]) -> Integers:
    """Return cumulative sums that begin with 0; shape (n + 1,) for n values."""
    sums = np.zeros(len(values) + 1, np.intp)
    np.cumsum(values, out=sums[1:])
    return sums


def expand(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """List all integers of several ranges, range after range.

    Args:
        low, high: bounds of the ranges, ``high`` exclusive; integers (n_ranges,).

    Returns:
        Two arrays with an element per listed integer: the index of its range, and the integer itself.
    """
    counts = high - low
    place = np.repeat(np.arange(len(low)), counts)
    number = np.arange(len(place)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    return place, number


def interval_join(index: TreeColumns, symbol: str, number: int, size: int, head_rules: str) -> IntervalJoin:
    """Return the relation for a symbol such as ``<``; it is built once per index and cached.

    Args:
        index: index of the trees.
        symbol: symbol of the relation, a key of `INTERVALS`.
        number: the number in ``<2`` or ``<-1``; 0 for relations without a number.
        size: for ``<...``, the required number of children; ignored for other relations.
        head_rules: head rules for relations of heads such as ``<#``: ``english`` or ``neutral``.
    """

    def make() -> IntervalJoin:
        made = INTERVALS[symbol](Orders(index, number, size, head_rules))
        return IntervalJoin(*(made if isinstance(made, list) else [made]))

    key = (symbol, number, size, head_rules if "#" in symbol else "")
    return index.cached(key, make)


class Orders:
    """Builder of `Interval` relations between the nodes of an index.

    Args:
        index: index of the trees.
        number, size, head_rules: as for `interval_join`.
    """

    def __init__(self, index: TreeColumns, number: int, size: int, head_rules: str) -> None:
        self.index, self.number, self.size, self.head_rules = index, number, size, head_rules
        self.ids = np.arange(len(index))

    def one(self, target: Integers) -> Interval:
        """Return a relation in which each node is related to at most one node.

        Args:
            target: for each node, the number of the node related to it; -1 for none. Integers (n_nodes,).
        """
        return Interval(None, np.maximum(target, 0), np.maximum(target, 0) + (target >= 0))

    def range(self, low: Integers, high: Integers) -> Interval:
        """Return a relation of each node to nodes with consecutive numbers.

        Args:
            low, high: for each node, range of the numbers of the related nodes, ``high`` exclusive.
        """
        return Interval(None, low, high)

    def of_parent(self, values: Integers) -> Integers:
        """Return, for each node, the item of ``values`` for the node's parent; -1 for roots."""
        return np.where(self.index.parent < 0, -1, values[self.index.parent])

    def chosen(self, is_partner: Mask) -> Interval:
        """Return a relation of nodes to their parents, restricted to the nodes in the mask ``is_partner``."""
        return self.one(np.where(is_partner, self.index.parent, -1))

    # Children: order by parent; roots come first.

    def children(self) -> Interval:
        """Return the relation of each node to its children."""
        order = self.index.cached("by parent", lambda: np.argsort(self.index.parent, kind="stable"))
        first = len(self.index.trees) + np.cumsum(self.index.arity) - self.index.arity
        return Interval(order, first, first + self.index.arity)

    def child(self, number: int, exists: Mask | None = None) -> Interval:
        """Return the relation of each node to its n-th child: 1 is the first, -1 the last.

        Args:
            number: n, which is not 0.
            exists: mask of the nodes to which the relation is restricted; None for no restriction.
        """
        order, low, high = self.children()
        place = low + number - 1 if number > 0 else high + number
        there = (low <= place) & (place < high) & (True if exists is None else exists)
        return Interval(order, np.where(there, place, low), np.where(there, place + 1, low))

    def parent_of_child(self, number: int) -> Interval:
        """Return the relation of each n-th child (1 is the first, -1 the last) to its parent."""
        position = self.index.position
        from_end = position - self.of_parent(self.index.arity)
        return self.chosen((position == number - 1) if number > 0 else (from_end == number))

    def sisters(self, after: bool, nearest: bool) -> Interval:
        """Return the relation of each node to its sisters on one side.

        Args:
            after: whether the sisters follow the node rather than precede it.
            nearest: whether only the adjacent sister is related, rather than all sisters on this side.
        """
        order, low, _ = self.children()
        rank = np.empty_like(order)
        rank[order] = self.ids
        is_root = self.index.parent < 0
        first = np.where(is_root, rank, low[self.index.parent])
        last = np.where(is_root, rank + 1, first + self.of_parent(self.index.arity))
        if after:
            return Interval(order, rank + 1, np.minimum(rank + 2, last) if nearest else last)
        return Interval(order, np.maximum(rank - 1, first) if nearest else first, rank)

    # Unary and leftmost chains: node numbers are consecutive, because a first child follows its parent.

    def next_where(self, mask: Mask) -> Integers:
        """Return, for each node, the first node at or after it that is in a mask, or n_nodes if none is."""
        there = np.where(mask, self.ids, len(self.ids))
        return np.minimum.accumulate(there[::-1])[::-1]

    def last_before(self, mask: Mask) -> Integers:
        """Return, for each node, the number of the last node before it that is in a mask; -1 for none."""
        there = np.maximum.accumulate(np.where(mask, self.ids, -1))
        return np.append(-1, there)[: len(self.ids)]

    def words(self) -> Interval:
        """Return the relation of each node to the words below it."""
        is_word = self.index.arity == 0
        before = running_sums(is_word)
        return Interval(np.flatnonzero(is_word), before[self.ids + 1], before[self.index.end])

    def word(self, number: int) -> Interval:
        """Return the relation of each node to the n-th word below it: 1 is the first, -1 the last."""
        order, low, high = self.words()
        high = np.maximum(low, high)
        place = low + number - 1 if number > 0 else high + number
        there = (low <= place) & (place < high)
        return Interval(order, np.where(there, place, low), np.where(there, place + 1, low))

    # Token positions, and groups of nodes with an equal value in a column.

    def sorted_by(self, name: str, column: Integers) -> tuple[Integers, Integers]:
        """Return the node numbers sorted by a column of the index, and the sorted column.

        Args:
            name: name of the column, by which the sorted order is cached.
            column: a value for each node.
        """
        order = self.index.cached(f"by {name}", lambda: np.argsort(column, kind="stable"))
        return order, column[order]

    def equal(self, name: str, column: Integers, to: Integers) -> Interval:
        """Return the relation of each node to the nodes that have a certain value in a column.

        Args:
            name: name of the column, by which its sorted order is cached.
            column: a value for each node.
            to: for each node, the value that the nodes related to it have in the column.
        """
        order, values = self.sorted_by(name, column)
        return Interval(order, np.searchsorted(values, to), np.searchsorted(values, to, "right"))

    def group(self, name: str, column: Integers, below: bool) -> Interval:
        """Return the relation of each node to the nodes below or above it with the same value in a column.

        Nodes with the same value must lie on one path through the tree, such as nodes that end at the same
        token.

        Args:
            name: name of the column, by which its sorted order is cached.
            column: a value for each node.
            below: whether the related nodes are below the node rather than above it.
        """
        order, low, high = self.equal(name, column, column)
        rank = np.empty_like(order)
        rank[order] = self.ids
        return Interval(order, rank + 1, high) if below else Interval(order, low, rank)

    def ended(self) -> Interval:
        """Return the relation of each node to the nodes of its tree that end before it begins."""
        order, ends = self.sorted_by("end", self.index.end)
        start = self.index.tree_start[self.index.tree]
        return Interval(
            order, np.searchsorted(ends, start, "right"), np.searchsorted(ends, self.ids, "right")
        )

    def heads(self) -> Integers:
        """Return the node number of each node's head child; -1 for words."""
        return self.index.head_children(self.head_rules)

    def head_words(self) -> Integers:
        """Return the node number of each node's head word, which is reached by following head children."""
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


# For each relation, the interval of nodes on the right-hand side, given the node on the left-hand side.
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
