"""A treebank in table form, from which grammars and the other components of parsers are learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.parameters import Floats, Ints
from spectralnlp.trees import Binariser
from spectralnlp.trees.treelog import TreeLog, TreeTable

Chains = Mapping[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Treebank:
    """The trees of a treebank, in one or more binarisations.

    Attributes:
        tables: one table for each binarisation.
        binarisers: binariser of each table.
        chains: full unary chain of labels for each pair (top, bottom) to which a chain was compressed.
        documents: int32 (n_trees,); index of each tree's document, ascending.
        is_silver: bool (n_trees,); trees that a parser made, which not all components learn from.
    """

    tables: Sequence[TreeTable]
    binarisers: Sequence[Binariser]
    chains: Chains
    documents: Ints
    is_silver: NDArray[np.bool_]

    @classmethod
    def of(cls, logs: Sequence[TreeLog]) -> Treebank:
        """Build the tables of a treebank from logs of its trees.

        Args:
            logs: logs of the same trees, one for each binarisation.

        Raises:
            InputError: there are no trees.
        """
        tables = [log.table() for log in logs]
        if tables[0].n_trees == 0:
            raise InputError("no trees to learn from", hint="give a treebank with at least one tree")
        return cls(
            tables=tables,
            binarisers=[log.binariser for log in logs],
            chains=commonest_chains(logs[0].chains),
            documents=logs[0].documents(),
            is_silver=np.zeros(tables[0].n_trees, bool),
        )

    @property
    def first(self) -> TreeTable:
        """The trees of the first binarisation, as a table of nodes."""
        return self.tables[0]

    def select(self, trees: NDArray[np.bool_]) -> Treebank:
        """Return a treebank of some of the trees, with the binarisers and unary chains of all trees.

        Args:
            trees: bool (n_trees,); which trees to select.
        """
        return replace(
            self,
            tables=[table.select(trees) for table in self.tables],
            documents=self.documents[trees],
            is_silver=self.is_silver[trees],
        )

    @property
    def gold(self) -> Treebank:
        """The trees that are not silver."""
        return self.select(~self.is_silver) if self.is_silver.any() else self

    def without_copies(self) -> Treebank:
        """Merge identical documents into one, whose trees get the sum of their weights.

        In a jackknife, a document is then never parsed by grammars learned from a copy of it.
        """
        first_tree = np.searchsorted(self.documents, np.unique(self.documents)).tolist()
        bounds = [*first_tree, self.first.n_trees]
        place_of: dict[bytes, int] = {}
        weight, stays = self.first.weight.copy(), np.ones(self.first.n_trees, bool)
        for begin, end in pairwise(bounds):
            if (self.first.share[begin:end] < 1).any():
                continue
            place = place_of.setdefault(_content(self.first, begin, end), begin)
            if place < begin:
                weight[place : place + end - begin] += weight[begin:end]
                stays[begin:end] = False
        if stays.all():
            return self
        tables = [replace(table, weight=weight) for table in self.tables]
        return replace(self, tables=tables).select(stays)

    def weighted(self, weight: float, shares: Floats) -> Treebank:
        """Return a copy of the treebank in which trees of a domain, which come last, have another weight.

        All earlier trees keep their weights.

        Args:
            weight: weight of each sentence of the domain.
            shares: float64 (n_domain,); fraction of a sentence that each tree of the domain stands for, less
                than 1 if it is one of several alternatives.
        """
        n_others = self.first.n_trees - len(shares)
        weights = np.concatenate([self.first.weight[:n_others], weight * shares])
        share = np.concatenate([self.first.share[:n_others], shares])
        return replace(self, tables=[replace(table, weight=weights, share=share) for table in self.tables])

    def copies(self, most_silver: int) -> NDArray[np.int64]:
        """Return how often learners that need integer weights are to see each tree; int64 (n_trees,).

        A silver tree is seen once, and all others as many times as they weigh more; see `TreeTable.copies`.

        Args:
            most_silver: maximum number of silver trees to see; others, at even distances, are left out.
        """
        silver = np.flatnonzero(self.is_silver)
        if not len(silver):
            return self.first.copies
        weight = self.first.weight / self.first.weight[silver[0]]
        times = replace(self.first, weight=weight).copies
        times[silver] = 0
        times[silver[:: -(-len(silver) // most_silver)]] = 1
        return times

    def with_silver(self, is_silver: NDArray[np.bool_], weight: float) -> Treebank:
        """Return a copy in which some trees are silver.

        Args:
            is_silver: bool (n_trees,); which trees.
            weight: weight of each of them, as a share of a gold tree's.
        """
        counts = np.where(is_silver, weight, 1.0)
        tables = [replace(table, weight=counts, share=counts) for table in self.tables]
        return replace(self, tables=tables, is_silver=is_silver)


def _content(table: TreeTable, begin: int, end: int) -> bytes:
    """Return a hash of the content of the trees ``begin`` to ``end``, exclusive."""
    rows = slice(*np.searchsorted(table.tree, [begin, end]).tolist())
    arity = (table.left[rows] >= 0).astype(np.int32) + (table.right[rows] >= 0)
    return blake2b(np.stack([table.symbol[rows], table.word[rows], arity]).tobytes(), digest_size=16).digest()


def count_words(table: TreeTable) -> dict[str, int]:
    """Return the number of times that each word occurs in a treebank.

    Weights of trees are ignored. Alternative trees of a sentence are counted as one sentence.
    """
    leaves = np.flatnonzero(table.word >= 0)
    counts = np.rint(np.bincount(table.word[leaves], table.share[table.tree[leaves]], len(table.words)))
    return dict(zip(table.words, counts.astype(int).tolist(), strict=True))
