"""Evaluate a parser on raw text, which the parser splits into sentences and tokens itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, groupby, islice
from time import perf_counter

from spectralnlp.errors import InputError
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import Corpus
from spectralnlp.scoring import COLLINS, EvalbParameters, PlacedTree, RawReport, score_raw
from spectralnlp.tasks.token_boundaries import CONVENTION_EXAMPLES
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.detokenizer import place_words, text_of
from spectralnlp.trees import Tree, add_root


def evaluate_raw(
    parser: Parser,
    corpus: Corpus[Tree],
    *,
    decoder: str | None = None,
    parameters: EvalbParameters = COLLINS,
) -> RawReport:
    """Score a parser on the raw text of gold trees.

    The raw text of a document is made from the words of its trees, by the tokenisation conventions of the
    treebank, which are learned from these words. Sentences are joined by blanks.

    Args:
        parser: the parser to score.
        corpus: gold trees, without traces and function tags.
        decoder: name of a decoder to use; None for the parser's default.
        parameters: rules for counting brackets.

    Raises:
        InputError: there are no trees.
    """
    documents = list(_placed_documents(corpus))
    if not documents:
        raise InputError("no trees to evaluate on")
    warm_up(parser)
    texts = [text_of(sentence for _, sentence in trees) for trees in documents]
    started = perf_counter()
    sentences = [list(parser.sentences([text])) for text in texts]
    parses = [p for p in parser.parse_many(chain(*sentences), decoder=decoder) if p is not None]
    seconds = perf_counter() - started
    stream = ((parse.tree, parse.sentence) for parse in parses)
    predicted = [list(islice(stream, len(each))) for each in sentences]
    scored = score_raw(zip(documents, predicted, strict=True), parameters)
    failures = sum(parse.fallback is not None for parse in parses)
    return replace(scored, failures=failures, seconds=seconds)


def warm_up(parser: Parser) -> None:
    """Load compiled functions and index the grammars, before parsing time is measured."""
    parser.parse_tokens(["a", "b", "c"])


def _placed_documents(corpus: Corpus[Tree]) -> Iterator[list[PlacedTree]]:
    """Yield, for each non-empty document, a list of pairs of a tree and its sentence.

    The raw text of the document is reconstructed, and each token has its character offsets in this text.
    """
    first = islice(corpus, CONVENTION_EXAMPLES)
    conventions = Conventions.learn(word for tree in first for word in tree.words())
    for _, partitions in groupby(corpus.partitions(), key=lambda partition: partition.document_index):
        placed: list[PlacedTree] = []
        offset = 0
        for tree in chain.from_iterable(partitions):
            sentence = place_words(tree.words(), tree.tags(), conventions, offset=offset)
            placed.append((add_root(tree), sentence))
            offset = sentence.end + 1
        if placed:
            yield placed
