"""Apply a proposed correction to a treebank's tree, and cut out the part of a tree to be displayed."""

from __future__ import annotations

from spectralnlp.trees import Tree
from spectralnlp_trees.auditing.doubts import Change, Kind
from spectralnlp_trees.comparison.workspace import Bracket

# A part of a tree includes one more ancestor if that has at most this many words.
_MAX_WORDS = 24


def mended(tree: Tree, change: Change) -> Tree | None:
    """Return a corrected copy of a tree; None if brackets would cross or none would cover all words.

    Args:
        tree: a tree of the treebank.
        change: the proposed correction.
    """
    node, proposed = change.node, change.proposed
    words, tags = tree.words(), tree.tags()
    brackets = [Bracket(*span) for span in tree.spans()]
    if change.kind == Kind.TAG:
        assert proposed is not None  # a tag is always replaced by another
        tags[proposed.start] = proposed.label
    elif node is not None and proposed is not None and node[1:] == proposed[1:]:
        brackets[brackets.index(node)] = proposed
    else:
        if node is not None:
            brackets.remove(node)
        if proposed is not None:
            at = sum((one.start, -one.end) < (proposed.start, -proposed.end) for one in brackets)
            brackets.insert(at, proposed)
    return tree_of(brackets, words, tags)


def tree_of(brackets: list[Bracket], words: list[str], tags: list[str]) -> Tree | None:
    """Build a tree from brackets over words with tags; return None if the brackets do not form one tree.

    Args:
        brackets: brackets, parents first.
        words, tags: words of the sentence, and their tags.
    """
    if not brackets or brackets[0][1:] != (0, len(words)):
        return None
    opened: list[tuple[Bracket, list[Tree]]] = []
    waiting = list(reversed(brackets))
    for token, (word, tag) in enumerate(zip(words, tags, strict=True)):
        while waiting and waiting[-1].start == token:
            if opened and waiting[-1].end > opened[-1][0].end:
                return None
            opened.append((waiting.pop(), []))
        opened[-1][1].append(Tree(tag, word=word))
        while opened and opened[-1][0].end == token + 1:
            bracket, children = opened.pop()
            tree = Tree(bracket.label, children)
            if not opened:
                return tree
            opened[-1][1].append(tree)
    return None


def part_around(tree: Tree, start: int, end: int) -> tuple[Tree, int]:
    """Return the smallest phrase that contains some words, or the next larger one, to be displayed.

    The next larger phrase is returned instead of the smallest one if it has at most 24 words.

    Args:
        tree: the tree.
        start, end: range of the words, ``end`` exclusive.

    Returns:
        The phrase, and the index of its first token.
    """
    above, first, node, at = tree, 0, tree, 0
    while True:
        place, below = at, None
        for child in node.children:
            length = len(child.words())
            if place <= start and end <= place + length and not child.is_preterminal:
                below = child
                break
            place += length
        if below is None:
            break
        if below.children and len(below.words()) < len(node.words()):
            above, first = node, at
        node, at = below, place
    return (above, first) if len(above.words()) <= _MAX_WORDS else (node, at)


def part_over(tree: Tree, start: int, end: int) -> Tree:
    """Return the topmost node over exactly the words from ``start`` to ``end``; else the whole tree."""
    todo = [(tree, 0)]
    while todo:
        node, at = todo.pop()
        if (at, at + len(node.words())) == (start, end):
            return node
        for child in node.children:
            todo.append((child, at))
            at += len(child.words())
    return tree
