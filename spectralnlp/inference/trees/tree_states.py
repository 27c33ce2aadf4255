"""Compute expected counts of latent states in observed trees by inside and outside passes (E-step of EM).

With the tree given, both passes are linear in its size (Matsuzaki et al. 2005, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.jit import fast_kernel, fast_kernel_part
from spectralnlp.parameters import Floats, Ints, Offsets
from spectralnlp.runtime import offsets_of
from spectralnlp.trees.treelog import TreeTable


class StateTensors(NamedTuple):
    """Probabilities or expected counts of the events in trees (rules, words, roots) by latent state.

    Attributes:
        binary, unary, pairs: float64; the tensors of binary rules, unary rules and (word, tag) pairs.
        root: float64 (sum of n_states,); probability or expected count of each state as the root.
    """

    binary: Floats
    unary: Floats
    pairs: Floats
    root: Floats


class Columns(NamedTuple):
    """The pairs of children's states that each binary rule allows: the columns of the rule's matrix.

    The rows of the matrix are the states of the parent.

    Attributes:
        starts: int64 (n_binary + 1,); columns of rule r are ``starts[r]:starts[r + 1]``.
        number: int32 (n_columns,); the pair (g, k) of a left and a right state as g · (number of states of
            the right child) + k.
    """

    starts: Offsets
    number: Ints


class StateOffsets(NamedTuple):
    """Offsets at which the tensors of events begin in the arrays of `StateTensors`.

    Attributes:
        binary, unary, pairs: int64 (n_events + 1,); start of the tensor of each binary rule, unary rule or
            (word, tag) pair.
    """

    binary: Offsets
    unary: Offsets
    pairs: Offsets


@dataclass(frozen=True, kw_only=True)
class ObservedTrees:
    """Trees whose nodes have hidden states, and the current probabilities of their rules and words.

    Attributes:
        table: the trees.
        event: int32 (n_nodes,); index of each node's binary rule, unary rule or (word, tag) pair.
        n_states: int32 (n_symbols,); number of states of each symbol.
        columns: the pairs of children's states that each binary rule allows.
        offsets: offsets of the tensors of each kind of event.
        probabilities: the tensors of the events.
        least_posterior: a state with a smaller posterior at a node counts as impossible at this node. Since
            most states of a node are improbable, a small value saves most of the time; 0 gives exact counts.
    """

    table: TreeTable
    event: Ints
    n_states: Ints
    columns: Columns
    offsets: StateOffsets
    probabilities: StateTensors
    least_posterior: float = 0.0

    def expected_counts(self) -> tuple[StateTensors, float]:
        """Return the expected counts of rules, words and roots, and the natural log-likelihood of trees."""
        return self._counted(
            _Shares(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), 0.0)
        )

    def shares_of_nodes(self, least: float) -> sp.csr_array:
        """Return the contribution of each node to the expected count of each parameter.

        Args:
            least: smaller contributions are left out.

        Returns:
            float32 (n_nodes, n_parameters), sparse; the columns are the elements of the four arrays of
            `StateTensors`, concatenated.
        """
        starts = np.zeros(self.table.n_nodes + 1, np.int64)
        self._counted(_Shares(starts[1:], np.empty(0, np.int32), np.empty(0, np.float32), least))
        np.cumsum(starts, out=starts)
        shares = _Shares(
            starts[:-1].copy(), np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32), least
        )
        self._counted(shares)
        shape = self.table.n_nodes, sum(map(len, self.probabilities))
        return sp.csr_array((shares.share, shares.number, starts), shape=shape)

    def _counted(self, shares: _Shares) -> tuple[StateTensors, float]:
        table, n_states = self.table, self.n_states
        counts = StateTensors(*(np.zeros_like(array) for array in self.probabilities))
        before = offsets_of(n_states[table.symbol])
        of_trees = before[np.searchsorted(table.tree, np.arange(table.n_trees + 1))]
        trees = _TreeColumns(
            symbol=table.symbol,
            event=self.event,
            left=table.left,
            right=table.right,
            parent=table.parent,
            tree=table.tree,
            weight=table.weight,
            n_states=n_states,
            node_offsets=before[:-1] - of_trees[table.tree],
            symbol_offsets=offsets_of(n_states),
        )
        most = int(np.diff(of_trees).max(initial=0))
        log_likelihood = _expected_counts(
            trees, most, self.columns, self.offsets, self.probabilities, counts, self.least_posterior, shares
        )
        return counts, float(log_likelihood)


class _Shares(NamedTuple):
    """Output arrays for the contributions of each node to the expected counts.

    Nothing is recorded if ``end`` is empty. If ``number`` and ``share`` are empty, only the number of each
    node's contributions is recorded, in ``end``.

    Attributes:
        end: int64 (n_nodes,); index at which the next contribution of each node is written.
        number: int32 (n_shares,); the parameter to whose count each contribution belongs, as a column of
            `shares_of_nodes`.
        share: float32 (n_shares,); size of each contribution.
        least: contributions smaller than this are left out.
    """

    end: Offsets
    number: Ints
    share: NDArray[np.float32]
    least: float


class _TreeColumns(NamedTuple):
    """Columns of a TreeTable, and offsets of the state vectors of nodes and symbols, for kernels.

    Attributes:
        symbol, event, left, right, parent, tree: int32 (n_nodes,); symbol, event (rule or word with tag),
            children, parent and tree of each node.
        weight: float64 (n_trees,); weight of each tree.
        n_states: int32 (n_symbols,); number of states of each symbol.
        node_offsets: int64 (n_nodes,); where a node's state vector begins in the arrays of `_Vectors`, which
            hold one tree.
        symbol_offsets: int64 (n_symbols + 1,); where a symbol's states begin in ``StateTensors.root``.
    """

    symbol: Ints
    event: Ints
    left: Ints
    right: Ints
    parent: Ints
    tree: Ints
    weight: Floats
    n_states: Ints
    node_offsets: Offsets
    symbol_offsets: Offsets


class _Vectors(NamedTuple):
    """Work arrays of the inside and outside passes over one tree.

    Attributes:
        inside, outside: float64; the values of the states of the tree's nodes, concatenated.
        scale: float64 (n_nodes,); the number by which each node's inside values were divided.
        outer: float64; products of two children's inside values, for each pair of their states; overwritten
            at each node.
        flows: float64; outside values of pairs of children's states; overwritten at each node.
    """

    inside: Floats
    outside: Floats
    scale: Floats
    outer: Floats
    flows: Floats


@fast_kernel
def _expected_counts(trees, most_states, columns, offsets, probabilities, counts, least, shares):
    """Add the expected counts of all trees to ``counts``, and return the natural log-likelihood.

    Args:
        trees: `_TreeColumns`.
        most_states: largest number of states that the nodes of one tree have in total.
        columns: `Columns`.
        offsets: `StateOffsets`.
        probabilities, counts: `StateTensors`; ``counts`` is updated.
        least: ``least_posterior`` of `ObservedTrees`.
        shares: `_Shares`; updated.
    """
    n_nodes = len(trees.symbol)
    most = 1
    for rule in range(len(columns.starts) - 1):
        most = max(most, columns.starts[rule + 1] - columns.starts[rule])
    vectors = _Vectors(
        np.empty(most_states), np.empty(most_states), np.ones(n_nodes), np.empty(most), np.empty(most)
    )
    log_likelihood, first = 0.0, 0
    while first < n_nodes:
        last = first
        while trees.parent[last] >= 0:
            last += 1
        for state in range(trees.node_offsets[last] + trees.n_states[trees.symbol[last]]):
            vectors.outside[state] = 0.0
        log_scale = 0.0
        for node in range(first, last + 1):
            _inside(trees, node, columns, offsets, probabilities, vectors)
            log_scale += np.log(vectors.scale[node])
        total = _begin_outside(trees, last, probabilities, counts, vectors, shares)
        if total > 0.0:
            log_likelihood += trees.weight[trees.tree[last]] * (np.log(total) + log_scale)
        for node in range(last, first - 1, -1):
            _outside(trees, node, columns, offsets, probabilities, counts, vectors, least, shares)
        first = last + 1
    return log_likelihood


@fast_kernel_part
def _inside(trees, node, columns, offsets, probabilities, vectors):
    """Write the inside vector of a node, divided by its largest element, which becomes the node's scale.

    Args:
        trees: `_TreeColumns`.
        node: the node, whose children have inside vectors already.
        columns: `Columns`.
        offsets: `StateOffsets`.
        probabilities: `StateTensors`.
        vectors: `_Vectors` of the node's tree; ``inside`` and ``scale`` are updated.
    """
    inside, at, n_states = vectors.inside, trees.node_offsets, trees.n_states
    left, right, event = trees.left[node], trees.right[node], trees.event[node]
    x, m = at[node], n_states[trees.symbol[node]]
    if left < 0:
        o = offsets.pairs[event]
        for h in range(m):
            inside[x + h] = probabilities.pairs[o + h]
    elif right < 0:
        o, y, m_b = offsets.unary[event], at[left], n_states[trees.symbol[left]]
        for h in range(m):
            value = 0.0
            for g in range(m_b):
                value += probabilities.unary[o + h * m_b + g] * inside[y + g]
            inside[x + h] = value
    else:
        o, outer = offsets.binary[event], vectors.outer
        n = _pairs_of(trees, node, columns, inside, outer)
        for h in range(m):
            value = 0.0
            for column in range(n):
                value += probabilities.binary[o + h * n + column] * outer[column]
            inside[x + h] = value
    peak = 0.0
    for h in range(m):
        peak = max(peak, inside[x + h])
    if peak > 0.0:
        for h in range(m):
            inside[x + h] /= peak
        vectors.scale[node] = peak


@fast_kernel_part
def _pairs_of(trees, node, columns, inside, outer):
    """Write the product of two children's inside values, for each pair of states that their rule allows.

    Args:
        trees: `_TreeColumns`.
        node: a node with two children.
        columns: `Columns`.
        inside: float64; inside values of the states of the tree's nodes.
        outer: float64; output.

    Returns:
        The number of pairs.
    """
    y, z = trees.node_offsets[trees.left[node]], trees.node_offsets[trees.right[node]]
    m_c = trees.n_states[trees.symbol[trees.right[node]]]
    first = columns.starts[trees.event[node]]
    n = columns.starts[trees.event[node] + 1] - first
    for column in range(n):
        g, k = divmod(columns.number[first + column], m_c)
        outer[column] = inside[y + g] * inside[z + k]
    return n


@fast_kernel_part
def _begin_outside(trees, root, probabilities, counts, vectors, shares):
    """Write the outside vector of a tree's root, and add the expected counts of the root's states.

    Args:
        trees: `_TreeColumns`.
        root: the root.
        probabilities, counts: `StateTensors`; ``counts`` is updated.
        vectors: `_Vectors` of the tree, with all inside vectors; ``outside`` is updated.
        shares: `_Shares`; updated.

    Returns:
        The probability of the tree, divided by the scales of its nodes.
    """
    x, r = trees.node_offsets[root], trees.symbol_offsets[trees.symbol[root]]
    m, total = trees.n_states[trees.symbol[root]], 0.0
    for h in range(m):
        vectors.outside[x + h] = probabilities.root[r + h]
        total += probabilities.root[r + h] * vectors.inside[x + h]
    if total > 0.0:
        share = trees.weight[trees.tree[root]] / total
        for h in range(m):
            count = share * probabilities.root[r + h] * vectors.inside[x + h]
            counts.root[r + h] += count
            if len(shares.end):
                first = len(probabilities.binary) + len(probabilities.unary) + len(probabilities.pairs)
                _keep(shares, root, first + r + h, count)
    return total


@fast_kernel_part
def _outside(trees, node, columns, offsets, probabilities, counts, vectors, least, shares):
    """Add the expected counts of a node's rule or word, and write the outside vectors of its children.

    Args:
        trees, columns, offsets, probabilities, counts, least, shares: see `_expected_counts`.
        node: the node.
        vectors: `_Vectors` of the tree, with all inside vectors and the outside vector of this node.
    """
    inside, outside = vectors.inside, vectors.outside
    at, n_states = trees.node_offsets, trees.n_states
    left, right, event = trees.left[node], trees.right[node], trees.event[node]
    x, m, w = at[node], n_states[trees.symbol[node]], trees.weight[trees.tree[node]]
    # Inside values are scaled differently at each node, so the sum of inside · outside normalises them here.
    total = 0.0
    for h in range(m):
        total += outside[x + h] * inside[x + h]
    if total <= 0.0:
        return
    kept = 0.0
    for h in range(m):
        if outside[x + h] * inside[x + h] < least * total:
            outside[x + h] = 0.0
        kept += outside[x + h] * inside[x + h]
    if left < 0:
        o = offsets.pairs[event]
        for h in range(m):
            count = w * outside[x + h] * inside[x + h] / kept
            counts.pairs[o + h] += count
            if len(shares.end):
                _keep(shares, node, len(probabilities.binary) + len(probabilities.unary) + o + h, count)
        return
    norm = kept * vectors.scale[node]  # the sum of the unnormalised posteriors that follow
    if norm <= 0.0:
        return
    y = at[left]
    if right < 0:
        o, m_b = offsets.unary[event], n_states[trees.symbol[left]]
        for h in range(m):
            for g in range(m_b):
                flow = outside[x + h] * probabilities.unary[o + h * m_b + g] / norm
                outside[y + g] += flow
                count = w * flow * inside[y + g]
                counts.unary[o + h * m_b + g] += count
                if len(shares.end):
                    _keep(shares, node, len(probabilities.binary) + o + h * m_b + g, count)
        return
    outer, flows, o, z = vectors.outer, vectors.flows, offsets.binary[event], at[right]
    n = _pairs_of(trees, node, columns, inside, outer)
    for column in range(n):
        flows[column] = 0.0
    for h in range(m):
        scaled = outside[x + h] / norm
        if scaled == 0.0:
            continue
        row = o + h * n
        for column in range(n):
            flow = scaled * probabilities.binary[row + column]
            flows[column] += flow
            counts.binary[row + column] += w * flow * outer[column]
        if len(shares.end):
            for column in range(n):
                count = w * scaled * probabilities.binary[row + column] * outer[column]
                _keep(shares, node, row + column, count)
    m_c, first = n_states[trees.symbol[right]], columns.starts[event]
    for column in range(n):
        g, k = divmod(columns.number[first + column], m_c)
        outside[y + g] += flows[column] * inside[z + k]
        outside[z + k] += flows[column] * inside[y + g]


@fast_kernel_part
def _keep(shares, node, number, share):
    """Record one contribution of a node to an expected count; see `_Shares`.

    Args:
        shares: `_Shares`; updated.
        node: the node.
        number: the parameter to whose count the node contributes, as a column of `shares_of_nodes`.
        share: size of the contribution.
    """
    if share >= shares.least and share > 0.0:
        at = shares.end[node]
        if len(shares.number):
            shares.number[at], shares.share[at] = number, share
        shares.end[node] = at + 1
