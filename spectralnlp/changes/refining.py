"""Adaptation of a parser that keeps no moments, in seconds: counts read off its grammars, its scorer refined.

The counts of the new trees are added to those of the grammars (:mod:`spectralnlp.models.adapting`). The span
scorer goes on learning from the new trees, each parsed by grammars to which only the others were added, for
posteriors of trees that a grammar has seen are much too sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spectralnlp.changes.adapting import estimator_with_settings
from spectralnlp.errors import InputError
from spectralnlp.models.adapting import adapted
from spectralnlp.models.parser import Parser
from spectralnlp.models.refinement import ScorerRefiner
from spectralnlp.runtime import map_kernels
from spectralnlp.trees import Tree

# Fewer trees teach the scorer more noise than sense.
_FEWEST = 20


def adapt_alone(
    parser: Parser, trees: Sequence[Tree], *, weight: float | None = None, most: int | None = None
) -> Parser:
    """Adapt a parser to trees of a domain from what the parser itself holds.

    Args:
        parser: of grammars whose states are counted (clusters), as the models that ship.
        trees: cleaned ones, one or more.
        weight: how often each counts; None for the root of how many times as many the parser's own are.
        most: of more than twice so many trees, the scorer learns from the last so many; None for all.

    Raises:
        ConfigError: the parser's grammars hold no counts.
        InputError: there are no trees.

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
    whole = adapted(parser, own, weight)
    refine: Any = estimator_with_settings(parser.about).refine_scorer
    if parser.span_scorer is None or refine is None or len(own) < _FEWEST:
        return whole
    examples: list[Any] = []
    for held_out, others in _folds(own, most):
        refiner = ScorerRefiner(whole, by=adapted(parser, others, weight))
        examples += [each for each in map_kernels(refiner.example, held_out) if each is not None]
    if not examples:
        return whole
    return replace(whole, span_scorer=refine(whole.span_scorer, refiner.shared, examples))


def _folds(trees: Sequence[Tree], most: int | None) -> list[tuple[list[Tree], list[Tree]]]:
    """Trees that teach the scorer, with the others, to which the grammars are adapted that parse them."""
    if most is not None and len(trees) > 2 * most:
        return [(list(trees[-most:]), list(trees[:-most]))]
    halves = [list(trees[start::2]) for start in range(2)]
    return [(halves[0], halves[1]), (halves[1], halves[0])]
