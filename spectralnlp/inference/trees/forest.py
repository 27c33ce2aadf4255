"""The packed forest: the parses worth scoring, as flat arrays in topological order.

One forest serves any number of grammars that share the coarse grammar's symbols and rules: each
of them only does inside and outside over the same nodes and hyperedges (``latent.py``).
"""

from __future__ import annotations

from typing import NamedTuple

from spectralnlp.parameters import Floats, Ints, Offsets

# Kinds of node: the top layer of a span, a bottom made by binary rules, a tag over its word.
TOP, BINARY, LEXICAL = 0, 1, 2

# In place of a rule: top[a] = bottom[a], and a tag's word.
IDENTITY, WORD = -1, -2

# In place of a child: the hyperedge has fewer.
NO_NODE = -1


class Forest(NamedTuple):
    """Nodes and hyperedges, parents before children; the edges of a node are a range.

    Attributes:
        n_roots: the first nodes are the tops of the whole sentence.
        kind: int32 (n_nodes,); TOP, BINARY or LEXICAL.
        symbol, start, end: int32 (n_nodes,); tokens start (inclusive) to end (exclusive).
        edges: int64 (n_nodes + 1,); node v's edges are ``edges[v]:edges[v + 1]``, ordered by rule.
        rule: int32 (n_edges,); index of a binary rule (of BINARY nodes) or of a unary rule
            (of TOP nodes), or IDENTITY, or WORD.
        left, right: int32 (n_edges,); child nodes; right is NO_NODE but for binary rules, left is at WORD.
        factor: float64 (n_edges,); the power of two that keeps every span's values near one.
        log_scale: natural logarithm of the factor of every total over this forest.
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
        """Number of nodes."""
        return len(self.symbol)

    @property
    def n_edges(self) -> int:
        """Number of hyperedges."""
        return len(self.rule)
