"""The shape of trees: depth, branching, lengths of constituents. Punctuation and the root are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spectralnlp_trees.measures.structures import spoken
from spectralnlp_trees.tregex.columns import Integers, TreeColumns


@dataclass(frozen=True)
class Shapes:
    """Columns about trees and their constituents.

    Attributes:
        depth: of each tree, how many constituents stand above its deepest word.
        tree, label, length, arity: of each constituent, its tree, its label (a place in the vocabulary of the
            index), its words and its children.
        left, right: of each constituent, whether a phrase is its first child and none its last; the reverse.
    """

    depth: Integers
    tree: Integers
    label: Integers
    length: Integers
    arity: Integers
    left: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]

    def of_tree(self, number: int, first: int, end: int) -> Shapes:
        """The rows of one tree.

        Args:
            number: of the tree.
            first, end: its constituents, ``end`` exclusive.
        """
        rows = slice(first, end)
        return Shapes(
            depth=self.depth[number : number + 1],
            tree=self.tree[rows],
            label=self.label[rows],
            length=self.length[rows],
            arity=self.arity[rows],
            left=self.left[rows],
            right=self.right[rows],
        )


def shapes_of(index: TreeColumns) -> Shapes:
    """Find the shapes of trees.

    Args:
        index: of trees under a root each; tokens without a letter or digit are punctuation.
    """
    ids = np.arange(len(index))
    is_token = index.arity == 0
    before = np.append(0, np.cumsum(is_token & spoken(index)))
    length = before[index.end] - before[ids]
    is_tag = np.zeros(len(index), bool)
    is_tag[index.parent[is_token]] = True
    # Nodes that hold a word, but words themselves; of them, phrases below the root.
    held = (length > 0) & ~is_token
    phrase = held & ~is_tag & (index.parent >= 0)
    children = np.flatnonzero(held & (index.parent >= 0))
    parents = index.parent[children]
    first, last = np.full(len(index), len(index)), np.full(len(index), -1)
    np.minimum.at(first, parents, children)
    np.maximum.at(last, parents, children)
    nodes = np.flatnonzero(phrase)
    opens, closes = phrase[first[nodes]], phrase[last[nodes]]
    return Shapes(
        depth=_depths(index, phrase),
        tree=index.tree[nodes],
        label=index.label[nodes],
        length=length[nodes],
        arity=np.bincount(parents, minlength=len(index))[nodes],
        left=opens & ~closes,
        right=closes & ~opens,
    )


def _depths(index: TreeColumns, phrase: npt.NDArray[np.bool_]) -> Integers:
    """Of each tree the most phrases on a path."""
    if not index.trees:
        return np.empty(0, np.intp)
    change = np.append(phrase.astype(np.intp), 0)
    np.subtract.at(change, index.end[phrase], 1)
    depths: Integers = np.maximum.reduceat(np.cumsum(change[:-1]), index.tree_start[:-1])
    return depths
