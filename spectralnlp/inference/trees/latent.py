"""Inside and outside of a latent-variable grammar over a packed forest.

The tensor form of Cohen et al. 2012, section 5 (Figure 4): vectors over states in place of
numbers, and every quantity in which states are summed out – totals, node and hyperedge
posteriors – is the same whatever basis the parameters are in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.inference.trees.dense import DenseRules
from spectralnlp.inference.trees.forest import LEXICAL, NO_NODE, Forest
from spectralnlp.inference.trees.sparse import SparseRules
from spectralnlp.inference.trees.state_vectors import StateVectors
from spectralnlp.inference.words.lexical import LexiconRows, Lookup, find_row
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, LatentGrammar, Offsets, SparseTensors


@dataclass(frozen=True)
class ForestPosteriors:
    """Posteriors of a forest's nodes and hyperedges under a grammar.

    Attributes:
        log_total: natural logarithm of |Z|, the sum over the forest's trees.
        edge: float64 (n_edges,); posterior of each hyperedge, signed for signed grammars.
        node: float64 (n_nodes,); posterior of each node.
        usable: False when the total is zero or not finite; then ``edge`` and ``node`` are zero.
    """

    log_total: float
    edge: Floats
    node: Floats
    usable: bool


def score_forest(forest: Forest, grammar: LatentGrammar, leaves: Floats) -> ForestPosteriors:
    """Inside, outside and posteriors of a grammar over a forest.

    Args:
        forest: a forest over the grammar's symbols and rules.
        grammar: any grammar with those symbols and rules.
        leaves: float64; the vectors of the forest's lexical nodes, in the order of the
            nodes, laid end to end (``leaf_vectors``).
    """
    offsets, rules = vector_offsets(forest, grammar), rule_tensors(grammar, forest)
    inside = rules.inside(forest, offsets, leaves)
    vectors = StateVectors(offsets, inside, outside=np.zeros_like(inside))
    start_outside(forest, grammar.state_offsets, grammar.root, vectors)
    total = float(_dot_nodes(forest.n_roots, vectors))
    edge = np.zeros(forest.n_edges)
    if not np.isfinite(total) or total == 0.0:
        return ForestPosteriors(-np.inf, edge, np.zeros(forest.n_nodes), usable=False)
    rules.outside(forest, vectors, edge)
    edge /= total
    node = _node_posteriors(vectors) / total
    usable = bool(np.isfinite(edge).all() and np.isfinite(node).all())
    if not usable:
        return ForestPosteriors(-np.inf, np.zeros_like(edge), np.zeros_like(node), usable)
    return ForestPosteriors(float(np.log(abs(total))) + forest.log_scale, edge, node, usable)


def rule_tensors(grammar: LatentGrammar, forest: Forest | None = None) -> DenseRules | SparseRules:
    """A grammar's rules as kernels take them.

    Args:
        grammar: the grammar.
        forest: the one that its rules are for; None for any.

    Raises:
        TypeError: binary and unary tensors are stored in different ways.
    """
    binary, unary = grammar.binary, grammar.unary
    if not (isinstance(binary, SparseTensors) or isinstance(unary, SparseTensors)):
        if forest is None:
            return DenseRules(binary.offsets, binary.values, unary.offsets, unary.values)
        is_binary = forest.right != NO_NODE
        of_binary, of_others = forest.rule[is_binary], forest.rule[~is_binary]
        return DenseRules(
            binary.offsets,
            binary.with_rules(of_binary),
            unary.offsets,
            unary.with_rules(of_others[of_others >= 0]),  # neither an identity nor a word
        )
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


def vector_offsets(forest: Forest, grammar: LatentGrammar) -> Offsets:
    """int64 (n_nodes + 1,): where each node's vector lies."""
    return np.concatenate([[0], np.cumsum(grammar.n_states[forest.symbol], dtype=np.int64)])


def leaf_vectors(forest: Forest, grammar: LatentGrammar, found: Lookup) -> Floats:
    """Vectors of the forest's lexical nodes.

    Args:
        forest: the forest.
        grammar: the grammar whose lexicon gives the vectors.
        found: where the tokens are in it.
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


@kernel
def start_outside(forest, state_offsets, root, vectors):
    """Give the roots their outside vectors, the grammar's root weights.

    Args:
        forest: a Forest.
        state_offsets: int64 (n_symbols + 1,); where each symbol's states lie in ``root``.
        root: float64; root weights of all symbols.
        vectors: StateVectors; ``outside`` is written.
    """
    offsets = vectors.offsets
    for node in range(forest.n_roots):
        first = state_offsets[forest.symbol[node]]
        for h in range(offsets[node + 1] - offsets[node]):
            vectors.outside[offsets[node] + h] = root[first + h]


@kernel
def _dot_nodes(n_nodes, vectors):
    """Sum of inside times outside over the first nodes."""
    total = 0.0
    for position in range(vectors.offsets[n_nodes]):
        total += vectors.inside[position] * vectors.outside[position]
    return total


@kernel
def _node_posteriors(vectors):
    """Inside times outside of each node."""
    offsets = vectors.offsets
    posterior = np.zeros(len(offsets) - 1)
    for node in range(len(posterior)):
        for position in range(offsets[node], offsets[node + 1]):
            posterior[node] += vectors.inside[position] * vectors.outside[position]
    return posterior
