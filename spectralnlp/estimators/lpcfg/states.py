"""Grammars whose states are counted: hard or soft states of the nodes of observed trees.

Parameters are proper probabilities, so everything here is non-negative (Matsuzaki et al. 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.lexicon import LexiconOptions, TokenMoments, build_lexicon
from spectralnlp.inference.trees.tree_states import StateOffsets, StateTensors, expected_counts
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.treelog import TreeTable

SOFT_SMOOTHING = 0.01
"""α of :func:`probabilities` that EM's expected counts want."""


@dataclass(frozen=True)
class Skeleton:
    """The rules of a treebank, and which of them each node has.

    Attributes:
        table: the treebank.
        binary_rules: int32 (n_binary, 3), sorted; unary_rules: int32 (n_unary, 2), sorted.
        pairs: int32 (n_pairs, 2), sorted; (word, tag) as they occur.
        event: int32 (n_nodes,); index of a node's binary rule, unary rule or pair, by its arity.
    """

    table: TreeTable
    binary_rules: Ints
    unary_rules: Ints
    pairs: Ints
    event: Ints

    @classmethod
    def of(cls, table: TreeTable) -> Skeleton:
        """Number the rules and the pairs."""
        event = np.full(table.n_nodes, -1, np.int32)
        symbol = table.symbol
        binary = np.flatnonzero(table.right >= 0)
        unary = np.flatnonzero((table.left >= 0) & (table.right < 0))
        leaves = np.flatnonzero(table.word >= 0)
        found = []
        for rows, columns in (
            (binary, (symbol[binary], symbol[table.left[binary]], symbol[table.right[binary]])),
            (unary, (symbol[unary], symbol[table.left[unary]])),
            (leaves, (table.word[leaves], symbol[leaves])),
        ):
            names, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
            event[rows] = which.reshape(-1)
            found.append(names.astype(np.int32).reshape(-1, len(columns)))
        return cls(table, found[0], found[1], found[2], event)

    def offsets(self, n_states: Ints) -> tuple[Offsets, Offsets, Offsets]:
        """Where the tensors of binary rules, unary rules and pairs lie, laid end to end."""
        m = n_states.astype(np.int64)
        sizes = (
            m[self.binary_rules].prod(axis=1),
            m[self.unary_rules].prod(axis=1),
            m[self.pairs[:, 1]],
        )
        binary, unary, pairs = (np.concatenate([[0], np.cumsum(size)]) for size in sizes)
        return binary, unary, pairs

    def wanted_states(self, n_states: int, nodes_per_state: float) -> Ints:
        """int32 (n_symbols,): ``n_states``, or as many as a symbol's nodes allow; 0 for no such bound."""
        table = self.table
        nodes = np.bincount(table.symbol, table.weight[table.tree], len(table.symbols))
        return np.clip(nodes / nodes_per_state if nodes_per_state else nodes, 1, n_states).astype(np.int32)


@dataclass(frozen=True)
class StateCounts:
    """(Expected) counts of events with states, or the probabilities made of them.

    Attributes:
        n_states: int32 (n_symbols,).
        binary, unary, pairs: float64, laid end to end as :meth:`Skeleton.offsets` says.
        root: float64 (sum of n_states,).
    """

    n_states: Ints
    binary: Floats
    unary: Floats
    pairs: Floats
    root: Floats


def count_states(skeleton: Skeleton, state: Ints, n_states: Ints) -> StateCounts:
    """Counts of events under one state a node.

    Args:
        skeleton: the treebank.
        state: int32 (n_nodes,).
        n_states: int32 (n_symbols,).
    """
    table = skeleton.table
    weight = table.weight[table.tree]
    binary_offsets, unary_offsets, pair_offsets = skeleton.offsets(n_states)
    state_offsets = np.concatenate([[0], np.cumsum(n_states, dtype=np.int64)])

    def add(rows: NDArray[np.intp], position: NDArray[Any], size: int) -> Floats:
        return np.bincount(position, weight[rows], size).astype(np.float64)

    b = np.flatnonzero(table.right >= 0)
    left, right = table.left[b], table.right[b]
    m_left, m_right = n_states[table.symbol[left]], n_states[table.symbol[right]]
    at = binary_offsets[skeleton.event[b]] + (state[b] * m_left + state[left]) * m_right + state[right]
    u = np.flatnonzero((table.left >= 0) & (table.right < 0))
    below = table.left[u]
    at_unary = unary_offsets[skeleton.event[u]] + state[u] * n_states[table.symbol[below]] + state[below]
    leaves, roots = np.flatnonzero(table.word >= 0), np.flatnonzero(table.parent < 0)
    return StateCounts(
        n_states,
        add(b, at, binary_offsets[-1]),
        add(u, at_unary, unary_offsets[-1]),
        add(leaves, pair_offsets[skeleton.event[leaves]] + state[leaves], pair_offsets[-1]),
        add(roots, state_offsets[table.symbol[roots]] + state[roots], state_offsets[-1]),
    )


def probabilities(skeleton: Skeleton, counts: StateCounts, smoothing: float) -> StateCounts:
    """p(event | symbol, state), each state's mixed with the mean over its symbol's states.

    Args:
        skeleton: the treebank.
        counts: of events.
        smoothing: α; weight of the mean, in [0, 1].
    """
    n_states = counts.n_states
    n_symbols, m_max = len(n_states), int(n_states.max())
    total = np.zeros((n_symbols, m_max))
    blocks = []
    for values, offsets, parents in zip(
        (counts.binary, counts.unary, counts.pairs),
        skeleton.offsets(n_states),
        (skeleton.binary_rules[:, 0], skeleton.unary_rules[:, 0], skeleton.pairs[:, 1]),
        strict=True,
    ):
        kind = []
        for event, a in enumerate(parents.tolist()):
            block = values[offsets[event] : offsets[event + 1]].reshape(n_states[a], -1)
            total[a, : n_states[a]] += block.sum(axis=1)
            kind.append((a, block))
        blocks.append(kind)
    made = []
    for kind in blocks:
        parts = [np.empty(0)]
        for a, block in kind:
            share = block / np.maximum(total[a, : n_states[a]], 1e-300)[:, None]
            parts.append(((1 - smoothing) * share + smoothing * share.mean(axis=0)).ravel())
        made.append(np.concatenate(parts))
    return StateCounts(n_states, made[0], made[1], made[2], counts.root / counts.root.sum())


def em_step(
    skeleton: Skeleton, parameters: StateCounts, least_posterior: float = 0.0
) -> tuple[StateCounts, float]:
    """Expected counts of the observed trees, and their log-likelihood (natural).

    Arguments as of :func:`polish`.
    """
    counts, log_likelihood = expected_counts(
        skeleton.table,
        skeleton.event,
        parameters.n_states,
        StateOffsets(*skeleton.offsets(parameters.n_states)),
        StateTensors(
            binary=parameters.binary,
            unary=parameters.unary,
            pairs=parameters.pairs,
            root=parameters.root,
        ),
        least_posterior,
    )
    return StateCounts(parameters.n_states, *counts), log_likelihood


def polish(
    skeleton: Skeleton,
    parameters: StateCounts,
    iterations: int,
    smoothing: float = SOFT_SMOOTHING,
    least_posterior: float = 0.0,
) -> tuple[StateCounts, list[float]]:
    """EM on the observed trees, from any parameters that are not negative.

    Args:
        skeleton: the treebank.
        parameters: probabilities to start from.
        iterations: one or more.
        smoothing: α of :func:`probabilities` between iterations; with 0 the likelihood never falls.
        least_posterior: states of a node that are less probable are passed over; 0 for exact EM.

    Returns:
        The last expected counts, and the trees' log-likelihood (natural) under the parameters that each
        iteration began with.
    """
    counts, log_likelihood = em_step(skeleton, parameters, least_posterior)
    log_likelihoods = [log_likelihood]
    for _ in range(iterations - 1):
        counts, log_likelihood = em_step(
            skeleton, probabilities(skeleton, counts, smoothing), least_posterior
        )
        log_likelihoods.append(log_likelihood)
    return counts, log_likelihoods


def random_counts(skeleton: Skeleton, n_states: Ints, *, noise: float, random_state: int) -> StateCounts:
    """Each event's count shared among its states, evenly but for noise (Matsuzaki et al. 2005, section 3.1).

    Args:
        skeleton: the treebank.
        n_states: int32 (n_symbols,).
        noise: each share is multiplied by a uniform draw from 1 ± noise; in [0, 1].
        random_state: seed.
    """
    rng = np.random.default_rng(random_state)
    one_state = np.ones_like(n_states)
    seen = count_states(skeleton, np.zeros(skeleton.table.n_nodes, np.int32), one_state)

    def shared(count: Floats, sizes: NDArray[np.int64]) -> Floats:
        share = np.repeat(count / sizes, sizes)
        return share * rng.uniform(1 - noise, 1 + noise, len(share))

    binary, unary, pairs = (np.diff(offsets) for offsets in skeleton.offsets(n_states))
    return StateCounts(
        n_states,
        shared(seen.binary, binary),
        shared(seen.unary, unary),
        shared(seen.pairs, pairs),
        shared(seen.root, n_states.astype(np.int64)),
    )


def state_grammar(
    skeleton: Skeleton, counts: StateCounts, smoothing: float, scheme: str, options: LexiconOptions
) -> LatentGrammar:
    """The grammar of (expected) counts.

    Args:
        skeleton: the treebank.
        counts: of events.
        smoothing: α of :func:`probabilities`.
        scheme: name of the signature function.
        options: smoothing of the lexicon.
    """
    table = skeleton.table
    made = probabilities(skeleton, counts, smoothing)
    binary_offsets, unary_offsets, _ = skeleton.offsets(counts.n_states)
    lexicon, tag_default = build_lexicon(
        _token_moments(skeleton, counts), counts.n_states, scheme, signature_by_name(scheme), options
    )
    is_tag = np.zeros(len(table.symbols), bool)
    is_tag[skeleton.pairs[:, 1]] = True
    return LatentGrammar(
        symbols=table.symbols,
        is_tag=is_tag,
        n_states=counts.n_states,
        binary_rules=skeleton.binary_rules,
        binary=DenseTensors(offsets=binary_offsets, values=made.binary),
        unary_rules=skeleton.unary_rules,
        unary=DenseTensors(offsets=unary_offsets, values=made.unary),
        root=made.root,
        tag_default=tag_default,
        lexicon=lexicon,
    )


def _token_moments(skeleton: Skeleton, counts: StateCounts) -> TokenMoments:
    """Counts of words with Z = 1 / p(state | tag), each token shared among its states."""
    table, n_states = skeleton.table, counts.n_states
    m_max = int(n_states[skeleton.pairs[:, 1]].max())
    by_state = np.zeros((len(skeleton.pairs), m_max))
    by_state[np.arange(m_max) < n_states[skeleton.pairs[:, 1], None]] = counts.pairs
    tag_state = np.zeros((len(n_states), m_max))
    np.add.at(tag_state, skeleton.pairs[:, 1], by_state)
    p_state = tag_state / np.maximum(tag_state.sum(axis=1, keepdims=True), 1e-300)
    leaves = np.flatnonzero(table.word >= 0)
    is_first = np.ones(len(leaves), bool)
    is_first[1:] = table.tree[leaves][1:] != table.tree[leaves][:-1]
    weight = table.weight[table.tree[leaves]]
    count, first = (
        np.bincount(skeleton.event[leaves], each, len(skeleton.pairs)).astype(np.float64)
        for each in (weight, weight * is_first)
    )
    safe = np.where(p_state > 0, p_state, 1.0)[skeleton.pairs[:, 1]]
    return TokenMoments(
        table.words,
        skeleton.pairs[:, 0],
        skeleton.pairs[:, 1],
        count,  # observed, so without the rounding of expected counts: what is rare must not depend on it
        first,
        by_state / safe,
    )
