"""A treebank in tables: what grammars, and the components around them, are learned from."""

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
    """The same trees in one binarisation or several.

    Attributes:
        tables: one for each binarisation.
        binarisers: how the trees of each table are binarised.
        chains: the full unary chain of (top, bottom), where unary rules were compressed.
        documents: int32 (n_trees,); the document of each tree, ascending.
    """

    tables: Sequence[TreeTable]
    binarisers: Sequence[Binariser]
    chains: Chains
    documents: Ints

    @classmethod
    def of(cls, logs: Sequence[TreeLog]) -> Treebank:
        """The trees of logs.

        Args:
            logs: of the same trees, one for each binarisation.

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
        )

    @property
    def first(self) -> TreeTable:
        """The table of the first binarisation."""
        return self.tables[0]

    def select(self, trees: NDArray[np.bool_]) -> Treebank:
        """Some of the trees, with the binarisation and the unary chains of all.

        Args:
            trees: bool (n_trees,).
        """
        return replace(
            self, tables=[table.select(trees) for table in self.tables], documents=self.documents[trees]
        )

    def without_copies(self) -> Treebank:
        """The same trees, but each document once, which counts as often as it was there.

        What is parsed by grammars of other documents is then parsed once, and never by its own copies.
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
        """The same trees, of which the last count more than the others.

        Args:
            weight: how often a sentence of the last ones counts.
            shares: float64 (n_last,); what part of a sentence each of the last trees stands for.
        """
        others = np.ones(self.first.n_trees - len(shares))
        weights, share = np.concatenate([others, weight * shares]), np.concatenate([others, shares])
        return replace(self, tables=[replace(table, weight=weights, share=share) for table in self.tables])


def _content(table: TreeTable, begin: int, end: int) -> bytes:
    """A hash of trees, of the first to before the last."""
    rows = slice(*np.searchsorted(table.tree, [begin, end]).tolist())
    arity = (table.left[rows] >= 0).astype(np.int32) + (table.right[rows] >= 0)
    return blake2b(np.stack([table.symbol[rows], table.word[rows], arity]).tobytes(), digest_size=16).digest()


def count_words(table: TreeTable) -> dict[str, int]:
    """How often each word occurs in a treebank."""
    leaves = np.flatnonzero(table.word >= 0)
    counts = np.rint(np.bincount(table.word[leaves], table.share[table.tree[leaves]], len(table.words)))
    return dict(zip(table.words, counts.astype(int).tolist(), strict=True))
