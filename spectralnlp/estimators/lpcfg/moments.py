"""Collect the training data of latent-variable PCFGs: trees in each binarisation, and (word, tag) counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.shared.lexicon import LexiconMaker, LexiconOptions, count_tokens
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.runtime import Joint
from spectralnlp.trees import Binariser, Direction, Tree, Unaries
from spectralnlp.trees.treelog import TreeLog, TreeTable


def parse_binarisation(name: str) -> tuple[Direction, int]:
    """Parse the name of a binarisation, such as ``head`` or ``left^1``.

    Returns:
        The direction, and the order of vertical markovisation (0, 1 or 2).

    Raises:
        ConfigError: the name is unknown.
    """
    direction, _, vertical = name.partition("^")
    if direction not in get_args(Direction) or vertical not in ("", "1", "2"):
        raise ConfigError(f"no binarisation is called {name!r}", hint="use head, left, right, head^1, …")
    return cast(Direction, direction), int(vertical or 0)


def binariser_of(binarisation: str, *, unaries: Unaries, heads: str) -> Binariser:
    """Return the binariser, which makes trees binary, for a name such as ``head`` or ``left^1``.

    Raises:
        ConfigError: the name is unknown.
    """
    direction, vertical = parse_binarisation(binarisation)
    return Binariser(direction=direction, vertical=vertical, unaries=unaries, heads=heads)


def tree_logs(binarisations: Sequence[str], *, unaries: Unaries, heads: str) -> Joint[Tree]:
    """Return an empty log for each binarisation; a log stores training trees as integers.

    Args:
        binarisations: names of the binarisations; see `parse_binarisation`.
        unaries: treatment of unary chains, ``compress`` or ``collapse``.
        heads: name of the head rules.
    """
    binarisers = (binariser_of(name, unaries=unaries, heads=heads) for name in binarisations)
    logs = (TreeLog(binariser.to_dict()) for binariser in binarisers)
    return Joint(dict(zip(binarisations, logs, strict=True)))


def nodes_of(table: TreeTable) -> Nodes:
    """Return the symbols of the nodes of a treebank, each with the weight of its tree, as `Nodes`."""
    return Nodes(table.symbol, table.weight[table.tree], len(table.symbols))


@dataclass(frozen=True)
class CountedTable:
    """A treebank in one binarisation, with the counts of its (word, tag) pairs.

    Attributes:
        table: the treebank.
        leaves: int (n_tokens,); indices of the preterminal nodes.
        token: int (n_tokens,); index of each token's (word, tag) pair among the distinct pairs.
        lexicons: builder of lexicons from the counts of the pairs.
    """

    table: TreeTable
    leaves: NDArray[np.intp]
    token: NDArray[np.intp]
    lexicons: LexiconMaker

    @classmethod
    def of(cls, table: TreeTable, options: LexiconOptions) -> CountedTable:
        """Count the (word, tag) pairs of a treebank.

        Args:
            table: treebank in one binarisation.
            options: spelling classes and smoothing of lexicons.
        """
        leaves = np.flatnonzero(table.word >= 0)
        tree = table.tree[leaves]
        is_first = np.append(True, tree[1:] != tree[:-1])[: len(leaves)]
        columns = table.word[leaves], table.symbol[leaves], table.weight[tree], is_first, table.share[tree]
        tokens, row = count_tokens(table.words, *columns)
        return cls(table, leaves, row, LexiconMaker(tokens, options))
