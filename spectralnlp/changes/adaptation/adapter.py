"""Adapt a parser to a few trees in seconds, without its treebank: count the trees, train the span scorer.

The counts of the trees are added to those that are read off the grammars
(:mod:`~spectralnlp.estimators.parser.grammar_counts`). The span scorer is then trained further on the trees,
in two folds: each fold is parsed by grammars adapted to the other fold only, because a grammar is
overconfident about the trees that it was estimated from. Other components of the parser stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from spectralnlp.changes.adaptation.domain import Domain
from spectralnlp.errors import ConfigError
from spectralnlp.estimators.parser.gold_spans import GoldSpans
from spectralnlp.estimators.parser.grammar_counts import GrammarCounts, Times, has_counted_states
from spectralnlp.estimators.parser.span_scorer import ExampleReader, refine_scorer
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.inference.trees.labels import SharedLabels
from spectralnlp.inference.trees.rescoring.corpus import Example
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import LatentGrammar
from spectralnlp.runtime import Joint, map_kernels
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, strip_root

# Minimum number of trees from which the span scorer learns; with fewer it overfits.
_FEWEST = 20


class Adapter:
    """A parser with the counts that its grammars were estimated from, to adapt it again and again.

    The counts are read off the grammars only once, and of the trees of a domain, only those are counted that
    were not among those of the last call of `adapt_without_treebank`.

    Args:
        parser: a parser whose grammars have counted states (clusters).

    Attributes:
        parser: the parser, which stays as it is.
        n_trees: number of trees that it was trained on.

    Raises:
        ConfigError: a grammar of the parser has no counted states.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes
        >>> from spectralnlp.trees import read_brackets
        >>> adapter = changes.Adapter(spectralnlp.load("en"))
        >>> trees = list(read_brackets(["(HEADING (NP (NNS Methods)) (: :))"] * 9))
        >>> parser = changes.adapt_without_treebank(adapter, trees, weight=2.0)
        >>> print(parser.parse_tokens(["Results", ":"]).tree)
        (TOP (HEADING (NP (NNS Results)) (: :)))
    """

    def __init__(self, parser: Parser) -> None:
        if not has_counted_states(parser.grammar_sets):
            hint = "adapt it with the treebank that it was trained on, or train lpcfg with grammars=clusters"
            raise ConfigError("the parser's grammars hold no counts", hint=hint)
        self.parser = parser
        self.n_trees = float(parser.about.get("training trees", 0)) or 1000.0
        self._general = GrammarCounts(parser.grammar_sets, self.n_trees)
        self._last, self._counted = Counter[Tree](), self._count([])

    def learn(self, domain: Domain, max_scorer_trees: int | None = None) -> Parser:
        """Return the parser with what a domain holds added to the counts of its grammars.

        Args:
            domain: what to add; its `Domain.parsed` must be empty.
            max_scorer_trees: as for `adapt_without_treebank`.
        """
        trees, parser = domain.trees, self.parser
        completed = [[(self._count([tree]), share) for tree, share in each] for each in domain.completed]
        counted = (self._recount(trees), 1.0)
        whole = self._with_counts([counted, *chain.from_iterable(completed)], domain.weight)
        n_sentences = len(trees) + len(completed)
        line = f"**Adapted** to {n_sentences:,} more trees, which count {domain.weight:.1f} times each."
        about = {**parser.about, "adapted to trees": n_sentences}
        whole = replace(whole, about=about, card=f"{parser.card.rstrip()}\n\n{line}\n")
        if "span_scorer" not in parser.components or n_sentences < _FEWEST:
            return whole
        coarse = [each.coarse for each in whole.grammar_sets]
        shared, examples = SharedLabels.of(coarse), list[Example]()
        for fold, held_out in enumerate(_held_out(trees, max_scorer_trees)):
            others = chain.from_iterable(each for number, each in enumerate(completed) if number % 2 != fold)
            by = self._with_counts([counted, (self._count(held_out), -1.0), *others], domain.weight)
            gold = [*held_out, *(likely[0].tree for likely in domain.completed[fold::2])]
            examples += _examples(coarse, by, gold, GoldSpans.of_trees(gold, shared))
        if not examples:
            return whole
        scorer = refine_scorer(parser.components["span_scorer"], shared, examples)
        return replace(whole, components={**parser.components, "span_scorer": scorer})

    def _with_counts(self, added: Sequence[Times], weight: float) -> Parser:
        return replace(self.parser, grammar_sets=self._general.plus(added, weight), saved=None)

    def _count(self, trees: Iterable[Tree]) -> Joint[Tree]:
        return self._general.count(map(strip_root, trees))

    def _recount(self, trees: Iterable[Tree]) -> Joint[Tree]:
        """Return the same counts as `_count`, but count only trees added or removed since the last call."""
        wanted = Counter(trees)
        new, gone = wanted - self._last, self._last - wanted
        if gone.total() > wanted.total() - new.total():
            self._counted = self._count(wanted.elements())
        else:
            self._counted.merge(self._count(new.elements()))
            self._counted.subtract(self._count(gone.elements()))
        self._last = wanted
        return self._counted


def _examples(
    coarse: Sequence[LatentGrammar], by: Parser, trees: Sequence[Tree], gold: GoldSpans
) -> list[Example]:
    """Return training examples of the span scorer; trees that a grammar cannot derive are left out.

    Args:
        coarse: coarse grammars of the parser.
        by: parser that makes the parse forests.
        trees: the trees, whose words follow the conventions of the parser's treebank.
        gold: their spans.
    """
    reader = ExampleReader(coarse, by.forest_parser, by.forest_parser.grammars[0].clusters, gold)
    sentences = [Sentence.from_words(tree.words()) for tree in trees]
    found = map_kernels(lambda n: reader.example(n, by.look_up(sentences[n])), range(len(trees)))
    return [each for each in found if each is not None]


def needs_moments(trainer: Any, model: Any) -> bool:
    """Return whether a parser can only be adapted with its treebank, or with the moments of the treebank.

    The result is False if all grammars have counted states (`has_counted_states`), because then
    `adapt_without_treebank` can adapt the parser.

    Args:
        trainer: estimator of the model.
        model: the model; for models other than parsers, the result is False.
    """
    return isinstance(trainer, ParserTrainer) and not has_counted_states(model.grammar_sets)


def _held_out(trees: Sequence[Tree], max_scorer_trees: int | None) -> list[Sequence[Tree]]:
    """Group the trees from which the span scorer learns.

    The trees of a group are later parsed by grammars that were adapted to all other trees.

    Args:
        trees: trees of the domain.
        max_scorer_trees: see `adapt_without_treebank`.

    Returns:
        Two halves of the trees; or, if there are more than twice ``max_scorer_trees`` trees, a single group
        with the last ``max_scorer_trees`` trees.
    """
    if max_scorer_trees is not None and len(trees) > 2 * max_scorer_trees:
        return [trees[-max_scorer_trees:]]
    return [trees[start::2] for start in range(2)]
