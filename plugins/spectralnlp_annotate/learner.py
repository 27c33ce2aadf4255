"""Background process that trains a model on the accepted trees while the annotator corrects others.

It reads requests as lines of JSON from standard input and answers with lines of JSON on standard output. It
runs at low priority, so that requests of the page are answered first.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from time import perf_counter
from typing import Any

import spectralnlp
from spectralnlp import Parser
from spectralnlp.changes import Adapter, adapt_without_treebank
from spectralnlp.errors import SpectralError
from spectralnlp.trees import Tree, clean, read_brackets
from spectralnlp_annotate.ordering import expected_gains
from spectralnlp_annotate.training import NO_MODEL, flat_parser, train_from_scratch

_NICENESS = 10
# Maximum number of sentences whose gains are computed; more would delay the next model.
_MAX_OPEN = 400
# Number of accepted trees, the last ones, that the span scorer learns from in an update, if there are more
# than twice as many: each tree has to be parsed again for it.
_MAX_REFINED = 200


def main() -> None:
    """Read requests from standard input and answer each, until the input ends."""
    warnings.simplefilter("ignore")  # about few trees
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    learner = Learner()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)  # output of libraries must not mix with answers
        for line in sys.stdin:
            try:
                answer = learner.answer(json.loads(line))
            except SpectralError as error:
                answer = {"error": str(error)}
            try:
                print(json.dumps(answer), file=replies, flush=True)
            except BrokenPipeError:  # the server was killed
                os._exit(1)


def known_words(parser: Parser) -> set[str]:
    """Return the words in the lexicon of a parser, in lower case."""
    return {word.lower() for word in parser.coarse.lexicon.words}


class Learner:
    """Trainer of models on accepted trees; it caches the initial model and the trees of the last request."""

    def __init__(self) -> None:
        self._base: str | None = None
        self._trees: dict[str, Tree | None] = {}  # by their text in brackets

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Train a model on the accepted trees, save the model, and compute the gains of the other sentences.

        A sentence is open if it has no accepted tree yet. Its gain is an estimate of how much its annotation
        would improve the parser (`ordering.expected_gains`). Without accepted trees, no model is trained or
        saved.

        Args:
            request: ``base``, the model to start with, or ``none``; ``trees``, the accepted trees in
                brackets; ``in_full``, whether the span scorer learns from all of them; ``learned``, the
                folder to write the model to; ``open``, the tokens of the open sentences.

        Returns:
            ``gains``, the gains of the first 400 open sentences; ``in_full``, whether the span scorer has
            learned from all trees; ``seconds``, the training time.
        """
        started = perf_counter()
        trees, in_full = self._read(request["trees"]), request["in_full"]
        parser = self._learned(request["base"], trees, in_full, request["open"])
        if trees:
            parser.save(request["learned"], overwrite=True)
        seconds = perf_counter() - started
        parses = list(parser.parse_many(request["open"][:_MAX_OPEN]))
        gains = expected_gains(parses, request["open"], known_words(parser))
        if request["base"] != NO_MODEL:
            in_full = in_full or len(trees) <= 2 * _MAX_REFINED
        return {"gains": gains, "in_full": in_full or not trees, "seconds": seconds}

    def _learned(self, base: str, trees: list[Tree], in_full: bool, texts: list[list[str]]) -> Parser:
        """Return the initial model updated with trees or, without one, a model trained on the trees alone.

        Args:
            base: model to start with, or ``none``.
            trees: the accepted trees.
            in_full: whether the span scorer learns from all trees.
            texts: words of sentences; if there are neither trees nor a model, a parser that gives flat trees
                is trained on them.
        """
        if base == NO_MODEL:
            return train_from_scratch(trees, in_full=in_full) if trees else flat_parser(texts)
        parser, most = self._load(base), None if in_full else _MAX_REFINED
        return adapt_without_treebank(self._adapter, trees, max_scorer_trees=most) if trees else parser

    def _load(self, base: str) -> Parser:
        if base != self._base:
            parser = spectralnlp.load(base)
            assert isinstance(parser, Parser)
            self._adapter, self._base = Adapter(parser), base
        return self._adapter.parser

    def _read(self, brackets: list[str]) -> list[Tree]:
        """Return trees written in brackets as `Tree` objects, without traces and function tags.

        Trees that the last request had too are taken from the cache. Trees without words are left out.
        """
        new = [each for each in brackets if each not in self._trees]
        read = dict(zip(new, map(clean, read_brackets(new)), strict=True))
        self._trees = {each: read[each] if each in read else self._trees[each] for each in brackets}
        trees = (self._trees[each] for each in brackets)
        return [tree for tree in trees if tree is not None]
