"""Trees that are changed in place, and what their brackets lack of the gold tree's.

A pair of trees is seen as EVALB sees it with the parameters of ``COLLINS.prm``: gold tags decide which words
count, function tags, traces and roots do not, and ADVP and PRT are equal. Nothing here recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spectralnlp.scoring import COLLINS, with_gold_tags
from spectralnlp.trees import Tree
from spectralnlp.trees.transforms import ROOT_LABELS

# Label of the root that stands above both trees and is never wrong.
ROOT = "TOP"
# Labels that are equal: each is counted under one of them.
_EQUAL = {b: a for a, b in COLLINS.eq_labels}


class Bracket(NamedTuple):
    """A label over words, ``end`` exclusive.

    Examples:
        >>> from spectralnlp_trees import Bracket, find_errors
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> found = find_errors(*read_brackets(brackets))
        >>> found.missing == (Bracket("VP", 1, 2),)
        True
    """

    label: str
    start: int
    end: int


class Node:
    """A node that knows its parent.

    Attributes:
        label: as it is shown; function tags are cut.
        children, parent: the nodes below and above.
        start, end: words that count, ``end`` exclusive.
        word: of a part of speech; None for a phrase.
    """

    __slots__ = ("children", "end", "label", "parent", "start", "word")

    def __init__(self, label: str, children: list[Node], word: str | None = None) -> None:
        self.label, self.children, self.word = label, children, word
        self.parent: Node | None = None
        self.start = self.end = 0
        for child in children:
            child.parent = self

    @property
    def bracket(self) -> Bracket:
        """The bracket that the node counts as."""
        return Bracket(counted_label(self.label), self.start, self.end)

    @property
    def is_phrase(self) -> bool:
        """Whether it is no part of speech."""
        return self.word is None

    def covers(self, start: int, end: int) -> bool:
        """Whether it is over just these words."""
        return (self.start, self.end) == (start, end)

    @property
    def place(self) -> int:
        """Its place among the children of its parent."""
        return 0 if self.parent is None else self.parent.children.index(self)

    def find_span(self) -> bool:
        """Set the words from the children's; return whether they changed."""
        before = self.start, self.end
        self.start, self.end = self.children[0].start, self.children[-1].end
        return before != (self.start, self.end)


def counted_label(label: str) -> str:
    """The label that stands for all that are equal to it."""
    return _EQUAL.get(label, label)


def in_order(brackets: Counter[Bracket]) -> list[Bracket]:
    """Brackets, each as often as it counts, from left to right, wider ones first."""
    return sorted(brackets.elements(), key=lambda each: (each.start, -each.end, each.label))


class Workspace:
    """A tree on its way to the gold tree.

    Args:
        gold: the root of the gold tree.
        tree: the root of the other one, over the same words.

    Attributes:
        root: of the tree.
        leaves: its words.
        wanted, have: how often each bracket is in the gold tree, and in the tree.
        gold_chains: of each stretch of words, the gold labels over it, the uppermost first.
    """

    def __init__(self, gold: Node, tree: Node) -> None:
        self.root = tree
        self.leaves = [node for node in nodes_of(tree) if not node.is_phrase]
        self.gold_chains: dict[tuple[int, int], list[str]] = {}
        for node in phrases_of(gold):
            self.gold_chains.setdefault((node.start, node.end), []).append(node.label)
        self.wanted = Counter(node.bracket for node in phrases_of(gold))
        self.have = Counter(node.bracket for node in phrases_of(tree))

    @property
    def words(self) -> list[str]:
        """The words that count."""
        return [leaf.word or "" for leaf in self.leaves]

    @property
    def n_wrong(self) -> int:
        """Brackets that are missing or extra."""
        return (self.wanted - self.have).total() + (self.have - self.wanted).total()

    def missing(self) -> list[Bracket]:
        """Brackets of the gold tree that the tree has not often enough, in order."""
        return in_order(self.wanted - self.have)

    def extra(self) -> list[Node]:
        """Nodes whose bracket the tree has too often, parents first."""
        too_often = self.have - self.wanted
        return [node for node in phrases_of(self.root) if node.bracket in too_often] if too_often else []

    def holding(self, start: int, end: int) -> Node:
        """The lowest node over all these words."""
        node = self.leaves[start]
        while node.end < end:
            assert node.parent is not None  # the root is over all words
            node = node.parent
        return node

    def group(self, start: int, end: int) -> tuple[Node, int, int] | None:
        """A node and the range of its children that are just these words; None if they cross brackets.

        Of nodes over just these words, but the root, the uppermost is the only child of the range.
        """
        node = self.holding(start, end)
        if node.covers(start, end) and node is not self.root:
            while node.parent is not None and node.parent is not self.root and node.parent.covers(start, end):
                node = node.parent
            assert node.parent is not None  # it is not the root
            return node.parent, node.place, node.place + 1
        first = next((i for i, child in enumerate(node.children) if child.start == start), None)
        last = next((i for i, child in enumerate(node.children) if child.end == end), None)
        return None if first is None or last is None else (node, first, last + 1)

    def replace(self, before: Sequence[Bracket], after: Sequence[Bracket]) -> None:
        """Count some brackets of the tree as gone, and others as there."""
        self.have.subtract(before)
        self.have.update(after)
        for bracket in before:
            if not self.have[bracket]:
                del self.have[bracket]

    def to_tree(self) -> Tree:
        """The tree as it is now, under its root."""
        return tree_of(self.root)


def workspace_of(gold: Tree, tree: Tree) -> Workspace | None:
    """Begin work on a tree; None if it is not over the words of the gold tree, or none of them counts."""
    retagged = with_gold_tags(gold, tree)
    target, root = _grown(gold), _grown(retagged)
    if target is None or root is None or _words(target) != _words(root):
        return None
    return Workspace(target, root)


def counted_tree(tree: Tree) -> Tree | None:
    """The part of a tree that counts, under a root; None if nothing does."""
    root = _grown(tree)
    return None if root is None else tree_of(root)


def nodes_of(root: Node) -> Iterator[Node]:
    """All nodes, parents first, from left to right."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def phrases_of(root: Node) -> Iterator[Node]:
    """All nodes but the root and parts of speech."""
    return (node for node in nodes_of(root) if node.is_phrase and node.parent is not None)


def tree_of(root: Node) -> Tree:
    """A node as a tree."""
    built: list[Tree] = []
    for node in reversed(list(nodes_of(root))):
        children = [built.pop() for _ in node.children]
        built.append(Tree(node.label, children, node.word))
    return built[0]


def _words(root: Node) -> list[str | None]:
    return [node.word for node in nodes_of(root) if not node.is_phrase]


def _grown(tree: Tree) -> Node | None:
    """The nodes that count under a root, with their words; None if there are none."""

    def grow(node: Tree, below: list[list[Node]]) -> list[Node]:
        if node.word is not None:
            return [] if node.label in COLLINS.delete_labels else [Node(node.label, [], node.word)]
        children = [child for some in below for child in some]
        label = node.label.partition("-")[0].partition("=")[0]
        if node is tree and node.label in ROOT_LABELS:
            label = ROOT
        if not children or label in COLLINS.delete_brackets:
            return children
        return [Node(label, children)]

    tops = tree.fold(grow)
    if not tops:
        return None
    root = Node(ROOT, tops)
    order = list(nodes_of(root))
    for number, leaf in enumerate(node for node in order if not node.is_phrase):
        leaf.start, leaf.end = number, number + 1
    for node in reversed(order):
        if node.is_phrase:
            node.find_span()
    return root
