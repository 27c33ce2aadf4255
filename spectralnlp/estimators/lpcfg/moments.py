"""Moments of latent-variable PCFGs: a replay log of trees for each binarisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.runtime import Joint
from spectralnlp.trees import Binariser, Direction, Tree, Unaries
from spectralnlp.trees.treelog import TreeLog, TreeTable


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


def tree_logs(binarisations: Sequence[str], *, unaries: Unaries, heads: str) -> Joint[Tree]:
    """An empty log of trees for each binarisation.

    Args:
        binarisations: their names, as of `parse_binarisation`.
        unaries: ``compress`` or ``collapse``.
        heads: name of the head rules.
    """
    binarisers = (binariser_of(name, unaries=unaries, heads=heads) for name in binarisations)
    logs = (TreeLog(binariser.to_dict()) for binariser in binarisers)
    return Joint(dict(zip(binarisations, logs, strict=True)))


def nodes_of(table: TreeTable) -> Nodes:
    """The nodes of a treebank, weighted as their trees."""
    return Nodes(table.symbol, table.weight[table.tree], len(table.symbols))


def begins_sentence(table: TreeTable, leaves: np.ndarray) -> np.ndarray:
    """Whether each leaf is the first of its tree.

    Args:
        table: the treebank.
        leaves: int (n_leaves,); rows of all preterminals, ascending.
    """
    is_first = np.ones(len(leaves), bool)
    is_first[1:] = table.tree[leaves][1:] != table.tree[leaves][:-1]
    return is_first
