"""Constituency trees: a label with children, or a preterminal with its word.

Nothing here recurses: unary chains a thousand deep and left-branching sentences of
hundreds of tokens are ordinary input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nltk


class Tree:
    """An ordered labelled tree over words; treat it as immutable.

    A node either has ``children`` (one or more trees) or, as a preterminal, a ``word``.

    Args:
        label: the category, ``NP`` or ``NN``; may be empty (the outer bracket of a PTB file).
        children: subtrees from left to right; empty for a preterminal.
        word: the token under a preterminal; None for every other node.
    """

    __slots__ = ("children", "label", "word")

    def __init__(self, label: str, children: Sequence[Tree] = (), word: str | None = None) -> None:
        if (word is None) == (not children):
            raise ValueError(f"a node has either children or a word: {label!r}")
        self.label = label
        self.children = tuple(children)
        self.word = word

    @property
    def is_preterminal(self) -> bool:
        """Whether this node is a part of speech over one word."""
        return self.word is not None

    def nodes(self) -> Iterator[Tree]:
        """All nodes, a parent before its children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def postorder(self) -> list[Tree]:
        """All nodes, children before their parent, from left to right."""
        order, stack = [], [self]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(node.children)
        order.reverse()
        return order

    def preterminals(self) -> list[Tree]:
        """The nodes over words, from left to right."""
        return [node for node in self.nodes() if node.word is not None]

    def words(self) -> list[str]:
        """The tokens of the sentence."""
        return [node.word for node in self.nodes() if node.word is not None]

    def tags(self) -> list[str]:
        """The label of each token's preterminal."""
        return [node.label for node in self.nodes() if node.word is not None]

    def spans(self) -> list[tuple[str, int, int]]:
        """(label, start, end) of every node that is not a preterminal, parents first.

        ``start`` and ``end`` count tokens; ``end`` is exclusive.
        """
        spans: list[tuple[str, int, int]] = []
        opened: list[tuple[Tree, int]] = [(self, -1)]
        position = 0
        while opened:
            node, index = opened.pop()
            if index >= 0:  # the second visit: all words below have been passed
                label, start, _ = spans[index]
                spans[index] = (label, start, position)
            elif node.word is not None:
                position += 1
            else:
                opened.append((node, len(spans)))
                spans.append((node.label, position, position))
                opened.extend((child, -1) for child in reversed(node.children))
        return spans

    def __str__(self) -> str:
        """One line of brackets, ``(S (NP (PRP I)) (VP (VBP see)))``; escapes no token."""
        pieces: list[str] = []
        stack: list[Tree | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                pieces.append(")")
                continue
            if pieces and node is not self:
                pieces.append(" ")
            if node.word is not None:
                pieces.append(f"({node.label} {node.word})")
            else:
                pieces.append(f"({node.label}")
                stack.append(None)
                stack.extend(reversed(node.children))
        return "".join(pieces)

    def __repr__(self) -> str:
        return f"Tree({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pairs = [(self, other)]
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            if a.label != b.label or a.word != b.word or len(a.children) != len(b.children):
                return False
            pairs.extend(zip(a.children, b.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[object, ...]:
        # Flat, because pickle (between worker processes) recurses.
        return _rebuild, ([(node.label, node.word, len(node.children)) for node in self.postorder()],)

    def to_nltk(self) -> nltk.Tree:
        """The same tree as an ``nltk.Tree``, whose leaves are strings (imports nltk)."""
        from nltk import Tree as NltkTree

        built: list[NltkTree] = []
        for node in self.postorder():
            if node.word is not None:
                built.append(NltkTree(node.label, [node.word]))
            else:
                first = len(built) - len(node.children)
                children, built[first:] = built[first:], []
                built.append(NltkTree(node.label, children))
        return built[0]

    @classmethod
    def from_nltk(cls, tree: nltk.Tree) -> Tree:
        """A tree from an ``nltk.Tree`` whose leaves are strings, one under each preterminal."""
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(child for child in node if not isinstance(child, str))
        built: list[Tree] = []
        for node in reversed(order):
            leaves = [child for child in node if isinstance(child, str)]
            if leaves:
                if len(node) != 1:
                    raise ValueError(f"a leaf without a preterminal of its own under {node.label()!r}")
                built.append(cls(node.label(), word=leaves[0]))
            else:
                first = len(built) - len(node)
                children, built[first:] = built[first:], []
                built.append(cls(node.label(), children))
        return built[0]


def _rebuild(flat: list[tuple[str, str | None, int]]) -> Tree:
    built: list[Tree] = []
    for label, word, arity in flat:
        first = len(built) - arity
        children, built[first:] = built[first:], []
        built.append(Tree(label, children, word))
    return built[0]
