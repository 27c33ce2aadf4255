"""Adaptation of a parser that keeps no moments, in seconds: counts read off its grammars, its scorer refined.

The counts of the new trees are added to those of the grammars (``adapter.py``). The span scorer goes on
learning from the new trees, each parsed by grammars to which only the others were added, for posteriors of
trees that a grammar has seen are much too sure.
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

# Fewer trees teach the scorer more noise than sense.
_FEWEST = 20


def adapt_alone(
    parser: Parser | Adapter,
    trees: Sequence[Tree],
    *,
    weight: float | None = None,
    most: int | None = None,
    partial: Iterable[Sentence] | None = None,
    report: ProgressCallback = silent,
) -> Parser:
    """Adapt a parser to trees of a domain from what the parser itself holds.

    Args:
        parser: of grammars whose states are counted (clusters), as the models that ship. An `Adapter` of it
            remembers what it counted: called again with a few trees more, it looks at these alone.
        trees: cleaned ones, one or more.
        weight: how often each counts; None for the root of how many times as many the parser's own are.
        most: of more than twice so many trees, the scorer learns from the last so many; None for all.
        partial: as of :func:`~spectralnlp.changes.adapt`; the scorer learns from the likeliest tree of each.
        report: called with a line for each pass.

    Raises:
        ConfigError: the parser's grammars hold no counts.
        InputError: there are no trees, or constraints that make no sense.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import changes
        >>> from spectralnlp.trees import read_brackets
        >>> trees = list(read_brackets(["(HEADING (NP (NNS Methods)))"] * 9))
        >>> print(changes.adapt_alone(spectralnlp.load("en"), trees).parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """
    own = list(trees)
    if not own:
        raise InputError("no trees to adapt to")
    adapter = parser if isinstance(parser, Adapter) else Adapter(parser)
    model = _adapted(adapter, own, [], weight, most)
    if partial is None:
        return model
    return _adapted(adapter, own, completed_trees(model, partial, report), weight, most)


def _adapted(
    adapter: Adapter,
    trees: Sequence[Tree],
    completed: Sequence[Sequence[WeightedTree]],
    weight: float | None,
    most: int | None,
) -> Parser:
    """Add the counts of trees, and of further sentences' likely trees; let the scorer learn from them."""
    parser, counts = adapter.parser, adapter.recount(trees)
    expected = [[(adapter.count([tree]), share) for tree, share in likely] for likely in completed]
    whole = adapter.adapted(counts.with_parts(chain.from_iterable(expected)), weight)
    if "span_scorer" not in parser.components or len(trees) + len(completed) < _FEWEST:
        return whole
    examples: list[Any] = []
    for fold, held_out in enumerate(_held_out(trees, most)):
        others = chain.from_iterable(each for number, each in enumerate(expected) if number % 2 != fold)
        by = adapter.adapted((counts - adapter.count(held_out)).with_parts(others), weight)
        gold = [*held_out, *(likely[0].tree for likely in completed[fold::2])]
        refiner = ScorerRefiner(whole, by=by)
        examples += [each for each in map_kernels(refiner.example, gold) if each is not None]
    if not examples:
        return whole
    scorer = refine_scorer(whole.components["span_scorer"], refiner.shared, examples)
    return replace(whole, components={**whole.components, "span_scorer": scorer})


def _held_out(trees: Sequence[Tree], most: int | None) -> list[Sequence[Tree]]:
    """Trees that teach the scorer, in folds: grammars that are adapted to all but a fold parse it."""
    if most is not None and len(trees) > 2 * most:
        return [trees[-most:]]
    return [trees[start::2] for start in range(2)]
