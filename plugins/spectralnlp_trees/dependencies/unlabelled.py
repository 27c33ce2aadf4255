"""Dependencies without labels in any language: only which child is the head of a phrase is known."""

from __future__ import annotations

from spectralnlp.trees import Tree
from spectralnlp.trees.heads import HeadFinder
from spectralnlp_trees.dependencies.words import PUNCTUATION


def unlabelled_arcs(tree: Tree, find_head: HeadFinder) -> tuple[list[int], list[str]]:
    """Heads by the rules, and the relations ``root``, ``punct`` and ``dep``.

    Args:
        tree: with a word.
        find_head: the head child of a phrase.

    Returns:
        For each word the index of its head, -1 for the root's; and its relation.
    """
    words = tree.preterminals()
    heads = [-1] * len(words)
    lexical = iter(tree.heads(find_head))
    stack: list[tuple[Tree, int]] = [(tree, -1)]  # a node, and the head word of its parent
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
    """Whether a part of speech is a punctuation mark, by its tag or its characters."""
    text = word.word or ""
    return word.label in PUNCTUATION or not any(each.isalnum() for each in text)
