"""Find moves of adjacent nodes within a tree, and count the wrong brackets that each corrects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from spectralnlp_trees.comparison.workspace import Bracket, Node, Workspace, counted_label

# Maximum number of levels that a move may go up or down.
_MAX_LEVELS = 100

Where = Literal["beside", "into", "with"]


@dataclass(frozen=True, eq=False)
class Move:
    """Move of adjacent children of a node to another place in the tree.

    Attributes:
        source: the parent of the children.
        first, last: range of the children, ``last`` exclusive.
        anchor: node that defines the new place.
        where: ``beside``: the children become sisters of the anchor; ``into``: its first or last children;
            ``with``: the children and the anchor are put under a new node.
        rightwards: whether the children move to the right.
        shrunk: nodes that no longer cover the words of the moved children.
        grown: nodes that newly cover these words.
        emptied: whether the source is removed, because only one child would be left in it.
        gain: number of brackets that the move corrects, minus the number that it makes wrong.
        label: label of the new node if ``where`` is ``with``; otherwise empty.
    """

    source: Node
    first: int
    last: int
    anchor: Node
    where: Where
    rightwards: bool
    shrunk: tuple[Node, ...]
    grown: tuple[Node, ...]
    emptied: bool
    gain: int
    label: str = ""

    @property
    def group(self) -> list[Node]:
        """The nodes that are moved: adjacent children of ``source``."""
        return self.source.children[self.first : self.last]

    @property
    def rank(self) -> tuple[int, int, int]:
        """Sort key, the best move first: larger gain, then fewer words, then further left."""
        group = self.group
        return -self.gain, group[-1].end - group[0].start, group[0].start


def find_moves(work: Workspace) -> Iterator[Move]:
    """Yield moves of nodes that might turn an extra bracket into a bracket that the tree lacks.

    The extra and the missing bracket have the same label and one end in common; the words between their other
    ends have to move.

    Args:
        work: the tree that is being repaired.
    """
    ends: set[tuple[int, int]] = set()
    missing = work.missing()
    for node in work.extra() if missing else ():
        label = counted_label(node.label)
        for other in missing:
            if other.label == label and other.start == node.start:
                ends.add((min(node.end, other.end), max(node.end, other.end)))
            elif other.label == label and other.end == node.end:
                ends.add((min(node.start, other.start), max(node.start, other.start)))
    for start, end in sorted(ends):
        group = work.group(start, end)
        if group is not None and group[2] - group[1] < len(group[0].children):
            yield from _Search(work, *group, start, end).moves()


class _Search:
    """Search for moves of a group of adjacent nodes, which counts the brackets that each move corrects.

    Args:
        work: working copy of the tree.
        source: the parent of the group.
        first, last: range of the group among the children of the parent, ``last`` exclusive.
        start, end: range of the words of the group, ``end`` exclusive.
    """

    def __init__(self, work: Workspace, source: Node, first: int, last: int, start: int, end: int) -> None:
        self.work, self.source, self.first, self.last = work, source, first, last
        self.start, self.end = start, end

    def moves(self) -> Iterator[Move]:
        """Yield the possible moves of the group of nodes to a place further left or right in the tree."""
        yield from self._moves(rightwards=True)
        yield from self._moves(rightwards=False)

    def _moves(self, rightwards: bool) -> Iterator[Move]:
        children = self.source.children
        at_edge = self.last == len(children) if rightwards else self.first == 0
        tally = _Tally(self.work)
        base = Move(
            source=self.source,
            first=self.first,
            last=self.last,
            anchor=self.source,
            where="beside",
            rightwards=rightwards,
            shrunk=(),
            grown=(),
            emptied=False,
            gain=0,
        )
        if not at_edge:
            neighbour = children[self.last] if rightwards else children[self.first - 1]
            yield from self._descend(base, neighbour, tally, with_neighbour=False)
            return
        node, shrunk, emptied = self.source, list[Node](), False
        while node.parent is not None and len(shrunk) < _MAX_LEVELS:
            if (node.end if rightwards else node.start) != (self.end if rightwards else self.start):
                break
            left = Bracket(
                counted_label(node.label),
                node.start if rightwards else self.end,
                self.start if rightwards else node.end,
            )
            tally.lose(node.bracket)
            if node is self.source and len(children) - (self.last - self.first) == 1 and tally.spoils(left):
                emptied = True
            else:
                tally.win(left)
            shrunk.append(node)
            base = replace(base, anchor=node, shrunk=tuple(shrunk), emptied=emptied, gain=tally.gain)
            yield base
            place = node.place + (1 if rightwards else -1)
            if 0 <= place < len(node.parent.children):
                yield from self._descend(base, node.parent.children[place], tally.copy(), with_neighbour=True)
            node = node.parent

    def _descend(self, base: Move, node: Node, tally: _Tally, *, with_neighbour: bool) -> Iterator[Move]:
        """Yield moves of the group into a neighbouring node, or under a new node together with that node.

        Descendants of the neighbour on the side of the group are tried in the same way.

        Args:
            base: a move of the group in one direction; each yielded move is a copy with another target.
            node: the neighbouring node.
            tally: bracket counts after the group has been removed from its old place.
            with_neighbour: whether a new node may join the group with the neighbour itself, rather than only
                with descendants of the neighbour.
        """
        grown: list[Node] = []
        for _ in range(_MAX_LEVELS):
            start, end = (self.start, node.end) if base.rightwards else (node.start, self.end)
            if grown or with_neighbour:
                for label in tally.missing_labels(start, end):
                    after = tally.copy()
                    after.win(Bracket(counted_label(label), start, end))
                    move = replace(base, anchor=node, where="with", grown=tuple(grown), label=label)
                    yield from self._with_gain(move, after)
            if not node.is_phrase:
                return
            tally.lose(node.bracket)
            tally.win(Bracket(counted_label(node.label), start, end))
            grown.append(node)
            move = replace(base, anchor=node, where="into", grown=tuple(grown))
            yield from self._with_gain(move, tally)
            node = node.children[0 if base.rightwards else -1]

    def _with_gain(self, move: Move, tally: _Tally) -> Iterator[Move]:
        """Yield a move with its gain, the reduction in the number of wrong brackets.

        If only one child is left in the old parent, a second move is yielded that also removes this parent.

        Args:
            move: the move, whose gain is not yet set.
            tally: bracket counts after the move, which include the gain.
        """
        yield replace(move, gain=tally.gain)
        n_left = len(self.source.children) - (self.last - self.first)
        if n_left == 1 and not move.shrunk and self.source.parent is not None:
            after = tally.copy()
            after.lose(self.source.bracket)
            yield replace(move, shrunk=(self.source,), emptied=True, gain=after.gain)


class _Tally:
    """Counts of a tree's brackets after hypothetical changes.

    The attribute ``gain`` is the number of brackets that the changes correct, minus the number that they make
    wrong.

    Args:
        work: the tree, which is not changed.
    """

    def __init__(self, work: Workspace) -> None:
        self.work, self.gain = work, 0
        self.change = Counter[Bracket]()

    def copy(self) -> _Tally:
        """Return an independent copy, for a further hypothetical change."""
        other = _Tally(self.work)
        other.gain, other.change = self.gain, self.change.copy()
        return other

    def lose(self, bracket: Bracket) -> None:
        """Remove a bracket from the hypothetical tree, and update the gain."""
        self.gain += 1 if self._surplus(bracket) > 0 else -1
        self.change[bracket] -= 1

    def win(self, bracket: Bracket) -> None:
        """Add a bracket to the hypothetical tree, and update the gain."""
        self.gain += -1 if self.spoils(bracket) else 1
        self.change[bracket] += 1

    def spoils(self, bracket: Bracket) -> bool:
        """Return whether one more copy of this bracket in the hypothetical tree would be an extra bracket."""
        return self._surplus(bracket) >= 0

    def missing_labels(self, start: int, end: int) -> list[str]:
        """Return the labels that the gold tree has over a word range and the hypothetical tree lacks."""
        labels = self.work.gold_chains.get((start, end), ())
        return [label for label in labels if not self.spoils(Bracket(counted_label(label), start, end))]

    def _surplus(self, bracket: Bracket) -> int:
        work = self.work
        return work.have.get(bracket, 0) + self.change.get(bracket, 0) - work.wanted.get(bracket, 0)


def make_move(work: Workspace, move: Move) -> None:
    """Apply a move to the tree that is being repaired, and update its bracket counts.

    Args:
        work: the tree.
        move: a move in this tree.
    """
    source, group = move.source, move.group
    touched = [*move.shrunk, *move.grown]
    before = [node.bracket for node in touched]
    del source.children[move.first : move.last]
    if move.where == "into":
        children = move.anchor.children
        place = 0 if move.rightwards else len(children)
        children[place:place] = group
        _adopt(move.anchor, group)
    elif move.where == "beside":
        parent = _parent(move.anchor)
        place = move.anchor.place + (1 if move.rightwards else 0)
        parent.children[place:place] = group
        _adopt(parent, group)
    else:
        parent, place = _parent(move.anchor), move.anchor.place
        node = Node(move.label, [*group, move.anchor] if move.rightwards else [move.anchor, *group])
        node.parent = parent
        parent.children[place] = node
        node.find_span()
        touched.append(node)
    if move.emptied:
        parent, place = _parent(source), source.place
        parent.children[place : place + 1] = source.children
        _adopt(parent, source.children)
        touched.remove(source)
    for node in [*reversed(move.grown), *move.shrunk]:
        node.find_span()
    work.replace(before, [node.bracket for node in touched])


def _parent(node: Node) -> Node:
    assert node.parent is not None  # the root is never an anchor or source
    return node.parent


def _adopt(parent: Node, children: list[Node]) -> None:
    for child in children:
        child.parent = parent
