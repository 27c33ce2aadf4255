"""Packed forest (hypergraph): all parses of a sentence left after pruning, as arrays in topological order.

One forest serves any number of grammars with the coarse grammar's symbols and rules: each of them runs its
inside and outside passes over the same nodes and hyperedges (``latent.py``).
"""

from __future__ import annotations

from typing import NamedTuple

from spectralnlp.parameters import Floats, Ints, Offsets

# Kinds of node: the top layer of a span (above unary rules), a symbol made by binary rules, a word's tag.
TOP, BINARY, LEXICAL = 0, 1, 2

# Values of `Forest.rule` that are not rules: no unary rule (top[a] = bottom[a]), and a tag over its word.
IDENTITY, WORD = -1, -2

# Value of `Forest.left` and `Forest.right` for a hyperedge without that child.
NO_NODE = -1


class Forest(NamedTuple):
    """The nodes and hyperedges of a packed forest; parents come before their children.

    Attributes:
        n_roots: number of roots; these are the first nodes, and span the whole sentence.
        kind: int32 (n_nodes,); TOP, BINARY or LEXICAL.
        symbol: int32 (n_nodes,); symbol ids.
        start, end: int32 (n_nodes,); each node spans the tokens start (inclusive) to end (exclusive).
        edges: int64 (n_nodes + 1,); node v's edges are ``edges[v]:edges[v + 1]``, ordered by rule.
        rule: int32 (n_edges,); index of a binary rule (of BINARY nodes) or of a unary rule
            (of TOP nodes), or IDENTITY, or WORD.
        left, right: int32 (n_edges,); child nodes. ``right`` is NO_NODE unless the rule is binary; ``left``
            is NO_NODE if the rule is WORD.
        factor: float64 (n_edges,); a power of two by which the weight of each hyperedge is multiplied, so
            that the inside values of every span are near one.
        log_scale: natural logarithm of a number by which the total weight of the forest must be multiplied.
    """

    n_roots: int
    kind: Ints
    symbol: Ints
    start: Ints
    end: Ints
    edges: Offsets
    rule: Ints
    left: Ints
    right: Ints
    factor: Floats
    log_scale: float

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the forest."""
        return len(self.symbol)

    @property
    def n_edges(self) -> int:
        """Number of hyperedges of the forest."""
        return len(self.rule)
