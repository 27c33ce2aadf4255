"""The task of tagging: words with tags in, taggers out, accuracy and spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from spectralnlp import __version__, registry
from spectralnlp.errors import InputError
from spectralnlp.estimator import Estimator, timed_passes
from spectralnlp.estimators.rhmm import RefinementHMM
from spectralnlp.models.rhmm_tagger import KIND as REFINED
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.models.tagger import Tagger
from spectralnlp.runtime import Corpus, FileCorpus, Joint, MappedCorpus, expand_inputs, open_text
from spectralnlp.scoring.significance import Comparison
from spectralnlp.scoring.tagging import TagReport, compare_tags, score_tags
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.card import model_card
from spectralnlp.tasks.seams import with_seams, without_seams
from spectralnlp.tasks.task import OnBad, Say, Task, silent
from spectralnlp.text.conll import AnnotatedSentence, TaggedSentence, read_annotated
from spectralnlp.text.conventions import Conventions
from spectralnlp.trees import clean, read_trees

CONVENTION_SENTENCES = 5000
"""Sentences that are enough to see how words are written."""

_UNDESCRIBED = """# A tagger

Weights and vocabulary come from the training data, and those of vectors from the text they were learned from:
their licences apply."""


class TaggingTask(Task):
    """Tags of words in sentences."""

    name = "tagging"

    def read(
        self, inputs: Sequence[str | Path], *, reader: str = "auto", on_bad: OnBad | None = None
    ) -> Corpus[AnnotatedSentence]:
        """Annotated sentences of files, folders and globs.

        Args:
            inputs: where they are.
            reader: ``conllu``, ``columns``, ``tagged``, a treebank reader's name for the tags of trees, or
                ``auto``.
            on_bad: called for each bad sentence, which is then left out; None to stop at the first.

        Raises:
            InputError: a missing or unreadable input, or (on reading) a bad line.
        """
        return FileCorpus(expand_inputs(inputs), partial(_read, reader=reader, on_bad=on_bad))

    def train(
        self,
        estimator: Estimator[Any],
        corpus: Corpus[AnnotatedSentence],
        *,
        report: Say = silent,
        description: str = "",
    ) -> Tagger | RefinementTagger:
        """Fit an estimator on the column that it asks for, and make a tagger of it.

        Args:
            estimator: one whose task is tagging.
            corpus: what `read` gave.
            report: told the time of each pass, a line each.
            description: Markdown for the model card.
        """
        tagged = self.examples(estimator, corpus)
        with timed_passes(report):
            fitted: Any = estimator.fit(tagged)
        conventions = Conventions.learn(
            word for words, _ in islice(tagged, CONVENTION_SENTENCES) for word in words
        )
        return _tagger(fitted, conventions, report, description)

    def examples(
        self, estimator: Estimator[Any], corpus: Corpus[AnnotatedSentence]
    ) -> Corpus[TaggedSentence]:
        """The column that the estimator asks for."""
        return MappedCorpus(corpus, partial(_column, column=estimator.get_params().get("column")))

    def init_kept_moments(
        self, estimator: Estimator[Any], corpus: Corpus[TaggedSentence]
    ) -> Joint[TaggedSentence]:
        """Those of the estimator, and counts of how words are written."""
        return with_seams(estimator.init_kept_moments(corpus))

    def solve(
        self,
        estimator: Estimator[Any],
        moments: Joint[TaggedSentence],
        *,
        report: Say = silent,
        description: str = "",
    ) -> Tagger | RefinementTagger:
        """The same as `train`, from moments; conventions are learned from all words."""
        own, conventions = without_seams(moments)
        with timed_passes(report):
            estimator.solve_kept(own)
        return _tagger(estimator, conventions, report, description)

    def evaluate(
        self, model: Tagger | RefinementTagger, corpus: Corpus[AnnotatedSentence], *, jobs: int = 1
    ) -> TagReport:
        """Accuracy, that of unknown words, and scores of spans where tags write them."""
        column = model.about.get("parameters", {}).get("column")
        gold = [_column(sentence, column) for sentence in corpus]
        if not gold:
            raise InputError("no tagged sentences to evaluate on")
        model.tag([gold[0][0][:1]])  # kernels are compiled, or read, before the clock starts
        started = perf_counter()
        found = model.tag([words for words, _ in gold])
        seconds = perf_counter() - started
        return score_tags(
            gold,
            found,
            known=model.known,
            labels=frozenset(model.labels),
            scheme=model.scheme,
            seconds=seconds,
        )

    def compare(self, report: TagReport, other: TagReport) -> Comparison:
        """A paired test of F1 where there are spans, else of accuracy, and an interval of the difference."""
        return compare_tags(report, other)

    def load(self, stored: StoredModel) -> Tagger | RefinementTagger:
        """The tagger in a model folder."""
        if stored.metadata.get("kind") == REFINED:
            return RefinementTagger.from_stored(stored)
        return Tagger.from_stored(stored)


def _tagger(
    fitted: Any, conventions: Conventions, report: Say, description: str
) -> Tagger | RefinementTagger:
    """The tagger of a fitted estimator."""
    about = {
        "estimator": type(fitted).__name__,
        "parameters": {name: _without_folders(value) for name, value in fitted.get_params().items()},
        "training sentences": fitted.n_sentences_,
        "training words": fitted.n_tokens_,
        "spectralnlp": __version__,
    }
    data = f"{about['training sentences']:,} sentences of {about['training words']:,} words"
    card = model_card(about, data, description, _UNDESCRIBED)
    if isinstance(fitted, RefinementHMM):
        models = tuple(fitted.models_)
        return RefinementTagger(fitted.coarse_, models, fitted.beam, conventions, about, card)
    if fitted.n_invalid_:
        report(f"{fitted.n_invalid_} tags cannot follow the one before: read as spans that begin there")
    return Tagger(fitted.weights_, fitted.features_, fitted.scheme_, conventions, fitted.words_, about, card)


def _without_folders(value: Any) -> Any:
    """A setting for readers: of folders only their names, for a tagger carries its vectors with it."""
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    return Path(value).name if isinstance(value, str) else value


def _read(path: str | Path, reader: str, on_bad: OnBad | None) -> Iterator[AnnotatedSentence]:
    """Sentences of a file: of tagged text, or of a treebank's trees."""
    if reader in registry.readers or (reader == "auto" and _has_trees(path)):
        for tree in read_trees(path, reader, on_bad):
            cleaned = clean(tree)
            if cleaned is not None:
                tags = tuple(cleaned.tags())
                yield AnnotatedSentence(tuple(cleaned.words()), {"xpos": tags}, "xpos", path)
    else:
        yield from read_annotated(path, reader, on_bad)


def _has_trees(path: str | Path) -> bool:
    with open_text(path, "iso-8859-1") as lines:  # decodes any bytes
        first = next((line for line in lines if line.strip()), "")
    return _TREE.match(first.strip()) is not None


_TREE = re.compile(r"\(\s*\(|\(\S+\s*(\(|$)|\($")


def _column(sentence: AnnotatedSentence | TaggedSentence, column: str | int | None) -> TaggedSentence:
    """Return words with the tags of a column; a pair of words and tags has only one."""
    return sentence.tagged(column) if isinstance(sentence, AnnotatedSentence) else sentence
