"""Index the rules of a coarse grammar by children and by parent, for the inside and outside passes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets

# Value of `RuleIndex.pair` for two symbols that are not the children of any rule.
NO_RULE = -1

# The least expected number of nodes of a symbol, so that a beam never excludes a symbol altogether.
_MIN_PRIOR = 1e-9

Bits = NDArray[np.uint64]


class RuleIndex(NamedTuple):
    """The rules a → b c and a → b of a grammar with one state per symbol, by children and by parent.

    Attributes:
        pair: int32 (n_symbols, n_symbols); id of each pair of children (b, c); NO_RULE if no rule has them.
        partners: uint64 (n_symbols, ⌈n_symbols / 64⌉); row b has a bit for each symbol c, set if (b, c) is a
            pair.
        first_pair: int64 (n_symbols,); id of the first pair with left child b; its other pairs have the
            following ids, in the order of c.
        pair_rules: int64 (n_pairs + 1,); offsets of each pair's rules in ``parent``, ``weight`` and ``rule``.
        parent: uint32 (n_binary,); the parent a of each rule.
        weight: float64 (n_binary,); the rule's probability.
        rule: int32 (n_binary,); the rule's index in the grammar.
        unary_by_parent: int64 (n_symbols + 1,); offsets of each parent's unary rules.
        unary_child: int32 (n_unary,); the child b of each unary rule.
        unary_weight: float64 (n_unary,); the unary rule's probability.
        root: float64 (n_symbols,); probability of each symbol as the root.
        prior: float64 (n_symbols,); expected number of nodes of each symbol in a tree.
        before, after: float64 (n_symbols + 1, n_symbols); probability of each tag (rows) just before and just
            after a node of each symbol (columns). The last row is the sentence's boundary.
    """

    pair: Ints
    partners: Bits
    first_pair: Offsets
    pair_rules: Offsets
    parent: NDArray[np.uint32]
    weight: Floats
    rule: Ints
    unary_by_parent: Offsets
    unary_child: Ints
    unary_weight: Floats
    root: Floats
    prior: Floats
    before: Floats
    after: Floats

    @classmethod
    def of(cls, grammar: LatentGrammar) -> RuleIndex:
        """Return the index of a grammar's rules; the grammar must have one state per symbol.

        Raises:
            TypeError: the grammar's tensors are not stored densely.
        """
        if not (isinstance(grammar.binary, DenseTensors) and isinstance(grammar.unary, DenseTensors)):
            raise TypeError("the coarse grammar must have one state a symbol, stored densely")
        n_symbols, rules = len(grammar.symbols), grammar.binary_rules
        order = np.lexsort((rules[:, 0], rules[:, 2], rules[:, 1]))
        ordered = rules[order]
        is_first = np.ones(len(ordered), bool)
        is_first[1:] = (ordered[1:, 1:] != ordered[:-1, 1:]).any(axis=1)
        firsts = np.flatnonzero(is_first)
        pair = np.full((n_symbols, n_symbols), NO_RULE, np.int32)
        pair[ordered[firsts, 1], ordered[firsts, 2]] = np.arange(len(firsts))
        prior = _expected_nodes(grammar)
        binary, unary = _weights(grammar)  # of stored grammars, too, or kernels would be compiled twice
        return cls(
            pair=pair,
            partners=_bits_of(pair != NO_RULE),
            first_pair=np.searchsorted(ordered[firsts, 1], np.arange(n_symbols)).astype(np.int64),
            pair_rules=np.append(firsts, len(ordered)).astype(np.int64),
            parent=ordered[:, 0].astype(np.uint32),
            weight=binary[order],
            rule=order.astype(np.int32),
            unary_by_parent=_ranges(grammar.unary_rules[:, 0], n_symbols),
            unary_child=grammar.unary_rules[:, 1].copy(),
            unary_weight=unary,
            root=grammar.root,
            prior=prior,
            before=_neighbours(grammar, prior, near=2, far=1),
            after=_neighbours(grammar, prior, near=1, far=2),
        )


def _expected_nodes(grammar: LatentGrammar) -> Floats:
    """Return the expected number of nodes of each symbol in a tree, float64 (n_symbols,).

    These numbers e solve e = root + Mᵀe, where M[a, b] is the expected number of children b of a node a.
    """
    children = _children(grammar, 1, 2)
    return np.maximum(_solve(np.eye(len(children)) - children.T, grammar.root), _MIN_PRIOR)


def _neighbours(grammar: LatentGrammar, prior: Floats, *, near: int, far: int) -> Floats:
    """Return the probability of each tag just before, or just after, a node of each symbol.

    For the tag after a node, ``near`` is 1 (left child) and ``far`` is 2 (right child): the tag after a left
    child is the first tag of its sibling, and the tag after a right child is the tag after its parent. For
    the tag before a node, ``near`` is 2 and ``far`` is 1.

    Args:
        grammar: a grammar with one state per symbol.
        prior: float64 (n_symbols,); expected number of nodes of each symbol.
        near, far: which child of a binary rule is next to its sibling on this side, and which is not.

    Returns:
        float64 (n_symbols + 1, n_symbols); rows are tags, the last row the sentence's boundary.
    """
    n_symbols, rules = len(grammar.symbols), grammar.binary_rules
    (binary, _), ends = _weights(grammar), _children(grammar, near)
    # The distribution of a symbol's tag at its near end: itself if it is a tag, else that of its near child.
    stops = np.diag(np.where(grammar.is_tag, 1.0, 0.0))
    corner = np.clip(_solve(np.eye(n_symbols) - ends, stops), 0.0, 1.0)
    beyond = np.zeros((n_symbols, n_symbols + 1))
    np.add.at(
        beyond[:, :n_symbols], rules[:, near], (prior[rules[:, 0]] * binary)[:, None] * corner[rules[:, far]]
    )
    beyond[:, n_symbols] = grammar.root
    beyond = _solve(np.eye(n_symbols) - _children(grammar, far).T, beyond)
    found: Floats = np.ascontiguousarray(np.maximum(beyond / prior[:, None], 0.0).T)
    return found


def _weights(grammar: LatentGrammar) -> tuple[Floats, Floats]:
    """Return the probabilities of the binary rules and those of the unary rules, float64 (n_rules,) each."""
    assert isinstance(grammar.binary, DenseTensors)
    assert isinstance(grammar.unary, DenseTensors)
    return grammar.binary.values.astype(float), grammar.unary.values.astype(float)


def _children(grammar: LatentGrammar, *children: int) -> Floats:
    """Return the expected number of children b of a node a, float64 (n_symbols, n_symbols).

    Args:
        grammar: a grammar with one state per symbol.
        children: which children of binary rules to count: 1 for left, 2 for right, or both. Children of
            unary rules are always counted.
    """
    n_symbols, (binary, unary) = len(grammar.symbols), _weights(grammar)
    expected = np.zeros((n_symbols, n_symbols))
    for child in children:
        np.add.at(expected, (grammar.binary_rules[:, 0], grammar.binary_rules[:, child]), binary)
    np.add.at(expected, (grammar.unary_rules[:, 0], grammar.unary_rules[:, 1]), unary)
    return expected


def _solve(system: Floats, values: Floats) -> Floats:
    """Solve linear equations, by least squares if the system is singular."""
    try:
        return np.asarray(np.linalg.solve(system, values), float)
    except np.linalg.LinAlgError:  # a symbol derives only itself; least squares take 20 times as long
        return np.asarray(np.linalg.lstsq(system, values, rcond=None)[0], float)


def _ranges(sorted_keys: Ints, n_keys: int) -> Offsets:
    return np.searchsorted(sorted_keys, np.arange(n_keys + 1)).astype(np.int64)


def _bits_of(table: NDArray[np.bool_]) -> Bits:
    """Pack rows of truth values into words of 64 bits, the first value in the lowest bit."""
    n_words = (table.shape[1] + 63) // 64
    padded = np.zeros((len(table), 64 * n_words), bool)
    padded[:, : table.shape[1]] = table
    places = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return (padded.reshape(len(table), n_words, 64) * places).sum(axis=2, dtype=np.uint64)
