"""The grammars with which a parser parses, and indices and tables of their rules that are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.labels import bracket_counts, tag_codes
from spectralnlp.inference.trees.limits import Chains, LabelTable
from spectralnlp.inference.trees.recognition import ParentIndex
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, WordClusters
from spectralnlp.text.signatures import Signature, is_sign, signature_by_name
from spectralnlp.trees import labels_of

_STRANGE = 1e-6  # factor of unlikely tags, which remain possible


@dataclass(frozen=True)
class ForestGrammars:
    """The grammars learned from one binarisation of a treebank, prepared for parsing.

    A coarse grammar makes packed forests, and the other grammars score them.

    Args:
        coarse: a grammar with one state per symbol.
        grammars: one or more grammars with the same symbols and rules; may be the coarse grammar alone.
        signature: function that returns the signature (spelling class) of an unknown word.
        n_brackets: int32 (n_symbols,); number of constituents that each symbol stands for: 0 for tags and
            intermediate symbols, 1 for phrases, more for collapsed unary chains.
        pruner: a grammar with a few states that prunes the forest before ``grammars`` score it; or None.
        chains: the full unary chain that a unary rule stands for, for each pair (top, bottom) of labels.
        clusters: word clusters, by which the tags of rare words are reweighted.
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
        """Prepare a stored grammar set for parsing, together with the parser's word clusters."""
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
        """The phrase labels that each symbol and unary rule stands for, to enforce bracket constraints."""
        return LabelTable.of_grammar(self.coarse, self.chains)

    @cached_property
    def tag_codes(self) -> NDArray[np.int64]:
        """A hash of each symbol's label, int64 (n_symbols,); a tag has the same hash in all grammars."""
        return tag_codes(self.coarse)

    def with_tags_of_signs(self, words: Sequence[str], found: Lookup) -> Lookup:
        """Return a lookup in which signs, such as bullets and emoji, hardly have other tags than one.

        Otherwise their tags vary from sentence to sentence. It is the most typical tag of the sign, or SYM if
        the sign is rare; nothing changes for rare ones if the grammar lacks this tag.

        Args:
            words: the tokens of a sentence.
            found: their lexicon entries.
        """
        places = [n for n, word in enumerate(words) if is_sign(word)]
        if not places:
            return found
        weights = found.tag_weights
        weights = np.ones((len(words), len(self.coarse.symbols))) if weights is None else weights.copy()
        for n in places:
            tag = self._symbol_tag if found.is_rare[n] else self._typical_tag(int(found.entries[n]))
            if tag >= 0:
                weights[n] = np.where(np.arange(len(self.coarse.symbols)) == tag, 1.0, _STRANGE)
        return replace(found, tag_weights=weights)

    def _typical_tag(self, entry: int) -> int:
        """Return the tag whose share is raised most by a lexicon entry."""
        lexicon = self.coarse.lexicon  # with one value for each tag, p(tag | word) / p(tag)
        rows = slice(lexicon.starts[entry], lexicon.starts[entry + 1])
        return int(lexicon.tags[rows][np.argmax(lexicon.values[rows])])

    @cached_property
    def _symbol_tag(self) -> int:
        labels = [(labels_of(symbol) or ("",))[-1] for symbol in self.coarse.symbols]
        return labels.index("SYM") if "SYM" in labels else -1

    @cached_property
    def cluster_factors(self) -> Floats:
        """The ratio p(tag | fine cluster) / p(tag) for rare words, float64 (n_clusters, n_symbols)."""
        column = {tag: number for number, tag in enumerate(self.clusters.tags)}
        factors = np.ones((len(self.clusters.tag_factors), len(self.coarse.symbols)))
        for symbol in np.flatnonzero(self.coarse.is_tag).tolist():
            label = labels_of(self.coarse.symbols[symbol])[-1]
            if label in column:
                factors[:, symbol] = self.clusters.tag_factors[:, column[label]]
        return factors
