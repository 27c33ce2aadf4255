"""Decoders: which tree of a packed forest to give.

All but ``viterbi`` choose the tree that maximises a sum of gains over its hyperedges; they differ
in the gain. Gains come from posteriors, so they are the same whatever basis a grammar's states are in;
spectral posteriors may be negative by sampling error, hence the absolute values (Cohen et al. 2013).
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
    """The methods that a parser calls.

    Attributes:
        can_pool: whether the decoder has a tree for grammars of several binarisations, which share no forest;
            where it has not, the parser gives it the first binarisation's forest.
    """

    can_pool: ClassVar[bool]

    def decode(self, scored: ScoredForest) -> Ints:
        """The chosen hyperedge of every node, int32 (n_nodes,), -1 where there is none."""

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """The k best trees, or as many as the forest has: the worth of each, and its choice as in ``decode``.

        They are best first and distinct as binarised trees; several may be one tree once restored.

        Raises:
            ConfigError: the decoder finds one tree only.
        """

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        """The labelled spans of a tree, a span after those inside it; see :func:`~.spans.decode_spans`.

        Args:
            posteriors: averaged over grammars of several binarisations.

        Raises:
            ConfigError: the decoder cannot pool.
        """


class ForestDecoder(ABC):
    """A decoder that needs one forest."""

    can_pool: ClassVar[bool] = False

    @abstractmethod
    def decode(self, scored: ScoredForest) -> Ints:
        """See :class:`Decoder`."""

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """See :class:`Decoder`; a ConfigError here."""
        raise ConfigError(
            f"{type(self).__name__} finds one tree only, not the k best",
            hint="use `decoder` mbr or max-rule",
        )

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        """See :class:`Decoder`; a ConfigError here."""
        raise ConfigError(
            f"{type(self).__name__} cannot decode a pool of binarisations", hint="use `decoder` mbr"
        )


class GainDecoder(ForestDecoder):
    """A decoder whose best tree is the one with the largest sum of gains over its hyperedges."""

    @abstractmethod
    def gains(self, scored: ScoredForest) -> Floats:
        """The gain of each hyperedge, float64 (n_edges,); -inf keeps it out of every tree."""

    def decode(self, scored: ScoredForest) -> Ints:
        """See :class:`Decoder`."""
        return best_edges(scored.forest, self.gains(scored))

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """See :class:`Decoder`."""
        return best_trees(scored.forest, self.gains(scored), k)


@dataclass(frozen=True)
class MBRDecoder(GainDecoder):
    """Maximum expected gain in labelled brackets (Goodman 1996), each bracket at a price.

    Without the price γ the decoder adds every improbable bracket that fits, because recall costs it
    nothing; with γ a bracket must have a posterior above γ to pay.

    Args:
        gamma: price of a bracket, in [0, 1).
        tag_weight: worth of a right tag beside a right bracket.
    """

    can_pool: ClassVar[bool] = True

    gamma: float = 0.4
    tag_weight: float = 0.3

    def gains(self, scored: ScoredForest) -> Floats:
        """See :class:`GainDecoder`."""
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
        """See :class:`Decoder`."""
        return decode_spans(posteriors, gamma=self.gamma, tag_weight=self.tag_weight)


@kernel
def _mbr_gains(forest, n_brackets, node, edge, gamma, tag_weight):
    """The gain of each hyperedge: what its bracket has more than γ, and a tag's share."""
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
    """Most expected nodes of the binarised tree, tags and intermediates among them (Goodman 1996).

    The tutorial decodes like this: argmax of the sum of marginals μ(a, i, j).

    Args:
        absolute: take absolute values of marginals ("Negative Marginals").
    """

    absolute: bool = True

    def gains(self, scored: ScoredForest) -> Floats:
        """See :class:`GainDecoder`."""
        forest, owner = scored.forest, scored.edge_owners
        node = np.mean([np.abs(p.node) if self.absolute else p.node for p in scored.posteriors], axis=0)
        edge = np.mean([np.abs(p.edge) if self.absolute else p.edge for p in scored.posteriors], axis=0)
        gains: Floats = node[owner]
        top = forest.kind[owner] == TOP
        gains[top] = np.where(forest.rule[top] >= 0, edge[top], 0.0)
        return gains


@dataclass(frozen=True)
class MaxRuleDecoder(GainDecoder):
    """Max-rule product (Petrov and Klein 2007): the largest product of rule posteriors.

    Args:
        floor: least posterior, so that one hyperedge cannot rule a tree out.
    """

    floor: float = 1e-12

    def gains(self, scored: ScoredForest) -> Floats:
        """See :class:`GainDecoder`."""
        gains = sum(np.log(np.maximum(np.abs(each.edge), self.floor)) for each in scored.posteriors)
        return np.asarray(gains)


@dataclass(frozen=True)
class ViterbiDecoder(ForestDecoder):
    """The most probable derivation, states included, of the first grammar without negative parameters.

    For spectral tensors, whose states are known up to an invertible map only, there is no such thing:
    ConfigError where all grammars are of that kind.
    """

    def decode(self, scored: ScoredForest) -> Ints:
        """See :class:`Decoder`."""
        for grammar, leaves in zip(scored.grammars, scored.leaves, strict=True):
            if not grammar.is_signed:
                return best_derivation(scored.forest, grammar, leaves)
        raise ConfigError(
            "decoder 'viterbi' needs a grammar without negative parameters",
            hint="use `decoder` mbr or max-rule",
        )

    def k_best(self, scored: ScoredForest, k: int) -> list[tuple[float, Ints]]:
        """See :class:`Decoder`; always a ConfigError."""
        raise ConfigError(
            "decoder 'viterbi' finds one tree only, not the k best", hint="use `decoder` mbr or max-rule"
        )
