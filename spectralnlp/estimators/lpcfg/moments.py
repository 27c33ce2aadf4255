"""Moments of latent-variable PCFGs: a replay log of trees for each binarisation, and tables made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.shared.head_learning import with_learned_heads
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.parameters import Floats
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp.trees import Binariser, Direction, Tree, Unaries
from spectralnlp.trees.treelog import TreeLog, TreeTable

Chains = Mapping[tuple[str, str], tuple[str, ...]]


def parse_binarisation(name: str) -> tuple[Direction, int]:
    """Direction and vertical markovisation of a name such as ``head`` or ``left^1``.

    Raises:
        ConfigError: there is no binarisation of that name.
    """
    direction, _, vertical = name.partition("^")
    if direction not in get_args(Direction) or vertical not in ("", "1", "2"):
        raise ConfigError(f"no binarisation is called {name!r}", hint="use head, left, right, head^1, …")
    return cast(Direction, direction), int(vertical or 0)


def binariser_of(binarisation: str, *, unaries: Unaries, heads: str) -> Binariser:
    """The binariser of a name such as ``head`` or ``left^1``; errors as of `parse_binarisation`."""
    direction, vertical = parse_binarisation(binarisation)
    return Binariser(direction=direction, vertical=vertical, unaries=unaries, heads=heads)


def read_table(corpus: Corpus[Tree], binariser: Binariser) -> tuple[TreeTable, Binariser, Chains]:
    """Read trees; result and errors as of `tables_of`."""
    tables, binarisers, chains = tables_of([accumulate(TreeLog(binariser.to_dict()), corpus)])
    return tables[0], binarisers[0], chains


def tables_of(logs: Sequence[TreeLog]) -> tuple[list[TreeTable], list[Binariser], Chains]:
    """The trees of logs as tables, how they are binarised, and the chains of their compressed unary rules.

    Where head rules are to be learned, they are learned here.

    Args:
        logs: of the same trees, in one binarisation or several.

    Raises:
        InputError: there are no trees.
    """
    tables, binarisers = [log.table() for log in logs], [log.binariser for log in logs]
    if tables[0].n_trees == 0:
        raise InputError("no trees to learn from", hint="give a treebank with at least one tree")
    if any(binariser.lacks_heads for binariser in binarisers):
        with fit_pass("heads"):
            tables, binarisers = with_learned_heads(tables, binarisers)
    return tables, binarisers, commonest_chains(logs[0].chains)


def nodes_of(table: TreeTable) -> Nodes:
    """The nodes of a treebank, weighted as their trees."""
    return Nodes(table.symbol, table.weight[table.tree], len(table.symbols))


def word_counts(table: TreeTable) -> dict[str, int]:
    """How often each word occurs in a treebank."""
    leaves = np.flatnonzero(table.word >= 0)
    counts = np.rint(np.bincount(table.word[leaves], table.share[table.tree[leaves]], len(table.words)))
    return dict(zip(table.words, counts.astype(int).tolist(), strict=True))


def with_weights(table: TreeTable, weight: float, shares: Floats) -> TreeTable:
    """A table whose last trees count more than the others.

    Args:
        table: trees that count once.
        weight: how often a sentence of the last ones counts.
        shares: float64 (n_last,); what part of a sentence each of the last trees stands for.
    """
    others = np.ones(table.n_trees - len(shares))
    weights = np.concatenate([others, weight * shares])
    return replace(table, weight=weights, share=np.concatenate([others, shares]))


def begins_sentence(table: TreeTable, leaves: np.ndarray) -> np.ndarray:
    """Whether each leaf is the first of its tree.

    Args:
        table: the treebank.
        leaves: int (n_leaves,); rows of all preterminals, ascending.
    """
    is_first = np.ones(len(leaves), bool)
    is_first[1:] = table.tree[leaves][1:] != table.tree[leaves][:-1]
    return is_first
