"""Train a span scorer on jackknifed parses of the treebank (stacking, Wolpert 1992).

Each fold of the treebank is parsed with grammars learned from the other folds, because posteriors of training
sentences under their own grammar are overconfident. The weights are then trained to predict the gold label of
each span from these posteriors and from words and tags in and around the span (``span_training.py``). The
folds are parsed with grammars of the same kinds and sizes as the parser's: smaller grammars would give the
same F1, but worse posteriors (benchmarks/experiments/span-scorer.md). A small treebank is divided into folds
two or three times, so that each sentence is parsed with two or three different grammars.

Given annotations of the training sentences, a second scorer, which also has features of their dependency
parses, is trained on the same parses. It is for sentences with annotations; for all others, the first scorer
is what it would be anyway. Half of the parses get errors, so that it does not trust them blindly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.annotations import KnownAnnotations, with_errors
from spectralnlp.estimators.parser.component import Component, Context, Fold
from spectralnlp.estimators.parser.gold_spans import GoldSpans, first_tokens
from spectralnlp.estimators.parser.span_kernels import count_heads
from spectralnlp.estimators.parser.span_training import TrainingOptions, Weights, learn_weights
from spectralnlp.inference.trees.labels import NO_LABEL, SharedLabels
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.inference.trees.rescoring.corpus import Example, ExampleTable, spill_examples
from spectralnlp.inference.trees.rescoring.options import span_options
from spectralnlp.inference.trees.rescoring.rescorer import label_values, token_reader
from spectralnlp.inference.trees.rescoring.scores import N_NUMBERS
from spectralnlp.inference.trees.rescoring.templates import DEPENDENCY_TEMPLATES, TEMPLATES, template_table
from spectralnlp.inference.trees.rescoring.values import NOT_ANNOTATED
from spectralnlp.inference.trees.sentence import SentenceInput
from spectralnlp.parameters import LatentGrammar, SpanScorer, WordClusters
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import map_kernels, trim_memory
from spectralnlp.text.annotations import Annotations
from spectralnlp.trees import split_annotation
from spectralnlp.trees.treelog import TreeTable

# Smallest weight that is kept, and maximum number of weights (benchmarks/experiments/span-scorer.md).
_MIN_WEIGHT = 0.015
_MAX_FEATURES = 300_000
# Number of sentences that are parsed before memory pages are released.
_TOGETHER = 16
# Number of folds of the jackknife; five are no better than three (benchmarks/experiments/span-scorer.md).
_FOLDS = 3
# Number of words to train on: treebanks of half as many or less are divided into folds up to three times
# (benchmarks/experiments/span-scorer.md).
_MANY_WORDS, _MAX_DIVISIONS = 140_000, 3
# Maximum number of silver trees among the examples.
_MAX_SILVER = 40_000
# Share of the fit in the total training time, and share of learning grammars in the time of a fold.
_FITTING, _GRAMMARS_OF_FOLD = 0.16, 0.3
_REFINEMENT = TrainingOptions(rate=0.02)  # for continued training on a few trees


@dataclass(kw_only=True)
class SpanScoring(Component):
    """Component that learns a span scorer, which rescores the labels of spans by words and tags."""

    name = "span_scorer"
    least_trees = 500  # with fewer, the scorer does more harm than good
    learned = "after"

    span_scorer: Annotated[
        bool,
        Doc(
            "Learn a span scorer, which rescores the labels of spans by words and tags in and around them. "
            "It is trained on parses by grammars of other documents. Off for fewer than 500 trees."
        ),
    ] = True
    annotations: Annotated[
        str | list[str] | None,
        Doc(
            "CoNLL-U files with tags and dependency parses of the training sentences, by a pipeline whose "
            "output the parser will get as annotations; other training sentences count as not annotated."
        ),
    ] = None

    @property
    def is_on(self) -> bool:
        """Whether the settings request a span scorer."""
        return self.span_scorer

    def check_combination(self) -> None:
        """Raise `ConfigError` if there are annotations without a span scorer to use them."""
        if self.annotations is not None and not self.span_scorer:
            raise ConfigError("only the span scorer uses `annotations`", hint="leave out span_scorer=false")

    def check(self, context: Context) -> None:
        """Raise `InputError` if the annotations cannot be read, or are of none of the trees."""
        if self.annotations is None:
            return
        n_trees = context.trees.first.n_trees
        if n_trees < self.least_trees:
            what = f"{n_trees} trees are too few for the span scorer, which alone uses `annotations`"
            raise InputError(what, hint=f"leave out `annotations`, or give {self.least_trees} trees")
        KnownAnnotations.read(self.annotations).of_sentences(_words_of(context.learner.trees.first))

    def time(self, context: Context) -> float:
        """Return the training time relative to that of other stages; see `Component.time`."""
        return 64.0 * _divisions(context.trees.first)

    def learn(self, context: Context) -> SpanScorer:
        """Train a span scorer on jackknifed parses of the training trees."""
        options = TrainingOptions(random_state=context.random_state)
        known = None if self.annotations is None else KnownAnnotations.read(self.annotations)
        return learn_span_scorer(context, options, known)


def _words_of(table: TreeTable) -> list[list[str]]:
    """Return the words of each tree."""
    word = table.word[table.word >= 0].tolist()
    bounds = [*first_tokens(table).tolist(), len(word)]
    return [[table.words[each] for each in word[start:end]] for start, end in pairwise(bounds)]


def learn_span_scorer(
    context: Context, options: TrainingOptions, known: KnownAnnotations | None = None
) -> SpanScorer:
    """Train a span scorer on parses of each fold, made with grammars of the other folds.

    Args:
        context: training data of the whole treebank.
        options: settings of the training.
        known: annotations of training sentences; None for none.

    Raises:
        InputError: there are annotations, but none of a training sentence.
    """
    trees = context.learner.trees
    table, times = _numbered_as(context.coarse[0], trees.first), trees.copies(_MAX_SILVER)
    clusters = context.components.get("word_clusters", WordClusters.none())
    shared = SharedLabels.of(context.coarse)
    blank, gold, words = _without_weights(table, shared), GoldSpans.of(table, shared), _words_of(table)
    annotations: list[Annotations | None] = [None] * len(words)
    if known is not None:
        annotations = with_errors(known.of_sentences(words), context.random_state)

    divisions = _divisions(table)

    def read(fold: Fold) -> list[tuple[int, Example]]:
        with fit_pass(f"span scorer: parses of fold {fold.number + 1}"):
            by = _parser(fold)
            reader = ExampleReader(context.coarse, by, clusters, gold)

            def read_tree(tree: int) -> Example | None:
                looked_up = replace(by.look_up(words[tree]), annotations=annotations[tree])
                return reader.example(tree, by.open_cells(looked_up))

            chosen = np.flatnonzero(fold.held_out & (times > 0)).tolist()
            numbered, examples = [], map_kernels(read_tree, chosen)
            for done, (tree, example) in enumerate(zip(chosen, examples, strict=True), 1):
                if example is not None:
                    numbered.append((tree, example))
                part = _GRAMMARS_OF_FOLD + (1 - _GRAMMARS_OF_FOLD) * done / len(chosen)
                context.report_done((1 - _FITTING) * (fold.number + part) / (divisions * _FOLDS))
                if done % _TOGETHER == 0:
                    trim_memory()
            kept = spill_examples([example for _, example in numbered])
            return [(tree, example) for (tree, _), example in zip(numbered, kept, strict=True)]

    read_folds = context.jackknife(_FOLDS, read, divisions)
    numbered = sorted((example for fold in read_folds for example in fold), key=lambda each: each[0])
    with fit_pass("span scorer: weights"):
        scorer = _fitted(blank, shared, _repeated(numbered, times), options)
        if known is None:
            return scorer
        annotated = [each for each in numbered if each[1].tokens.governor[0] != NOT_ANNOTATED]
        more = (*scorer.templates, *DEPENDENCY_TEMPLATES.splitlines())
        blank = replace(blank, templates=more, scheme=known.scheme)
        annotated_scorer = _fitted(blank, shared, _repeated(annotated, table.copies), options)
        return replace(scorer, annotated=annotated_scorer)


def _repeated(examples: Sequence[tuple[int, Example]], times: NDArray[np.int64]) -> list[Example]:
    """Return the examples of trees, each as often as its tree is to be seen."""
    return [example for tree, example in examples for _ in range(int(times[tree]))]


def _divisions(table: TreeTable) -> int:
    """Return how many times a treebank is to be divided into folds: more often if it is small."""
    n_words = int(np.count_nonzero(table.word >= 0))
    return min(max(1, _MANY_WORDS // n_words), _MAX_DIVISIONS)


def _fitted(
    scorer: SpanScorer,
    shared: SharedLabels,
    examples: Sequence[Example],
    options: TrainingOptions,
    start: Weights | None = None,
) -> SpanScorer:
    """Return a copy of a scorer, with weights trained on examples.

    Args:
        scorer: scorer with templates and tables of heads; its weights are not used.
        shared: labels of the grammars that parsed the examples.
        examples: training examples.
        options: settings of the training.
        start: initial weights, or None to start from zeros.
    """
    table = template_table("\n".join(scorer.templates))
    weights = learn_weights(
        ExampleTable.of(examples), label_values(scorer, shared), table, options, start
    ).largest(_MAX_FEATURES, _MIN_WEIGHT)
    return replace(scorer, features=weights.features, weights=weights.values, number_weights=weights.numbers)


def _numbered_as(grammar: LatentGrammar, table: TreeTable) -> TreeTable:
    """Return a table of trees in which symbols have the ids that they have in a grammar.

    Symbols that the grammar lacks lose their annotation (of parents or siblings).
    """
    if table.symbols == grammar.symbols:
        return table
    bare = [name if name in grammar.symbol_index else split_annotation(name)[0] for name in table.symbols]
    number = np.array([grammar.symbol_index[name] for name in bare], np.int32)
    return replace(table, symbols=grammar.symbols, symbol=number[table.symbol])


def _parser(fold: Fold) -> ForestParser:
    """Return a parser for the trees of a fold, with grammars and components learned from the other folds."""
    sets, components = fold.grammar_sets, fold.others.components
    return ForestParser.of(
        sets,
        pruning=Pruning.of_pool(len(sets)),
        cells=components.get("open_cells"),
        clusters=components.get("word_clusters") or WordClusters.none(),
    )


def refine_scorer(scorer: SpanScorer, shared: SharedLabels, examples: Sequence[Example]) -> SpanScorer:
    """Continue the training of a scorer on further sentences, to adapt it to a domain; return a new scorer.

    Args:
        scorer: scorer of a parser.
        shared: labels of the parser's grammars.
        examples: one or more sentences with posteriors by the grammars, which were not trained on them.
    """
    start = Weights(scorer.features, scorer.weights, scorer.number_weights)
    return _fitted(scorer, shared, examples, _REFINEMENT, start)


class ExampleReader:
    """Converter of sentences with gold trees to training examples.

    Args:
        coarse: the parser's grammars with one state per symbol; their labels get the lowest ids.
        by: parser that makes the parse forests. It was not trained on the trees, or its posteriors would be
            overconfident, and all its labels are labels of ``coarse``.
        clusters: word clusters.
        gold: gold spans of the trees.
    """

    def __init__(
        self, coarse: Sequence[LatentGrammar], by: ForestParser, clusters: WordClusters, gold: GoldSpans
    ) -> None:
        shared = SharedLabels.of([*coarse, *(each.coarse for each in by.grammars)])
        self.labels, self.maps, self.gold = shared.labels, shared.maps[len(coarse) :], gold
        self.tokens = token_reader(shared, by.grammars[0].coarse.lexicon, clusters)
        self.by = by

    def example(self, tree: int, sentence: SentenceInput) -> Example | None:
        """Parse a sentence, and return a training example; None if a grammar cannot derive the words.

        Args:
            tree: index of the sentence's tree among the gold trees.
            sentence: the sentence, as the parser takes it.
        """
        forests = self.by.infer(sentence)
        if not self.by.is_complete(forests):
            return None  # every example needs posteriors of each grammar
        scored, cells, words = list(forests.scored.values()), sentence.cell_marginals, sentence.read_as
        options, _ = span_options(scored, self.maps, self.labels, len(words), cells)
        tokens = self.tokens.read(words, options.tag, sentence.annotations)
        return Example(options, tokens, self.gold.options(tree, options))


def _without_weights(table: TreeTable, shared: SharedLabels) -> SpanScorer:
    """Return a scorer without weights, but with tables that find the heads of phrases (see `SpanScorer`)."""
    is_tag = shared.labels.is_tag
    score, is_last = _head_tables(table, shared)
    return SpanScorer(
        templates=tuple(line for line in TEMPLATES.splitlines() if line.strip() and not line.startswith("#")),
        phrases=tuple(name for name, tag in zip(shared.names, is_tag, strict=True) if not tag),
        tags=tuple(name for name, tag in zip(shared.names, is_tag, strict=True) if tag),
        features=np.empty(0, np.int32),
        weights=np.empty(0, np.float32),
        number_weights=np.zeros(N_NUMBERS),
        head_score=score[np.ix_(~is_tag, is_tag)],
        head_is_last=is_last[np.ix_(~is_tag, is_tag)],
    )


def _head_tables(table: TreeTable, shared: SharedLabels) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Estimate tables that find heads of phrases: ``head_score`` and ``head_is_last`` of `SpanScorer`."""
    bottom = shared.maps[0].bottom
    leaves = np.flatnonzero(table.word >= 0)
    token_of = np.zeros(table.n_nodes, np.int64)
    token_of[leaves] = np.arange(len(leaves))
    phrases = np.flatnonzero((bottom[table.symbol] != NO_LABEL) & (table.word < 0))
    heads, seen, last = count_heads(
        bottom[table.symbol[phrases]],
        table.start[phrases],
        table.end[phrases],
        token_of[table.head[phrases]],
        bottom[table.symbol[leaves]],
        len(shared.names),
    )
    return np.log((heads + 0.1) / (seen + 1.0)).astype(np.float32), (last > 0).astype(np.int8)
