"""Trees of a domain as examples for the span scorer of a parser.

The forests of their sentences have to be made by grammars that have not seen these trees, for posteriors of
trees that a grammar was learned from are much too sure. That is so of the parser itself if they are new to
it; of a parser that was adapted to them it is not, and another one, adapted to other trees, makes them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.labels import SharedLabels
from spectralnlp.inference.trees.rescoring.corpus import NO_BRACKET, NOT_AN_OPTION, Example
from spectralnlp.inference.trees.rescoring.options import SpanOptions, span_options
from spectralnlp.inference.trees.rescoring.rescorer import token_reader
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import Ints
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, strip_root


class ScorerRefiner:
    """Makes examples of trees, from which the span scorer of a parser can go on learning.

    Args:
        parser: with a span scorer.
        by: makes the forests, and has not seen the trees; a parser with the same binarisations, whose labels
            are among those of ``parser``. None for the same one.

    Raises:
        ConfigError: the parser has no span scorer.
    """

    def __init__(self, parser: Parser, by: Parser | None = None) -> None:
        if "span_scorer" not in parser.components:
            hint = "adapt it with the treebank that it was trained on"
            raise ConfigError("the model has no span scorer that could go on learning", hint=hint)
        self.scorer, self._by = parser.components["span_scorer"], by or parser
        coarse = [each.coarse for each in parser.grammar_sets]
        self.shared = SharedLabels.of([*coarse, *(each.coarse for each in self._by.grammar_sets)])
        self._maps = self.shared.maps[len(coarse) :]
        self._tokens = token_reader(
            self.shared, self._by.coarse.lexicon, parser.forest_parser.grammars[0].clusters
        )

    def example(self, tree: Tree) -> Example | None:
        """Return what a tree teaches; None where a grammar has no forest for its words.

        Args:
            tree: with words as the parser's treebank writes them.
        """
        words = tree.words()
        given = self._by.look_up(Sentence.from_words(words))
        forests = self._by.forest_parser.infer(given)
        if not self._by.forest_parser.is_complete(forests):
            return None  # all examples have a column of posteriors for each grammar
        scored = list(forests.scored.values())
        options, _ = span_options(scored, self._maps, self.shared.labels, len(words), given.opening)
        return Example(options, self._tokens.read(words, options.tag), self._gold(tree, options))

    @cached_property
    def _numbers(self) -> dict[tuple[str, ...], int]:
        """The number of the option of one label, or of the upper and the lower label of a chain."""
        names, labels = self.shared.names, self.shared.labels
        numbers: dict[tuple[str, ...], int] = {
            (name,): n for n, name in enumerate(names) if not labels.is_tag[n]
        }
        for n, (top, bottom) in enumerate(labels.pairs.tolist()):
            if not labels.is_tag[bottom]:
                numbers[names[top], names[bottom]] = len(names) + n
        return numbers

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
