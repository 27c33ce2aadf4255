"""Compute posteriors of a packed forest under a latent-variable grammar, by inside and outside passes.

This is the tensor form of Cohen et al. 2012, section 5 (Figure 4): a node has a vector over states instead of
one number. Quantities in which states are summed out (totals, node and hyperedge posteriors) do not depend on
the basis of the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.inference.trees.dense_rules import DenseRules
from spectralnlp.inference.trees.forest import LEXICAL, Forest
from spectralnlp.inference.trees.sparse import SparseRules
from spectralnlp.inference.words.lexical import LexiconRows, Lookup, find_row
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, LatentGrammar, SparseTensors


@dataclass(frozen=True)
class ForestPosteriors:
    """Posteriors of a forest's nodes and hyperedges under a grammar.

    Attributes:
        log_total: natural logarithm of |Z|; Z is the sum of the weights of the forest's trees.
        edge: float64 (n_edges,); the posterior of each hyperedge times the sign of Z: the sum of the weights
            of the trees that contain it, divided by |Z|.
        node: float64 (n_nodes,); the posterior of each node times the sign of Z.
        usable: whether Z is not zero, and Z and all posteriors are finite; if not, ``edge`` and ``node``
            are zero.
    """

    log_total: float
    edge: Floats
    node: Floats
    usable: bool


def score_forest(forest: Forest, grammar: LatentGrammar, leaves: Floats) -> ForestPosteriors:
    """Return the posteriors of a forest's nodes and hyperedges under a grammar.

    Args:
        forest: a forest over the grammar's symbols and rules.
        grammar: any grammar with those symbols and rules.
        leaves: float64; the vectors of the forest's lexical nodes, concatenated in the order of the nodes
            (see `leaf_vectors`).
    """
    log_total, edge, node = rule_tensors(grammar).score(forest, grammar, leaves)
    if log_total == -np.inf:
        return ForestPosteriors(-np.inf, np.zeros(forest.n_edges), np.zeros(forest.n_nodes), usable=False)
    return ForestPosteriors(log_total + forest.log_scale, edge, node, usable=True)


def rule_tensors(grammar: LatentGrammar) -> DenseRules | SparseRules:
    """Return a grammar's rules as the arrays on which the inside and outside kernels run.

    Raises:
        TypeError: the binary tensors are sparse and the unary ones dense, or the reverse.
    """
    binary, unary = grammar.binary, grammar.unary
    if not (isinstance(binary, SparseTensors) or isinstance(unary, SparseTensors)):
        return DenseRules.of(grammar, binary, unary)
    if not (isinstance(binary, SparseTensors) and isinstance(unary, SparseTensors)):
        raise TypeError("binary and unary tensors are both dense or both sparse")
    return SparseRules(
        binary_offsets=binary.offsets,
        binary_states=binary.states,
        binary=binary.values,
        unary_offsets=unary.offsets,
        unary_states=unary.states,
        unary=unary.values,
    )


def leaf_vectors(forest: Forest, grammar: LatentGrammar, found: Lookup) -> Floats:
    """Return the lexical vectors of the tagged words in a forest, float64, in the order of its nodes.

    Args:
        forest: the forest.
        grammar: the grammar whose lexicon gives the vectors.
        found: the lexicon entries of the sentence's tokens.

    Returns:
        For each lexical node a vector over the states of its tag; all vectors concatenated.
    """
    weights = _NO_WEIGHTS if found.tag_weights is None else found.tag_weights
    leaves: Floats = _leaf_vectors(
        forest,
        LexiconRows.of(grammar.lexicon),
        found.entries,
        found.signatures,
        weights,
        grammar.state_offsets,
        grammar.tag_default,
    )
    return leaves


_NO_WEIGHTS = np.empty((0, 0))


@kernel
def _leaf_vectors(forest, lexicon, entries, signatures, weights, state_offsets, tag_default):
    kind, symbol, start = forest.kind, forest.symbol, forest.start
    size = 0
    for node in range(len(kind)):
        if kind[node] == LEXICAL:
            size += state_offsets[symbol[node] + 1] - state_offsets[symbol[node]]
    leaves = np.empty(size)
    position = 0
    for node in range(len(kind)):
        if kind[node] != LEXICAL:
            continue
        tag, token = symbol[node], start[node]
        m = state_offsets[tag + 1] - state_offsets[tag]
        row, weight = find_row(lexicon, entries[token], signatures[token], tag)
        for h in range(m):
            if weight > 0.0:
                leaves[position + h] = weight * lexicon.values[lexicon.offsets[row] + h]
            else:
                leaves[position + h] = tag_default[state_offsets[tag] + h]
        if len(weights):
            for h in range(m):
                leaves[position + h] *= weights[token, tag]
        position += m
    return leaves
