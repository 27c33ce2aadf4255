"""Estimate grammars from counts of latent states: of states assigned to nodes, or expected counts (EM).

Parameters are probabilities, and so are non-negative (Matsuzaki et al. 2005).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.lpcfg.kernels import add_totals, smoothed_rules
from spectralnlp.estimators.lpcfg.moments import CountedTable, nodes_of
from spectralnlp.estimators.shared.event_index import EventIndex
from spectralnlp.estimators.shared.grammars import RuleTensors, latent_grammar
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.inference.trees.tree_states import Columns, ObservedTrees, StateOffsets, StateTensors
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar
from spectralnlp.runtime import offsets_of, scratch_array, trim_memory
from spectralnlp.trees.treelog import TreeTable


@dataclass(frozen=True, kw_only=True)
class StateCounts:
    """Counts, expected counts or probabilities of rules, words and roots with latent states.

    Events are binary rules, unary rules, (word, tag) pairs and roots. The counts of a binary rule a → b c are
    stored as a sparse matrix with a row for each state of a, and a column only for those pairs of states of b
    and c that have been counted. The counts of all other pairs remain zero in smoothing and EM.

    Attributes:
        n_states: int32 (n_symbols,); number of states of each symbol.
        columns: pairs of states that are the columns of each binary rule.
        binary, unary, pairs: float64; concatenated values of all events; see `TreeEventIndex.offsets`.
        root: float64 (sum of n_states,); values of the states of each symbol at the root.
    """

    n_states: Ints
    columns: Columns
    binary: Floats
    unary: Floats
    pairs: Floats
    root: Floats


@dataclass(frozen=True, kw_only=True)
class TreeEventIndex(EventIndex[StateCounts]):
    """The distinct rules and (word, tag) pairs of a treebank, and which of them occurs at each node.

    Attributes:
        counted: treebank with the counts of its (word, tag) pairs.
        binary_rules: int32 (n_binary, 3), sorted; symbols of each rule.
        unary_rules: int32 (n_unary, 2), sorted; symbols of each rule.
        pairs: int32 (n_pairs, 2), sorted; observed (word, tag) pairs.
        event: int32 (n_nodes,); index of each node's binary rule, unary rule or pair, depending on its number
            of children.
        least_posterior: EM skips states of a node with a lower posterior probability; 0 for exact EM.
    """

    counted: CountedTable
    binary_rules: Ints
    unary_rules: Ints
    pairs: Ints
    event: Ints
    least_posterior: float = 0.0

    @classmethod
    def of(cls, counted: CountedTable, *, least_posterior: float = 0.0) -> TreeEventIndex:
        """Find the distinct rules and (word, tag) pairs of a treebank; see the class for the arguments."""
        table, tokens = counted.table, counted.lexicons.tokens
        event = np.full(table.n_nodes, -1, np.int32)
        event[counted.leaves] = counted.token
        symbol = table.symbol
        binary = np.flatnonzero(table.right >= 0)
        unary = np.flatnonzero((table.left >= 0) & (table.right < 0))
        rules = []
        for rows, columns in (
            (binary, (symbol[binary], symbol[table.left[binary]], symbol[table.right[binary]])),
            (unary, (symbol[unary], symbol[table.left[unary]])),
        ):
            shape = (len(table.symbols),) * len(columns)
            codes, event[rows] = np.unique(np.ravel_multi_index(columns, shape), return_inverse=True)
            rules.append(np.stack(np.unravel_index(codes, shape), axis=1).astype(np.int32))
        return cls(
            counted=counted,
            binary_rules=rules[0],
            unary_rules=rules[1],
            pairs=np.stack([tokens.word, tokens.tag], axis=1),
            event=event,
            least_posterior=least_posterior,
        )

    @property
    def table(self) -> TreeTable:
        """The treebank as a table with a row for each node."""
        return self.counted.table

    @property
    def nodes(self) -> Nodes:
        """The symbol and the weight of each node of the treebank."""
        return nodes_of(self.table)

    def offsets(self, n_states: Ints, columns: Columns) -> StateOffsets:
        """Return the start of the values of each rule and (word, tag) pair in the arrays of `StateCounts`.

        Args:
            n_states: int32 (n_symbols,); number of states of each symbol.
            columns: pairs of states that are the columns of each binary rule.
        """
        m = n_states.astype(np.int64)
        sizes = (
            m[self.binary_rules[:, 0]] * np.diff(columns.starts),
            m[self.unary_rules].prod(axis=1),
            m[self.pairs[:, 1]],
        )
        return StateOffsets(*(offsets_of(size) for size in sizes))

    def count_states(self, state: Ints, n_states: Ints) -> StateCounts:
        """Count rules, (word, tag) pairs and roots with states, given a state for each node.

        Args:
            state: int32 (n_nodes,); state of each node.
            n_states: int32 (n_symbols,); number of states of each symbol.
        """
        table, event = self.table, self.event
        weight = table.weight[table.tree]
        b = np.flatnonzero(table.right >= 0)
        left, right = table.left[b], table.right[b]
        pair = state[left] * n_states[table.symbol[right]] + state[right]
        most = int(n_states.max()) ** 2
        codes, column = np.unique(event[b].astype(np.int64) * most + pair, return_inverse=True)
        starts = np.searchsorted(codes, most * np.arange(len(self.binary_rules) + 1))
        columns = Columns(starts, (codes % most).astype(np.int32))
        offsets = self.offsets(n_states, columns)
        first_state = offsets_of(n_states)

        def add(rows: NDArray[np.intp], position: NDArray[Any], size: int) -> Floats:
            return np.bincount(position, weight[rows], size).astype(np.float64)

        first = starts[event[b]]
        at = offsets.binary[event[b]] + state[b] * (starts[event[b] + 1] - first) + column - first
        u = np.flatnonzero((table.left >= 0) & (table.right < 0))
        below = table.left[u]
        at_unary = offsets.unary[event[u]] + state[u] * n_states[table.symbol[below]] + state[below]
        leaves, roots = self.counted.leaves, np.flatnonzero(table.parent < 0)
        return StateCounts(
            n_states=n_states,
            columns=columns,
            binary=add(b, at, offsets.binary[-1]),
            unary=add(u, at_unary, offsets.unary[-1]),
            pairs=add(leaves, offsets.pairs[event[leaves]] + state[leaves], offsets.pairs[-1]),
            root=add(roots, first_state[table.symbol[roots]] + state[roots], first_state[-1]),
        )

    def random_counts(self, n_states: Ints, *, noise: float, random_state: int) -> StateCounts:
        """Divide the count of each rule, (word, tag) pair and root among its states evenly, with noise.

        Args:
            n_states: int32 (n_symbols,); number of states of each symbol.
            noise: number in [0, 1]; each share is multiplied by a uniform random number in 1 ± noise.
            random_state: seed.
        """
        rng = np.random.default_rng(random_state)
        total = self.count_states(np.zeros(self.table.n_nodes, np.int32), np.ones_like(n_states))
        columns = self._all_columns(n_states)

        def shared(count: Floats, sizes: NDArray[np.int64]) -> Floats:
            share = np.repeat(count / sizes, sizes)
            return share * rng.uniform(1 - noise, 1 + noise, len(share))

        binary, unary, pairs = (np.diff(offsets) for offsets in self.offsets(n_states, columns))
        return StateCounts(
            n_states=n_states,
            columns=columns,
            binary=shared(total.binary, binary),
            unary=shared(total.unary, unary),
            pairs=shared(total.pairs, pairs),
            root=shared(total.root, n_states.astype(np.int64)),
        )

    def _all_columns(self, n_states: Ints) -> Columns:
        """Return, for each binary rule, all pairs of states of its two children."""
        sizes = n_states.astype(np.int64)[self.binary_rules[:, 1:]].prod(axis=1)
        starts = offsets_of(sizes)
        return Columns(starts, (np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)).astype(np.int32))

    def probabilities(self, counts: StateCounts, smoothing: float) -> StateCounts:
        """Return smoothed probabilities of rules and words, p(event | symbol, state), from counts.

        Args:
            counts: counts or expected counts of events with states.
            smoothing: weight α, in [0, 1], of the mean over the states of the symbol.
        """
        n_states = counts.n_states
        first_state = offsets_of(n_states)
        parents = (self.binary_rules[:, 0], self.unary_rules[:, 0], self.pairs[:, 1])
        values = (counts.binary, counts.unary, counts.pairs)
        offsets = self.offsets(n_states, counts.columns)
        events = list(zip(values, offsets, map(np.ascontiguousarray, parents), strict=True))
        totals = np.zeros(first_state[-1])
        for event in events:
            add_totals(*event, first_state, totals)
        binary, unary, pairs = (smoothed_rules(*event, first_state, totals, smoothing) for event in events)
        root = counts.root / counts.root.sum()
        return replace(counts, binary=binary, unary=unary, pairs=pairs, root=root)

    def observed(self, probabilities: StateCounts) -> ObservedTrees:
        """Return the input of EM: the treebank, and the initial probabilities of its rules and words.

        Args:
            probabilities: initial probabilities, as the method `probabilities` returns them.
        """
        p = probabilities
        return ObservedTrees(
            table=self.table,
            event=self.event,
            n_states=p.n_states,
            columns=p.columns,
            offsets=self.offsets(p.n_states, p.columns),
            probabilities=StateTensors(binary=p.binary, unary=p.unary, pairs=p.pairs, root=p.root),
            least_posterior=self.least_posterior,
        )

    def expected_counts(self, probabilities: StateCounts) -> tuple[StateCounts, float]:
        """Compute the expected counts of rules and words with states in the observed trees (E-step of EM).

        Args:
            probabilities: probabilities of events, as `probabilities` returns them.

        Returns:
            The expected counts, and the natural log likelihood of the trees.
        """
        tensors, log_likelihood = self.observed(probabilities).expected_counts()
        return replace(probabilities, **tensors._asdict()), log_likelihood

    def binary_tensors(self, counts: StateCounts) -> DenseTensors:
        """Return the values of binary rules a → b c as dense float32 tensors (m_a, m_b, m_c).

        Here m_a is the number of states of symbol a. An element is zero if ``counts`` has no column for the
        pair of children's states.
        """
        m, columns = counts.n_states.astype(np.int64)[self.binary_rules], counts.columns
        n_columns, n_pairs = np.diff(columns.starts), m[:, 1] * m[:, 2]
        offsets = offsets_of(m.prod(axis=1))
        values = scratch_array((int(offsets[-1]),), np.float32)
        rule = np.repeat(np.arange(len(m)), m[:, 0])  # the rule of each row of all matrices
        row = np.arange(len(rule)) - np.repeat(np.cumsum(m[:, 0]) - m[:, 0], m[:, 0])
        width = n_columns[rule]
        first = np.cumsum(width) - width
        within = np.arange(int(width.sum())) - np.repeat(first, width)
        column = columns.number[np.repeat(columns.starts[rule], width) + within]
        values[np.repeat(offsets[rule] + row * n_pairs[rule], width) + column] = counts.binary
        trim_memory()
        return DenseTensors(offsets=offsets, values=values)


def state_grammar(index: TreeEventIndex, counts: StateCounts, smoothing: float) -> LatentGrammar:
    """Estimate a grammar from counts, or expected counts, of latent states in trees.

    Args:
        index: rules and (word, tag) pairs of the treebank.
        counts: counts of rules, words and roots with states.
        smoothing: smoothing weight α; see :meth:`TreeEventIndex.probabilities`.
    """
    probabilities = index.probabilities(counts, smoothing)
    unary_offsets = index.offsets(counts.n_states, counts.columns).unary
    rules = RuleTensors(
        binary_rules=index.binary_rules,
        binary=index.binary_tensors(probabilities),
        unary_rules=index.unary_rules,
        unary=DenseTensors(offsets=unary_offsets, values=probabilities.unary.astype(np.float32)),
    )
    return latent_grammar(
        index.table.symbols,
        counts.n_states,
        rules,
        probabilities.root,
        index.counted.lexicons,
        _token_vectors(index, counts),
    )


def _token_vectors(index: TreeEventIndex, counts: StateCounts) -> Floats:
    """Sum the vectors Z of the tokens of each (word, tag) pair, float64 (n_pairs, most states of a tag).

    The vector Z of a token has the value 1 / p(state | tag) at the token's state, and zero elsewhere. If the
    state is uncertain, each value is multiplied by the probability of the state.
    """
    n_states, tag = counts.n_states, index.pairs[:, 1]
    m_max = int(n_states[tag].max())
    by_state = np.zeros((len(index.pairs), m_max))
    by_state[np.arange(m_max) < n_states[tag, None]] = counts.pairs
    tag_state = np.zeros((len(n_states), m_max))
    np.add.at(tag_state, tag, by_state)
    p_state = tag_state / np.maximum(tag_state.sum(axis=1, keepdims=True), 1e-300)
    return by_state / np.where(p_state > 0, p_state, 1.0)[tag]
