"""Compute the depth of trees, and the branching and lengths of their constituents.

Punctuation and roots are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spectralnlp.runtime import offsets_of
from spectralnlp_trees.measures.structures import spoken
from spectralnlp_trees.tregex.columns import Integers, TreeColumns


@dataclass(frozen=True)
class Shapes:
    """Shapes of trees as columns: ``depth`` has a row per tree, the other columns a row per constituent.

    Attributes:
        depth: number of constituents above the deepest word of each tree; integers (n_trees,).
        tree: number of each constituent's tree; integers (n_constituents,).
        label: id of its label in the vocabulary of the index; integers (n_constituents,).
        length: number of its words; integers (n_constituents,).
        arity: number of its children; integers (n_constituents,).
        left: whether its first child is a phrase and its last child is not; booleans (n_constituents,).
        right: whether its last child is a phrase and its first child is not; booleans (n_constituents,).
    """

    depth: Integers
    tree: Integers
    label: Integers
    length: Integers
    arity: Integers
    left: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]

    def of_tree(self, number: int, first: int, end: int) -> Shapes:
        """Return the shape of one tree.

        Args:
            number: number of the tree.
            first, end: range of the tree's constituents, ``end`` exclusive.
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
    """Return the depth, branching and constituent lengths of trees.

    Args:
        index: index of trees that each have a root; tokens without a letter or digit are punctuation.
    """
    ids = np.arange(len(index))
    is_token = index.arity == 0
    before = offsets_of(is_token & spoken(index))
    length = before[index.end] - before[ids]
    is_tag = np.zeros(len(index), bool)
    is_tag[index.parent[is_token]] = True
    # Nodes above a word; among them the phrases below the root.
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
    """Return, for each tree, the maximum number of phrases above a word.

    Args:
        index: index of the trees.
        phrase: mask (n_nodes,) of the phrases.

    Returns:
        Integers (n_trees,).
    """
    if not index.trees:
        return np.empty(0, np.intp)
    change = np.append(phrase.astype(np.intp), 0)
    np.subtract.at(change, index.end[phrase], 1)
    depths: Integers = np.maximum.reduceat(np.cumsum(change[:-1]), index.tree_start[:-1])
    return depths
