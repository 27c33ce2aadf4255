"""Grammars whose states are counted: hard or soft states of the nodes of observed trees.

Parameters are proper probabilities, so everything here is non-negative (Matsuzaki et al. 2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.lpcfg.moments import begins_sentence, nodes_of
from spectralnlp.estimators.shared.event_index import EventIndex, smoothed_shares
from spectralnlp.estimators.shared.grammars import RuleTensors, latent_grammar
from spectralnlp.estimators.shared.lexicon import LexiconOptions, TokenMoments
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.inference.trees.tree_states import StateOffsets, StateTensors, expected_counts
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets
from spectralnlp.trees.treelog import TreeTable


@dataclass(frozen=True, kw_only=True)
class StateCounts:
    """(Expected) counts of events with states, or the probabilities made of them.

    Attributes:
        n_states: int32 (n_symbols,).
        binary, unary, pairs: float64, laid end to end as :meth:`TreeEventIndex.offsets` says.
        root: float64 (sum of n_states,).
    """

    n_states: Ints
    binary: Floats
    unary: Floats
    pairs: Floats
    root: Floats


@dataclass(frozen=True, kw_only=True)
class TreeEventIndex(EventIndex[StateCounts]):
    """The rules of a treebank, and which of them each node has.

    Attributes:
        table: the treebank.
        binary_rules: int32 (n_binary, 3), sorted; unary_rules: int32 (n_unary, 2), sorted.
        pairs: int32 (n_pairs, 2), sorted; (word, tag) as they occur.
        event: int32 (n_nodes,); index of a node's binary rule, unary rule or pair, by its arity.
        least_posterior: states of a node that are less probable are passed over in EM; 0 for exact EM.
    """

    table: TreeTable
    binary_rules: Ints
    unary_rules: Ints
    pairs: Ints
    event: Ints
    least_posterior: float = 0.0

    @classmethod
    def of(cls, table: TreeTable, *, least_posterior: float = 0.0) -> TreeEventIndex:
        """Number the rules and the pairs; arguments as of the class."""
        event = np.full(table.n_nodes, -1, np.int32)
        symbol = table.symbol
        binary = np.flatnonzero(table.right >= 0)
        unary = np.flatnonzero((table.left >= 0) & (table.right < 0))
        leaves = np.flatnonzero(table.word >= 0)
        events = []
        for rows, columns in (
            (binary, (symbol[binary], symbol[table.left[binary]], symbol[table.right[binary]])),
            (unary, (symbol[unary], symbol[table.left[unary]])),
            (leaves, (table.word[leaves], symbol[leaves])),
        ):
            names, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
            event[rows] = which.reshape(-1)
            events.append(names.astype(np.int32).reshape(-1, len(columns)))
        return cls(
            table=table,
            binary_rules=events[0],
            unary_rules=events[1],
            pairs=events[2],
            event=event,
            least_posterior=least_posterior,
        )

    @property
    def nodes(self) -> Nodes:
        """The nodes of the treebank."""
        return nodes_of(self.table)

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

    def count_states(self, state: Ints, n_states: Ints) -> StateCounts:
        """Count the rules, pairs and roots under one state a node; arguments as of `EventIndex`."""
        table, event = self.table, self.event
        weight = table.weight[table.tree]
        binary_offsets, unary_offsets, pair_offsets = self.offsets(n_states)
        state_offsets = np.concatenate([[0], np.cumsum(n_states, dtype=np.int64)])

        def add(rows: NDArray[np.intp], position: NDArray[Any], size: int) -> Floats:
            return np.bincount(position, weight[rows], size).astype(np.float64)

        b = np.flatnonzero(table.right >= 0)
        left, right = table.left[b], table.right[b]
        m_left, m_right = n_states[table.symbol[left]], n_states[table.symbol[right]]
        at = binary_offsets[event[b]] + (state[b] * m_left + state[left]) * m_right + state[right]
        u = np.flatnonzero((table.left >= 0) & (table.right < 0))
        below = table.left[u]
        at_unary = unary_offsets[event[u]] + state[u] * n_states[table.symbol[below]] + state[below]
        leaves, roots = np.flatnonzero(table.word >= 0), np.flatnonzero(table.parent < 0)
        return StateCounts(
            n_states=n_states,
            binary=add(b, at, binary_offsets[-1]),
            unary=add(u, at_unary, unary_offsets[-1]),
            pairs=add(leaves, pair_offsets[event[leaves]] + state[leaves], pair_offsets[-1]),
            root=add(roots, state_offsets[table.symbol[roots]] + state[roots], state_offsets[-1]),
        )

    def random_counts(self, n_states: Ints, *, noise: float, random_state: int) -> StateCounts:
        """Share each event's count among its states, evenly but for noise; arguments as of `EventIndex`."""
        rng = np.random.default_rng(random_state)
        total = self.count_states(np.zeros(self.table.n_nodes, np.int32), np.ones_like(n_states))

        def shared(count: Floats, sizes: NDArray[np.int64]) -> Floats:
            share = np.repeat(count / sizes, sizes)
            return share * rng.uniform(1 - noise, 1 + noise, len(share))

        binary, unary, pairs = (np.diff(offsets) for offsets in self.offsets(n_states))
        return StateCounts(
            n_states=n_states,
            binary=shared(total.binary, binary),
            unary=shared(total.unary, unary),
            pairs=shared(total.pairs, pairs),
            root=shared(total.root, n_states.astype(np.int64)),
        )

    def probabilities(self, counts: StateCounts, smoothing: float) -> StateCounts:
        """Return p(event | symbol, state), smoothed; arguments as of `EventIndex`."""
        n_states = counts.n_states
        blocks = list(self._blocks(counts))
        total = np.zeros((len(n_states), int(n_states.max())))
        for events in blocks:
            for a, block in events:
                total[a, : n_states[a]] += block.sum(axis=1)

        def normalised(events: list[tuple[int, Floats]]) -> Floats:
            parts = [
                smoothed_shares(block, total[a, : len(block), None], smoothing, axis=0, n_states=len(block))
                for a, block in events
            ]
            return np.concatenate([np.empty(0), *(part.ravel() for part in parts)])

        binary, unary, pairs = map(normalised, blocks)
        root = counts.root / counts.root.sum()
        return StateCounts(n_states=n_states, binary=binary, unary=unary, pairs=pairs, root=root)

    def _blocks(self, counts: StateCounts) -> Iterator[list[tuple[int, Floats]]]:
        """Of binary rules, unary rules and pairs: the symbol of each, and its counts with one state a row."""
        for values, offsets, parents in zip(
            (counts.binary, counts.unary, counts.pairs),
            self.offsets(counts.n_states),
            (self.binary_rules[:, 0], self.unary_rules[:, 0], self.pairs[:, 1]),
            strict=True,
        ):
            yield [
                (a, values[offsets[event] : offsets[event + 1]].reshape(counts.n_states[a], -1))
                for event, a in enumerate(parents.tolist())
            ]

    def expected_counts(self, probabilities: StateCounts) -> tuple[StateCounts, float]:
        """Do the E-step on the observed trees; arguments as of `EventIndex`."""
        n_states = probabilities.n_states
        tensors, log_likelihood = expected_counts(
            self.table,
            self.event,
            n_states,
            StateOffsets(*self.offsets(n_states)),
            StateTensors(
                binary=probabilities.binary,
                unary=probabilities.unary,
                pairs=probabilities.pairs,
                root=probabilities.root,
            ),
            self.least_posterior,
        )
        return StateCounts(n_states=n_states, **tensors._asdict()), log_likelihood


def state_grammar(
    index: TreeEventIndex, counts: StateCounts, smoothing: float, lexicon_options: LexiconOptions
) -> LatentGrammar:
    """The grammar of (expected) counts.

    Args:
        index: of the treebank.
        counts: of events.
        smoothing: α of :meth:`TreeEventIndex.probabilities`.
        lexicon_options: signatures, and smoothing of the lexicon.
    """
    probabilities = index.probabilities(counts, smoothing)
    binary_offsets, unary_offsets, _ = index.offsets(counts.n_states)
    rules = RuleTensors(
        binary_rules=index.binary_rules,
        binary=DenseTensors(offsets=binary_offsets, values=probabilities.binary),
        unary_rules=index.unary_rules,
        unary=DenseTensors(offsets=unary_offsets, values=probabilities.unary),
    )
    tokens = _token_moments(index, counts)
    return latent_grammar(
        index.table.symbols, counts.n_states, rules, probabilities.root, tokens, lexicon_options
    )


def _token_moments(index: TreeEventIndex, counts: StateCounts) -> TokenMoments:
    """Counts of words with Z = 1 / p(state | tag), each token shared among its states."""
    table, n_states = index.table, counts.n_states
    word, tag = index.pairs.T
    m_max = int(n_states[tag].max())
    by_state = np.zeros((len(index.pairs), m_max))
    by_state[np.arange(m_max) < n_states[tag, None]] = counts.pairs
    tag_state = np.zeros((len(n_states), m_max))
    np.add.at(tag_state, tag, by_state)
    p_state = tag_state / np.maximum(tag_state.sum(axis=1, keepdims=True), 1e-300)
    leaves = np.flatnonzero(table.word >= 0)
    weight = table.weight[table.tree[leaves]]
    # Counts as observed, without the rounding of expected ones: which words are rare must not depend on it.
    count, initial, n_tokens = (
        np.bincount(index.event[leaves], each, len(index.pairs)).astype(np.float64)
        for each in (weight, weight * begins_sentence(table, leaves), table.share[table.tree[leaves]])
    )
    return TokenMoments(
        words=table.words,
        word=word,
        tag=tag,
        count=count,
        initial=initial,
        z=by_state / np.where(p_state > 0, p_state, 1.0)[tag],
        n_tokens=n_tokens,
    )
