"""The grammars of one binarisation, with the indices and tables that parsing needs, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.labels import bracket_counts, tag_codes
from spectralnlp.inference.trees.limits import Chains, LabelTable
from spectralnlp.inference.trees.recognition import ParentIndex
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, WordClusters
from spectralnlp.text.signatures import Signature, signature_by_name
from spectralnlp.trees import labels_of


@dataclass(frozen=True)
class ForestGrammars:
    """Grammars of one binarisation: a coarse grammar that makes forests, and others that score them.

    Args:
        coarse: a grammar with one state per symbol.
        grammars: one or more grammars with the same symbols and rules; the coarse one may be the only one.
        signature: function that returns the signature (spelling class) of an unknown word.
        n_brackets: int32 (n_symbols,); see :class:`~.scored_forest.ScoredForest`.
        pruner: a grammar with a few states that prunes the forest before the others score it; None for none.
        chains: the full unary chain that a unary rule stands for, for each pair (top, bottom) of labels.
        clusters: word clusters, whose tag factors apply to rare words.
    """

    coarse: LatentGrammar
    grammars: Sequence[LatentGrammar]
    signature: Signature
    n_brackets: Ints
    pruner: LatentGrammar | None = None
    chains: Chains = field(default_factory=dict)
    clusters: WordClusters = field(default_factory=WordClusters.none)

    @classmethod
    def of(cls, grammars: GrammarSet, clusters: WordClusters) -> ForestGrammars:
        """Return the grammars of one binarisation of a parser, with the word clusters."""
        return cls(
            coarse=grammars.coarse,
            grammars=grammars.grammars,
            signature=signature_by_name(grammars.coarse.lexicon.scheme),
            n_brackets=bracket_counts(grammars.coarse),
            pruner=grammars.pruner,
            chains=grammars.chains,
            clusters=clusters,
        )

    @cached_property
    def rules(self) -> RuleIndex:
        """The coarse grammar's rules, indexed by children and by parent."""
        return RuleIndex.of(self.coarse)

    @cached_property
    def parent_index(self) -> ParentIndex:
        """The coarse grammar's rules, indexed by parent, to decide whether a sentence has a derivation."""
        return ParentIndex.of(self.coarse)

    @cached_property
    def label_table(self) -> LabelTable:
        """The phrase labels that a span has for each symbol or unary rule over it, to check constraints."""
        return LabelTable.of_grammar(self.coarse, self.chains)

    @cached_property
    def tag_codes(self) -> NDArray[np.int64]:
        """A hash of each symbol's lowest label, equal in all grammars; see :func:`~.labels.tag_codes`."""
        return tag_codes(self.coarse)

    @cached_property
    def cluster_factors(self) -> Floats:
        """The factor of each tag for words of each fine cluster, float64 (n_clusters, n_symbols)."""
        column = {tag: number for number, tag in enumerate(self.clusters.tags)}
        factors = np.ones((len(self.clusters.tag_factors), len(self.coarse.symbols)))
        for symbol in np.flatnonzero(self.coarse.is_tag).tolist():
            label = labels_of(self.coarse.symbols[symbol])[-1]
            if label in column:
                factors[:, symbol] = self.clusters.tag_factors[:, column[label]]
        return factors
