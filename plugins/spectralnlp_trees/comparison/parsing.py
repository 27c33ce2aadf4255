"""A parser's trees for gold trees, to compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spectralnlp.trees import Tree, clean


def trees_over(parser: Any, gold: Sequence[Tree]) -> list[Tree | None]:
    """The parser's trees over the words of gold trees, in their spelling; None for trees without a word.

    Args:
        parser: a `spectralnlp.Parser`.
        gold: trees of a treebank, empty elements and all.
    """
    spoken = [clean(tree) for tree in gold]
    parses = iter(parser.parse_many(tree.words() for tree in spoken if tree is not None))
    return [None if tree is None else _with_words(next(parses).tree, tree) for tree in spoken]


def _with_words(tree: Tree, gold: Tree) -> Tree:
    """The tree over the gold tree's spelling of the words."""
    words = iter(gold.words())
    return tree.fold(lambda node, below: Tree(node.label, below, None if below else next(words)))
