"""Wrappers of a corpus for updates: leave out documents that a model has learned already, or repeat files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.changes.ledger import DocumentDigests, lines_of
from spectralnlp.runtime import Corpus, Partition
from spectralnlp.text.ngrams import Ngrams

Mask = NDArray[np.bool_]


class NewDocuments(Corpus[Any]):
    """Wrapper of a corpus that leaves out some documents, such as those that a model has learned already.

    Each partition stores which of its lines to omit, so that workers do not need the list of all learned
    documents.

    Args:
        corpus: the wrapped corpus.
        digests: hashes of the documents of ``corpus``.
        known: which documents to omit, bool (n_documents,), in the order of the digests.
    """

    def __init__(self, corpus: Corpus[Any], digests: DocumentDigests, known: Mask) -> None:
        self.corpus, self.known, self.unit = corpus, known, digests.unit
        self.places = digests.places()

    def partitions(self) -> Sequence[Partition[Any]]:
        """Return the partitions of the wrapped corpus, without the files or lines to leave out."""
        parts = self.corpus.partitions()
        if self.unit == "file":
            gone = set(self.places[self.known, 0].tolist())
            return [each for each in parts if each.document_index not in gone]
        bounds = [self._first_at(each.document_index, each.start) for each in parts] + [len(self.known)]
        return [
            replace(each, read=partial(_new_examples, each, self.known[begin:end]))
            for each, begin, end in zip(parts, bounds[:-1], bounds[1:], strict=True)
        ]

    def _first_at(self, document: int, row: int) -> int:
        begin, end = np.searchsorted(self.places[:, 0], [document, document + 1])
        return int(begin + np.searchsorted(self.places[begin:end, 1], row))


class RepeatedFiles(Corpus[Any]):
    """Wrapper of a corpus that repeats files which a model has learned several times, to forget all copies.

    Args:
        corpus: the wrapped corpus.
        times: maps the document index of a file to its number of copies; all other files are left out.
    """

    def __init__(self, corpus: Corpus[Any], times: Mapping[int, int]) -> None:
        self.corpus, self.times = corpus, times

    def partitions(self) -> Sequence[Partition[Any]]:
        """Return the partitions of the repeated files; each copy of a file has its own document index."""
        copies: list[Partition[Any]] = []
        copy = 0
        for document, parts in groupby(self.corpus.partitions(), lambda each: each.document_index):
            listed = list(parts)
            for _ in range(self.times.get(document, 0)):
                copies += [replace(each, document_index=copy) for each in listed]
                copy += 1
        return copies


def _new_examples(partition: Partition[Any], known: Mask) -> Iterator[Any]:
    place = 0
    for example in partition:
        n = sum(1 for _ in lines_of(example))
        here = known[place : place + n]
        place += n
        if not here.any():
            yield example
        elif not here.all():
            yield _less(example, here)


def _less(example: str | Ngrams, known: Mask) -> str | Ngrams:
    """Return an example without the lines or n-grams that a model has learned already.

    Args:
        example: text of one or more lines, or a list of n-grams with counts.
        known: bool (n,); whether to remove each n-gram, or each line that has words; other lines stay.
    """
    if isinstance(example, Ngrams):
        stays = np.flatnonzero(~known)
        return Ngrams([example.words[at] for at in stays.tolist()], example.counts[stays])
    flags = iter(known.tolist())
    return "\n".join(line for line in example.split("\n") if not _counts(line) or not next(flags))


def _counts(line: str) -> bool:
    return any(True for _ in lines_of(line))
