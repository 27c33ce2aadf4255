"""Find the ancestors of nodes, and nodes along chains such as ``<+(C)``, for relations of search patterns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spectralnlp_trees.tregex.columns import Integers, TreeColumns
from spectralnlp_trees.tregex.relations import Mask, expand, interval_join, running_sums

# Maximum number of pairs (start, position that a sequence reaches) in memory at a time.
PLACES_AT_A_TIME = 2_000_000


class AncestorJoin:
    """Relation of a node to all its ancestors (``>>``), or to those linked to it by certain nodes (``>+``).

    Args:
        index: index of the trees.
        links: mask (n_nodes,) of the nodes that may lie between a node and its ancestor: those that meet the
            condition C of ``>+(C)``. None for all nodes.
    """

    def __init__(self, index: TreeColumns, links: Mask | None = None) -> None:
        self.index = index
        self.stop = None if links is None else nearest_ancestor(index, ~links)

    def sums(self, values: Integers, at: Integers) -> Integers:
        """Return, for each node in ``at``, the sum of ``values`` over all related nodes."""
        end = self.index.end
        by_end = self.index.cached("by end", lambda: np.argsort(end, kind="stable"))
        begun, ended = running_sums(values), running_sums(values[by_end])
        n_ended = self.index.cached(
            "ended", lambda: np.searchsorted(end[by_end], np.arange(len(end)), "right")
        )

        def above(nodes: Integers) -> Integers:
            return begun[nodes] - ended[n_ended[nodes]]

        if self.stop is None:
            return above(at)
        stop = self.stop[at]
        return above(at) - np.where(stop < 0, 0, above(np.maximum(stop, 0)))

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """List all pairs of a node in ``at`` and a related node that is in the mask ``wanted``.

        Returns:
            For each pair, the position of the first node in ``at``, ascending; and the number of the second
            node.
        """
        nearest = nearest_ancestor(self.index, wanted)
        stop = np.full(len(at), -1) if self.stop is None else self.stop[at]
        place, above = np.arange(len(at)), nearest[at]
        places, ancestors = [place[:0]], [above[:0]]
        while len(place):
            inside = (above >= 0) & (above >= stop[place])
            place, above = place[inside], above[inside]
            places.append(place)
            ancestors.append(above)
            above = nearest[above]
        together = np.concatenate(places)
        by_place = np.argsort(together, kind="stable")
        return together[by_place], np.concatenate(ancestors)[by_place]

    def holds(self, at: Integers, partners: Integers) -> Mask:
        """Return a mask that says, for each i, whether node ``at[i]`` is related to node ``partners[i]``."""
        above = (partners < at) & (at < self.index.end[partners])
        return above if self.stop is None else above & (partners >= self.stop[at])


class DescendantChainJoin:
    """Relation of a node to the descendants that are linked to it by certain nodes (``<+``).

    Args:
        index: index of the trees.
        links: mask (n_nodes,) of the nodes that may lie between a node and its descendant: those that meet
            the condition C of ``<+(C)``.
    """

    def __init__(self, index: TreeColumns, links: Mask) -> None:
        self.index = index
        self.stop = nearest_ancestor(index, ~links)

    def sums(self, values: Integers, at: Integers) -> Integers:
        """Return, for each node in ``at``, the sum of ``values`` over all related nodes."""
        # A value counts for the ancestors from the parent up to the stop: add it at the parent, subtract it
        # above the stop.
        nodes = np.flatnonzero(values)
        change = np.zeros(len(values), np.intp)
        parents, stops = self.index.parent[nodes], self.stop[nodes]
        above = np.where(stops < 0, -1, self.index.parent[stops])
        np.add.at(change, parents[parents >= 0], values[nodes][parents >= 0])
        np.subtract.at(change, above[above >= 0], values[nodes][above >= 0])
        running = running_sums(change)
        return running[self.index.end[at]] - running[at]

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """List all pairs of a node in ``at`` and a related node that is in the mask ``wanted``.

        Returns:
            For each pair, the position of the first node in ``at``, ascending; and the number of the second
            node.
        """
        place, below = interval_join(self.index, "<<", 0, 0, "").pairs(wanted, at)
        unbroken = self.stop[below] <= at[place]
        return place[unbroken], below[unbroken]

    def holds(self, at: Integers, partners: Integers) -> Mask:
        """Return a mask that says, for each i, whether node ``at[i]`` is related to node ``partners[i]``."""
        return (at < partners) & (partners < self.index.end[at]) & (self.stop[partners] <= at)


class SequenceJoin:
    """Relation of a node to nodes before or after it that are linked to it by a sequence of certain nodes.

    The nodes of the sequence cover adjacent ranges of tokens; the sequence may be empty. A related node
    counts once, however many sequences lead to it.

    Args:
        index: index of the trees.
        links: mask (n_nodes,) of the nodes that may be in the sequence: those that meet the condition C of
            ``.+(C)`` or ``,+(C)``.
        ahead: whether related nodes follow (``.+``) rather than precede (``,+``).
    """

    def __init__(self, index: TreeColumns, links: Mask, *, ahead: bool) -> None:
        self.begin, self.finish = (index.left, index.right) if ahead else (index.right, index.left)
        steps = np.unique(np.stack([self.begin[links], self.finish[links]]), axis=1)
        n_places = int(index.right.max(initial=0)) + 2
        self.n_places = n_places
        self.order = np.argsort(self.begin, kind="stable")
        self.first = np.searchsorted(self.begin[self.order], np.arange(n_places + 1))
        self.step_first = np.searchsorted(steps[0], np.arange(n_places + 1))
        self.step_to = steps[1]
        ends = index.tree_start[1:] - 1
        self.longest = int((index.right[ends] - index.left[index.tree_start[:-1]]).max(initial=1))

    def sums(self, values: Integers, at: Integers) -> Integers:
        """Return, for each node in ``at``, the sum of ``values`` over all related nodes."""
        running = running_sums(values[self.order])
        begun_at = running[self.first[1:]] - running[self.first[:-1]]
        starts, which = np.unique(self.finish[at], return_inverse=True)
        total = np.zeros(len(starts), np.intp)
        for place, reached in self._reached(starts):
            np.add.at(total, place, begun_at[reached])
        return total[which]

    def pairs(self, wanted: Mask, at: Integers) -> tuple[Integers, Integers]:
        """List all pairs of a node in ``at`` and a related node that is in the mask ``wanted``.

        Returns:
            For each pair, the position of the first node in ``at``, ascending; and the number of the second
            node.
        """
        running = running_sums(wanted[self.order])
        inside = self.order[wanted[self.order]]
        places, partners = [at[:0]], [at[:0]]
        for place, reached in self._reached(self.finish[at]):
            repeated, number = expand(running[self.first[reached]], running[self.first[reached + 1]])
            places.append(place[repeated])
            partners.append(inside[number])
        return np.concatenate(places), np.concatenate(partners)

    def holds(self, at: Integers, partners: Integers) -> Mask:
        """Return a mask that says, for each i, whether node ``at[i]`` is related to node ``partners[i]``."""
        wanted = np.zeros(len(self.order), bool)
        wanted[partners] = True
        places, related_nodes = self.pairs(wanted, at)
        related = np.zeros(len(at), bool)
        related[places[related_nodes == partners[places]]] = True
        return related

    def _reached(self, starts: Integers) -> Iterator[tuple[Integers, Integers]]:
        """Yield the token positions at which sequences of link nodes end, if they begin at given positions.

        Args:
            starts: token positions at which sequences begin.

        Yields:
            For each block of start positions, two arrays: ascending indices into ``starts``, and for each
            index a position where a sequence from this start ends. The start itself is included.
        """
        size = max(1, PLACES_AT_A_TIME // self.longest)
        for low in range(0, len(starts), size):
            block = starts[low : low + size]
            new = np.unique(np.arange(len(block)) * self.n_places + block)
            known = new
            while len(new):
                place, position = np.divmod(new, self.n_places)
                repeated, step = expand(self.step_first[position], self.step_first[position + 1])
                to = np.unique(place[repeated] * self.n_places + self.step_to[step])
                new = to[~np.isin(to, known, assume_unique=True)]
                known = np.union1d(known, new)
            place, position = np.divmod(known, self.n_places)
            yield low + place, position


def nearest_ancestor(index: TreeColumns, mask: Mask) -> Integers:
    """Return, for each node, its nearest proper ancestor that is in a mask; -1 if there is none."""
    # Each round doubles the distance that is covered.
    nearest = index.parent.copy()
    going = np.flatnonzero((nearest >= 0) & ~mask[nearest])
    while len(going):
        nearest[going] = nearest[nearest[going]]
        going = going[(nearest[going] >= 0) & ~mask[nearest[going]]]
    return nearest
