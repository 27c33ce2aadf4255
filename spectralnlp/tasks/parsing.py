"""The parsing task: treebanks in, parsers out, EVALB scores of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from spectralnlp import __version__
from spectralnlp.errors import InputError
from spectralnlp.estimator import Estimator, timed_passes
from spectralnlp.models.parser import Parser
from spectralnlp.models.tag_evidence import TagModel
from spectralnlp.runtime import Corpus, FileCorpus, Joint, expand_inputs
from spectralnlp.scoring import COLLINS, Comparison, EvalbParameters, ParseReport, compare, score_trees
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.card import model_card
from spectralnlp.tasks.seams import with_seams, without_seams
from spectralnlp.tasks.task import OnBad, Say, Task, silent
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, add_root, clean, read_trees

CONVENTION_TREES = 5000
"""Trees that are enough to see how a treebank writes its tokens."""


class ParsingTask(Task):
    """Constituency parsing."""

    name = "parsing"

    def read(
        self, inputs: Sequence[str | Path], *, reader: str = "auto", on_bad: OnBad | None = None
    ) -> Corpus[Tree]:
        """Cleaned trees of files, folders and globs.

        Args:
            inputs: where the trees are.
            reader: name of a treebank reader, or ``auto``.
            on_bad: called for each bad tree, which is then left out; None to stop at the first.

        Raises:
            InputError: a missing or unreadable input, or (on reading) a bad tree.
        """
        return FileCorpus(expand_inputs(inputs), partial(_read_clean, reader=reader, on_bad=on_bad))

    def train(
        self,
        estimator: Estimator[Any],
        corpus: Corpus[Tree],
        *,
        report: Say = silent,
        description: str = "",
    ) -> Parser:
        """Fit an estimator and wrap its grammars into a parser.

        Args:
            estimator: one whose task is parsing.
            corpus: cleaned trees.
            report: told the time of each pass, a line each.
            description: Markdown for the model card: name, sources, licences, uses.
        """
        conventions = _learn_conventions(corpus)  # first: what is looked at of an iterator is buffered
        with timed_passes(report):
            fitted: Any = estimator.fit(corpus)
        return _parser(fitted, conventions, description)

    def init_kept_moments(self, estimator: Estimator[Any], corpus: Corpus[Tree]) -> Joint[Tree]:
        """Those of the estimator, and counts of how tokens are written."""
        return with_seams(estimator.init_kept_moments(corpus))

    def solve(
        self, estimator: Estimator[Any], moments: Joint[Tree], *, report: Say = silent, description: str = ""
    ) -> Parser:
        """The same as `train`, from moments; conventions are learned from all trees, not only the first."""
        own, conventions = without_seams(moments)
        with timed_passes(report):
            estimator.solve_kept(own)
        return _parser(estimator, conventions, description)

    def evaluate(
        self,
        parser: Parser,
        corpus: Corpus[Tree],
        *,
        jobs: int = 1,
        decoder: str | None = None,
        tagger: TagModel | None = None,
        parameters: EvalbParameters = COLLINS,
        own_tags: bool = False,
    ) -> ParseReport:
        """EVALB scores of a parser on gold trees, from their words alone.

        Args:
            parser: what is scored.
            corpus: cleaned gold trees.
            jobs: threads.
            decoder: name of a decoder, in place of the parser's own.
            tagger: a tagger to listen to.
            parameters: how brackets are counted.
            own_tags: count with the parser's tags, as plain EVALB does, not with gold ones put in.
        """
        gold = [add_root(tree) for tree in corpus]
        if not gold:
            raise InputError("no trees to evaluate on")
        if tagger is not None:
            parser = parser.with_tagger(tagger)
        warm_up(parser)
        started = perf_counter()
        sentences = (gold_sentence(tree, parser.conventions) for tree in gold)
        parses = [p for p in parser.parse_many(sentences, decoder=decoder, jobs=jobs) if p is not None]
        seconds = perf_counter() - started
        predicted = [_with_words(parse.tree, tree) for parse, tree in zip(parses, gold, strict=True)]
        scored = score_trees(gold, predicted, parameters, tags="own" if own_tags else "gold")
        failures = sum(parse.fallback is not None for parse in parses)
        return replace(scored, failures=failures, seconds=seconds)

    def compare(self, report: ParseReport, other: ParseReport) -> Comparison:
        """A paired test of F1 and an interval of the difference."""
        return compare(report.counts, other.counts)

    def load(self, stored: StoredModel) -> Parser:
        """The parser in a model folder."""
        return Parser.from_stored(stored)


def _parser(fitted: Any, conventions: Conventions, description: str) -> Parser:
    """The parser that a fitted estimator's grammars make."""
    about = {
        "estimator": type(fitted).__name__,
        "parameters": fitted.get_params(),
        "training trees": fitted.n_trees_,
        "training tokens": sum(fitted.word_counts_.values()),
        "spectralnlp": __version__,
    }
    data = f"{about['training trees']:,} trees of {about['training tokens']:,} tokens"
    return Parser(
        grammar_sets=fitted.grammar_sets_,
        conventions=conventions,
        decoder=fitted.decoder_,
        decoder_settings=fitted.decoder_settings_,
        about=about,
        card=model_card(about, data, description, _UNDESCRIBED),
    )


def _learn_conventions(corpus: Corpus[Tree]) -> Conventions:
    trees = islice(corpus, CONVENTION_TREES)
    return Conventions.learn(word for tree in trees for word in tree.words())


def _read_clean(path: Path, reader: str, on_bad: OnBad | None) -> Iterator[Tree]:
    for tree in read_trees(path, reader, on_bad):
        cleaned = clean(tree)
        if cleaned is not None:
            yield cleaned


def gold_sentence(tree: Tree, conventions: Conventions) -> Sentence:
    """The words of a gold tree as the parser's treebank writes them."""
    given = Sentence.from_words(tree.words())
    forms = conventions.forms(given.words)
    return Sentence(tuple(replace(token, form=form) for token, form in zip(given.tokens, forms, strict=True)))


def _with_words(tree: Tree, gold: Tree) -> Tree:
    """The tree over the gold tree's spelling of the words."""
    words = iter(gold.words())
    return tree.fold(lambda node, below: Tree(node.label, below, None if below else next(words)))


def warm_up(parser: Parser) -> None:
    """Load the kernels and index the grammars, so that they are not counted as parsing."""
    parser.parse_tokens(["a", "b", "c"])


_UNDESCRIBED = """# A constituency parser

The parameters and the vocabulary come from the training trees: their licence applies. Made for text like
them: run `spectralnlp evaluate` on gold trees of your own before you rely on it."""
