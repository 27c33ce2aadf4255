"""Mutable trees that are repaired step by step, with counts of their missing and extra brackets.

The brackets are compared with those of a gold tree, by the conventions of EVALB with the parameters of
``COLLINS.prm``: words whose gold tag is punctuation, function tags, traces and roots are ignored; ADVP and
PRT are equal. No function here recurses, so trees may be deep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spectralnlp.scoring import COLLINS, with_gold_tags
from spectralnlp.trees import Tree
from spectralnlp.trees.transforms import ROOT_LABELS

# Label of the root above both trees; it is never counted as a bracket.
ROOT = "TOP"
# Labels that EVALB treats as equal, with the label under which they are counted.
_EQUAL = {b: a for a, b in COLLINS.eq_labels}


class Bracket(NamedTuple):
    """Labelled bracket over the words from ``start`` to ``end``, exclusive.

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
    """Node of a mutable tree.

    Attributes:
        label: label without function tags.
        children, parent: children and parent of the node; the root has no parent.
        start, end: range of its words, ``end`` exclusive; punctuation is not counted.
        word: the word of a preterminal; None for a phrase.
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
        """Bracket of the node, with the label under which EVALB counts it: ADVP for PRT."""
        return Bracket(counted_label(self.label), self.start, self.end)

    @property
    def is_phrase(self) -> bool:
        """Whether the node is a phrase, not a preterminal."""
        return self.word is None

    def covers(self, start: int, end: int) -> bool:
        """Return whether the node covers exactly the words from ``start`` to ``end``."""
        return (self.start, self.end) == (start, end)

    @property
    def place(self) -> int:
        """Index of the node among the children of its parent."""
        return 0 if self.parent is None else self.parent.children.index(self)

    def find_span(self) -> bool:
        """Set the word range of the node from its children's ranges; return whether the range changed."""
        before = self.start, self.end
        self.start, self.end = self.children[0].start, self.children[-1].end
        return before != (self.start, self.end)


def counted_label(label: str) -> str:
    """Return the label under which EVALB counts a label: ADVP for PRT, else the label itself."""
    return _EQUAL.get(label, label)


def in_order(brackets: Counter[Bracket]) -> list[Bracket]:
    """Return a list of the brackets in a counter, with repetitions, from left to right, wider ones first."""
    return sorted(brackets.elements(), key=lambda each: (each.start, -each.end, each.label))


class Workspace:
    """Tree that is repaired step by step until it equals the gold tree.

    Args:
        gold: root of the gold tree.
        tree: root of the tree to be repaired, over the same words.

    Attributes:
        root: root of the tree.
        leaves: preterminals of the tree.
        wanted: number of occurrences of each bracket in the gold tree.
        have: number of occurrences of each bracket in the tree that is repaired.
        gold_chains: by word range, the gold labels over exactly these words, the topmost first.
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
        """Words of the tree, without punctuation."""
        return [leaf.word or "" for leaf in self.leaves]

    @property
    def n_wrong(self) -> int:
        """Number of missing and extra brackets of the tree."""
        return (self.wanted - self.have).total() + (self.have - self.wanted).total()

    def missing(self) -> list[Bracket]:
        """Return the gold brackets that the tree lacks, from left to right."""
        return in_order(self.wanted - self.have)

    def extra(self) -> list[Node]:
        """Return the nodes whose bracket the tree has more often than the gold tree, parents first."""
        too_often = self.have - self.wanted
        return [node for node in phrases_of(self.root) if node.bracket in too_often] if too_often else []

    def holding(self, start: int, end: int) -> Node:
        """Return the lowest node that covers all words from ``start`` to ``end``, exclusive."""
        node = self.leaves[start]
        while node.end < end:
            assert node.parent is not None  # the root covers all words
            node = node.parent
        return node

    def group(self, start: int, end: int) -> tuple[Node, int, int] | None:
        """Find adjacent children of one node that cover exactly the words from ``start`` to before ``end``.

        If a single node other than the root covers exactly these words, the result is that node; in a unary
        chain, the topmost node.

        Returns:
            The parent, the index of the first child, and the index after the last; None if there are no such
            children, because a bracket crosses the words.
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
        """Update the bracket counts after a change of the tree.

        Args:
            before: brackets that were removed.
            after: brackets that were added.
        """
        self.have.subtract(before)
        self.have.update(after)
        for bracket in before:
            if not self.have[bracket]:
                del self.have[bracket]

    def to_tree(self) -> Tree:
        """Return an immutable copy of the tree in its present state, including the root."""
        return tree_of(self.root)


def workspace_of(gold: Tree, tree: Tree) -> Workspace | None:
    """Return a mutable copy of a tree with bracket counts.

    Returns None if the trees' words differ or are punctuation only.

    Args:
        gold: the gold tree.
        tree: the tree to be repaired.
    """
    retagged = with_gold_tags(gold, tree)
    target, root = _nodes_from(gold), _nodes_from(retagged)
    if target is None or root is None or _words(target) != _words(root):
        return None
    return Workspace(target, root)


def counted_tree(tree: Tree) -> Tree | None:
    """Return a tree without punctuation, traces and function tags, which EVALB ignores.

    Returns None if nothing is left.
    """
    root = _nodes_from(tree)
    return None if root is None else tree_of(root)


def nodes_of(root: Node) -> Iterator[Node]:
    """Yield all nodes below and including a root, parents first, from left to right."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def phrases_of(root: Node) -> Iterator[Node]:
    """Return an iterator over all phrases below a root, parents first."""
    return (node for node in nodes_of(root) if node.is_phrase and node.parent is not None)


def tree_of(root: Node) -> Tree:
    """Convert a node to an immutable tree."""
    built: list[Tree] = []
    for node in reversed(list(nodes_of(root))):
        children = [built.pop() for _ in node.children]
        built.append(Tree(node.label, children, node.word))
    return built[0]


def _words(root: Node) -> list[str | None]:
    return [node.word for node in nodes_of(root) if not node.is_phrase]


def _nodes_from(tree: Tree) -> Node | None:
    """Return the root of a mutable copy of a tree, without what EVALB ignores; None if nothing is left."""

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
