"""Score packed forests: posteriors of nodes and hyperedges under grammars, the input of decoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    """The packed forest of a sentence with posteriors of its nodes and hyperedges.

    Attributes:
        forest: the parses to choose from.
        grammars: the grammars that scored the forest, one or more.
        leaves: for each grammar, the vectors of the forest's lexical nodes.
        posteriors: for each grammar, the posteriors of nodes and hyperedges under it; all are finite.
        n_brackets: int32 (n_symbols,); number of constituents that a symbol stands for: 0 for tags and for
            the intermediate symbols of binarisation, 1 for phrases, more for collapsed unary chains.
        node_shares, edge_shares: float64 (n_grammars, n_nodes) and (n_grammars, n_edges); absolute values of
            the posteriors, at most 1. After a span scorer has changed them, only their means over grammars
            are probabilities; those under a single grammar may exceed 1.
        is_coarse: whether only the coarse grammar could score the forest.
    """

    forest: Forest
    grammars: Sequence[LatentGrammar]
    leaves: Sequence[Floats]
    posteriors: Sequence[ForestPosteriors]
    n_brackets: Ints
    node_shares: Floats
    edge_shares: Floats
    is_coarse: bool = False

    __repr__ = one_line

    @property
    def edge_owners(self) -> Offsets:
        """The parent node of each hyperedge, int64 (n_edges,)."""
        return np.repeat(np.arange(self.forest.n_nodes), np.diff(self.forest.edges))

    @property
    def mean_node(self) -> Floats:
        """The posterior of each node, float64 (n_nodes,): the mean of `node_shares` over grammars."""
        return _mean(self.node_shares)

    @property
    def mean_edge(self) -> Floats:
        """The posterior of each hyperedge, float64 (n_edges,): the mean of `edge_shares` over grammars."""
        return _mean(self.edge_shares)

    @classmethod
    def of(
        cls,
        forest: Forest,
        scores: Sequence[tuple[LatentGrammar, Floats, ForestPosteriors]],
        n_brackets: Ints,
        *,
        is_coarse: bool = False,
    ) -> ScoredForest:
        """Return a forest with its scores, one or more: grammar, vectors of lexical nodes, and posteriors."""
        grammars, leaves, posteriors = zip(*scores, strict=True)
        node, edge = (
            np.array([each.node for each in posteriors]),
            np.array([each.edge for each in posteriors]),
        )
        for shares in (node, edge):
            np.minimum(np.abs(shares, out=shares), 1.0, out=shares)
        return cls(forest, grammars, leaves, posteriors, n_brackets, node, edge, is_coarse)


def _mean(shares: Floats) -> Floats:
    """Return the mean over grammars (the first axis), without a copy if there is one grammar."""
    return np.asarray(shares[0] if len(shares) == 1 else shares.mean(axis=0))


def score(
    forest: Forest,
    grammars: ForestGrammars,
    lookup: Lookup,
    *,
    pruner_threshold: float,
    grammar_threshold: float,
) -> ScoredForest | None:
    """Prune a forest, and compute the posteriors of its nodes and hyperedges under all grammars.

    If no grammar has usable (finite) posteriors, the coarse grammar scores the unpruned forest instead.

    Args:
        forest: a forest made by the coarse grammar.
        grammars: grammars over the forest's symbols and rules.
        lookup: the sentence's words in the grammars' lexicon.
        pruner_threshold: least posterior of a hyperedge under the pruning grammar, if there is one.
        grammar_threshold: least posterior of a hyperedge under the last of several grammars; 0 for no such
            pruning.

    Returns:
        The scored forest; None if the posteriors of the coarse grammar are not usable either.
    """
    thinned, of_last = forest, None
    if grammars.pruner is not None:
        thinned, _ = _thinned(thinned, grammars.pruner, lookup, pruner_threshold)
    if len(grammars.grammars) > 1 and grammar_threshold > 0.0:
        # The last grammar is the fastest, because its tensors are mostly zeros.
        thinned, of_last = _thinned(thinned, grammars.grammars[-1], lookup, grammar_threshold)
    usable = _usable(thinned, grammars.grammars, lookup, of_last)
    if usable:
        return ScoredForest.of(thinned, usable, grammars.n_brackets)
    usable = _usable(forest, (grammars.coarse,), lookup)
    return ScoredForest.of(forest, usable, grammars.n_brackets, is_coarse=True) if usable else None


def _usable(
    forest: Forest,
    grammars: Sequence[LatentGrammar],
    lookup: Lookup,
    of_last: ForestPosteriors | None = None,
) -> list[tuple[LatentGrammar, Floats, ForestPosteriors]]:
    """Return the scores of a forest by those grammars whose posteriors are usable.

    Args:
        forest: the forest.
        grammars: the grammars.
        lookup: the sentence's words in the grammars' lexicon.
        of_last: posteriors under the last grammar if they are known; None to compute them.

    Returns:
        For each of these grammars: the grammar, vectors of the lexical nodes, and posteriors.
    """
    leaves = [leaf_vectors(forest, grammar, lookup) for grammar in grammars]
    n_unknown = len(grammars) - (of_last is not None)
    pairs = zip(grammars[:n_unknown], leaves, strict=False)
    posteriors = [score_forest(forest, grammar, vectors) for grammar, vectors in pairs]
    if of_last is not None:
        posteriors.append(of_last)
    return [each for each in zip(grammars, leaves, posteriors, strict=True) if each[2].usable]


def _thinned(
    forest: Forest, grammar: LatentGrammar, lookup: Lookup, threshold: float
) -> tuple[Forest, ForestPosteriors]:
    """Return a forest without the hyperedges whose posterior under a grammar is below a threshold.

    Returns:
        The pruned forest, and the posteriors of its nodes and hyperedges under the grammar. The forest is
        returned unchanged if the posteriors are not usable or nothing would be left.
    """
    posteriors = score_forest(forest, grammar, leaf_vectors(forest, grammar, lookup))
    if posteriors.usable:
        thinned, nodes, edges = prune_forest(forest, np.abs(posteriors.edge) >= threshold)
        if thinned.n_roots:
            of_thinned = replace(posteriors, edge=posteriors.edge[edges], node=posteriors.node[nodes])
            return thinned, of_thinned
    return forest, posteriors
