"""Parse a sentence: the stages from its words to a tree, one call for each.

::

    sentence = parser.look_up(words, tags, constraints)
    sentence = parser.open_cells(sentence)
    forests = parser.infer(sentence)  # inside, build_forest, score
    forests = rescore(forests, parser.rescorer)
    tree = parser.pool.decode(decoder, forests)

The first two stages compute the inputs of all later ones. ``infer`` prunes the coarse grammar's chart into a
packed forest; the pruning grammar and the last grammar prune the forest further, and all grammars score what
is left. In ``rescore`` a span scorer reweights labels. In ``decode`` a decoder chooses a tree of one forest,
or combines brackets of several forests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.inference.trees.cells import Cells, all_cells, without_model
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.labels import symbols_of_tags
from spectralnlp.inference.trees.limits import limits_of
from spectralnlp.inference.trees.open_cells import (
    NOTHING_REQUIRED,
    WINDOW,
    compute_cell_marginals,
    token_attributes,
)
from spectralnlp.inference.trees.pool import Pool
from spectralnlp.inference.trees.recognition import recognise
from spectralnlp.inference.trees.rescoring.rescorer import SpanRescorer
from spectralnlp.inference.trees.scored_forest import ScoredForest, score
from spectralnlp.inference.trees.sentence import Forests, SentenceInput, Tags, merge_tags
from spectralnlp.inference.words.letter_case import likely_case
from spectralnlp.inference.words.lexical import Lookup, coarse_values, look_up
from spectralnlp.parameters import CellModel, Floats, GrammarSet, SpanScorer, WordClusters
from spectralnlp.text.constraints import Constraints


@dataclass(frozen=True)
class Pruning:
    """Thresholds for pruning the chart and the forest.

    Args:
        beam: relative figure of merit below which symbols are dropped; see :func:`~.coarse.inside`.
        node_threshold, edge_threshold: least posterior of a node, and of a hyperedge, under the coarse
            grammar; others are pruned.
        pruner_threshold: least posterior of a hyperedge under the pruning grammar, if there is one.
        grammar_threshold: least posterior of a hyperedge under the last of several grammars, which prunes
            before the other grammars score; 0 for no such pruning.
    """

    beam: float = 1e-3
    node_threshold: float = 1e-4
    edge_threshold: float = 1e-5
    pruner_threshold: float = 1e-4
    grammar_threshold: float = 3e-4

    @classmethod
    def of_pool(cls, n_binarisations: int) -> Pruning:
        """Return the default thresholds of a parser with the given number of binarisations.

        With three or more binarisations, the forest of each is pruned more, because a tree that is lost from
        one forest is usually in another. Forests are then not pruned with `grammar_threshold`, since they are
        so small that this would take more time than it saves.
        """
        if n_binarisations < 3:
            return cls()
        return cls(beam=2e-3, edge_threshold=3e-5, pruner_threshold=1e-3, grammar_threshold=0.0)


# Next to no pruning. If the number of tokens times symbols is at most `_EXHAUSTIBLE`, the beam is 0; longer
# sentences would take too long (100 tokens "(" take 3.3 CPU seconds, 0.4 with the beam of `_LOOSE`).
_LOOSE, _EXHAUSTIBLE = Pruning(1e-8, 0.0, 1e-9, 1e-9, 1e-9), 4_000

# Then, without a cell model, all cells are open in sentences with at most this many of them (150 tokens).
_LOOSE_CELLS = 11_325


class Retry(NamedTuple):
    """Settings of a further attempt to parse a sentence, after the previous attempt found no tree.

    Attributes:
        least_marginal: minimum marginal probability of the cells (spans) that are considered; 0 for all
            cells that have a marginal.
        is_loose: True to prune almost nothing; False to prune with the thresholds of the first attempt, but
            with a beam of 1/1000 of the first.
        any_tag: whether every word may have every tag.
        applies: function that returns whether to make this attempt for a sentence.
    """

    least_marginal: float
    is_loose: bool
    any_tag: bool
    applies: Callable[[SentenceInput], bool]


RETRIES = (
    Retry(1e-9, is_loose=False, any_tag=False, applies=lambda sentence: sentence.cell_marginals is not None),
    Retry(0.0, is_loose=True, any_tag=False, applies=lambda sentence: True),
    Retry(0.0, is_loose=True, any_tag=True, applies=lambda sentence: True),
)


class Attempt(NamedTuple):
    """Settings of one attempt to parse a sentence.

    Attributes:
        cells: the cells (spans) to consider.
        pruning: thresholds of chart and forest.
        any_tag: whether every word may have every tag.
    """

    cells: Cells
    pruning: Pruning
    any_tag: bool


class Derivable(NamedTuple):
    """Whether a sentence has a derivation.

    Attributes:
        with_own_tags: whether it has one if words have only their tags in the lexicon.
        with_any_tag: whether it has one if every word may have every tag that the constraints allow.
    """

    with_own_tags: bool
    with_any_tag: bool


@dataclass(frozen=True)
class ForestParser:
    """A parser of sentences with the grammars of one or more binarisations.

    Args:
        grammars: the grammars of each binarisation.
        pruning: thresholds of the chart and the forest.
        cells: the model that chooses which spans to consider (open cells); None for all spans.
        scorer: the span scorer that reweights the labels of spans; None for no rescoring.
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
        """Build a parser from a grammar set for each binarisation; see `ForestParser` for the arguments."""
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
        """Look up a sentence's words in the lexicons, and compute what its tags and constraints allow.

        Args:
            words: one or more tokens, written in the model's tokenisation conventions.
            tags: the tags that the words must have; None if they may have any.
            constraints: constraints on the tree.
            tag_weights: for each binarisation, factors that multiply the lexical weights of tags, float64
                (n_tokens, n_symbols); None to take factors for rare words from their clusters.
            pooled: True if all binarisations are to parse the sentence, False if only the first is.
        """
        given, read_as = merge_tags(tags, constraints, len(words)), self.likely_case(words)
        lookups: list[Lookup] = []
        allowed, values, limits = [], [], []
        for number, each in enumerate(self.grammars if pooled else self.grammars[:1]):
            same = self.first_with_same_lexicon[number]
            own = same == number
            found = look_up(each.coarse.lexicon, read_as, each.signature) if own else lookups[same]
            if tag_weights is not None:
                found = replace(found, tag_weights=tag_weights[number])
            elif each.clusters.tags:
                fine = [each.clusters.of(word)[1] for word in read_as]
                found = replace(found, tag_weights=each.cluster_factors[np.where(found.is_rare, fine, 0)])
            elif not own:
                found = replace(found, tag_weights=None)  # those of the signs are of other symbols
            lookups.append(each.with_tags_of_signs(words, found))
            allowed.append(None if given is None else symbols_of_tags(each.coarse, given))
            values.append(coarse_values(each.coarse, lookups[-1], allowed[-1]))
            limits.append(None if constraints is None else each.label_table.limits(constraints))
        return SentenceInput(
            words, read_as, tags, constraints, tuple(lookups), tuple(allowed), tuple(values), tuple(limits)
        )

    def likely_case(self, words: Sequence[str]) -> Sequence[str]:
        """Return words in the letter case in which they are looked up; see `likely_case`."""
        return likely_case(self.grammars[0].coarse.lexicon, words)

    @cached_property
    def first_with_same_lexicon(self) -> list[int]:
        """For each binarisation, the index of the first one whose lexicon has the same entries.

        Binarisations with the same entries share one lookup of a sentence's words.
        """
        lexicons = [each.coarse.lexicon for each in self.grammars]
        return [
            next(n for n, first in enumerate(lexicons) if first.has_same_entries(each)) for each in lexicons
        ]

    def open_cells(self, sentence: SentenceInput) -> SentenceInput:
        """Return the sentence with the cells (spans) that the first attempt to parse considers.

        A model predicts the cells. A parser without such a model considers all spans or, in long sentences,
        the narrow spans and those at either end of the sentence (`without_model`).
        """
        first, limits = self.grammars[0], sentence.limits[0]
        if self.cells is None:
            cells = without_model(len(sentence.words))
            return replace(sentence, cells=cells if limits is None else limits.open(cells))
        values = sentence.tag_values[0] * first.rules.prior
        attributes = token_attributes(first.coarse.lexicon, sentence.lookups[0], values, first.tag_codes)
        required = NOTHING_REQUIRED if limits is None else limits.required
        cell_marginals = compute_cell_marginals(self.cells, attributes, required)
        return replace(
            sentence, cell_marginals=cell_marginals, cells=cell_marginals.above(cell_marginals.threshold)
        )

    def infer(self, sentence: SentenceInput) -> Forests:
        """Return a sentence's scored forests, trying with more cells and less pruning until a parse is found.

        The search stops as soon as one binarisation has a parse; binarisations without a parse are then left
        out, because further attempts are slow. If only coarse grammars could score the sentence in all
        attempts, their forests are returned; if there is no parse at all, ``scored`` is empty.
        """
        possible = [Derivable(True, True)] * len(sentence.lookups)
        coarse: dict[int, tuple[ScoredForest, bool]] = {}
        for number_of_attempt, attempt in enumerate(self._attempts(sentence)):
            if number_of_attempt == 1 and sentence.limits[0] is not None and len(sentence.words) <= WINDOW:
                possible = [self.derives(sentence, number) for number in range(len(possible))]
            fine: dict[int, ScoredForest] = {}
            for number, derivable in enumerate(possible):
                if not (derivable.with_any_tag if attempt.any_tag else derivable.with_own_tags):
                    continue
                scored = self._scored(sentence, number, attempt)
                if scored is not None and scored.is_coarse:
                    coarse.setdefault(number, (scored, attempt.any_tag))
                elif scored is not None:
                    fine[number] = scored
            if fine:
                found, any_tag = fine, attempt.any_tag
                break
        else:
            if not coarse:
                return Forests(sentence, {})
            found = {number: coarse[number][0] for number in sorted(coarse)}
            any_tag = coarse[min(coarse)][1]
        number, first = next(iter(found.items()))
        log_probability = first.posteriors[0].log_total + sentence.lookups[number].log_weight
        return Forests(sentence, found, log_probability, any_tag, coarse_only=not fine)

    def _scored(self, sentence: SentenceInput, number: int, attempt: Attempt) -> ScoredForest | None:
        """Return the scored forest of one binarisation; None if its coarse grammar derives no tree.

        Args:
            sentence: the sentence.
            number: index of the binarisation.
            attempt: the cells to consider, the pruning, and whether every word may have every tag.
        """
        cells, pruning = attempt.cells, attempt.pruning
        grammars, lookup = self.grammars[number], sentence.lookups[number]
        values = sentence.tag_values[number]
        if attempt.any_tag:
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

    def _attempts(self, sentence: SentenceInput) -> Iterator[Attempt]:
        """Yield the settings of each attempt to parse.

        The first attempt has the settings of the parser; later attempts have those of `RETRIES`.
        """
        n_tokens, limits = len(sentence.words), sentence.limits[0]
        assert sentence.cells is not None, "cells are opened first"
        # Posteriors under constraints are exact. Brackets that constraints force may be improbable beside
        # their neighbours, and only a search without pruning can show that they are impossible.
        usual = self.pruning
        if limits is not None:
            usual = replace(usual, beam=1e-3 * usual.beam, grammar_threshold=0.0)
        is_exact = limits is not None and n_tokens <= WINDOW
        yield Attempt(sentence.cells, usual, any_tag=False)
        for retry in RETRIES:
            if not retry.applies(sentence):
                continue
            pruning = replace(usual, beam=1e-3 * usual.beam)
            if retry.is_loose:
                n_values = n_tokens * len(self.grammars[0].coarse.symbols)
                pruning = replace(_LOOSE, beam=0.0) if is_exact or n_values <= _EXHAUSTIBLE else _LOOSE
            if sentence.cell_marginals is not None:
                cells = sentence.cell_marginals.above(retry.least_marginal)
            else:
                cells = without_model(n_tokens) if is_exact else without_model(n_tokens, most=_LOOSE_CELLS)
                cells = cells if limits is None else limits.open(cells)
            yield Attempt(cells, pruning, retry.any_tag)

    def derives(self, sentence: SentenceInput, number: int) -> Derivable:
        """Decide, without pruning, whether a sentence has a derivation under its constraints.

        Args:
            sentence: the sentence.
            number: index of the binarisation.
        """
        grammars, limits = self.grammars[number], sentence.limits[number]
        cells = all_cells(len(sentence.words))
        if limits is not None:
            cells = limits.open(cells)
        values = sentence.tag_values[number]
        if recognise(grammars.parent_index, values > 0, cells, limits):
            return Derivable(True, True)
        values = coarse_values(
            grammars.coarse, sentence.lookups[number], sentence.allowed[number], any_tag=True
        )
        return Derivable(False, recognise(grammars.parent_index, values > 0, cells, limits))

    def is_complete(self, forests: Forests) -> bool:
        """Return whether every binarisation has a forest, scored by all of its grammars."""
        n_scored = sum(len(each.posteriors) for each in forests.scored.values())
        return n_scored >= sum(len(each.grammars) for each in self.grammars)

    @cached_property
    def pool(self) -> Pool:
        """The labels that the grammars of all binarisations share, for averaging posteriors of labels."""
        return Pool.of(self.grammars)

    @cached_property
    def rescorer(self) -> SpanRescorer | None:
        """The span scorer, prepared for the labels of the grammars; None for a parser without one."""
        if self.scorer is None:
            return None
        first = self.grammars[0]
        return SpanRescorer(self.scorer, self.pool.shared, first.coarse.lexicon, first.clusters)
