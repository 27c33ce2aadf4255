"""Parse the words of gold trees, so that the parses can be compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spectralnlp.trees import Tree, clean


def trees_over(parser: Any, gold: Sequence[Tree]) -> list[Tree | None]:
    """Parse the words of gold trees, and return trees with the gold spelling of the words.

    Args:
        parser: a `spectralnlp.Parser`.
        gold: trees of a treebank; empty elements are removed here.

    Returns:
        One tree for each gold tree; None for gold trees without words.
    """
    spoken = [clean(tree) for tree in gold]
    parses = iter(parser.parse_many(tree.words() for tree in spoken if tree is not None))
    return [None if tree is None else _with_words(next(parses).tree, tree) for tree in spoken]


def _with_words(tree: Tree, gold: Tree) -> Tree:
    """Return the tree with the words of the gold tree, whose spelling the parser may have changed."""
    words = iter(gold.words())
    return tree.fold(lambda node, below: Tree(node.label, below, None if below else next(words)))
