"""The way of a sentence: from its words to a tree, one call a stage.

::

    sentence = parser.look_up(words, tags, constraints)
    sentence = parser.open_cells(sentence)
    forests = parser.infer(sentence)  # inside, build_forest, score
    forests = parser.rescore(forests)
    tree = parser.decode(forests, decoder)

What a sentence brings is found once, in the first two lines, and handed on. The coarse grammar's chart is
pruned into a packed forest; the pruner and the last grammar thin it, and all grammars score what is left. A
span scorer weighs the labels of spans anew. A decoder chooses a tree of one forest, or brackets of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.inference.trees.cells import Cells, all_cells, without_model
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.derivations import derivation_tree
from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.labels import symbols_of_tags
from spectralnlp.inference.trees.limits import SpanLimits, limits_of
from spectralnlp.inference.trees.opening import NOTHING_REQUIRED, WINDOW, Opening, cues_of, open_cells
from spectralnlp.inference.trees.pool import Pool
from spectralnlp.inference.trees.recognition import recognise
from spectralnlp.inference.trees.rescoring.rescorer import SpanRescorer
from spectralnlp.inference.trees.scored_forest import ScoredForest, score
from spectralnlp.inference.words.lexical import Lookup, coarse_values, look_up
from spectralnlp.parameters import CellModel, Floats, GrammarSet, Ints, SpanScorer, WordClusters
from spectralnlp.text.constraints import Constraints
from spectralnlp.trees import Tree, restore

# Tags of a sentence's words; None for a word that may have any.
Tags = Sequence[str | None]


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
        return cls(beam=2e-3, edge_threshold=3e-5, pruner_threshold=1e-3, grammar_threshold=0.0)


# Next to no pruning. The beam is 0 for a sentence of up to so many tokens times symbols; longer ones
# would take long (a hundred opening brackets 3.3 CPU seconds, 0.4 with the beam of `_LOOSE`).
_LOOSE, _EXHAUSTIBLE = Pruning(1e-8, 0.0, 1e-9, 1e-9, 1e-9), 4_000

# Cells that are open then where no model says which may be, those of 150 tokens.
_LOOSE_CELLS = 11_325


@dataclass(frozen=True)
class SentenceInput:
    """What a sentence brings to its parses, found once.

    Attributes:
        words: tokens in the model's conventions.
        tags: that the words must have; None where they may have any.
        constraints: on the tree.
        lookups: the words in the lexicon of each binarisation that is to parse them.
        allowed: for each, bool (n_tokens, n_symbols), the tags that each token may have; None for all.
        tag_values: for each, float64 (n_tokens, n_symbols), values of tags under the coarse grammar.
        limits: for each, what may stand over spans; None for anything.
        cells: those that open first, for all binarisations; None before the stage that opens them.
        opening: marginals of all that may open; None where no model knows them.
    """

    words: Sequence[str]
    tags: Tags | None
    constraints: Constraints | None
    lookups: tuple[Lookup, ...]
    allowed: tuple[NDArray[np.bool_] | None, ...]
    tag_values: tuple[Floats, ...]
    limits: tuple[SpanLimits | None, ...]
    cells: Cells | None = None
    opening: Opening | None = None

    __repr__ = one_line


class Retry(NamedTuple):
    """How a sentence is tried again where there was no derivation before.

    Attributes:
        least_marginal: of the cells that open; 0 opens all that may.
        is_loose: whether next to nothing is pruned, or the usual with a beam that is wider by 1e-3.
        any_tag: whether every word may have every tag.
        applies: whether it is tried for a sentence.
    """

    least_marginal: float
    is_loose: bool
    any_tag: bool
    applies: Callable[[SentenceInput], bool]


RETRIES = (
    Retry(1e-9, is_loose=False, any_tag=False, applies=lambda sentence: sentence.opening is not None),
    Retry(0.0, is_loose=True, any_tag=False, applies=lambda sentence: True),
    Retry(0.0, is_loose=True, any_tag=True, applies=lambda sentence: True),
)


@dataclass(frozen=True)
class Forests:
    """The scored parses of a sentence.

    Attributes:
        sentence: of which they are.
        scored: a forest by the number of its binarisation; none in a sentence that has no derivation.
        log_probability: natural logarithm of the sentence's probability under the first usable grammar.
        any_tag: whether the sentence needed every tag for every word.
        coarse_only: whether no fine grammar could score it, so that the coarse ones did.
    """

    sentence: SentenceInput
    scored: Mapping[int, ScoredForest]
    log_probability: float = -np.inf
    any_tag: bool = False
    coarse_only: bool = False

    __repr__ = one_line

    @classmethod
    def of(cls, sentence: SentenceInput, scored: Mapping[int, ScoredForest], **what: bool) -> Forests:
        """The forests of one or more binarisations."""
        number, first = next(iter(scored.items()))
        log_probability = first.posteriors[0].log_total + sentence.lookups[number].log_weight
        return cls(sentence, scored, log_probability, **what)

    @property
    def first(self) -> tuple[int, ScoredForest]:
        """The first binarisation that has a forest, and this."""
        return next(iter(self.scored.items()))


@dataclass(frozen=True)
class ForestParser:
    """Parses sentences with grammars of one or more binarisations.

    Args:
        grammars: one for each binarisation.
        pruning: thresholds of the coarse pass.
        cells: the model of the cells that open; None to open all.
        scorer: weighs the labels of spans anew; None without.
    """

    grammars: Sequence[ForestGrammars]
    pruning: Pruning = field(default_factory=Pruning)
    cells: CellModel | None = None
    scorer: SpanScorer | None = None

    __repr__ = one_line

    @classmethod
    def of(
        cls,
        sets: Sequence[GrammarSet],
        *,
        pruning: Pruning,
        cells: CellModel | None,
        clusters: WordClusters,
        scorer: SpanScorer | None = None,
    ) -> ForestParser:
        """Index the grammars of a parser; arguments are as of the class and of `ForestGrammars`."""
        return cls([ForestGrammars.of(each, clusters) for each in sets], pruning, cells, scorer)

    def look_up(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        constraints: Constraints | None = None,
        *,
        tag_weights: Sequence[Floats] | None = None,
        pooled: bool = True,
    ) -> SentenceInput:
        """Find a sentence's words in the lexicons, and what its tags and constraints allow.

        Args:
            words: tokens in the model's conventions, one or more.
            tags: that the words must have.
            constraints: on the tree.
            tag_weights: for each binarisation, float64 (n_tokens, n_symbols), factors of the tags' values;
                None to let the clusters of rare words weigh theirs.
            pooled: whether all binarisations are to parse it, or the first alone.
        """
        given = merge_tags(tags, constraints, len(words))
        lookups: list[Lookup] = []
        allowed, values, limits = [], [], []
        for number, each in enumerate(self.grammars if pooled else self.grammars[:1]):
            same = self.same_words[number]
            found = look_up(each.coarse.lexicon, words, each.signature) if same == number else lookups[same]
            if tag_weights is not None:
                found = replace(found, tag_weights=tag_weights[number])
            elif each.clusters.tags:
                fine = [each.clusters.of(word)[1] for word in words]
                found = replace(found, tag_weights=each.cluster_factors[np.where(found.is_rare, fine, 0)])
            lookups.append(found)
            allowed.append(None if given is None else symbols_of_tags(each.coarse, given))
            values.append(coarse_values(each.coarse, found, allowed[-1]))
            limits.append(None if constraints is None else each.label_table.limits(constraints))
        return SentenceInput(
            words, tags, constraints, tuple(lookups), tuple(allowed), tuple(values), tuple(limits)
        )

    @cached_property
    def same_words(self) -> list[int]:
        """For each binarisation, the first one whose lexicon finds the same entries for words."""
        lexicons = [each.coarse.lexicon for each in self.grammars]
        return [next(n for n, first in enumerate(lexicons) if first.finds_as(each)) for each in lexicons]

    def open_cells(self, sentence: SentenceInput) -> SentenceInput:
        """Open cells: those that the model says, or without one all, and beyond 400 tokens narrower ones."""
        first, limits = self.grammars[0], sentence.limits[0]
        if self.cells is None:
            cells = without_model(len(sentence.words))
            return replace(sentence, cells=cells if limits is None else limits.open(cells))
        values = sentence.tag_values[0] * first.rules.prior
        cues = cues_of(first.coarse.lexicon, sentence.lookups[0], values, first.tag_codes)
        required = NOTHING_REQUIRED if limits is None else limits.required
        opening = open_cells(self.cells, cues, required)
        return replace(sentence, opening=opening, cells=opening.above(opening.threshold))

    def infer(self, sentence: SentenceInput) -> Forests:
        """Score the parses of a sentence, with ever more cells and less pruning until a grammar has scores.

        Binarisations that fail where another does not are left out: more attempts take many times as long as
        the first, and the mean of the others is about as good. Coarse grammars count where no other scores.
        """
        possible = [(True, True)] * len(sentence.lookups)
        coarse: dict[int, tuple[ScoredForest, bool]] = {}
        for attempt, (cells, pruning, any_tag) in enumerate(self._attempts(sentence)):
            if attempt == 1 and sentence.limits[0] is not None and len(sentence.words) <= WINDOW:
                possible = [self.derives(sentence, number) for number in range(len(possible))]
            fine: dict[int, ScoredForest] = {}
            for number, may_be in enumerate(possible):
                scored = self._scored(sentence, number, cells, pruning, any_tag) if may_be[any_tag] else None
                if scored is not None and scored.is_coarse:
                    coarse.setdefault(number, (scored, any_tag))
                elif scored is not None:
                    fine[number] = scored
            if fine:
                return Forests.of(sentence, fine, any_tag=any_tag)
        if not coarse:
            return Forests(sentence, {})
        found = {number: coarse[number][0] for number in sorted(coarse)}
        return Forests.of(sentence, found, any_tag=coarse[min(coarse)][1], coarse_only=True)

    def _scored(
        self, sentence: SentenceInput, number: int, cells: Cells, pruning: Pruning, any_tag: bool
    ) -> ScoredForest | None:
        """One binarisation's forest over some cells; None if its coarse grammar has no derivation there."""
        grammars, lookup = self.grammars[number], sentence.lookups[number]
        values = sentence.tag_values[number]
        if any_tag:
            values = coarse_values(grammars.coarse, lookup, sentence.allowed[number], any_tag=True)
        limits = limits_of(sentence.limits[number], cells.start, cells.end)
        chart = inside(grammars.rules, values, beam=pruning.beam, cells=cells, limits=limits)
        if chart.total <= 0:
            return None
        forest = build_forest(
            chart,
            grammars.rules,
            node_threshold=pruning.node_threshold,
            edge_threshold=pruning.edge_threshold,
        )
        return score(
            forest,
            grammars,
            lookup,
            pruner_threshold=pruning.pruner_threshold,
            grammar_threshold=pruning.grammar_threshold,
        )

    def _attempts(self, sentence: SentenceInput) -> Iterator[tuple[Cells, Pruning, bool]]:
        """Open cells, how to prune, and whether to allow every tag: the usual, then those of `RETRIES`."""
        n_tokens, limits = len(sentence.words), sentence.limits[0]
        assert sentence.cells is not None, "cells are opened first"
        # Posteriors under constraints are exact, what they force may be improbable beside its neighbours, and
        # they are impossible only if nothing is pruned.
        usual = self.pruning
        if limits is not None:
            usual = replace(usual, beam=1e-3 * usual.beam, grammar_threshold=0.0)
        is_exact = limits is not None and n_tokens <= WINDOW
        yield sentence.cells, usual, False
        for retry in RETRIES:
            if not retry.applies(sentence):
                continue
            pruning = replace(usual, beam=1e-3 * usual.beam)
            if retry.is_loose:
                n_values = n_tokens * len(self.grammars[0].coarse.symbols)
                pruning = replace(_LOOSE, beam=0.0) if is_exact or n_values <= _EXHAUSTIBLE else _LOOSE
            if sentence.opening is not None:
                cells = sentence.opening.above(retry.least_marginal)
            else:
                cells = without_model(n_tokens) if is_exact else without_model(n_tokens, most=_LOOSE_CELLS)
                cells = cells if limits is None else limits.open(cells)
            yield cells, pruning, retry.any_tag

    def derives(self, sentence: SentenceInput, number: int) -> tuple[bool, bool]:
        """Whether a binarisation has a derivation, nothing pruned: with the allowed tags, and with any."""
        grammars, limits = self.grammars[number], sentence.limits[number]
        cells = all_cells(len(sentence.words))
        if limits is not None:
            cells = limits.open(cells)
        values = sentence.tag_values[number]
        if recognise(grammars.parent_index, values > 0, cells, limits):
            return True, True
        values = coarse_values(
            grammars.coarse, sentence.lookups[number], sentence.allowed[number], any_tag=True
        )
        return False, recognise(grammars.parent_index, values > 0, cells, limits)

    def is_complete(self, forests: Forests) -> bool:
        """Whether all binarisations have a forest that all of their grammars could score."""
        n_scored = sum(len(each.posteriors) for each in forests.scored.values())
        return n_scored >= sum(len(each.grammars) for each in self.grammars)

    def rescore(self, forests: Forests) -> Forests:
        """Let the span scorer, where there is one, weigh the labels of spans anew."""
        if self.rescorer is None or not forests.scored:
            return forests
        sentence = forests.sentence
        scored = self.rescorer.rescore(forests.scored, sentence.words, sentence.limits[0], sentence.opening)
        return replace(forests, scored=scored)

    def decode(self, forests: Forests, decoder: Decoder) -> Tree:
        """The tree of one binarisation's forest, or of the spans of several.

        Args:
            forests: one or more; several for a decoder that can pool.
            decoder: says which tree is best.
        """
        sentence = forests.sentence
        if len(forests.scored) > 1:
            constraints = sentence.constraints
            tree = self.pool.decode(decoder, forests.scored, sentence.words, constraints)
            # Trees of a forest meet the constraints; spans may be put together in other ways.
            if constraints is None or constraints.broken_by(tree.spans(), tree.tags()) is None:
                return tree
        number, scored = forests.first
        return self.tree(number, scored, decoder.decode(scored), sentence.words)

    def tree(self, number: int, scored: ScoredForest, choice: Ints, words: Sequence[str]) -> Tree:
        """The tree of a choice of hyperedges of a forest, as the treebank would have it.

        Args:
            number: of the binarisation.
            scored: its forest.
            choice: int32 (n_nodes,); see :class:`~.decoders.Decoder`.
            words: of the sentence.
        """
        return restore(derivation_tree(scored, choice, words), self.grammars[number].chains)

    @cached_property
    def pool(self) -> Pool:
        """The labels that the binarisations share."""
        return Pool.of(self.grammars)

    @cached_property
    def rescorer(self) -> SpanRescorer | None:
        """The span scorer, ready for the grammars' labels."""
        if self.scorer is None:
            return None
        first = self.grammars[0]
        return SpanRescorer(self.scorer, self.pool.shared, first.coarse.lexicon, first.clusters)


def merge_tags(tags: Tags | None, constraints: Constraints | None, n_tokens: int) -> Tags | None:
    """Tags of all words with those that constraints give; None where neither gives any."""
    if constraints is None or not constraints.tags:
        return tags
    given = dict(constraints.tags)
    return [given.get(token, None if tags is None else tags[token]) for token in range(n_tokens)]
