"""A forest with the posteriors that grammars give it: the input of decoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.latent import ForestPosteriors
from spectralnlp.parameters import Floats, Ints, LatentGrammar, Offsets


@dataclass(frozen=True)
class ScoredForest:
    """The parses of a sentence, and how probable their parts are.

    Attributes:
        forest: the parses to choose from.
        grammars: the grammars that scored it, one or more.
        leaves: for each grammar, the vectors of the forest's lexical nodes.
        posteriors: for each grammar, its usable posteriors.
        n_brackets: int32 (n_symbols,); constituents that a symbol stands for: 0 for tags and for the
            intermediates of binarisation, 1 for phrases, more for collapsed unary chains.
        rescored: whether a span scorer has changed the posteriors, of which the means over all grammars are
            shares then, and those of a single grammar may be more than 1.
    """

    forest: Forest
    grammars: Sequence[LatentGrammar]
    leaves: Sequence[Floats]
    posteriors: Sequence[ForestPosteriors]
    n_brackets: Ints
    rescored: bool = False

    @cached_property
    def edge_owners(self) -> Offsets:
        """int64 (n_edges,): the node that each hyperedge belongs to."""
        return np.repeat(np.arange(self.forest.n_nodes), np.diff(self.forest.edges))

    @cached_property
    def node_shares(self) -> Floats:
        """float64 (n_grammars, n_nodes): posteriors without their sign, at most 1."""
        return self._shares([each.node for each in self.posteriors])

    @cached_property
    def edge_shares(self) -> Floats:
        """float64 (n_grammars, n_edges): posteriors without their sign, at most 1."""
        return self._shares([each.edge for each in self.posteriors])

    @cached_property
    def mean_node(self) -> Floats:
        """float64 (n_nodes,): the mean of `node_shares` over grammars."""
        return np.asarray(self.node_shares.mean(axis=0))

    @cached_property
    def mean_edge(self) -> Floats:
        """float64 (n_edges,): the mean of `edge_shares` over grammars."""
        return np.asarray(self.edge_shares.mean(axis=0))

    def _shares(self, posteriors: Sequence[Floats]) -> Floats:
        stacked = np.array(posteriors)
        return stacked if self.rescored else np.minimum(np.abs(stacked, out=stacked), 1.0, out=stacked)
