"""Adapt a parser in seconds, without its treebank: add tree counts to its grammars, train its span scorer.

The counts of the new trees are added to those of the grammars (`adapter`). The span scorer is then trained
further on the new trees, in two folds: each fold is parsed by grammars adapted to the other fold only,
because a grammar is overconfident about the trees that it was estimated from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from spectralnlp.changes.adaptation.adapter import Adapter
from spectralnlp.changes.adaptation.completion import WeightedTree
from spectralnlp.changes.adaptation.scorer_examples import ScorerRefiner
from spectralnlp.changes.adaptation.with_treebank import completed_trees
from spectralnlp.errors import InputError
from spectralnlp.estimators.parser.span_scorer import refine_scorer
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import map_kernels
from spectralnlp.tasks.task import ProgressCallback, silent
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

# Minimum number of trees from which the span scorer learns; with fewer it overfits.
_FEWEST = 20


def adapt_without_treebank(
    parser: Parser | Adapter,
    trees: Sequence[Tree],
    *,
    weight: float | None = None,
    max_scorer_trees: int | None = None,
    partial: Iterable[Sentence] | None = None,
    report: ProgressCallback = silent,
) -> Parser:
    """Adapt a parser to trees of a domain, without the treebank or the moments it was trained on.

    Args:
        parser: a parser whose grammars have counted states (clusters), such as the shipped models; or an
            `Adapter` of it, which makes repeated calls faster: only trees that were not in the last call
            are counted.
        trees: one or more trees of the domain, without traces and function tags.
        weight: how many times each tree counts; None for the square root of the ratio of the parser's
            training trees to these trees, limited to the range 1 to 7.5.
        max_scorer_trees: if ``trees`` has more than twice this number of trees, the span scorer learns only
            from this number of trees, the last ones of ``trees``; None to learn from all trees.
        partial: partially annotated sentences, as for :func:`~spectralnlp.changes.adapt`; the span scorer
            learns from the most probable tree of each.
        report: progress callback, called with a line for each pass.

    Raises:
        ConfigError: a grammar of the parser has no counted states.
        InputError: there are no trees, or the constraints of a partially annotated sentence are invalid.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes
        >>> from spectralnlp.trees import read_brackets
        >>> trees = list(read_brackets(["(HEADING (NP (NNS Methods)))"] * 9))
        >>> parser = changes.adapt_without_treebank(spectralnlp.load("en"), trees)
        >>> print(parser.parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """
    domain = list(trees)
    if not domain:
        raise InputError("no trees to adapt to")
    adapter = parser if isinstance(parser, Adapter) else Adapter(parser)
    model = _adapted(adapter, domain, [], weight, max_scorer_trees)
    if partial is None:
        return model
    return _adapted(adapter, domain, completed_trees(model, partial, report), weight, max_scorer_trees)


def _adapted(
    adapter: Adapter,
    trees: Sequence[Tree],
    completed: Sequence[Sequence[WeightedTree]],
    weight: float | None,
    max_scorer_trees: int | None,
) -> Parser:
    """Return the parser adapted to trees and to weighted candidate trees of partially annotated sentences.

    Args:
        adapter: adapter of the general parser.
        trees: trees of the domain.
        completed: candidate trees of each partially annotated sentence, the most probable first.
        weight: as for `adapt_without_treebank`.
        max_scorer_trees: as for `adapt_without_treebank`.
    """
    parser, counts = adapter.parser, adapter.recount(trees)
    expected = [[(adapter.count([tree]), share) for tree, share in likely] for likely in completed]
    whole = adapter.adapt(counts.with_parts(chain.from_iterable(expected)), weight)
    if "span_scorer" not in parser.components or len(trees) + len(completed) < _FEWEST:
        return whole
    examples: list[Any] = []
    for fold, held_out in enumerate(_held_out(trees, max_scorer_trees)):
        others = chain.from_iterable(each for number, each in enumerate(expected) if number % 2 != fold)
        by = adapter.adapt((counts - adapter.count(held_out)).with_parts(others), weight)
        gold = [*held_out, *(likely[0].tree for likely in completed[fold::2])]
        refiner = ScorerRefiner(whole, by=by)
        examples += [each for each in map_kernels(refiner.example, gold) if each is not None]
    if not examples:
        return whole
    scorer = refine_scorer(whole.components["span_scorer"], refiner.shared, examples)
    return replace(whole, components={**whole.components, "span_scorer": scorer})


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
