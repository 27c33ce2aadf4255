"""The head word of every node of a tree."""

from __future__ import annotations

from collections.abc import Sequence

from spectralnlp.trees.heads import HeadFinder, PhraseHeads, head_finder
from spectralnlp.trees.transforms import category
from spectralnlp.trees.tree import Tree

HeadRules = str | HeadFinder | Sequence[PhraseHeads]


def finder_of(rules: HeadRules) -> HeadFinder:
    """The function that finds head children, by the name of its rules, from learned rules, or as it is.

    Raises:
        ConfigError: there are no rules of that name.
    """
    if callable(rules):
        return rules
    return head_finder(rules) if isinstance(rules, str) else head_finder("learned", rules)


def head_words(tree: Tree, find_head: HeadFinder) -> list[int]:
    """The index of the head word of each node, in the order of `Tree.nodes`.

    Args:
        tree: any tree; function tags are not shown to the rules.
        find_head: the head child of a phrase.
    """
    nodes = list(tree.nodes())
    heads = [-1] * len(nodes)
    n_words = sum(node.word is not None for node in nodes)
    # From the last node to the first, the heads of a node's children lie on top of the stack, first on top.
    stack: list[int] = []
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if node.word is not None:
            n_words -= 1
            heads[number] = n_words
        else:
            below = [stack.pop() for _ in node.children]
            heads[number] = below[0]
            if len(below) > 1:
                labels = [
                    child.label if child.word is not None else category(child.label)
                    for child in node.children
                ]
                heads[number] = below[find_head(category(node.label), labels)]
        stack.append(heads[number])
    return heads
