"""Convert trees of a domain to training examples for a parser's span scorer.

The span scorer is the component that rescores the labels of spans before decoding. An example contains the
posteriors of a parse forest of the sentence. The grammars that compute these posteriors must not have been
trained on the sentence's tree, or they would be overconfident. Therefore, the examples of a parser that was
adapted to the trees are made by a second parser, which was adapted to other trees only.
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
    """Converter of trees of a domain to training examples for the span scorer of a parser.

    Args:
        parser: a parser with a span scorer.
        by: parser that makes the parse forests and was not trained on the trees; it has the same
            binarisations, and all its labels are labels of ``parser``. None for ``parser`` itself.

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
        """Convert a tree to a training example; return None if a grammar has no parse forest for its words.

        Args:
            tree: a tree whose words follow the conventions of the parser's treebank.
        """
        words = tree.words()
        given = self._by.look_up(Sentence.from_words(words))
        forests = self._by.forest_parser.infer(given)
        if not self._by.forest_parser.is_complete(forests):
            return None  # all examples have a column of posteriors for each grammar
        scored = list(forests.scored.values())
        options, _ = span_options(scored, self._maps, self.shared.labels, len(words), given.cell_marginals)
        return Example(options, self._tokens.read(words, options.tag), self._gold(tree, options))

    @cached_property
    def _numbers(self) -> dict[tuple[str, ...], int]:
        """Mapping of labellings to their ids.

        A labelling is a tuple of one label, or of the top and the bottom label of a unary chain.
        """
        names, labels = self.shared.names, self.shared.labels
        numbers: dict[tuple[str, ...], int] = {
            (name,): n for n, name in enumerate(names) if not labels.is_tag[n]
        }
        for n, (top, bottom) in enumerate(labels.pairs.tolist()):
            if not labels.is_tag[bottom]:
                numbers[names[top], names[bottom]] = len(names) + n
        return numbers

    def _gold(self, tree: Tree, options: SpanOptions) -> Ints:
        """Return the gold labelling of each candidate span, int32 (n_spans,).

        The value is an index into the candidate labellings of all spans (``options.label``). It is
        `NO_BRACKET` if the span is not a constituent of the tree, and `NOT_AN_OPTION` if the span's
        labelling in the tree is not among its candidates.

        Args:
            tree: the gold tree.
            options: candidate spans of the sentence, each with its candidate labellings.
        """
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
