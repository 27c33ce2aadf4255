"""Estimate the parameters of spectral grammars as smoothed means of outer products of node vectors.

A node has an inside vector Y, computed from its subtree, and an outside vector Z, computed from the rest of
its tree.

Source: the slides of the tutorial by Cohen, Collins and others (NAACL 2013), "Parameter Estimation for
Binary Rules" to "… for the Root", and "Smoothing".
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

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
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar
from spectralnlp.runtime import offsets_of, scratch_array, trim_memory
from spectralnlp.trees.treelog import TreeTable

Rows: TypeAlias = NDArray[np.intp]
# Number of tensors that are written before memory pages are released.
_TOGETHER = 1024


def plain_grammar(counted: CountedTable) -> LatentGrammar:
    """Return the maximum-likelihood PCFG of a treebank, as a grammar with one state per symbol."""
    return spectral_grammar(counted, Projections.single_state(nodes_of(counted.table)), NO_SMOOTHING)


def spectral_grammar(
    counted: CountedTable, projections: Projections, smoothing: SmoothingOptions
) -> LatentGrammar:
    """Estimate a spectral grammar from the projections of the nodes of a treebank.

    Args:
        counted: treebank with the counts of its (word, tag) pairs.
        projections: inside vectors Y and outside vectors Z of the nodes.
        smoothing: smoothing options of rules.
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
    """Estimate the tensors of all binary and unary rules.

    The tensor of a rule a → … is count(rule) / count(a) times a smoothed mean of outer products of Z and Y,
    with the dtype of Y.

    Args:
        table: treebank in one binarisation.
        projections: inside vectors Y and outside vectors Z of the nodes.
        options: smoothing options.
    """
    weight = table.weight[table.tree]
    count = np.bincount(table.symbol, weight, len(table.symbols))
    n_states, dtype = projections.n_states, projections.inside.dtype
    binary_rules, rows_of_rules = _by_rule(table, np.flatnonzero(table.right >= 0), binary=True)
    binary = _blank_tensors(n_states[binary_rules], dtype)
    for number, ((a, b, c), rows) in enumerate(zip(binary_rules.tolist(), rows_of_rules, strict=True)):
        parts = (
            projections.outside[rows, : n_states[a]],
            projections.inside[table.left[rows], : n_states[b]],
            projections.inside[table.right[rows], : n_states[c]],
        )
        tensor = smoothed_third_moment(*parts, weight[rows], options)
        _write(binary, number, weight[rows].sum() / count[a] * tensor)
    unary_rows = np.flatnonzero((table.left >= 0) & (table.right < 0))
    unary_rules, rows_of_rules = _by_rule(table, unary_rows, binary=False)
    unary = _blank_tensors(n_states[unary_rules], dtype)
    for number, ((a, b), rows) in enumerate(zip(unary_rules.tolist(), rows_of_rules, strict=True)):
        z = projections.outside[rows, : n_states[a]]
        y = projections.inside[table.left[rows], : n_states[b]]
        matrix = smoothed_second_moment(z, y, weight[rows], options)
        _write(unary, number, weight[rows].sum() / count[a] * matrix)
    trim_memory()
    return RuleTensors(binary_rules=binary_rules, binary=binary, unary_rules=unary_rules, unary=unary)


def _by_rule(table: TreeTable, rows: Rows, *, binary: bool) -> tuple[Ints, list[Rows]]:
    """Group nodes by rule, that is, by the symbols of a node and of its children.

    Args:
        table: treebank in one binarisation.
        rows: indices of the nodes to group.
        binary: whether the nodes have two children; if not, they have one.

    Returns:
        The distinct rules, int32 (n_rules, 3 or 2), lexicographically sorted; and the nodes of each rule.
    """
    columns = [table.symbol[rows], table.symbol[table.left[rows]]]
    if binary:
        columns.append(table.symbol[table.right[rows]])
    rules, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    bounds = np.searchsorted(which.reshape(-1)[order], np.arange(len(rules) + 1)).tolist()
    return rules, [rows[order[first:last]] for first, last in pairwise(bounds)]


def _blank_tensors(shapes: Ints, dtype: np.dtype[Any]) -> DenseTensors:
    """Return tensors of zeros with the given shapes, on disk if memory is limited."""
    offsets = offsets_of(shapes.prod(axis=1, dtype=np.int64))
    return DenseTensors(offsets=offsets, values=scratch_array((int(offsets[-1]),), dtype))


def _write(tensors: DenseTensors, number: int, tensor: Floats) -> None:
    """Store the tensor of the rule with index ``number`` among the tensors of all rules."""
    tensors.values[tensors.offsets[number] : tensors.offsets[number + 1]] = tensor.ravel()
    if number % _TOGETHER == 0:
        trim_memory()


def root_vectors(table: TreeTable, projections: Projections) -> Floats:
    """Estimate the root vectors π of all symbols, concatenated.

    The vector of a symbol is the fraction of trees that have the symbol at the root, times the mean inside
    vector Y of these root nodes.
    """
    roots = np.flatnonzero(table.parent < 0)
    weight = table.weight[table.tree[roots]]
    vectors = np.zeros((len(table.symbols), projections.inside.shape[1]))
    np.add.at(vectors, table.symbol[roots], weight[:, None] * projections.inside[roots] / weight.sum())
    return vectors[np.arange(vectors.shape[1]) < projections.n_states[:, None]]


def token_vectors(counted: CountedTable, outside: Floats) -> Floats:
    """Sum the outside vectors Z over the tokens of every (word, tag) pair.

    Args:
        counted: treebank with the counts of its (word, tag) pairs.
        outside: float (n_nodes, m); outside vector Z of every node.

    Returns:
        float64 (n_pairs, m).
    """
    table, leaves = counted.table, counted.leaves
    weight = table.weight[table.tree[leaves], None]
    return sum_rows(counted.token, weight * outside[leaves], len(counted.lexicons.tokens.word))
