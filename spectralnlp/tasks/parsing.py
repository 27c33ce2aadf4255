"""The parsing task: train parsers on treebanks, and score them as EVALB does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any

from spectralnlp import registry
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.annotations import KnownAnnotations
from spectralnlp.inference.trees.parsing import Pruning
from spectralnlp.models.parser import Parser
from spectralnlp.models.tag_evidence import TagModel
from spectralnlp.runtime import Corpus, Inputs, MappedCorpus, OnBad, take_field
from spectralnlp.scoring import COLLINS, Comparison, EvalbParameters, ParseReport, RawReport, score_trees
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.raw_text import evaluate_raw, warm_up
from spectralnlp.tasks.samples import sample_trees
from spectralnlp.tasks.several_treebanks import sources_of
from spectralnlp.tasks.token_boundaries import (
    CONVENTION_EXAMPLES,
    MANY_UNKNOWN,
    TokenBoundaries,
    TokenTask,
    unknown_share,
)
from spectralnlp.tasks.treebanks import TreebankCorpus, nltk_trees_of
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, add_root, clean, read_brackets
from spectralnlp.trees.renaming import Renaming

_TEXT = "The keeper of the old lamp saw it, and she waited in the harbour for 3 days."


class TreeBoundaries(TokenBoundaries):
    """Counts of words and adjacent tokens in trees, from which tokenisation conventions are learned."""

    @staticmethod
    def words_of(example: Tree) -> list[str]:
        """Return the words of a tree."""
        return example.words()


class ParsingTask(TokenTask):
    """Task of constituency parsing: treebanks are read, parsers trained and scored."""

    name = "parsing"
    examples_are = "trees"
    boundaries = TreeBoundaries
    training_data = "{training trees:,} trees of {training tokens:,} tokens"
    default_card = """# A constituency parser

The parameters and the vocabulary come from the training trees: their licence applies. Made for text like
them: run `spectralnlp evaluate` on gold trees of your own before you rely on it."""

    def read(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        on_bad: OnBad | None = None,
        encoding: str | None = None,
        weights: Mapping[str, int] | None = None,
        map: Sequence[str] | None = None,
    ) -> Corpus[Tree]:
        """Read the trees of treebank files, and remove traces, empty elements and function tags.

        Args:
            inputs: files, folders or globs; or an NLTK corpus reader, or its ``parsed_sents()``.
            reader: name of a treebank reader, or ``auto``.
            on_bad: called with the error of each invalid tree, which is skipped; None to raise it.
            encoding: encoding of the files; None for the default of the treebank format.
            weights: mapping from the name of a treebank to the number of times that each of its trees counts.
                The name is the input (folder, address or glob), or the folder of single files. Trees of other
                treebanks count once.
            map: lines of a table of renamings (:mod:`spectralnlp.trees.renaming`); None to rename nothing.

        Raises:
            InputError: an input is missing or unreadable, the table is malformed, or (on reading) a tree is
                malformed.
            ConfigError: a weight names no treebank of the inputs, or is not a positive integer.
        """
        renaming = None if map is None else Renaming(map)
        in_memory = nltk_trees_of(inputs, on_bad)
        if in_memory is None:
            return TreebankCorpus(sources_of(inputs, weights or {}), reader, on_bad, encoding, renaming)
        return in_memory if renaming is None else MappedCorpus(in_memory, renaming.rename)

    read_gold = read

    def remarks_on_gold(self, model: Parser, corpus: Corpus[Tree]) -> list[str]:
        """Return a warning if most words are unknown, which suggests another language."""
        words = Counter(word for tree in islice(corpus, CONVENTION_EXAMPLES) for word in tree.words())
        unknown = unknown_share(words, model.coarse.lexicon.word_index)
        if unknown <= MANY_UNKNOWN:
            return []
        what = f"{100 * unknown:.0f} % of the words are unknown to the model"
        return [f"{what}: if they are in another language, train a separate model"]

    def in_memory(self, data: Any) -> Corpus[Tree]:
        """Return a corpus of trees; NLTK trees lose traces and function tags, others are unchanged."""
        trees = nltk_trees_of(data)
        return super().in_memory(data) if trees is None else trees

    def from_record(self, record: Mapping[str, Any]) -> Tree:
        """Return the tree of a record from its field ``tree``, ``parse`` or ``brackets``, the first present.

        A `Tree` is returned unchanged. A bracketed string is read, and loses traces and function tags.
        """
        tree: Tree | str = take_field(record, "tree", "parse", "brackets")
        if isinstance(tree, Tree):
            return tree
        (read,) = read_brackets([tree])
        cleaned = clean(read)
        if cleaned is None:
            raise InputError(f"a tree without words: {tree}")
        return cleaned

    def is_example(self, example: Any) -> bool:
        """Return whether a value can be an example: a tree."""
        return isinstance(example, Tree)

    def with_words(self, example: Tree, words: Sequence[str]) -> Tree:
        """Return a tree with new words, one for each old word."""
        return _with_words(example, words)

    def wrap(self, fitted: Any) -> Parser:
        """Wrap a fitted parser trainer, or a fitted grammar estimator alone, as a parser."""
        grammar = _grammar_of(fitted)
        return Parser(
            grammar_sets=grammar.grammar_sets_,
            components=getattr(fitted, "components_", {}),
            conventions=Conventions(),
            decoder=grammar.decoder_,
            decoder_settings=grammar.decoder_settings_,
            pruning=Pruning.of_pool(len(grammar.grammar_sets_)),
        )

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the numbers of training trees and tokens, for reports."""
        grammar = _grammar_of(fitted)
        return {"training trees": grammar.n_trees_, "training tokens": sum(grammar.word_counts_.values())}

    def evaluate(
        self,
        parser: Parser,
        corpus: Corpus[Tree],
        *,
        decoder: str | None = None,
        tagger: TagModel | None = None,
        parameters: EvalbParameters = COLLINS,
        predicted_tags: bool = False,
        raw: bool = False,
        annotations: Sequence[str] | None = None,
    ) -> ParseReport | RawReport:
        """Score a parser on gold trees, whose words it gets as tokens or, if ``raw``, as raw text.

        Args:
            parser: the parser to score.
            corpus: gold trees, without traces and function tags.
            decoder: name of a decoder to use; None for the parser's default.
            tagger: a tagger whose tag probabilities the parser uses; None for the parser's own tagger, if
                any.
            parameters: rules for counting brackets.
            predicted_tags: whether to find punctuation, which EVALB ignores, by the predicted tags as plain
                EVALB does, instead of by the gold tags.
            raw: whether the parser gets raw text, which it splits into sentences and tokens itself; brackets
                are then matched by character offsets.
            annotations: CoNLL-U files with annotations of the sentences, which are found by their words; the
                other sentences have none.

        Raises:
            InputError: there are no trees; there are annotations, but of none of the sentences; or their
                scheme is not that of the parser's training.
            ConfigError: ``raw`` is true, and ``predicted_tags`` is, too, or there are annotations; or the
                parser was trained without annotations.
        """
        if annotations is not None:
            _check_annotated(parser, raw)
        if raw and predicted_tags:
            what = "`raw` and `predicted_tags` exclude each other"
            raise ConfigError(what, hint="on raw text, punctuation is left out by its gold tags")
        if tagger is not None:
            parser = parser.with_tagger(tagger)
        if raw:
            return evaluate_raw(parser, corpus, decoder=decoder, parameters=parameters)
        gold = [add_root(tree) for tree in corpus]
        if not gold:
            raise InputError("no trees to evaluate on")
        warm_up(parser)
        started = perf_counter()
        sentences: Iterable[Sentence] = (gold_sentence(tree, parser.conventions) for tree in gold)
        if annotations is not None:
            found = KnownAnnotations.read(annotations).of_sentences([tree.words() for tree in gold])
            sentences = map(_annotated, sentences, found)
        parses = [p for p in parser.parse_many(sentences, decoder=decoder) if p is not None]
        seconds = perf_counter() - started
        predicted = [_with_words(parse.tree, tree.words()) for parse, tree in zip(parses, gold, strict=True)]
        scored = score_trees(gold, predicted, parameters, tags="predicted" if predicted_tags else "gold")
        failures = sum(parse.fallback is not None for parse in parses)
        return replace(scored, failures=failures, seconds=seconds)

    def sample(self) -> str:
        """Return made-up trees, one per line, as training data for compiling numba functions."""
        return sample_trees()

    def warm_up(self, model: Parser) -> None:
        """Parse with every decoder, k-best output and fixed tags, to compile all numba functions."""
        sentences = list(model.sentences([_TEXT]))
        for name in registry.decoders.names():
            with suppress(ConfigError):  # some decoders reject grammars with negative weights
                list(model.parse_many(sentences, decoder=name))
        for parse in model.parse_many(sentences, k=2):
            if parse is not None:
                model.parse_tokens(parse.tree.words(), parse.tree.tags())

    def compare(self, report: Any, other: Any) -> Comparison:
        """Test whether the F1 of two reports of the same kind differs significantly."""
        comparison: Comparison = report.compare(other)
        return comparison

    def load(self, stored: StoredModel) -> Parser:
        """Return the parser that a model folder holds."""
        return Parser.from_stored(stored)


def _grammar_of(fitted: Any) -> Any:
    """Return the grammar estimator of a fitted parser trainer; a grammar estimator is returned unchanged."""
    return getattr(fitted, "grammar_", fitted)


def gold_sentence(tree: Tree, conventions: Conventions) -> Sentence:
    """Return the words of a gold tree as a sentence that a parser can read.

    Each token gets a form, its spelling by the parser's conventions, such as ``-LRB-`` for ``(``.

    Args:
        tree: the gold tree.
        conventions: tokenisation conventions of the parser's training data.
    """
    sentence = Sentence.from_words(tree.words())
    forms = conventions.forms(sentence.words)
    return Sentence(
        tuple(replace(token, form=form) for token, form in zip(sentence.tokens, forms, strict=True))
    )


def _annotated(sentence: Sentence, annotations: Annotations | None) -> Sentence:
    return replace(sentence, annotations=annotations)


def _check_annotated(parser: Parser, raw: bool) -> None:
    if raw:
        raise ConfigError("`raw` and `annotations` exclude each other", hint="annotations are of tokens")
    if parser.annotation_scheme is None:
        what = "the parser was trained without annotations, and ignores `annotations`"
        raise ConfigError(what, hint="leave them out")


def _with_words(tree: Tree, words: Iterable[str]) -> Tree:
    """Return the tree with new words, one for each old word."""
    left = iter(words)
    return tree.fold(lambda node, below: Tree(node.label, below, None if below else next(left)))
