"""Compact storage (log) of training trees, and a table of their nodes for estimators.

Estimators make several passes over the training trees. The log stores binarised trees as integers, about 30
bytes per node, so that files are read and trees binarised only once, and so that updates and unlearning can
repeat all passes. In the table, each row is a node with its place in its tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.runtime import (
    Array,
    Batch,
    Numbering,
    ReplayLog,
    checked_names,
    offsets_of,
    pack_names,
    places_of,
    slices_of,
    unpack_names,
)
from spectralnlp.storage import ArraySpec, StoredArrays, int_array
from spectralnlp.trees.binarise import (
    Binariser,
    ambiguous_labels,
    head_leaf_positions,
    is_intermediate,
    split_annotation,
    tag_symbol,
    unary_chains,
)
from spectralnlp.trees.tree import Tree, check_tree

Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class TreeTable:
    """Table of the nodes of binarised trees, with a row for each node.

    Trees follow one another, and children precede their parents.

    Attributes:
        symbols: names of symbols, including tags, sorted.
        words: word types, sorted.
        symbol: int32 (n_nodes,); index into ``symbols``.
        left, right: int32 (n_nodes,); rows of the children, -1 where there is none. A unary node
            has only a left child, a preterminal has none.
        parent: int32 (n_nodes,); row of the parent, -1 for roots.
        word: int32 (n_nodes,); index into ``words`` of a preterminal's word, otherwise -1.
        start, end: int32 (n_nodes,); span in tokens of the whole treebank, end exclusive.
        head: int32 (n_nodes,); row of the preterminal that is the head of each node.
        tree: int32 (n_nodes,); index of the tree.
        weight: float64 (n_trees,); weight of each tree, initially 1.
        share: float64 (n_trees,); 1 if a tree stands for a whole sentence (initially), less if a sentence
            has several trees. A word of the tree counts as that fraction of a token.
    """

    symbols: tuple[str, ...]
    words: tuple[str, ...]
    symbol: Ints
    left: Ints
    right: Ints
    parent: Ints
    word: Ints
    start: Ints
    end: Ints
    head: Ints
    tree: Ints
    weight: NDArray[np.float64]
    share: NDArray[np.float64]

    __repr__ = one_line

    @property
    def n_nodes(self) -> int:
        """Number of nodes in all trees."""
        return len(self.symbol)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.weight)

    @property
    def n_sentences(self) -> int:
        """Number of sentences: the alternative trees of a sentence have shares that add up to 1."""
        return round(self.share.sum())

    @property
    def copies(self) -> NDArray[np.int64]:
        """Weight of each tree, rounded for learners that need integer weights; int64 (n_trees,).

        A tree that stands for a whole sentence has at least 1.
        """
        return np.maximum(np.rint(self.weight), self.share >= 1).astype(np.int64)

    def select(self, trees: NDArray[np.bool_]) -> TreeTable:
        """Return the table of some trees, with only the symbols and words that occur in them.

        Args:
            trees: the trees to keep, bool (n_trees,).
        """
        rows = trees[self.tree]
        row_of = np.cumsum(rows, dtype=np.int32) - 1
        position_of = np.cumsum(rows & (self.word >= 0), dtype=np.int32) - 1
        n_tokens_before = np.concatenate(
            [[0], position_of[self.word >= 0] + 1]
        )  # kept tokens before each token
        symbols, symbol = np.unique(self.symbol[rows], return_inverse=True)
        words, word = np.unique(self.word[rows], return_inverse=True)
        if no_word := len(words) > 0 and words[0] < 0:
            words = words[1:]

        def moved(column: Ints) -> Ints:
            return np.where(column[rows] >= 0, row_of[column[rows]], -1).astype(np.int32)

        return TreeTable(
            symbols=tuple(self.symbols[s] for s in symbols),
            words=tuple(self.words[w] for w in words),
            symbol=symbol.astype(np.int32),
            left=moved(self.left),
            right=moved(self.right),
            parent=moved(self.parent),
            word=(word - no_word).astype(np.int32),
            start=n_tokens_before[self.start[rows]].astype(np.int32),
            end=n_tokens_before[self.end[rows]].astype(np.int32),
            head=moved(self.head),
            tree=(np.cumsum(trees) - 1)[self.tree[rows]].astype(np.int32),
            weight=self.weight[trees],
            share=self.share[trees],
        )


@dataclass(frozen=True)
class _Chunk:
    """Nodes of consecutive trees of a `TreeLog`, in the order of `TreeTable`.

    Attributes:
        label: int32 (n_nodes,); id of each node's symbol in the log.
        word: int32 (n_nodes,); id of each node's word in the log, -1 for no word.
        arity: int32 (n_nodes,); number of children of each node.
        head: int32 (n_nodes,); index of each node's head word in its tree.
        sizes: int32 (n_trees,); number of nodes of each tree.
    """

    label: Ints
    word: Ints
    arity: Ints
    head: Ints
    sizes: Ints


class TreeLog(ReplayLog[Tree]):
    """Compact store of training trees, from which estimators can learn repeatedly without reading files.

    Trees are binarised and stored as integers, in the order of the training data even if logs are merged.

    Args:
        binariser: settings of the binarisation, from ``Binariser.to_dict``.

    Attributes:
        chains: count of each unary chain, a tuple of labels from the top down.
    """

    pass_name = "trees"
    columns: ClassVar = {"symbol": "symbols", "word": "words", "arity": None, "head": None}

    def __init__(self, binariser: Mapping[str, object]) -> None:
        self.binariser = Binariser.from_dict(binariser)
        self._labels, self._words = Numbering(), Numbering()
        self._chunks: dict[tuple[int, int], _Chunk] = {}
        self.chains: Counter[tuple[str, ...]] = Counter()  # of unary chains, labels from the top down

    def parameters(self) -> dict[str, object]:
        """Return the settings of the binarisation."""
        return {"binariser": self.binariser.to_dict()}

    def observe(self, batch: Batch[Tree]) -> None:
        """Add a batch of trees to the log; the trees must have no traces and function tags."""
        if not len(batch):
            return  # the key of an empty batch may be that of the next batch
        labels, words = self._labels, self._words
        label, word, arity, head, sizes = [], [], [], [], []
        binariser = self.binariser
        for example in batch.mapped(check_tree):
            self.chains.update(unary_chains(example))
            tree = binariser.binarise(example)
            nodes = tree.postorder()
            sizes.append(len(nodes))
            head.extend(head_leaf_positions(tree, binariser.heads))
            for node in nodes:
                label.append(labels[node.label])
                arity.append(len(node.children))
                word.append(-1 if node.word is None else words[node.word])
        columns = (np.array(column, np.int32) for column in (label, word, arity, head, sizes))
        self._chunks[batch.document_index, batch.start] = _Chunk(*columns)

    def table(self) -> TreeTable:
        """Return all trees as a table, in the order of documents and rows.

        A label that is used both for tags and for phrases becomes two symbols.
        """
        table = self._table()
        over_word = table.word >= 0
        names = [
            [table.symbols[s] for s in np.unique(table.symbol[role])] for role in (~over_word, over_word)
        ]
        ambiguous = ambiguous_labels(*names)
        if not ambiguous:
            return table
        phrases, tags = ({name: name for name in role} for role in names)
        tags |= {name: tag_symbol(name) for name in tags if split_annotation(name)[0] in ambiguous}
        symbols = sorted({*phrases.values(), *tags.values()})
        place = {name: number for number, name in enumerate(symbols)}
        numbers = [[place.get(role.get(name, ""), -1) for name in table.symbols] for role in (phrases, tags)]
        symbol = np.array(numbers, np.int32)[over_word.astype(int), table.symbol]
        return replace(table, symbols=tuple(symbols), symbol=symbol)

    def places(self) -> NDArray[np.int64]:
        """Return the place of each tree in the training data, int64 (n_trees, 3), in the order of `table`.

        The columns are the index of the document, the row of the tree in it, and the tree's number of nodes.
        """
        return places_of({place: chunk.sizes.tolist() for place, chunk in self._chunks.items()})

    def documents(self) -> Ints:
        """Return the index of each tree's document, int32 (n_trees,), in the order of `table`."""
        return self.places()[:, 0].astype(np.int32)

    def _table(self) -> TreeTable:
        """Return all trees as a table, in which a label used for both tags and phrases is one symbol."""
        chunks = [self._chunks[key] for key in sorted(self._chunks)]
        (symbols, label_rank), (words, word_rank) = self._labels.ranked(), self._words.ranked()
        label, word, arity, head, sizes = (
            np.concatenate([getattr(chunk, name) for chunk in chunks] or [np.empty(0, np.int32)])
            for name in ("label", "word", "arity", "head", "sizes")
        )
        left, right, parent, start, end = _link(arity)
        tree = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        leaves = np.flatnonzero(arity == 0).astype(np.int32)
        first_token = start[np.cumsum(sizes) - 1]  # of each tree
        return TreeTable(
            symbols=symbols,
            words=words,
            symbol=label_rank[label],
            left=left,
            right=right,
            parent=parent,
            word=word_rank[word],
            start=start,
            end=end,
            head=leaves[first_token[tree] + head],
            tree=tree,
            weight=np.ones(len(sizes)),
            share=np.ones(len(sizes)),
        )

    def arrays(self) -> dict[str, Array]:
        """Return the log as arrays for storage; equal logs have equal arrays.

        Returns:
            ``symbols``, ``words`` and ``chains``: names of symbols, word types, and unary chains with their
            counts, packed by `pack_names`. ``symbol``, ``word``, ``arity`` and ``head``, int (n_nodes,):
            symbol id, word id, number of children, and index of the head word in its tree. ``places``,
            int64 (n_trees, 3): see `places`.
        """
        table = self._table()
        arity = (table.left >= 0).astype(np.int8) + (table.right >= 0).astype(np.int8)
        return {
            "symbols": pack_names(table.symbols),
            "words": pack_names(table.words),
            "symbol": table.symbol,
            "word": table.word,
            "arity": arity,
            "head": np.concatenate(
                [np.empty(0, np.int32), *(self._chunks[k].head for k in sorted(self._chunks))]
            ),
            "chains": pack_names(
                f"{count}\1" + "\1".join(chain) for chain, count in sorted(self.chains.items())
            ),
            "places": self.places(),
        }

    def column_spec(self, column: str) -> ArraySpec:
        """Return the specification by which a column of a stored log is checked when it is loaded.

        Word ids may be -1 (no word), and nodes have at most two children.

        Args:
            column: name of the column, such as ``word`` or ``arity``.
        """
        if column == "arity":
            return replace(int_array("n_items", dtype="int8"), below=3)
        return int_array("n_items", least=-1 if column == "word" else 0)

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check that the arrays of a stored log describe binarised trees; raise an error if they do not.

        Nodes must form trees, heads must be tokens of the same tree, and only leaves may have words.
        """
        super().check_arrays(stored)
        sized = stored.part()
        sizes = stored.take("places", int_array("n_examples", 3, dtype="int64"))[:, 2]
        arity, head, word = (sized.take(name, self.column_spec(name)) for name in ("arity", "head", "word"))
        bounds = offsets_of(sizes)
        # Number of subtrees without a parent after each node, in postorder; one is left at the end of a tree.
        is_open = offsets_of(1 - arity.astype(np.int64))
        first = np.repeat(is_open[bounds[:-1]], sizes)
        before, after = is_open[:-1] - first, is_open[1:] - first
        if (sizes < 1).any() or (is_open[bounds[1:]] - is_open[bounds[:-1]] != 1).any():
            raise stored.error("arity", "does not make one tree of each example")
        if (before < arity).any() or (after < 1).any():
            raise stored.error("arity", "gives a node more children than stand before it")
        if ((word >= 0) != (arity == 0)).any():
            raise stored.error("word", "holds words of nodes that have children, or leaves without")
        is_inner = np.array([is_intermediate(name) for name in checked_names(stored, "symbols")], bool)
        if is_inner[sized.take("symbol", self.column_spec("symbol"))[word >= 0]].any():
            raise stored.error("symbol", "gives a word the symbol of a node that binarisation made")
        n_leaves = np.add.reduceat(arity == 0, bounds[:-1]) if len(sizes) else sizes
        if (head >= np.repeat(n_leaves, sizes)).any():
            raise stored.error("head", "holds a head that its tree does not have")
        for line in checked_names(stored, "chains"):
            count, *chain = line.split("\1")
            if not count.isdecimal() or len(count) > 16 or len(chain) < 2:
                raise stored.error("chains", "holds something other than chains of labels with their counts")

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        self._labels = Numbering.of(unpack_names(arrays["symbols"]))
        self._words = Numbering.of(unpack_names(arrays["words"]))
        for place, part in slices_of(arrays["places"]):
            columns = (arrays[name][part].astype(np.int32) for name in ("symbol", "word", "arity", "head"))
            size = np.array([part.stop - part.start], np.int32)
            self._chunks[place] = _Chunk(*(*columns, size))
        for line in unpack_names(arrays["chains"]):
            count, *chain = line.split("\1")
            self.chains[tuple(chain)] = int(count)

    def _add(self, other: TreeLog) -> None:
        label, word = self._labels.numbers_of(other._labels), self._words.numbers_of(other._words)
        for key, chunk in other._chunks.items():
            self._chunks[key] = _Chunk(
                label[chunk.label], word[chunk.word], chunk.arity, chunk.head, chunk.sizes
            )
        self.chains.update(other.chains)

    def _forget_rest(self, forgotten: TreeLog) -> None:
        self.chains -= forgotten.chains


def _link(arity: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Compute the children, parent and span of each node from the numbers of children in postorder.

    Args:
        arity: number of children of each node, int32 (n_nodes,).

    Returns:
        Rows of the left child, of the right child and of the parent, -1 if there is none; start and end of
        the span. Each is int32 (n_nodes,).
    """
    n = len(arity)
    left, right, parent = (np.full(n, -1, np.int32) for _ in range(3))
    start, end = np.zeros(n, np.int32), np.zeros(n, np.int32)
    stack: list[int] = []
    position = 0
    for node, children in enumerate(arity.tolist()):
        if children == 0:
            start[node], end[node] = position, position + 1
            position += 1
        else:
            last = stack.pop()
            end[node] = end[last]
            first = stack.pop() if children == 2 else last
            left[node], start[node], parent[first] = first, start[first], node
            if children == 2:
                right[node], parent[last] = last, node
        stack.append(node)
    return left, right, parent, start, end
