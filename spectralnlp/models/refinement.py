"""Trees of a domain as examples for the span scorer of a parser that was learned without them.

The parser's forests of their sentences are as honest as those of any new text, so nothing is held out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.rescoring.corpus import NO_BRACKET, NOT_AN_OPTION, Example
from spectralnlp.inference.trees.rescoring.options import SpanOptions, span_options
from spectralnlp.inference.trees.rescoring.rescorer import SpanRescorer
from spectralnlp.models.constrained import infer_forests
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import Ints
from spectralnlp.trees import Tree, strip_root


class ScorerRefiner:
    """Lets the span scorer of a parser go on learning.

    Args:
        parser: with a span scorer.
        estimator: of the parser's kind, unfitted.

    Raises:
        ConfigError: the parser has no span scorer.
    """

    def __init__(self, parser: Parser, estimator: Any) -> None:
        if parser.rescorer is None:
            hint = "give the treebank that it was trained on after --with"
            raise ConfigError("the model has no span scorer that could go on learning", hint=hint)
        self._parser, self._estimator = parser, estimator
        self._rescorer: SpanRescorer = parser.rescorer

    def example(self, tree: Tree) -> Example | None:
        """Return what a tree teaches; None where a grammar of the parser has no forest for its words.

        Args:
            tree: with words as the parser's treebank writes them.
        """
        parser, words = self._parser, tree.words()
        evidence = parser.tag_evidence or parser.usual_evidence
        found, _, _ = infer_forests(parser.constrained, words, None, evidence, None)
        if len(found) < len(parser.constrained):
            return None
        maps = [self._rescorer.shared.maps[number] for number, _ in found]
        forests = [each.scored for _, each in found]
        options, _ = span_options(forests, maps, self._rescorer.shared.labels, len(words))
        if options.posterior.shape[1] < sum(len(each.grammars) for each in parser.pipelines):
            return None  # a grammar had no usable score
        return Example(options, self._rescorer.tokens.read(words, options.tag), self._gold(tree, options))

    def refined(self, examples: list[Example]) -> Parser:
        """Return the parser with a scorer that has learned from examples, one or more."""
        scorer = self._estimator.refine_scorer(self._rescorer.scorer, self._rescorer.shared, examples)
        return replace(self._parser, span_scorer=scorer)

    @cached_property
    def _numbers(self) -> dict[tuple[str, ...], int]:
        """The number of the option of one label, or of the upper and the lower label of a chain."""
        names, labels = self._rescorer.shared.names, self._rescorer.shared.labels
        phrases = {(name,): n for n, name in enumerate(names) if not labels.is_tag[n]}
        pairs = {
            (names[top], names[bottom]): len(names) + n
            for n, (top, bottom) in enumerate(labels.pairs.tolist())
            if not labels.is_tag[bottom]
        }
        return {**phrases, **pairs}

    def _gold(self, tree: Tree, options: SpanOptions) -> Ints:
        """int32 (n_spans,): the option of each span that the tree has; see `Example`."""
        chains: dict[tuple[int, int], list[str]] = {}
        for label, start, end in strip_root(tree).spans():
            chains.setdefault((start, end), []).append(label)
        gold = np.full(len(options.start), NO_BRACKET, np.int32)
        for span, ends in enumerate(zip(options.start.tolist(), options.end.tolist(), strict=True)):
            if ends in chains:
                chain = chains[ends]
                key = (chain[0],) if len(chain) == 1 else (chain[0], chain[-1])
                low, high = options.first[span], options.first[span + 1]
                here = np.flatnonzero(options.label[low:high] == self._numbers.get(key, NO_BRACKET))
                gold[span] = low + here[0] if len(here) else NOT_AN_OPTION
        return gold
