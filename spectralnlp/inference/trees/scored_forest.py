"""A forest with the posteriors that grammars give it: the input of decoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.latent import ForestPosteriors, leaf_vectors, score_forest
from spectralnlp.inference.trees.recursions import prune_forest
from spectralnlp.inference.words.lexical import Lookup
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
        is_coarse: whether none of the grammars that should have could score it, so that the coarse one did.
    """

    forest: Forest
    grammars: Sequence[LatentGrammar]
    leaves: Sequence[Floats]
    posteriors: Sequence[ForestPosteriors]
    n_brackets: Ints
    rescored: bool = False
    is_coarse: bool = False

    __repr__ = one_line

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
        return _mean(self.node_shares)

    @cached_property
    def mean_edge(self) -> Floats:
        """float64 (n_edges,): the mean of `edge_shares` over grammars."""
        return _mean(self.edge_shares)

    def _shares(self, posteriors: Sequence[Floats]) -> Floats:
        stacked = np.array(posteriors)
        return stacked if self.rescored else np.minimum(np.abs(stacked, out=stacked), 1.0, out=stacked)


def _mean(shares: Floats) -> Floats:
    """The mean over grammars; of one, as in pools, the shares themselves."""
    return np.asarray(shares[0] if len(shares) == 1 else shares.mean(axis=0))


def score(
    forest: Forest,
    grammars: ForestGrammars,
    lookup: Lookup,
    *,
    pruner_threshold: float,
    grammar_threshold: float,
) -> ScoredForest | None:
    """Thin a forest, and score what is left with all grammars, or with the coarse one where no other can.

    Args:
        forest: by the coarse grammar.
        grammars: over its symbols and rules.
        lookup: the sentence's words in their lexicon.
        pruner_threshold: least posterior of a hyperedge under the pruning grammar, where there is one.
        grammar_threshold: the same under the last of several grammars; 0 lets all score all.

    Returns:
        None if no grammar can derive anything in it.
    """
    thinned, of_last = forest, None
    if grammars.pruner is not None:
        thinned, _ = _thinned(thinned, grammars.pruner, lookup, pruner_threshold)
    if len(grammars.grammars) > 1 and grammar_threshold > 0.0:
        # The last one is the fastest: its tensors are mostly zeros.
        thinned, of_last = _thinned(thinned, grammars.grammars[-1], lookup, grammar_threshold)
    for is_coarse in (False, True):
        scored, wanted = (forest, (grammars.coarse,)) if is_coarse else (thinned, grammars.grammars)
        usable: list[tuple[LatentGrammar, Floats, ForestPosteriors]] = []
        for number, grammar in enumerate(wanted, start=1):
            leaves = leaf_vectors(scored, grammar, lookup)
            if of_last is not None and number == len(grammars.grammars):
                posteriors = of_last
            else:
                posteriors = score_forest(scored, grammar, leaves)
            if posteriors.usable:
                usable.append((grammar, leaves, posteriors))
        if usable:
            used, leaves_of, posteriors_of = zip(*usable, strict=True)
            return ScoredForest(
                scored, used, leaves_of, posteriors_of, grammars.n_brackets, is_coarse=is_coarse
            )
    return None


def _thinned(
    forest: Forest, grammar: LatentGrammar, lookup: Lookup, threshold: float
) -> tuple[Forest, ForestPosteriors]:
    """The forest without the hyperedges that are improbable under a grammar, and its other posteriors."""
    posteriors = score_forest(forest, grammar, leaf_vectors(forest, grammar, lookup))
    if posteriors.usable:
        thinned, nodes, edges = prune_forest(forest, np.abs(posteriors.edge) >= threshold)
        if thinned.n_roots:
            of_thinned = replace(posteriors, edge=posteriors.edge[edges], node=posteriors.node[nodes])
            return thinned, of_thinned
    return forest, posteriors
