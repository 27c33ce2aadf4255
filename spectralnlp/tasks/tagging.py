"""The tagging task: train taggers on tagged words, and score their accuracy and spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from spectralnlp import registry
from spectralnlp.errors import InputError
from spectralnlp.estimator import Estimator
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.models.tagger import Tagger
from spectralnlp.models.taggers import tagger_class, tagger_from
from spectralnlp.runtime import (
    Corpus,
    FileCorpus,
    Inputs,
    Joint,
    Location,
    MappedCorpus,
    OnBad,
    expand_inputs,
    open_text,
    take_field,
    unpack_names,
)
from spectralnlp.scoring.significance import Comparison
from spectralnlp.scoring.tagging import TagReport, compare_tags, score_tags
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.lines import are_words
from spectralnlp.tasks.samples import sample_trees
from spectralnlp.tasks.token_boundaries import TokenTask
from spectralnlp.tasks.treebanks import nltk_trees_of
from spectralnlp.text.conll import AnnotatedSentence, TaggedSentence, read_annotated
from spectralnlp.text.inputs import check_tokens
from spectralnlp.trees import Tree, clean, read_trees
from spectralnlp.trees.readers.recognition import changes_of
from spectralnlp.trees.renaming import Renaming

# Record fields that hold the words, and those that hold the tags if no column is named.
_WORDS = frozenset(["tokens", "words", "form"])
_USUAL_TAGS = ("tags", "tag", "upos", "pos_tags", "ner_tags")


class TaggingTask(TokenTask):
    """Task of taggers, which give each word of a sentence a tag.

    There are several classes of taggers. Each estimator names the class that it trains in its class attribute
    ``tagger``.
    """

    name = "tagging"
    examples_are = "pairs of words and their tags"
    documents = ("line", "file")
    training_data = "{training sentences:,} sentences of {training words:,} words"
    default_card = """# A tagger

Weights and vocabulary come from the training data, and those of vectors from the text they were learned from:
their licences apply."""

    def read(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        on_bad: OnBad | None = None,
        encoding: str | None = None,
        map: Sequence[str] | None = None,
    ) -> Corpus[AnnotatedSentence]:
        """Read annotated sentences from files, folders and globs.

        Args:
            inputs: files, folders or globs.
            reader: ``conllu``, ``columns`` or ``tagged``; the name of a treebank reader, to read words and
                tags from trees; or ``auto`` to recognise the format.
            on_bad: called with the error of each invalid sentence, which is skipped; None to raise it.
            encoding: encoding of the files; None for UTF-8, or for the default of the treebank format.
            map: lines of a table of renamings (:mod:`spectralnlp.trees.renaming`) for the tags of trees; not
                applied to other files.

        Raises:
            InputError: an input is missing or unreadable; the table of renamings is malformed, or there is a
                table but no input has trees; or (on reading) a line is malformed.
        """
        files = expand_inputs(inputs)
        renaming = None if map is None else Renaming(map)
        if renaming is not None and not any(_are_trees(file, reader) for file in files):
            what = "the table of renamings (`map`) is for trees, and none of the inputs has any"
            raise InputError(what, hint="leave it out")
        return _AnnotatedFiles(files, reader, on_bad, encoding, renaming)

    read_gold = read

    def in_memory(self, data: Any) -> Corpus[Any]:
        """Return a corpus of tagged sentences; NLTK trees give their words and tags."""
        trees = nltk_trees_of(data)
        return super().in_memory(data) if trees is None else MappedCorpus(trees, _tags_of)

    def from_record(self, record: Mapping[str, Any]) -> AnnotatedSentence:
        """Return the annotated sentence of a record.

        Its words are the field ``tokens``, ``words`` or ``form``, the first present. Every other field that
        is a list of the same length becomes a column of tags.
        """
        words = tuple(check_tokens(take_field(record, "tokens", "words", "form")))
        columns = {
            name: tuple(map(str, values))
            for name, values in record.items()
            if name not in _WORDS and isinstance(values, Sequence) and not isinstance(values, str)
            if len(values) == len(words)
        }
        if not columns:
            raise InputError("a record without tags", hint="give a field with a tag for each token")
        default = next((name for name in _USUAL_TAGS if name in columns), next(iter(columns)))
        return AnnotatedSentence(words, columns, default)

    def is_example(self, example: Any) -> bool:
        """Return whether a value can be an example: words and their tags."""
        return isinstance(example, AnnotatedSentence) or (
            isinstance(example, tuple | list) and len(example) == 2 and all(map(are_words, example))
        )

    def examples(
        self, estimator: Estimator[Any], corpus: Corpus[AnnotatedSentence]
    ) -> Corpus[TaggedSentence]:
        """Return (words, tags) pairs; the estimator's setting ``column`` names the column of tags to use."""
        return MappedCorpus(corpus, partial(_column, column=estimator.get_params().get("column")))

    def remarks_on_more(self, moments: Joint[Any], more: Joint[Any]) -> list[str]:
        """Return warnings if the model knows few of the words, or none of the tags, of added data."""
        remarks = super().remarks_on_more(moments, more)
        logs = [each.first_replay_log() for each in (moments, more)]
        known, tags = ([] if log is None else unpack_names(log.arrays()["tags"]) for log in logs)
        if tags and set(tags).isdisjoint(known):
            shown = ", ".join(map(repr, tags[:3]))
            remarks.append(
                f"none of the added tags is known to the model ({shown}): are these tagged sentences?"
            )
        return remarks

    def wrap(self, fitted: Any) -> Tagger | RefinementTagger:
        """Return the tagger with the parameters of a fitted estimator."""
        return tagger_class(fitted.tagger).of_fitted(fitted)

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the numbers of training sentences and words, for reports."""
        return {"training sentences": fitted.n_sentences_, "training words": fitted.n_tokens_}

    def evaluate(self, model: Tagger | RefinementTagger, corpus: Corpus[AnnotatedSentence]) -> TagReport:
        """Compute tag accuracy, accuracy on unknown words, and scores of spans if the tags encode spans."""
        column = model.about.get("parameters", {}).get("column")
        gold = [_column(sentence, column) for sentence in corpus]
        if not gold:
            raise InputError("no tagged sentences to evaluate on")
        model.best_tags([gold[0][0][:1]])  # kernels are compiled, or read, before the clock starts
        started = perf_counter()
        predicted = model.best_tags([words for words, _ in gold])
        seconds = perf_counter() - started
        return score_tags(
            gold,
            predicted,
            known=model.known,
            labels=frozenset(model.labels),
            scheme=model.scheme,
            seconds=seconds,
        )

    def sample(self) -> str:
        """Return made-up trees, whose tags serve as training data."""
        return sample_trees()

    def warm_up(self, model: Tagger | RefinementTagger) -> None:
        """Tag a sentence, with and without probabilities, so that the numba functions are compiled."""
        words = [["The", "keeper", "saw", "3", "unheard-of", "boats", "."]]
        model.best_tags(words)
        model.confidence(words)

    def compare(self, report: TagReport, other: TagReport) -> Comparison:
        """Test whether the F1 of spans (without spans, the accuracy) of two reports differs significantly."""
        return compare_tags(report, other)

    def load(self, stored: StoredModel) -> Tagger | RefinementTagger:
        """Return the tagger that a model folder holds."""
        return tagger_from(stored)


class _AnnotatedFiles(FileCorpus[AnnotatedSentence]):
    """Corpus of the annotated sentences of files; see `TaggingTask.read` for the arguments."""

    def __init__(
        self,
        paths: Sequence[Location],
        reader: str,
        on_bad: OnBad | None,
        encoding: str | None,
        renaming: Renaming | None,
    ) -> None:
        read = partial(_read, reader=reader, on_bad=on_bad, encoding=encoding, renaming=renaming)
        super().__init__(paths, read)
        self.reader, self.encoding = reader, encoding

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return messages that say which nodes of treebank trees, such as traces, are removed on reading.

        There are no messages about files of tagged text.

        Args:
            training: ignored.
        """
        trees = [path for path in self.paths if _are_trees(path, self.reader)]
        return changes_of(trees, self.reader, self.encoding)


def _read(
    path: str | Path, reader: str, on_bad: OnBad | None, encoding: str | None, renaming: Renaming | None
) -> Iterator[AnnotatedSentence]:
    """Yield the annotated sentences of a file of tagged text or of treebank trees; see `TaggingTask.read`."""
    if _are_trees(path, reader):
        for tree in read_trees(path, reader, on_bad, encoding):
            cleaned = clean(tree)
            if cleaned is not None:
                yield _tags_of(cleaned if renaming is None else renaming.rename(cleaned), path)
    else:
        yield from read_annotated(path, reader, on_bad, encoding or "utf-8")


def _tags_of(tree: Tree, path: str | Path = "") -> AnnotatedSentence:
    return AnnotatedSentence(tuple(tree.words()), {"xpos": tuple(tree.tags())}, "xpos", path)


def _are_trees(path: str | Path, reader: str) -> bool:
    return reader in registry.readers or (reader == "auto" and _has_trees(path))


def _has_trees(path: str | Path) -> bool:
    with open_text(path, "iso-8859-1") as lines:  # decodes any bytes
        first = next((line for line in lines if line.strip() and not line.startswith("%%")), "")
    return _TREE.match(first.removeprefix(_BYTE_ORDER_MARK).strip()) is not None


# Brackets, XML (of TigerXML, Alpino or the Chinese treebank), or the export format.
_TREE = re.compile(
    r"\(\s*\(|\(\S+\s*(\(|$)|\($|<(\?xml|corpus|alpino_ds|treebank|DOC|S ID)\b|#(FORMAT \d|BOT |BOS \d)"
)
_BYTE_ORDER_MARK = "\xef\xbb\xbf"  # of UTF-8, decoded as ISO-8859-1


def _column(sentence: AnnotatedSentence | TaggedSentence, column: str | int | None) -> TaggedSentence:
    """Return the words of a sentence with one of its columns of tags; a (words, tags) pair is unchanged."""
    return sentence.tagged(column) if isinstance(sentence, AnnotatedSentence) else sentence
