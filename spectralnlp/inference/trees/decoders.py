"""Decoders, which choose the best tree of a packed forest.

All decoders except ``viterbi`` choose the tree with the largest sum of gains over its hyperedges; they define
the gain of a hyperedge differently. Gains are computed from posteriors, which do not depend on the basis of a
grammar's states. Posteriors of spectral grammars may be negative by sampling error, so their absolute values
are used (Cohen et al. 2013).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.forest import LEXICAL, TOP
from spectralnlp.inference.trees.kbest import best_edges, best_trees
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.spans import Span, SpanPosteriors, decode_spans
from spectralnlp.inference.trees.viterbi import best_derivation
from spectralnlp.jit import kernel
from spectralnlp.parameters import Floats, Ints


class Decoder(Protocol):
    """Protocol of decoders, which choose the best tree of a packed forest for a parser.

    Attributes:
        can_pool: whether the decoder can combine grammars of several binarisations, which have no forest in
            common; if not, the parser calls it with the forest of the first binarisation only.
    """

    can_pool: ClassVar[bool]

    def decode(self, scored: ScoredForest) -> Ints:
        """Return the hyperedge of each node in the best tree, int32 (n_nodes,); -1 for nodes outside it.

        Args:
            scored: packed forest of a sentence, with posteriors of nodes and hyperedges.
        """

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """Return the k best trees, best first, or all if the forest has fewer.

        The binarised trees are distinct, but some may become equal when binarisation is undone.

        Args:
            scored: packed forest of a sentence, with posteriors of nodes and hyperedges.
            k: number of trees, one or more.

        Returns:
            For each tree, its total gain and the hyperedge of each node, as ``decode`` returns them.

        Raises:
            ConfigError: the decoder can find only one tree.
        """

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        """Return the labelled spans of the best tree, inner spans before outer ones.

        A decoder can implement this method with :func:`~.spans.decode_spans`.

        Args:
            posteriors: posteriors of spans, averaged over grammars of several binarisations.

        Raises:
            ConfigError: the decoder cannot combine several binarisations (see `can_pool`).
        """


class ForestDecoder(ABC):
    """Base class of decoders that choose a tree of one forest, and cannot combine several binarisations."""

    can_pool: ClassVar[bool] = False

    @abstractmethod
    def decode(self, scored: ScoredForest) -> Ints:
        """Return the hyperedge of each node in the best tree; see :class:`Decoder`."""

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """Raise a ConfigError: this decoder finds only one tree."""
        raise ConfigError(
            f"{type(self).__name__} finds one tree only, not the k best",
            hint="use `decoder` mbr or max-rule",
        )

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        """Raise a ConfigError: this decoder cannot combine grammars of several binarisations."""
        raise ConfigError(
            f"{type(self).__name__} cannot decode a pool of binarisations", hint="use `decoder` mbr"
        )


class GainDecoder(ForestDecoder):
    """A decoder whose best tree is the one with the largest sum of gains over its hyperedges."""

    @abstractmethod
    def gains(self, scored: ScoredForest) -> Floats:
        """Return the gain of each hyperedge, float64 (n_edges,); -inf excludes it from every tree."""

    def decode(self, scored: ScoredForest) -> Ints:
        """Return the hyperedges of the tree with the largest sum of gains; see :class:`Decoder`."""
        return best_edges(scored.forest, self.gains(scored))

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """Return the k trees with the largest sums of gains, best first; see :class:`Decoder`."""
        return best_trees(scored.forest, self.gains(scored), k)


@dataclass(frozen=True)
class MBRDecoder(GainDecoder):
    """Minimum Bayes risk: maximise the expected gain in labelled brackets (Goodman 1996).

    The gain of a bracket is its posterior minus the precision–recall weight γ, so only brackets with a
    posterior above γ are worth adding. With γ = 0 the decoder would add every improbable bracket that fits,
    because only recall counts.

    Args:
        gamma: precision–recall weight γ, in [0, 1).
        tag_weight: gain of a correct tag relative to that of a correct bracket.
    """

    can_pool: ClassVar[bool] = True

    gamma: float = 0.4
    tag_weight: float = 0.3

    def gains(self, scored: ScoredForest) -> Floats:
        """Return the gain of each hyperedge: (posterior - γ) per bracket, plus the gain of a tag."""
        gains: Floats = _mbr_gains(
            scored.forest,
            scored.n_brackets,
            scored.mean_node,
            scored.mean_edge,
            float(self.gamma),
            float(self.tag_weight),
        )
        return gains

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        """Return the labelled spans of the best tree under averaged posteriors; see :class:`Decoder`."""
        return decode_spans(posteriors, gamma=self.gamma, tag_weight=self.tag_weight)


@kernel
def _mbr_gains(forest, n_brackets, node, edge, gamma, tag_weight):
    """Return the gain of each hyperedge for `MBRDecoder`, float64 (n_edges,).

    The gain is (posterior - γ) for each bracket of the hyperedge, plus the weighted posterior of a tag.

    Args:
        forest: `Forest`.
        n_brackets: int32 (n_symbols,); number of constituents that each symbol stands for.
        node, edge: float64; posteriors of nodes and hyperedges.
        gamma, tag_weight: see `MBRDecoder`.
    """
    gains = np.zeros(len(edge))
    for v in range(len(node)):
        brackets = n_brackets[forest.symbol[v]]
        for e in range(forest.edges[v], forest.edges[v + 1]):
            if forest.kind[v] != TOP:
                gains[e] = brackets * (node[v] - gamma)
            elif forest.rule[e] >= 0:
                gains[e] = brackets * (edge[e] - gamma)
            if forest.kind[v] == LEXICAL:
                gains[e] += tag_weight * node[v]
    return gains


@dataclass(frozen=True)
class LabelledRecallDecoder(GainDecoder):
    """Maximise the expected number of correct nodes of the binarised tree (Goodman 1996).

    Tags and intermediate symbols count as nodes. The best tree is the argmax of the sum of the marginals
    μ(a, i, j) of its nodes.

    Args:
        absolute: whether to take the absolute values of marginals, which may be negative by sampling error.
    """

    absolute: bool = True

    def gains(self, scored: ScoredForest) -> Floats:
        """Return the gain of each hyperedge, a posterior averaged over grammars.

        For top nodes, this is the posterior of the hyperedge's unary rule, or 0 if it has none; for other
        nodes, that of the node.
        """
        forest, owner = scored.forest, scored.edge_owners
        node = np.mean([np.abs(p.node) if self.absolute else p.node for p in scored.posteriors], axis=0)
        edge = np.mean([np.abs(p.edge) if self.absolute else p.edge for p in scored.posteriors], axis=0)
        gains: Floats = node[owner]
        top = forest.kind[owner] == TOP
        gains[top] = np.where(forest.rule[top] >= 0, edge[top], 0.0)
        return gains


@dataclass(frozen=True)
class MaxRuleDecoder(GainDecoder):
    """Max-rule product: maximise the product of rule posteriors (Petrov and Klein 2007).

    Args:
        floor: smaller posteriors are raised to this value, so that one hyperedge cannot rule a tree out.
    """

    floor: float = 1e-12

    def gains(self, scored: ScoredForest) -> Floats:
        """Return the gain of each hyperedge: its log posterior, summed over grammars."""
        gains = sum(np.log(np.maximum(np.abs(each.edge), self.floor)) for each in scored.posteriors)
        return np.asarray(gains)


@dataclass(frozen=True)
class ViterbiDecoder(ForestDecoder):
    """Viterbi: find the most probable derivation, states included.

    The first grammar without negative parameters is used. The derivation is not defined for spectral tensors,
    whose states are identified only up to an invertible map.
    """

    def decode(self, scored: ScoredForest) -> Ints:
        """Return the hyperedges of the most probable derivation; see :class:`Decoder`.

        Raises:
            ConfigError: all grammars have negative parameters.
        """
        for grammar, leaves in zip(scored.grammars, scored.leaves, strict=True):
            if not grammar.is_signed:
                return best_derivation(scored.forest, grammar, leaves)
        raise ConfigError(
            "decoder 'viterbi' needs a grammar without negative parameters",
            hint="use `decoder` mbr or max-rule",
        )

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """Raise a ConfigError: this decoder finds only one tree."""
        raise ConfigError(
            "decoder 'viterbi' finds one tree only, not the k best", hint="use `decoder` mbr or max-rule"
        )
