"""Documents as integers: the replay log that the passes of `TopicModel` run from again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import ClassVar

import numpy as np

from spectralnlp.parameters import Ints
from spectralnlp.runtime import (
    Array,
    Batch,
    Corpus,
    Partition,
    ReplayLog,
    pack_names,
    places_of,
    slices_of,
    unpack_names,
)


class DocumentLog(ReplayLog[Sequence[str]]):
    """The words of each document, in order; merging lays them side by side."""

    columns: ClassVar = {"word": "words"}

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._chunks: dict[tuple[int, int], list[Ints]] = {}

    def parameters(self) -> dict[str, object]:
        """Return nothing: all logs of documents merge."""
        return {}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Add documents."""
        if len(batch):
            numbers = self._words
            self._chunks[batch.document_index, batch.start] = [
                np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32)
                for words in batch
            ]

    def corpus(self) -> Corpus[Sequence[str]]:
        """Return the documents again, a partition for each file that they were in."""
        return _Documents(self)

    def arrays(self) -> dict[str, Array]:
        """``words``: names, sorted; ``word``: int32; ``places``, as all logs have."""
        names = sorted(self._words)
        rank = {name: i for i, name in enumerate(names)}
        renumbered = np.array([rank[name] for name in self._words] or [0], np.int32)
        word = [renumbered[words] for _, chunk in sorted(self._chunks.items()) for words in chunk]
        sizes = {place: map(len, chunk) for place, chunk in self._chunks.items()}
        return {
            "words": pack_names(names),
            "word": np.concatenate([np.empty(0, np.int32), *word]),
            "places": places_of(sizes),
        }

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        self._words = {name: i for i, name in enumerate(unpack_names(arrays["words"]))}
        for place, part in slices_of(arrays["places"]):
            self._chunks[place] = [arrays["word"][part]]

    def _add(self, other: DocumentLog) -> None:
        numbers = [self._words.setdefault(name, len(self._words)) for name in other._words]
        ours = np.array(numbers or [0], np.int32)
        for place, chunk in other._chunks.items():
            self._chunks[place] = [ours[words] for words in chunk]

    def _forget_rest(self, forgotten: DocumentLog) -> None:
        """Do nothing: there is nothing else."""


class _Documents(Corpus[Sequence[str]]):
    """A replay log read as a corpus."""

    def __init__(self, log: DocumentLog) -> None:
        self.words = list(log._words)
        self.chunks = sorted(log._chunks.items())

    def partitions(self) -> Sequence[Partition[Sequence[str]]]:
        """Return one for each file."""
        return [
            Partition(str(document), document, 0, partial(_spelled, self.words, [c for _, c in chunks]))
            for document, chunks in groupby(self.chunks, key=lambda chunk: chunk[0][0])
        ]


def _spelled(names: Sequence[str], chunks: Sequence[Sequence[Ints]]) -> Iterator[Sequence[str]]:
    for chunk in chunks:
        for words in chunk:
            yield [names[number] for number in words.tolist()]
