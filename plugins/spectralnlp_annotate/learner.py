"""A process that learns from accepted trees while the annotator works on: asked for a model, it makes one.

It takes lines of JSON on standard input and answers with lines of JSON on standard output. Its niceness is
high, so that the page is answered first.
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
from spectralnlp.changes import Adapter, adapt_alone
from spectralnlp.errors import SpectralError
from spectralnlp.trees import Tree, clean, read_brackets
from spectralnlp_annotate.anew import NOTHING, learn_anew, untaught_parser
from spectralnlp_annotate.ordering import expected_gains

_NICENESS = 10
# Sentences whose gains are looked at: with more, the next model would wait for them.
_MOST_OPEN = 400
# Accepted trees that the scorer learns from between two sentences, the last ones, where there are more than
# twice so many: each is parsed once more for that.
_MOST_REFINED = 200


def main() -> None:
    """Answer requests until standard input ends."""
    warnings.simplefilter("ignore")  # of few trees
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    learner = Learner()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)  # what a library prints is no answer
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
    """The words in the lexicon of a parser, in small letters."""
    return {word.lower() for word in parser.coarse.lexicon.words}


class Learner:
    """The model that is begun with, its counts, and those of trees that were learned from before."""

    def __init__(self) -> None:
        self._base: str | None = None
        self._trees: dict[str, Tree | None] = {}  # by their brackets

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Learn, if there is something to learn from, and say what the open sentences would teach.

        Args:
            request: ``base``, the model to begin with, or ``none``; ``trees``, accepted ones in brackets;
                ``in_full``,
                whether the span scorer is to learn from all of them; ``learned``, the folder of the model to
                write; ``open``, tokens of sentences.

        Returns:
            ``gains`` of the open sentences, as many as were looked at; ``in_full``, whether the span scorer
            learned from all trees; ``seconds`` that learning took.
        """
        started = perf_counter()
        trees, in_full = self._read(request["trees"]), request["in_full"]
        parser = self._learned(request["base"], trees, in_full, request["open"])
        if trees:
            parser.save(request["learned"], overwrite=True)
        seconds = perf_counter() - started
        parses = list(parser.parse_many(request["open"][:_MOST_OPEN]))
        gains = expected_gains(parses, request["open"], known_words(parser))
        if request["base"] != NOTHING:
            in_full = in_full or len(trees) <= 2 * _MOST_REFINED
        return {"gains": gains, "in_full": in_full or not trees, "seconds": seconds}

    def _learned(self, base: str, trees: list[Tree], in_full: bool, texts: list[list[str]]) -> Parser:
        """The model to begin with after it has learned from trees; anew where there is none to begin with."""
        if base == NOTHING:
            return learn_anew(trees, in_full=in_full) if trees else untaught_parser(texts)
        parser, most = self._load(base), None if in_full else _MOST_REFINED
        return adapt_alone(self._adapter, trees, most=most) if trees else parser

    def _load(self, base: str) -> Parser:
        if base != self._base:
            parser = spectralnlp.load(base)
            assert isinstance(parser, Parser)
            self._adapter, self._base = Adapter(parser), base
        return self._adapter.parser

    def _read(self, brackets: list[str]) -> list[Tree]:
        """The trees, cleaned; those of the last request are not read again."""
        new = [each for each in brackets if each not in self._trees]
        read = dict(zip(new, map(clean, read_brackets(new)), strict=True))
        self._trees = {each: read[each] if each in read else self._trees[each] for each in brackets}
        found = (self._trees[each] for each in brackets)
        return [tree for tree in found if tree is not None]
