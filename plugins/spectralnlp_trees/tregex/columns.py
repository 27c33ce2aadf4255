"""Convert trees to integer columns, one row per node or word in depth-first order, for fast search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from itertools import count as counter
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spectralnlp.runtime import offsets_of
from spectralnlp.trees import Tree, head_finder
from spectralnlp.trees.tree import HeadedTree
from spectralnlp_trees.tregex.labels import basic_category

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

Integers = npt.NDArray[np.intp]
_CHILDREN, _LABEL, _WORD = attrgetter("children"), attrgetter("label"), attrgetter("word")


class TreeColumns:
    """Trees as integer columns, which `TreeIndex` describes, with a cache of values derived from them.

    Args:
        trees: trees or parses.
    """

    def __init__(self, trees: Iterable[Tree | Parse]) -> None:
        self.trees = [_tree_of(each) for each in trees]
        self._subtrees, arities, labels, words = _levels(self.trees)
        numbers = self._number(arities)
        self._name(numbers, np.concatenate([*arities, numbers[:0]]), labels, words)
        self._cache: dict[object, Any] = {}

    def __len__(self) -> int:
        return len(self.label)

    def subtree(self, node: int) -> Tree:
        """Return the tree of a node; for a word, the tree of its preterminal."""
        return self._subtrees[self._level_order[node]]

    def is_word(self, node: int) -> bool:
        """Return whether a node is a word."""
        return bool(self.arity[node] == 0)

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the value for a key in the cache of this index; call ``make`` to compute it on first use."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @cached_property
    def categories(self) -> Integers:
        """Basic category of each node, as a number."""
        names = [basic_category(each) for each in self.vocabulary]
        return np.unique(names, return_inverse=True)[1][self.label]

    def head_children(self, head_rules: str) -> Integers:
        """Return the head child of each node, as marked in the treebank or by head rules; -1 for words."""
        return self.cached(("head children", head_rules), lambda: self._find_heads(head_rules))

    def _find_heads(self, head_rules: str) -> Integers:
        find = head_finder(head_rules)
        heads = np.where(self.arity == 0, -1, np.arange(1, len(self) + 1))
        category = [basic_category(each) for each in self.vocabulary]
        by_parent = np.argsort(self.parent, kind="stable")
        labels = [category[each] for each in self.label[by_parent].tolist()]
        first = len(self.trees) + np.cumsum(self.arity) - self.arity
        branching = np.flatnonzero(self.arity > 1)
        columns = (self._level_order, self.label, first, first + self.arity)
        places = [
            low + (tree.head if isinstance(tree, HeadedTree) else find(category[label], labels[low:high]))
            for place, label, low, high in zip(*(each[branching].tolist() for each in columns), strict=True)
            for tree in (self._subtrees[place],)
        ]
        heads[branching] = by_parent[np.array(places, np.intp)]
        return heads

    def _number(self, arities: list[Integers]) -> Integers:
        """Fill the columns of all nodes except words, and return their node numbers, level by level.

        Sizes of subtrees are computed bottom-up, node numbers top-down.

        Args:
            arities: by level, number of children of each node; 0 for preterminals.
        """
        # A preterminal counts as two nodes, itself and its word.
        sizes, widths = _sums_upwards(arities, 1, 2), _sums_upwards(arities, 0, 1)
        n_nodes, n_trees = int(sizes[0].sum()) if arities else 0, len(self.trees)
        columns = [np.empty(n_nodes, np.intp) for _ in range(7)]
        self.parent, self.end, self.tree, self.position, self.arity, self.left, self.right = columns
        number, tree = _before(sizes[0]) if arities else np.empty(0, np.intp), np.arange(n_trees)
        left, parent = (_before(widths[0]) + tree if arities else number), np.full(n_trees, -1)
        self.tree_start = np.append(number, n_nodes)
        position, numbers = np.zeros(n_trees, np.intp), []
        for level, arity in enumerate(arities):
            numbers.append(number)
            size, width = sizes[level], widths[level]
            values = (parent, number + size, tree, position, np.maximum(arity, 1), left, left + width)
            for column, value in zip(columns, values, strict=True):
                column[number] = value
            if level + 1 < len(arities):
                first = np.repeat(_before(arity), arity)
                position = np.arange(len(first)) - first
                below, wide = _before(sizes[level + 1]), _before(widths[level + 1])
                parent, tree = np.repeat(number, arity), np.repeat(tree, arity)
                left = np.repeat(left, arity) + wide - wide[first]
                number = parent + 1 + below - below[first]
        return np.concatenate([*numbers, number[:0]])

    def _name(self, numbers: Integers, arities: Integers, labels: list[str], tokens: list[str]) -> None:
        """Fill the rows of words in all columns, and add the column of labels with its vocabulary.

        Args:
            numbers: numbers of all nodes except words, level by level.
            arities: number of children of each of these nodes; 0 for preterminals.
            labels: label of each of these nodes.
            tokens: the word of each preterminal among these nodes.
        """
        tags = numbers[arities == 0]
        words = tags + 1
        for column in (self.tree, self.left, self.right, self.end):
            column[words] = column[tags]
        self.parent[words], self.position[words], self.arity[words] = tags, 0, 0
        place = defaultdict[str, int](counter().__next__)
        self.label = np.empty(len(self.end), np.intp)
        self.label[numbers] = np.fromiter(map(place.__getitem__, labels), np.intp, len(labels))
        self.label[words] = np.fromiter(map(place.__getitem__, tokens), np.intp, len(tokens))
        self.vocabulary = list(place)
        self._level_order = np.empty(len(self.end), np.intp)
        self._level_order[numbers] = np.arange(len(numbers))
        self._level_order[words] = np.flatnonzero(arities == 0)


def _tree_of(each: Tree | Parse) -> Tree:
    return each if isinstance(each, Tree) else each.tree


def _levels(trees: Sequence[Tree]) -> tuple[list[Tree], list[Integers], list[str], list[str]]:
    """List the nodes of trees level by level: all roots, then all their children, and so on.

    Returns:
        The nodes except words; for each level, the number of children of each node; the labels of the nodes;
        and the words.
    """
    nodes, arities, labels, words = list[Tree](), list[Integers](), list[str](), list[str]()
    level = list(trees)
    while level:
        nodes += level
        below = [*map(_CHILDREN, level)]
        arities.append(np.fromiter(map(len, below), np.intp, len(below)))
        labels += map(_LABEL, level)
        words += [each for each in map(_WORD, level) if each is not None]
        level = [*chain.from_iterable(below)]
    return nodes, arities, labels, words


def _sums_upwards(arities: Sequence[Integers], inner: int, tag: int) -> list[Integers]:
    """Return, level by level, the sum of the values of each node and all nodes below it.

    The value depends only on whether a node is a preterminal.

    Args:
        arities: number of children of each node, by level; 0 for preterminals.
        inner: value of every node that is not a preterminal.
        tag: value of every preterminal.
    """
    sums, below = list[Integers](), np.empty(0, np.intp)
    for arity in reversed(arities):
        total = offsets_of(below)
        ends = np.cumsum(arity)
        below = np.where(arity == 0, tag, inner) + total[ends] - total[ends - arity]
        sums.append(below)
    return sums[::-1]


def _before(values: Integers) -> Integers:
    """Return exclusive cumulative sums: for each position of an array, the sum of all values before it."""
    sums: Integers = np.cumsum(values) - values
    return sums
