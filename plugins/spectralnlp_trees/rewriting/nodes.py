"""Trees whose nodes can be changed in place, while a tree is rewritten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spectralnlp.errors import InputError
from spectralnlp.trees import Tree
from spectralnlp.trees.tree import HeadedTree
from spectralnlp_trees.tregex.matches import Match


class Node:
    """Node of a tree; words are nodes, too.

    Args:
        label: label of the node; for a word, the word.
        is_word: whether the node is a word.

    Attributes:
        parent: the node above; None for a root.
        children: the nodes below.
        head: the child that the treebank marks as the head; None if it marks none.
    """

    __slots__ = ("children", "head", "is_word", "label", "parent")

    def __init__(self, label: str, is_word: bool = False) -> None:
        self.label, self.is_word = label, is_word
        self.parent: Node | None = None
        self.head: Node | None = None
        self.children: list[Node] = []

    def add(self, child: Node) -> None:
        """Append a child."""
        child.parent = self
        self.children.append(child)

    def nodes(self) -> Iterator[Node]:
        """Yield this node and all nodes below it, parents first, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def above(self) -> Iterator[Node]:
        """Yield this node and its ancestors, the root last."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def copied(self) -> dict[Node, Node]:
        """Copy this node with all nodes below it; return the copies by their originals, the top first."""
        copies = {node: Node(node.label, node.is_word) for node in self.nodes()}
        for node, copy in copies.items():
            for child in node.children:  # they may have another parent since an operation cut this node out
                copy.add(copies[child])
            copy.head = copies.get(node.head) if node.head is not None else None
        return copies


class Site:
    """A tree that is being rewritten, with what a match has bound.

    Args:
        tree: the tree before.
        match: a match in the tree.

    Attributes:
        root: root of the tree.
        named: nodes by their names in the pattern and in inserted trees.
        variables: texts by the names of variables in the pattern.
    """

    def __init__(self, tree: Tree, match: Match) -> None:
        nodes = nodes_of(tree)
        self.root = nodes[0]
        self.named = {name: nodes[node.number - 1] for name, node in match.named.items()}
        self.variables: Mapping[str, str] = match.variables

    def bound(self, name: str) -> Node:
        """Return the node with a name, which may have been deleted meanwhile.

        Raises:
            InputError: the name is in a part of the pattern that has not matched.
        """
        if name not in self.named:
            raise InputError(f"the match binds no node to {name}", hint=f"write: if exists {name} …")
        return self.named[name]

    def node(self, name: str) -> Node:
        """Return the node with a name, which must be in the tree.

        Raises:
            InputError: there is no such node, or it is no longer in the tree.
        """
        node = self.bound(name)
        if list(node.above())[-1] is not self.root:
            raise InputError(f"{name} is no longer in the tree, which an earlier operation has changed")
        return node

    def replace(self, node: Node, by: Sequence[Node]) -> None:
        """Put nodes in the place of a node of the tree, which is cut out.

        Raises:
            InputError: the root is replaced by no node or by several.
        """
        parent, node.parent = node.parent, None
        if parent is None:
            if len(by) != 1:
                what = "nothing would be left of the tree" if not by else "the tree would have several roots"
                raise InputError(what)
            self.root, by[0].parent = by[0], None
            return
        place = parent.children.index(node)
        parent.children[place : place + 1] = by
        for each in by:
            each.parent = parent


def nodes_of(tree: Tree) -> list[Node]:
    """Return all nodes of a copy of a tree, words among them, in the order of `MatchedNode.number`."""
    nodes: list[Node] = []
    headed: list[tuple[Node, int]] = []
    stack: list[tuple[Tree, Node | None]] = [(tree, None)]
    while stack:
        original, parent = stack.pop()
        node = Node(original.label)
        nodes.append(node)
        if parent is not None:
            parent.add(node)
        if original.word is not None:
            node.add(Node(original.word, is_word=True))
            nodes.append(node.children[0])
        if isinstance(original, HeadedTree):
            headed.append((node, original.head))
        stack.extend((child, node) for child in reversed(original.children))
    for node, head in headed:
        node.head = node.children[head]
    return nodes


def tree_of(root: Node) -> Tree:
    """Build a tree from nodes.

    Raises:
        InputError: the nodes are no tree: one has neither a word nor children, or a word beside other
            children.
    """
    built: dict[Node, Tree] = {}
    for node in reversed(list(root.nodes())):
        if node.is_word:
            continue
        if not node.children:
            raise InputError(f"a node {node.label} would have no children", hint="use prune or moveprune")
        below = node.children
        if len(below) == 1 and below[0].is_word:
            built[node] = Tree(node.label, word=below[0].label)
        elif any(child.is_word for child in below):
            raise InputError(f"a node {node.label} would have a word beside other children")
        elif node.head in below:
            built[node] = HeadedTree(node.label, [built[each] for each in below], below.index(node.head))
        else:
            built[node] = Tree(node.label, [built[each] for each in below])
    if root.is_word:
        raise InputError(f"the tree would be the word {root.label} alone")
    return built[root]
