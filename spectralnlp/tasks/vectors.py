"""The word-vector task: train vectors on text, and evaluate whether nearest neighbours share a label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp.display import Report
from spectralnlp.errors import InputError
from spectralnlp.models.vectors import Vectors
from spectralnlp.runtime import (
    Column,
    Corpus,
    FileCorpus,
    Inputs,
    OnBad,
    expand_inputs,
    open_text,
    report_bad,
    take_field,
)
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.task import Task
from spectralnlp.text.blocks import TextFiles, resolve_reader
from spectralnlp.text.ngrams import Ngrams, read_ngrams

N_NEIGHBOURS = 10


class VectorsTask(Task):
    """Task that reads text, trains word vectors, and evaluates the nearest neighbours of words."""

    name = "vectors"
    documents = ("line", "file")
    training_data = "{training tokens:,} tokens of {training types:,} types"
    default_card = """# Word vectors

The vocabulary and how its words are used come from the training text: its licence applies, and so do its
prejudices."""

    def read(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        text_column: Column | None = None,
        on_bad: OnBad | None = None,
    ) -> Corpus[str | Ngrams]:
        """Read text for training word vectors, in blocks of lines.

        Args:
            inputs: files, folders or globs.
            reader: ``text``, ``tokens`` (words are separated by blanks) or ``auto``; or ``ngrams`` for files
                of counted n-grams.
            text_column: the column with the text: its name in a table, or its number (from 1) in
                tab-separated lines.
            on_bad: called with the error of each line that lacks the column or is no n-gram count, which is
                skipped; None to raise the first error.

        Raises:
            ConfigError: there is no such reader.
            InputError: an input is missing or unreadable.
        """
        files = expand_inputs(inputs)
        if reader == "ngrams":
            return FileCorpus(files, partial(read_ngrams, on_bad=on_bad))
        text: Corpus[Any] = TextFiles(files, reader, text_column, on_bad)
        return text

    def read_gold(
        self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None
    ) -> Corpus[tuple[str, str]]:
        """Return a corpus of (word, label) pairs read from files, on which vectors are evaluated.

        From CoNLL-U files, each word's form and universal tag are read. In other files, the first field of
        a line is the word and the last field is its label.

        Args:
            inputs: files, folders or globs.
            reader: ignored; both formats are recognised.
            on_bad: called with the error of each line without a label, which is skipped; None to raise the
                first error.
        """
        return FileCorpus(expand_inputs(inputs), partial(_read_labels, on_bad=on_bad))

    def resolve_reader(self, inputs: Inputs, reader: str) -> str:
        """Return ``tokens`` or ``text`` for the reader ``auto``, recognised from the first input file.

        Other readers are returned unchanged.
        """
        if reader != "auto":
            return reader
        return resolve_reader(expand_inputs(inputs)[0])

    def from_record(self, record: Mapping[str, Any]) -> str | list[str]:
        """Return the field ``tokens``, ``words`` or ``text`` of a record, the first present.

        The result should be a list of words or a string of text, which the estimator checks.
        """
        words: str | list[str] = take_field(record, "tokens", "words", "text")
        return words

    def wrap(self, fitted: Any) -> Vectors:
        """Return the word vectors of a fitted estimator as a model that can be saved and queried."""
        return Vectors(fitted.word_vectors_)

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the numbers of training tokens and types, for reports."""
        return {"training tokens": fitted.n_tokens_, "training types": fitted.n_types_}

    def evaluate(self, model: Vectors, corpus: Corpus[tuple[str, str]]) -> NeighbourReport:
        """Compute how often a word's nearest neighbours share its label; see `neighbour_agreement`."""
        return neighbour_agreement(model, corpus)

    def load(self, stored: StoredModel) -> Vectors:
        """Return the vectors that a model folder holds."""
        return Vectors.from_stored(stored)


@dataclass(frozen=True, repr=False)
class NeighbourReport(Report):
    """Label agreement between words and their nearest neighbours, in percent.

    Args:
        nearest: share of words whose nearest neighbour has the word's label.
        ten: share of a word's ten nearest neighbours that have its label, averaged over words.
        chance: expected share if neighbours were drawn at random.
        words: number of labelled words in the vocabulary.
        coverage: share of the labelled words that are in the vocabulary.
    """

    nearest: float
    ten: float
    chance: float
    words: int
    coverage: float

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return the figures by name.

        `nearest` is reported as ``accuracy``, and `ten` as ``accuracy_10``.
        """
        return {
            "accuracy": self.nearest,
            "accuracy_10": self.ten,
            "chance": self.chance,
            "words": self.words,
            "coverage": self.coverage,
        }

    def to_table(self) -> str:
        """Return the figures as a text table, one per line."""
        rows = {
            "nearest has the label": f"{self.nearest:9.2f}",
            "of the ten nearest": f"{self.ten:9.2f}",
            "by chance": f"{self.chance:9.2f}",
            "words": f"{self.words:9d}",
            "coverage": f"{self.coverage:9.2f}",
        }
        return "\n".join(f"{name:<24}{value}" for name, value in rows.items())


def neighbour_agreement(
    model: Vectors, labelled: Corpus[tuple[str, str]] | Sequence[tuple[str, str]]
) -> NeighbourReport:
    """Measure how often the nearest neighbours of a word, by cosine of vectors, have the word's label.

    Each word counts once, with its most frequent label. Neighbours are searched among the labelled words of
    the vocabulary; words outside it, whose vectors the spelling model predicts, are not counted.

    Args:
        model: the vectors.
        labelled: pairs of a word and a label, from running text or a word list; a word may occur repeatedly.

    Raises:
        InputError: fewer than two labelled words are in the vocabulary.
    """
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for word, label in labelled:
        seen[word.lower() if model.parameters.lowercase else word][label] += 1
    words = [word for word in sorted(seen) if word in model]
    if len(words) < 2:
        raise InputError(f"{len(words)} labelled words are in the vocabulary, and two are needed")
    _, labels = np.unique([seen[word].most_common(1)[0][0] for word in words], return_inverse=True)
    vectors = model.vectors(words)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    n = min(N_NEIGHBOURS, len(words) - 1)
    first = share = 0.0
    for start in range(0, len(words), 1024):
        rows = np.arange(start, min(start + 1024, len(words)))
        cosine = vectors[rows] @ vectors.T
        cosine[np.arange(len(rows)), rows] = -np.inf
        near = np.argpartition(-cosine, n - 1, axis=1)[:, :n]
        agree = labels[near] == labels[rows, None]
        share += agree.mean(axis=1).sum()
        best = np.take_along_axis(cosine, near, axis=1).argmax(axis=1)
        first += agree[np.arange(len(rows)), best].sum()
    chance = ((np.bincount(labels) / len(labels)) ** 2).sum()
    percent = 100 / len(words)
    return NeighbourReport(
        nearest=float(percent * first),
        ten=float(percent * share),
        chance=100 * float(chance),
        words=len(words),
        coverage=percent * len(words) ** 2 / len(seen),
    )


def _read_labels(path: Path, on_bad: OnBad | None = None) -> Iterator[tuple[str, str]]:
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith("# "):
                continue
            fields = line.split("\t") if "\t" in line else line.split()
            if len(fields) == 10:  # CoNLL-U
                if fields[0].isdecimal():
                    yield fields[1], fields[3]
            elif len(fields) > 1:
                yield fields[0], fields[-1]
            else:
                hint = "give a word, a tab and a label a line, or CoNLL-U"
                error = InputError("a word without a label", path=path, line=number, hint=hint)
                report_bad(error, on_bad)
