"""Extract the labelled spans of gold trees, and find them among the candidate labels of a parse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.labels import NO_LABEL, SharedLabels
from spectralnlp.inference.trees.rescoring.corpus import NO_BRACKET, NOT_AN_OPTION
from spectralnlp.inference.trees.rescoring.options import SpanOptions
from spectralnlp.parameters import Ints
from spectralnlp.trees import Tree, strip_root
from spectralnlp.trees.treelog import TreeTable


@dataclass(frozen=True)
class GoldSpans:
    """The labelled spans of a treebank, sorted by tree, end and start.

    Attributes:
        tree: int64 (n_spans,); index of each span's tree.
        start, end: int64 (n_spans,); boundaries of each span, as token positions in its tree, ``end``
            exclusive.
        label: int64 (n_spans,); label of each span, encoded as in `SpanOptions`.
    """

    tree: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    label: NDArray[np.int64]

    @classmethod
    def of(cls, table: TreeTable, shared: SharedLabels) -> GoldSpans:
        """Extract the spans of a table of trees.

        Args:
            table: table of trees.
            shared: labels of grammars, the first of which was learned from these trees.
        """
        bottom = shared.maps[0].bottom[table.symbol].astype(np.int64)
        n_labels, is_tag = len(shared.names), shared.labels.is_tag
        pair_of = {(top, below): n for n, (top, below) in enumerate(shared.labels.pairs.tolist())}
        label = bottom.copy()
        for row in np.flatnonzero((table.left >= 0) & (table.right < 0)).tolist():
            below = int(bottom[table.left[row]])
            if not is_tag[below]:
                label[row] = n_labels + pair_of[int(bottom[row]), below]
        rows = np.flatnonzero((bottom != NO_LABEL) & (table.word < 0))
        first_token = first_tokens(table)
        tree = table.tree[rows].astype(np.int64)
        start, end = table.start[rows] - first_token[tree], table.end[rows] - first_token[tree]
        # If a span has a bracket and a unary rule over it, which comes later, the label of the rule is used.
        order = np.lexsort((rows, start, end, tree))
        tree, start, end, label = tree[order], start[order], end[order], label[rows][order]
        same = (tree[1:] == tree[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
        kept = np.append(~same, True)[: len(tree)]
        return cls(tree[kept], start[kept], end[kept], label[kept])

    @classmethod
    def of_trees(cls, trees: Sequence[Tree], shared: SharedLabels) -> GoldSpans:
        """Extract the spans of trees that are not binarised; a span whose label is unknown gets the label -1.

        Args:
            trees: the trees.
            shared: labels of grammars.
        """
        names, is_tag = shared.names, shared.labels.is_tag
        number: dict[tuple[str, ...], int] = {(name,): n for n, name in enumerate(names) if not is_tag[n]}
        for n, (top, bottom) in enumerate(shared.labels.pairs.tolist(), len(names)):
            if not is_tag[bottom]:
                number[names[top], names[bottom]] = n
        rows = []
        for place, tree in enumerate(trees):
            chains: dict[tuple[int, int], list[str]] = defaultdict(list)
            for label, start, end in strip_root(tree).spans():
                chains[end, start].append(label)
            for (end, start), chain in sorted(chains.items()):
                ends = chain if len(chain) == 1 else (chain[0], chain[-1])
                rows.append((place, start, end, number.get(tuple(ends), -1)))
        return cls(*np.array(rows, np.int64).reshape(-1, 4).T)

    def options(self, tree: int, options: SpanOptions) -> Ints:
        """Return which of the candidate labels ("options") of each span of a sentence is the gold one.

        Args:
            tree: index of the tree.
            options: spans of the tree's sentence, with their options.

        Returns:
            int32 (n_spans,); index in the sentence's list of options, NO_BRACKET if the span is no
            constituent of the tree, NOT_AN_OPTION if its label is not among the options.
        """
        first, last = np.searchsorted(self.tree, [tree, tree + 1])
        if first == last:
            return np.full(len(options.start), NO_BRACKET, np.int32)
        most = len(options.tag) + 1
        spans = self.end[first:last] * most + self.start[first:last]  # ascending
        wanted = options.end.astype(np.int64) * most + options.start
        place = np.minimum(np.searchsorted(spans, wanted), last - first - 1)
        is_gold = spans[place] == wanted
        counts = np.diff(options.first)
        label = np.repeat(np.where(is_gold, self.label[first:last][place], -1), counts)
        right = np.flatnonzero(options.label == label)  # at most one per span
        gold = np.where(is_gold, NOT_AN_OPTION, NO_BRACKET).astype(np.int32)
        gold[np.searchsorted(options.first, right, side="right") - 1] = right
        return gold


def first_tokens(table: TreeTable) -> NDArray[np.int64]:
    """Return the index in the treebank of the first token of each tree, int64 (n_trees,)."""
    roots = np.flatnonzero(table.parent < 0)
    return table.start[roots].astype(np.int64)
