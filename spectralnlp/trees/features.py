"""Inside and outside features of the nodes of a treebank, as 64-bit identifiers.

A feature is a hash of the number of its template (called group) and of its value. Identifiers need no
vocabulary, so features of two parts of a treebank are comparable without an extra pass. All computations are
on whole columns of a :class:`~.treelog.TreeTable`.

There are three sets of features: ``tutorial``, those of Cohen et al. 2013, section 4 ("Inside Features Used"
and "Outside Features Used" in the slides of their tutorial); ``simple``, the rule below and the rule above
the node ("Simple Feature Functions" there); and ``rich``, which adds words, tags and longer paths that
improved parsing in experiments on small treebanks. The rule below a preterminal has the word on its
right-hand side (N → dog) in the first two; ``rich`` has words in features of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import spilled
from spectralnlp.trees.binarise import is_intermediate
from spectralnlp.trees.treelog import Ints, TreeTable

FeatureSet = Literal["rich", "tutorial", "simple"]
Ids = NDArray[np.uint64]
Longs = NDArray[np.int64]
NONE = np.uint64(0)  # identifier of a feature that does not apply to a node
_COMMON = 5  # least count of a word that is itself a feature of its neighbours


@dataclass(frozen=True)
class NodeFeatures:
    """Inside and outside features of every node of a treebank.

    Attributes:
        inside, outside: one array of feature identifiers for each template, uint64 (n_nodes,); 0 where the
            feature does not apply.
    """

    inside: Sequence[Ids]
    outside: Sequence[Ids]


def node_features(table: TreeTable, name: str, signature: Callable[..., str]) -> NodeFeatures:
    """Compute the inside and outside features of every node of a treebank.

    Args:
        table: the treebank.
        name: the set of features, ``rich``, ``tutorial`` or ``simple``.
        signature: function that returns the spelling class of a word at a position in its sentence; the class
            replaces the word if it is rare.
    """
    view = _View(table, signature)
    if name == "simple":
        return NodeFeatures([view.rule_below], [view.hash(1, view.rule_above)])
    if name == "tutorial":
        return NodeFeatures(_tutorial_inside(view), _tutorial_outside(view))
    if name == "rich":
        return NodeFeatures(_rich_inside(view), _rich_outside(view))
    raise ConfigError(f"no set of features is called {name!r}", hint="use rich, tutorial or simple")


def _tutorial_inside(view: _View) -> list[Ids]:
    table = view.table
    inner = ~view.is_tag
    left, right = view.of(view.symbol, table.left), view.of(view.symbol, table.right)
    return [
        view.hash(1, view.rule_below),
        view.hash(2, left, only=inner),
        view.hash(3, right, only=table.right >= 0),
        view.hash(4, view.rule_below, view.of(view.rule_below, table.left), only=inner),
        view.hash(5, view.rule_below, view.of(view.rule_below, table.right), only=table.right >= 0),
        view.hash(6, view.symbol[table.head], only=inner),
        view.hash(7, np.minimum(table.end - table.start, 20), only=inner),
    ]


def _tutorial_outside(view: _View) -> list[Ids]:
    table = view.table
    parent, grandparent = view.ancestors[0], view.ancestors[1]
    left = table.start - view.tree_start
    return [
        view.hash(1, view.rule_above),
        view.hash(2, view.rule_above, view.of(view.rule_above, parent)),
        view.hash(3, view.path(3)),
        view.hash(4, view.of(view.symbol, parent)),
        view.hash(5, view.of(view.symbol, parent), view.of(view.symbol, grandparent)),
        view.hash(6, view.head_above()),
        view.hash(7, np.minimum(left, 20)),
        view.hash(8, np.minimum(view.tree_end - table.end, 20)),
    ]


def _rich_inside(view: _View) -> list[Ids]:
    table = view.table
    inner = ~view.is_tag
    below_left = view.of(view.expansion, table.left)
    below_right = view.of(view.expansion, table.right)
    first, last = view.leaf_at(table.start), view.leaf_at(table.end - 1)
    suffixes = [view.word_column(str.lower, last=k) for k in (2, 3)]
    signs = view.word_column(lambda word: view.signature(word, 1))
    return [
        view.hash(1, view.expansion, only=inner),
        view.hash(2, view.expansion, below_left, only=inner),
        view.hash(3, view.expansion, below_right, only=inner),
        view.hash(4, view.expansion, below_left, below_right, only=inner),
        view.hash(5, _bucket(table.end - table.start), only=inner),
        view.hash(6, view.common[first], only=inner),
        view.hash(7, view.common[last], only=inner),
        view.hash(8, view.symbol[first], only=inner),
        view.hash(9, view.symbol[last], only=inner),
        view.hash(10, view.lower, only=view.is_tag),
        *(view.hash(11 + k, suffix, only=view.is_tag) for k, suffix in enumerate(suffixes)),
        view.hash(13, signs, only=view.is_tag),
    ]


def _rich_outside(view: _View) -> list[Ids]:
    table = view.table
    labels = view.labelled_ancestors(3)
    before, after = view.leaf_at(table.start - 1), view.leaf_at(table.end)
    has_sibling = view.sibling >= 0
    sibling_start = table.start[np.maximum(view.sibling, 0)]
    return [
        view.hash(1, view.rule_above),
        view.hash(2, view.rule_above, view.of(view.rule_above, view.ancestors[0])),
        view.hash(3, view.path(3)),
        view.hash(4, view.of(view.expansion, view.sibling), only=has_sibling),
        view.hash(5, labels[0]),
        view.hash(6, labels[0], labels[1]),
        view.hash(7, labels[0], labels[1], labels[2]),
        view.hash(8, view.or_edge(view.common, before)),
        view.hash(9, view.or_edge(view.common, after)),
        view.hash(10, view.or_edge(view.symbol, before)),
        view.hash(11, view.or_edge(view.symbol, after)),
        view.hash(12, np.minimum(table.start - view.tree_start, 5)),
        view.hash(13, np.minimum(view.tree_end - table.end, 5)),
        view.hash(14, view.common[view.leaf_at(sibling_start)], only=has_sibling),
    ]


class _View:
    """A treebank's table of nodes, with further columns, from which features of nodes are computed."""

    def __init__(self, table: TreeTable, signature: Callable[..., str]) -> None:
        self.table = table
        self.signature = signature
        self.is_tag = table.word >= 0
        self.symbol = table.symbol.astype(np.uint64) + np.uint64(1)
        self._leaves = np.flatnonzero(self.is_tag)
        first_of_tree = np.searchsorted(table.tree, np.arange(table.n_trees))
        last_of_tree = np.append(first_of_tree[1:], table.n_nodes) - 1
        self.tree_start = table.start[last_of_tree][table.tree]
        self.tree_end = table.end[last_of_tree][table.tree]
        self.ancestors = self._ancestors(2)
        self.expansion = self.hash(
            0, self.symbol, self.of(self.symbol, table.left), self.of(self.symbol, table.right)
        )
        is_right = np.zeros(table.n_nodes, np.uint64)
        is_right[table.right[table.right >= 0]] = 1
        above = self.of(self.expansion, table.parent)
        self.rule_above = self.hash(0, above, is_right)
        parent = np.maximum(table.parent, 0)
        self.sibling = np.where(is_right == 1, table.left[parent], table.right[parent])
        self.sibling[table.parent < 0] = -1
        self.lower = self.word_column(str.lower)
        self.common = self._common_words()

    def hash(self, group: int, *columns: NDArray[np.generic], only: NDArray[np.bool_] | None = None) -> Ids:
        """Return the identifier of one feature for each node, a hash of its values, uint64 (n_nodes,).

        Args:
            group: index of the feature's template.
            columns: one or more arrays (n_nodes,) with the values that make up the feature.
            only: bool (n_nodes,), which nodes have the feature, while all others get 0; None for all nodes.
        """
        value = hash_columns(group, *columns)
        return spilled(value if only is None else np.where(only, value, NONE))

    def of(self, column: Ids, rows: Ints) -> Ids:
        """Return, for each node, the value that another node, such as its parent, has in a column.

        Args:
            column: uint64 (n_nodes,); a value for each node.
            rows: int32 (n_nodes,); row to look up for each node, or -1, which gives 0.
        """
        return np.where(rows >= 0, column[np.maximum(rows, 0)], NONE)

    @cached_property
    def rule_below(self) -> Ids:
        """Identifier of each node's rule, uint64 (n_nodes,); that of a preterminal has the word: N → dog."""
        return spilled(np.where(self.is_tag, self.hash(0, self.symbol, self.lower), self.expansion))

    def path(self, length: int) -> Ids:
        """Return an identifier of the path of ``length`` rules above each node, uint64 (n_nodes,)."""
        value, row = self.rule_above, self.table.parent
        for _ in range(length - 1):
            value = self.hash(0, value, self.of(self.rule_above, row))
            row = self._up(row)
        return value

    def labelled_ancestors(self, n: int) -> list[Ids]:
        """Return the symbols of each node's ``n`` nearest ancestors that are not intermediate nodes.

        The list has one array for each distance, uint64 (n_nodes,), the nearest first; 0 means no ancestor.
        """
        phrase = np.array([not is_intermediate(symbol) for symbol in self.table.symbols])
        nearest = self.table.parent.copy()
        while True:
            skip = (nearest >= 0) & ~phrase[self.table.symbol[np.maximum(nearest, 0)]]
            if not skip.any():
                break
            nearest[skip] = self.table.parent[nearest[skip]]
        ancestors, row = [], nearest
        for _ in range(n):
            ancestors.append(self.of(self.symbol, row))
            row = np.where(row >= 0, nearest[np.maximum(row, 0)], -1)
        return ancestors

    def head_above(self) -> Ids:
        """Return the head tag of each node's nearest ancestor with another head word; 0 if there is none.

        The parent may have the same head word as the node, but an outside feature must not describe a word
        inside the node (Cohen et al. 2013).
        """
        head, row = self.table.head, self.table.parent.copy()
        while True:
            same = (row >= 0) & (head[np.maximum(row, 0)] == head)
            if not same.any():
                return self.of(self.symbol[head], row)
            row[same] = row[row[same]]

    def leaf_at(self, position: Ints) -> Longs:
        """Return the row of the preterminal at each token position; a position out of range is clipped."""
        return self._leaves[np.clip(position, 0, len(self._leaves) - 1)]

    def or_edge(self, column: Ids, leaf: Longs) -> Ids:
        """Return, for each node, a value of the preterminal before or after it; 0 at the sentence edge.

        Args:
            column: uint64 (n_nodes,); a value for each node of the table.
            leaf: int64 (n_nodes,); for each node, the row of the preterminal before or after it.

        Returns:
            The values, uint64 (n_nodes,); 0 if the preterminal is in another sentence or within the node.
        """
        same = self.table.tree[leaf] == self.table.tree
        outside = (self.table.start[leaf] < self.table.start) | (self.table.start[leaf] >= self.table.end)
        return np.where(same & outside, column[leaf], NONE)

    def word_column(self, function: Callable[[str], str], last: int = 0) -> Ids:
        """Apply a function to each preterminal's word, and return an id of each result, uint64 (n_nodes,).

        Ids begin at 1; nodes that are not preterminals have 0.

        Args:
            function: function that maps a word to a text.
            last: number of final characters of the result to use; 0 for all.
        """
        return self._spread([function(word)[-last:] for word in self.table.words])

    def _common_words(self) -> Ids:
        tokens = np.bincount(self.table.word[self._leaves], minlength=len(self.table.words))
        return self._spread(common_words(self.table.words, tokens, self.signature))

    def _spread(self, names: Sequence[str]) -> Ids:
        index: dict[str, int] = {}
        numbers = np.array([index.setdefault(name, len(index) + 1) for name in names] + [0], np.uint64)
        return numbers[self.table.word]

    def _ancestors(self, n: int) -> list[Ints]:
        rows = [self.table.parent]
        while len(rows) < n:
            rows.append(self._up(rows[-1]))
        return rows

    def _up(self, rows: Ints) -> Ints:
        return np.where(rows >= 0, self.table.parent[np.maximum(rows, 0)], -1).astype(np.int32)


def common_words(words: Sequence[str], tokens: Longs, signature: Callable[..., str]) -> list[str]:
    """Return lower-cased words, with rare words replaced by signatures, for features of context words.

    Args:
        words: word types.
        tokens: count of each word type, int (n_words,).
        signature: function that returns the spelling class of a word at a position in its sentence.

    Returns:
        For each word type, the lower-cased word, or a NUL and the spelling class if the word is rare.
    """
    counts: Counter[str] = Counter()
    for word, n in zip(words, tokens.tolist(), strict=True):
        counts[word.lower()] += n
    return [word.lower() if counts[word.lower()] >= _COMMON else "\0" + signature(word, 1) for word in words]


_ODD = np.uint64(0x9E3779B97F4A7C15)


def hash_columns(group: int, *columns: NDArray[np.generic]) -> Ids:
    """Hash a feature's values in each of n rows, together with the number of the feature's template.

    Args:
        group: number of the template.
        columns: arrays of integers (n,), one for each value of the feature.

    Returns:
        A hash for each row, uint64 (n,), never 0.
    """
    value = np.full(len(columns[0]), group * 2 + 1, np.uint64) * _ODD
    for column in columns:
        value = (value ^ column.astype(np.uint64)) * _ODD
        value ^= value >> np.uint64(29)
    return value | np.uint64(1)


def _bucket(width: Ints) -> Ints:
    edges = np.array([2, 3, 4, 5, 6, 8, 11, 16, 24, 40], np.int32)
    return np.searchsorted(edges, width, side="right").astype(np.int32)
