"""Coarse to fine: from values of tags to a packed forest that every grammar has scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.cells import Cells, all_cells, without_model
from spectralnlp.inference.trees.coarse import RuleIndex, inside
from spectralnlp.inference.trees.construction import build_forest, prune_forest
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.labels import bracket_counts
from spectralnlp.inference.trees.latent import ForestPosteriors, leaf_vectors, score_forest
from spectralnlp.inference.trees.lexical import coarse_values
from spectralnlp.inference.trees.limits import SpanLimits
from spectralnlp.inference.trees.opening import NOTHING_REQUIRED, WINDOW, Opening, cues_of, open_cells
from spectralnlp.inference.trees.recognition import ParentIndex, recognise
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.words.lexical import Lookup, are_rare, look_up
from spectralnlp.parameters import CellModel, Floats, GrammarSet, Ints, LatentGrammar, WordClusters
from spectralnlp.text.signatures import Signature, signature_by_name
from spectralnlp.trees import labels_of

# Least posterior of a hyperedge where the usual pruning left nothing to derive.
_LOOSE = 1e-9

# Tokens times symbols up to which no symbol is pruned there; beyond, long sentences would take minutes.
_EXHAUSTIBLE = 20_000

# Beam there for larger sentences.
_LOOSE_BEAM = 1e-8

# Open cells up to which none is closed there where no model says which may be, those of 150 tokens.
_LOOSE_CELLS = 11_325

# Where the cells that open first leave no derivation, more do: with the usual beam up to so many times, and
# from the second time on with one that is wider by this factor.
_NARROW_TRIES, _WIDER = 2, 1e-3


@dataclass(frozen=True)
class Pruning:
    """Thresholds of the coarse pass.

    Args:
        beam: see :func:`~.coarse.inside`.
        node_threshold, edge_threshold: least coarse posterior of a node and of a hyperedge.
        pruner_threshold: least posterior of a hyperedge under the pruning grammar, where there is one.
        grammar_threshold: the same under the last of several grammars, before the others score what is left;
            0 lets all score all.
    """

    beam: float = 1e-3
    node_threshold: float = 1e-4
    edge_threshold: float = 1e-5
    pruner_threshold: float = 1e-4
    grammar_threshold: float = 3e-4

    @classmethod
    def of_pool(cls, n_binarisations: int) -> Pruning:
        """The usual thresholds; higher ones for three binarisations, two of which keep what one has lost.

        These forests are thin, so that another grammar thins them no more.
        """
        if n_binarisations < 3:
            return cls()
        return cls(edge_threshold=3e-5, pruner_threshold=1e-3, grammar_threshold=0.0)


@dataclass(frozen=True)
class Inference:
    """The scored parses of one sentence.

    Attributes:
        scored: the forest and the posteriors of each usable grammar.
        log_probability: natural logarithm of the sentence's probability under the first usable grammar.
        any_tag: whether the sentence needed every tag for every word.
        coarse_only: whether no fine grammar could score it, so that the coarse one did.
    """

    scored: ScoredForest
    log_probability: float
    any_tag: bool
    coarse_only: bool


@dataclass(frozen=True)
class Pipeline:
    """A coarse grammar that makes forests, and the grammars that score them.

    Args:
        coarse: a grammar of one state a symbol.
        grammars: grammars with the same symbols and rules; the coarse one alone will do.
        signature: the lexicons' signature function.
        n_brackets: int32 (n_symbols,); see :class:`~.scored_forest.ScoredForest`.
        pruning: thresholds of the coarse pass.
        pruner: a grammar of a few states that thins the forest before the others score it.
        cells: the model of the cells that open; None to open all.
        clusters: of words, whose tags rare words lean to.
    """

    coarse: LatentGrammar
    grammars: Sequence[LatentGrammar]
    signature: Signature
    n_brackets: Ints
    pruning: Pruning = field(default_factory=Pruning)
    pruner: LatentGrammar | None = None
    cells: CellModel | None = None
    clusters: WordClusters = field(default_factory=WordClusters.none)

    @classmethod
    def of(
        cls,
        grammars: GrammarSet,
        *,
        pruning: Pruning | None = None,
        cells: CellModel | None = None,
        clusters: WordClusters | None = None,
    ) -> Pipeline:
        """The pipeline of the grammars of one binarisation."""
        return cls(
            coarse=grammars.coarse,
            grammars=grammars.grammars,
            signature=signature_by_name(grammars.coarse.lexicon.scheme),
            n_brackets=bracket_counts(grammars.coarse),
            pruning=pruning or Pruning(),
            pruner=grammars.pruner,
            cells=cells,
            clusters=clusters or WordClusters.none(),
        )

    @cached_property
    def rules(self) -> RuleIndex:
        """The coarse grammar's rules, indexed once."""
        return RuleIndex.of(self.coarse)

    @cached_property
    def parent_index(self) -> ParentIndex:
        """The coarse grammar's rules by their parents."""
        return ParentIndex.of(self.coarse)

    @cached_property
    def tag_codes(self) -> NDArray[np.int64]:
        """int64 (n_symbols,); a number for the label that each symbol ends in; see :func:`tag_codes`."""
        return tag_codes(self.coarse)

    @cached_property
    def cluster_factors(self) -> Floats:
        """float64 (n_clusters, n_symbols): the factors that a word's fine cluster gives its tags."""
        column = {tag: number for number, tag in enumerate(self.clusters.tags)}
        factors = np.ones((len(self.clusters.tag_factors), len(self.coarse.symbols)))
        for symbol in np.flatnonzero(self.coarse.is_tag).tolist():
            label = labels_of(self.coarse.symbols[symbol])[-1]
            if label in column:
                factors[:, symbol] = self.clusters.tag_factors[:, column[label]]
        return factors

    def opening(
        self,
        words: Sequence[str],
        allowed: NDArray[np.bool_] | None = None,
        tag_weights: Floats | None = None,
        limits: SpanLimits | None = None,
    ) -> Opening | None:
        """The cells that open for a sentence, for this and other binarisations; None without a model.

        Arguments are as of :meth:`infer`.
        """
        if self.cells is None:
            return None
        found = self._look_up(words, tag_weights)
        values = coarse_values(self.coarse, found, allowed) * self.rules.prior
        cues = cues_of(self.coarse.lexicon, found, values, self.tag_codes)
        opening = open_cells(self.cells, cues, NOTHING_REQUIRED if limits is None else limits.required)
        return replace(opening, lexicon=self.coarse.lexicon, tag_weights=tag_weights, found=found)

    def infer(
        self,
        words: Sequence[str],
        allowed: NDArray[np.bool_] | None = None,
        tag_weights: Floats | None = None,
        limits: SpanLimits | None = None,
        opening: Opening | None = None,
    ) -> Inference | None:
        """Score the parses of a sentence; None when the grammar has no derivation for it.

        Arguments are as of :meth:`attempts`.
        """
        return infer_together([self.attempts(words, allowed, tag_weights, limits, opening)])[0]

    def attempts(
        self,
        words: Sequence[str],
        allowed: NDArray[np.bool_] | None = None,
        tag_weights: Floats | None = None,
        limits: SpanLimits | None = None,
        opening: Opening | None = None,
    ) -> Iterator[Inference | None]:
        """What a sentence's parses score, with ever more cells and less pruning; None where there are none.

        Args:
            words: tokens in the model's conventions, one or more.
            allowed: bool (n_tokens, n_symbols), the tags that each token may have; None for all.
            tag_weights: float64 (n_tokens, n_symbols), factors of the tags' values; None for ones.
            limits: what may stand over spans; None for anything.
            opening: which cells may open, for the same limits; None for all, and for narrower ones beyond
                400 tokens.
        """
        found = None if opening is None else opening.found_in(self.coarse.lexicon, tag_weights)
        if found is None:
            found = self._look_up(words, tag_weights)
        with_tags = without_tags = True  # whether there may be a derivation
        for number, (cells, pruning, any_tag) in enumerate(self._tries(len(words), opening, limits)):
            if number == 1 and limits is not None and len(words) <= WINDOW:
                with_tags = self.derives(words, allowed, limits, any_tag=False)
                without_tags = with_tags or self.derives(words, allowed, limits)
            if not (without_tags if any_tag else with_tags):
                yield None
                continue
            values = coarse_values(self.coarse, found, allowed, any_tag=any_tag)
            chart = inside(self.rules, values, beam=pruning.beam, cells=cells, limits=limits)
            if chart.total <= 0:
                yield None
                continue
            forest = build_forest(
                chart,
                self.rules,
                node_threshold=pruning.node_threshold,
                edge_threshold=pruning.edge_threshold,
            )
            yield self._score(forest, found, self.grammars, pruning, any_tag) or self._score(
                forest, found, (self.coarse,), pruning, any_tag
            )

    def derives(
        self,
        words: Sequence[str],
        allowed: NDArray[np.bool_] | None,
        limits: SpanLimits | None,
        *,
        any_tag: bool = True,
    ) -> bool:
        """Whether there is a derivation, with nothing pruned.

        Arguments are as of :meth:`attempts`; ``any_tag`` lets every word have every tag.
        """
        values = coarse_values(self.coarse, self._look_up(words, None), allowed, any_tag=any_tag)
        cells = all_cells(len(words)) if limits is None else limits.open(all_cells(len(words)))
        return recognise(self.parent_index, values > 0, cells, limits)

    def _look_up(self, words: Sequence[str], tag_weights: Floats | None) -> Lookup:
        """The entries of words; the clusters of rare ones weigh their tags where nothing else does."""
        found = look_up(self.coarse.lexicon, words, self.signature)
        if tag_weights is None and self.clusters.tags:
            rare = are_rare(self.coarse.lexicon, found.entries)
            fine = [self.clusters.of(word)[1] for word in words]
            tag_weights = self.cluster_factors[np.where(rare, fine, 0)]
        return found if tag_weights is None else replace(found, tag_weights=tag_weights)

    def _tries(
        self, n_tokens: int, opening: Opening | None, limits: SpanLimits | None = None
    ) -> Iterator[tuple[Cells, Pruning, bool]]:
        """Open cells, how to prune, and whether to allow every tag, in turn until there is a derivation."""
        usual = self.pruning
        if limits is not None:  # posteriors under constraints are exact
            usual = replace(usual, grammar_threshold=0.0)
        wider = replace(usual, beam=_WIDER * usual.beam)
        if opening is not None:
            for number, cells in enumerate(opening.tries()):
                if number < _NARROW_TRIES:
                    yield cells, usual, False
                if number > 0:
                    yield cells, wider, False
                    if n_tokens > WINDOW:  # to open all would take minutes
                        yield cells, wider, True

        def opened(cells: Cells) -> Cells:
            return cells if limits is None else limits.open(cells)

        everything = opened(without_model(n_tokens)) if opening is None else opening.cells
        yield everything, usual, False
        beam = 0.0 if n_tokens * len(self.coarse.symbols) <= _EXHAUSTIBLE else _LOOSE_BEAM
        loose = Pruning(beam, 0.0, _LOOSE, _LOOSE, _LOOSE)
        if opening is None:
            everything = opened(without_model(n_tokens, most=_LOOSE_CELLS))
        yield everything, loose, False
        if limits is not None and n_tokens <= WINDOW:  # a constraint is impossible only if nothing is pruned
            everything = opened(without_model(n_tokens))
            unpruned = replace(loose, beam=0.0)
            yield everything, unpruned, False
            yield everything, wider, True
            yield everything, loose, True
            yield everything, unpruned, True
        else:
            yield everything, loose, True

    def _score(
        self,
        forest: Forest,
        found: Lookup,
        grammars: Sequence[LatentGrammar],
        pruning: Pruning,
        any_tag: bool,
    ) -> Inference | None:
        """Score the forest; None if no grammar can derive anything in it."""
        if self.pruner is not None and grammars is self.grammars:
            forest, _ = self._thinned(forest, self.pruner, found, pruning.pruner_threshold)
        of_last = None
        if len(grammars) > 1 and pruning.grammar_threshold > 0.0:
            # The last one is the fastest: its tensors are mostly zeros.
            forest, of_last = self._thinned(forest, grammars[-1], found, pruning.grammar_threshold)
        usable: list[tuple[LatentGrammar, Floats, ForestPosteriors]] = []
        for grammar in grammars:
            leaves = leaf_vectors(forest, grammar, found)
            if of_last is not None and grammar is grammars[-1]:
                posteriors = of_last
            else:
                posteriors = score_forest(forest, grammar, leaves)
            if posteriors.usable:
                usable.append((grammar, leaves, posteriors))
        if not usable:
            return None
        used, leaves_of, posteriors_of = zip(*usable, strict=True)
        return Inference(
            ScoredForest(
                forest=forest,
                grammars=used,
                leaves=leaves_of,
                posteriors=posteriors_of,
                n_brackets=self.n_brackets,
            ),
            posteriors_of[0].log_total + found.log_weight,
            any_tag,
            coarse_only=grammars is not self.grammars,
        )

    def _thinned(
        self, forest: Forest, grammar: LatentGrammar, found: Lookup, threshold: float
    ) -> tuple[Forest, ForestPosteriors]:
        """The forest without the hyperedges that are improbable under a grammar, and its other posteriors."""
        posteriors = score_forest(forest, grammar, leaf_vectors(forest, grammar, found))
        if posteriors.usable:
            thinned, nodes, edges = prune_forest(forest, np.abs(posteriors.edge) >= threshold)
            if thinned.n_roots:
                of_thinned = replace(posteriors, edge=posteriors.edge[edges], node=posteriors.node[nodes])
                return thinned, of_thinned
        return forest, posteriors


def infer_together(attempts: Sequence[Iterator[Inference | None]]) -> list[Inference | None]:
    """What several binarisations find in a sentence, as many attempts each until one of them has scores.

    Binarisations that fail where another does not are left out: more attempts take many times as long as the
    first, and the mean of the others is about as good.

    Args:
        attempts: :meth:`Pipeline.attempts` of each.

    Returns:
        For each its scores, or None; coarse ones only where none has others.
    """
    coarse: list[Inference | None] = [None] * len(attempts)
    for found in zip(*attempts, strict=True):
        fine = [each if each and not each.coarse_only else None for each in found]
        if any(fine):
            return fine
        coarse = [first or now for first, now in zip(coarse, found, strict=True)]
    return coarse


def tag_codes(grammar: LatentGrammar) -> NDArray[np.int64]:
    """A number for the label that each symbol ends in, int64 (n_symbols,); 0 for intermediates."""
    labels = (labels_of(symbol) for symbol in grammar.symbols)
    return np.array([crc32(label[-1].encode()) if label else 0 for label in labels], np.int64)


def decode(inference: Inference, decoder: Decoder) -> Ints:
    """The chosen hyperedge of each node of the forest; see :class:`~.decoders.Decoder`."""
    return decoder.decode(inference.scored)
