"""Parameters from projected nodes: smoothed means of outer products of Y and Z.

The slides' "Parameter Estimation for Binary Rules" to "… for the Root", and "Smoothing".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.lpcfg.moments import CountedTable, nodes_of
from spectralnlp.estimators.shared.grammars import RuleTensors, latent_grammar
from spectralnlp.estimators.shared.lexicon import sum_rows
from spectralnlp.estimators.shared.projections import Projections
from spectralnlp.estimators.shared.smoothing import (
    NO_SMOOTHING,
    SmoothingOptions,
    smoothed_second_moment,
    smoothed_third_moment,
)
from spectralnlp.parameters import DenseTensors, Floats, LatentGrammar
from spectralnlp.trees.treelog import TreeTable


def plain_grammar(counted: CountedTable) -> LatentGrammar:
    """The maximum-likelihood PCFG: the spectral grammar in which every symbol has one state."""
    return spectral_grammar(counted, Projections.single_state(nodes_of(counted.table)), NO_SMOOTHING)


def spectral_grammar(
    counted: CountedTable, projections: Projections, smoothing: SmoothingOptions
) -> LatentGrammar:
    """Parameters from the projections of every node.

    Args:
        counted: the treebank.
        projections: Y and Z of its nodes.
        smoothing: of rules.
    """
    table = counted.table
    return latent_grammar(
        table.symbols,
        projections.n_states,
        rule_tensors(table, projections, smoothing),
        root_vectors(table, projections),
        counted.lexicons,
        token_vectors(counted, projections.outside),
    )


def rule_tensors(table: TreeTable, projections: Projections, options: SmoothingOptions) -> RuleTensors:
    """Tensors of all binary and unary rules: count(rule) / count(a) times a smoothed mean, as exact as Y.

    Args:
        table: the treebank.
        projections: Y and Z of its nodes.
        options: smoothing.
    """
    weight = table.weight[table.tree]
    count = np.bincount(table.symbol, weight, len(table.symbols))
    dtype = projections.inside.dtype
    binary_rules, binary = [], []
    for rule, rows in _by_rule(table, np.flatnonzero(table.right >= 0), binary=True):
        a, b, c = rule
        m = projections.n_states[[a, b, c]]
        parts = (
            projections.outside[rows, : m[0]],
            projections.inside[table.left[rows], : m[1]],
            projections.inside[table.right[rows], : m[2]],
        )
        tensor = smoothed_third_moment(*parts, weight[rows], options)
        binary_rules.append(rule)
        binary.append((weight[rows].sum() / count[a] * tensor).astype(dtype))
    unary_rules, unary = [], []
    for rule, rows in _by_rule(table, np.flatnonzero((table.left >= 0) & (table.right < 0)), binary=False):
        a, b = rule
        z = projections.outside[rows, : projections.n_states[a]]
        y = projections.inside[table.left[rows], : projections.n_states[b]]
        unary_rules.append(rule)
        matrix = smoothed_second_moment(z, y, weight[rows], options)
        unary.append((weight[rows].sum() / count[a] * matrix).astype(dtype))
    return RuleTensors(
        binary_rules=np.array(binary_rules, np.int32).reshape(-1, 3),
        binary=_dense(binary, dtype),
        unary_rules=np.array(unary_rules, np.int32).reshape(-1, 2),
        unary=_dense(unary, dtype),
    )


def _by_rule(table: TreeTable, rows: np.ndarray, *, binary: bool) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """Rows of each rule, rules in lexicographic order."""
    columns = [table.symbol[rows], table.symbol[table.left[rows]]]
    if binary:
        columns.append(table.symbol[table.right[rows]])
    rules, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    bounds = np.searchsorted(which.reshape(-1)[order], np.arange(len(rules) + 1))
    return [
        (tuple(int(s) for s in rule), rows[order[bounds[r] : bounds[r + 1]]]) for r, rule in enumerate(rules)
    ]


def _dense(tensors: list[NDArray[Any]], dtype: np.dtype[Any]) -> DenseTensors:
    sizes = np.array([0, *(tensor.size for tensor in tensors)], np.int64)
    parts = [np.empty(0, dtype), *(tensor.ravel() for tensor in tensors)]
    return DenseTensors(offsets=np.cumsum(sizes), values=np.concatenate(parts))


def root_vectors(table: TreeTable, projections: Projections) -> Floats:
    """pi: of each symbol, its share of the roots times the mean Y; laid end to end."""
    roots = np.flatnonzero(table.parent < 0)
    weight = table.weight[table.tree[roots]]
    vectors = np.zeros((len(table.symbols), projections.inside.shape[1]))
    np.add.at(vectors, table.symbol[roots], weight[:, None] * projections.inside[roots] / weight.sum())
    return vectors[np.arange(vectors.shape[1]) < projections.n_states[:, None]]


def token_vectors(counted: CountedTable, outside: Floats) -> Floats:
    """float64 (n_rows, m): sums of Z over the tokens of every (word, tag).

    Args:
        counted: the treebank.
        outside: float (n_nodes, m); Z of every node.
    """
    table, leaves = counted.table, counted.leaves
    weight = table.weight[table.tree[leaves], None]
    return sum_rows(counted.token, weight * outside[leaves], len(counted.lexicons.tokens.word))
