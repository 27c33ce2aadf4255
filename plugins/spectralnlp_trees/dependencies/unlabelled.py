"""Unlabelled dependencies for any language, from head rules alone."""

from __future__ import annotations

import unicodedata

from spectralnlp.trees import Tree
from spectralnlp.trees.heads import HeadFinder
from spectralnlp_trees.dependencies.words import PUNCTUATION

_SYMBOLS = frozenset("&%@#§*+=$€£¥°")  # stand for words


def unlabelled_arcs(tree: Tree, find_head: HeadFinder) -> tuple[list[int], list[str]]:
    """Find the head of each word by head rules, and label the arcs ``root``, ``punct`` or ``dep``.

    Args:
        tree: a tree with at least one word.
        find_head: head rules: returns the index of the head child for a label and the labels of the children.

    Returns:
        The index of each word's head (-1 for the root), and the relation of each word to its head.
    """
    words = tree.preterminals()
    heads = [-1] * len(words)
    lexical = iter(tree.heads(find_head))
    stack: list[tuple[Tree, int]] = [(tree, -1)]  # node, head word of its parent
    while stack:
        node, above = stack.pop()
        head = next(lexical)
        if above not in (-1, head):
            heads[head] = above
        stack.extend((child, head) for child in reversed(node.children))
    relations = ["root" if head < 0 else "dep" for head in heads]
    for index, word in enumerate(words):
        if heads[index] >= 0 and is_mark(word):
            relations[index] = "punct"
    return heads, relations


def is_mark(word: Tree) -> bool:
    """Return whether a preterminal is punctuation, judged by its tag or its characters."""
    text = word.word or ""
    if word.label in PUNCTUATION:
        return True
    return not set(text) <= _SYMBOLS and all(unicodedata.category(each)[0] in "PS" for each in text)
