"""Decoders: which tree of a packed forest to give.

All but ``viterbi`` choose the tree that maximises a sum of gains over its hyperedges; they differ
in the gain. Gains come from posteriors, so they are the same whatever basis a grammar's states are in;
spectral posteriors may be negative by sampling error, hence the absolute values (Cohen et al. 2013).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.forest import LEXICAL, TOP, Forest
from spectralnlp.inference.trees.kbest import best_edges, best_trees
from spectralnlp.inference.trees.latent import Scores, vector_offsets
from spectralnlp.jit import kernel
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets, SparseTensors, Tensors


@dataclass(frozen=True)
class Evidence:
    """All that a decoder may look at.

    Attributes:
        forest: the parses to choose from.
        grammars: the grammars that scored it, one or more.
        leaves: for each grammar, the vectors of the forest's lexical nodes.
        scores: for each grammar, its usable posteriors.
        n_brackets: int32 (n_symbols,); constituents that a symbol stands for: 0 for tags and for the
            intermediates of binarisation, 1 for phrases, more for collapsed unary chains.
    """

    forest: Forest
    grammars: Sequence[LatentGrammar]
    leaves: Sequence[Floats]
    scores: Sequence[Scores]
    n_brackets: Ints


class Decoder(Protocol):
    """What a decoder does."""

    def decode(self, evidence: Evidence) -> Ints:
        """The chosen hyperedge of every node, int32 (n_nodes,), -1 where there is none."""

    def k_best(self, evidence: Evidence, k: int) -> list[tuple[float, Ints]]:
        """The k best trees, or as many as the forest has: what each is worth and its choice as in ``decode``.

        They are best first and distinct as binarised trees; several may be one tree once restored.

        Raises:
            ConfigError: the decoder finds one tree only.
        """


class GainDecoder(ABC):
    """A decoder whose best tree is the one with the largest sum of gains over its hyperedges."""

    @abstractmethod
    def gains(self, evidence: Evidence) -> Floats:
        """What each hyperedge is worth, float64 (n_edges,); -inf keeps it out of every tree."""

    def decode(self, evidence: Evidence) -> Ints:
        """See :class:`Decoder`."""
        return best_edges(evidence.forest, self.gains(evidence))

    def k_best(self, evidence: Evidence, k: int) -> list[tuple[float, Ints]]:
        """See :class:`Decoder`."""
        return best_trees(evidence.forest, self.gains(evidence), k)


@dataclass(frozen=True)
class MBRDecoder(GainDecoder):
    """Maximum expected gain in labelled brackets (Goodman 1996), each bracket at a price.

    Without the price γ the decoder adds every improbable bracket that fits, because recall costs it
    nothing; with γ a bracket must have a posterior above γ to pay.

    Args:
        gamma: price of a bracket, in [0, 1).
        tag_weight: what a right tag counts beside a right bracket.
    """

    gamma: float = 0.4
    tag_weight: float = 0.3

    def gains(self, evidence: Evidence) -> Floats:
        """See :class:`GainDecoder`."""
        forest, n_brackets = evidence.forest, evidence.n_brackets
        edge = np.mean([np.minimum(np.abs(s.edge), 1.0) for s in evidence.scores], axis=0)
        node = np.mean([np.minimum(np.abs(s.node), 1.0) for s in evidence.scores], axis=0)
        owner = edge_owners(forest)
        kind, brackets = forest.kind[owner], n_brackets[forest.symbol[owner]]
        gains = np.zeros(forest.n_edges)
        bottom = kind != TOP
        gains[bottom] = brackets[bottom] * (node[owner[bottom]] - self.gamma)
        unary = (kind == TOP) & (forest.rule >= 0)
        gains[unary] = brackets[unary] * (edge[unary] - self.gamma)
        lexical = kind == LEXICAL
        gains[lexical] += self.tag_weight * node[owner[lexical]]
        return gains


@dataclass(frozen=True)
class LabelledRecallDecoder(GainDecoder):
    """Most expected nodes of the binarised tree, tags and intermediates among them (Goodman 1996), as
    the tutorial decodes: argmax of the sum of marginals μ(a, i, j).

    Args:
        absolute: take absolute values of marginals ("Negative Marginals").
    """

    absolute: bool = True

    def gains(self, evidence: Evidence) -> Floats:
        """See :class:`GainDecoder`."""
        forest = evidence.forest
        node = np.mean([np.abs(s.node) if self.absolute else s.node for s in evidence.scores], axis=0)
        edge = np.mean([np.abs(s.edge) if self.absolute else s.edge for s in evidence.scores], axis=0)
        gains = node[edge_owners(forest)]
        top = forest.kind[edge_owners(forest)] == TOP
        gains[top] = np.where(forest.rule[top] >= 0, edge[top], 0.0)
        return gains


@dataclass(frozen=True)
class MaxRuleDecoder(GainDecoder):
    """Max-rule product (Petrov and Klein 2007): the largest product of rule posteriors.

    Args:
        floor: least posterior, so that one hyperedge cannot rule a tree out.
    """

    floor: float = 1e-12

    def gains(self, evidence: Evidence) -> Floats:
        """See :class:`GainDecoder`."""
        gains = sum(np.log(np.maximum(np.abs(s.edge), self.floor)) for s in evidence.scores)
        return np.asarray(gains)


@dataclass(frozen=True)
class ViterbiDecoder:
    """The most probable derivation, states included, of the first grammar without negative parameters.

    For spectral tensors, whose states are known up to an invertible map only, there is no such thing:
    ConfigError where all grammars are of that kind.
    """

    def decode(self, evidence: Evidence) -> Ints:
        """See :class:`Decoder`."""
        proper = [number for number, each in enumerate(evidence.grammars) if not each.is_signed]
        if not proper:
            raise ConfigError(
                "decoder 'viterbi' needs a grammar without negative parameters",
                hint="use --decoder mbr or max-rule",
            )
        grammar, forest = evidence.grammars[proper[0]], evidence.forest
        binary, unary = _sparse_forms(grammar)
        with np.errstate(divide="ignore"):  # logarithms: one derivation of very many can be too small a share
            binary_log, unary_log, factor, root, leaves = map(
                np.log, (binary.values, unary.values, forest.factor, grammar.root, evidence.leaves[proper[0]])
            )
        return _viterbi(
            forest.n_roots, forest.kind, forest.symbol, forest.edges, forest.rule, forest.left,
            forest.right, factor, grammar.n_states, vector_offsets(forest, grammar),
            binary.offsets, binary.states, binary_log, unary.offsets, unary.states, unary_log,
            grammar.state_offsets, root, leaves,
        )  # fmt: skip

    def k_best(self, evidence: Evidence, k: int) -> list[tuple[float, Ints]]:
        """See :class:`Decoder`; always a ConfigError."""
        raise ConfigError(
            "decoder 'viterbi' finds one tree only, not the k best", hint="use --decoder mbr or max-rule"
        )


def edge_owners(forest: Forest) -> Offsets:
    """int64 (n_edges,): the node that each hyperedge belongs to."""
    return np.repeat(np.arange(forest.n_nodes), np.diff(forest.edges))


@lru_cache(maxsize=8)
def _sparse_forms(grammar: LatentGrammar) -> tuple[SparseTensors, SparseTensors]:
    return _sparse(grammar.binary, 3, grammar), _sparse(grammar.unary, 2, grammar)


def _sparse(tensors: Tensors, order: int, grammar: LatentGrammar) -> SparseTensors:
    if not isinstance(tensors, DenseTensors):
        return tensors
    rules = grammar.binary_rules if order == 3 else grammar.unary_rules
    counts, states, values = [0], [np.empty((0, order), np.int32)], [np.empty(0)]
    for r, rule in enumerate(rules):
        block = tensors.values[tensors.offsets[r] : tensors.offsets[r + 1]]
        block = block.reshape(grammar.n_states[rule])
        where = np.argwhere(block)
        counts.append(len(where))
        states.append(where.astype(np.int32))
        values.append(block[tuple(where.T)])
    return SparseTensors(
        offsets=np.cumsum(counts, dtype=np.int64),
        states=np.concatenate(states),
        values=np.concatenate(values),
    )


@kernel
def _viterbi(
    n_roots, kind, symbol, edges, rule, left, right, factor, n_states, offsets,
    binary_offsets, binary_states, binary, unary_offsets, unary_states, unary,
    state_offsets, root, leaves,
):  # fmt: skip
    n_nodes = len(kind)
    best = np.full(offsets[n_nodes], -np.inf)
    best_edge = np.full(offsets[n_nodes], -1, np.int32)
    best_left = np.zeros(offsets[n_nodes], np.int32)
    best_right = np.zeros(offsets[n_nodes], np.int32)
    leaf = len(leaves)
    for node in range(n_nodes - 1, -1, -1):
        m_a, at = n_states[symbol[node]], offsets[node]
        if kind[node] == 2:
            leaf -= m_a
            for h in range(m_a):
                best[at + h] = leaves[leaf + h] + factor[edges[node]]
                best_edge[at + h] = edges[node]
            continue
        for e in range(edges[node], edges[node + 1]):
            r, x = rule[e], offsets[left[e]]
            if kind[node] == 0 and r < 0:
                for h in range(m_a):
                    if best[x + h] > best[at + h]:
                        best[at + h], best_edge[at + h], best_left[at + h] = best[x + h], e, h
            elif kind[node] == 0:
                for t in range(unary_offsets[r], unary_offsets[r + 1]):
                    h, g = at + unary_states[t, 0], unary_states[t, 1]
                    value = unary[t] + best[x + g]
                    if value > best[h]:
                        best[h], best_edge[h], best_left[h] = value, e, g
            else:
                y = offsets[right[e]]
                for t in range(binary_offsets[r], binary_offsets[r + 1]):
                    h, g, k = at + binary_states[t, 0], binary_states[t, 1], binary_states[t, 2]
                    value = factor[e] + binary[t] + best[x + g] + best[y + k]
                    if value > best[h]:
                        best[h], best_edge[h], best_left[h], best_right[h] = value, e, g, k
    choice = np.full(n_nodes, -1, np.int32)
    state = np.full(n_nodes, -1, np.int32)
    largest, start = -np.inf, -1
    for node in range(n_roots):
        for h in range(n_states[symbol[node]]):
            value = root[state_offsets[symbol[node]] + h] + best[offsets[node] + h]
            if value > largest:
                largest, start = value, node
                state[node] = h
    if start < 0:
        return choice
    for node in range(n_nodes):
        if state[node] < 0 or (node < n_roots and node != start):
            continue
        at = offsets[node] + state[node]
        e = best_edge[at]
        choice[node] = e
        if left[e] >= 0:
            state[left[e]] = best_left[at]
        if right[e] >= 0:
            state[right[e]] = best_right[at]
    return choice
