"""Example logs: stored examples, for learners that need the examples themselves.

An example is a list of items, each of them a row of names, such as a word and its tag. Each distinct name is
stored once and represented by an integer id. The stored form does not depend on the order in which workers
read the examples.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime.corpus import Batch, Corpus, Partition
from spectralnlp.runtime.moments import Array
from spectralnlp.runtime.numbering import Numbering, offsets_of
from spectralnlp.runtime.replay_logs import ReplayLog, pack_names, places_of, unpack_names

T = TypeVar("T")
Ints = NDArray[np.int32]
# Names of an example's items: a sequence for each column, all of the same length.
Items = Sequence[Sequence[str | None]]


class _Chunk(NamedTuple):
    """Consecutive examples of an example log, as columns of integers.

    Attributes:
        sizes: int32 (n_examples,); number of items of each example.
        columns: for each column of the log, the id of each item's name, int32 (n_items,); -1 for None.
    """

    sizes: Ints
    columns: tuple[Ints, ...]


class ExampleLog(ReplayLog[T]):
    """Base class of logs that store whole examples; merged logs keep the order of documents and rows.

    A subclass names its `columns` and converts between examples and names, with `items_of` and `example_of`.

    Examples:
        >>> from spectralnlp.runtime import ExampleLog
        >>> from spectralnlp.text.tag_log import TagLog
        >>> issubclass(TagLog, ExampleLog), TagLog.columns
        (True, {'tag': 'tags', 'word': 'words'})
    """

    pass_name = "examples"

    def __init__(self) -> None:
        self._names = {names: Numbering() for names in self.columns.values() if names is not None}
        self._chunks: dict[tuple[int, int], _Chunk] = {}

    @classmethod
    @abstractmethod
    def items_of(cls, example: T) -> Items:
        """Return the names to store for an example: for each column of the log, a name per item, or None.

        Raises:
            InputError: the example is malformed.
        """

    @classmethod
    @abstractmethod
    def example_of(cls, items: Items) -> T:
        """Return the example that was stored as ``items``; the inverse of `items_of`."""

    @property
    def _numberings(self) -> list[Numbering]:
        return [self._names[str(names)] for names in self.columns.values()]

    def observe(self, batch: Batch[T]) -> None:
        """Add the examples of a batch to the log.

        Raises:
            InputError: an example is malformed. The message has its document and its row.
        """
        if not len(batch):
            return  # the key of an empty batch may be that of the next batch
        columns: list[list[int]] = [[] for _ in self.columns]
        sizes = []
        for numbers in batch.mapped(self._numbers_of):
            for column, more in zip(columns, numbers, strict=True):
                column += more
            sizes.append(len(numbers[0]))
        self._chunks[batch.document_index, batch.start] = _Chunk(
            np.array(sizes, np.int32), tuple(np.array(column, np.int32) for column in columns)
        )

    def _numbers_of(self, example: T) -> list[list[int]]:
        """Return the ids of an example's names, a list for each column."""
        return [
            [-1 if name is None else numbering[name] for name in names]
            for numbering, names in zip(self._numberings, self.items_of(example), strict=True)
        ]

    def corpus(self) -> Corpus[T]:
        """Return the examples as a corpus, with a partition for each document."""
        return _LoggedExamples(self)

    def arrays(self) -> dict[str, Array]:
        """Return the log as arrays for storage, by name; see `ReplayLog`.

        Names are stored sorted, in packed form. For each column there is an array with the id of each item's
        name, int32 (n_items,). ``places``, int64 (n_examples, 3), has the document, the row and the number of
        items of each example.
        """
        chunks = [self._chunks[place] for place in sorted(self._chunks)]
        ranked = {names: numbering.ranked() for names, numbering in self._names.items()}
        arrays = {names: pack_names(ordered) for names, (ordered, _) in ranked.items()}
        for number, (column, names) in enumerate(self.columns.items()):
            parts = [chunk.columns[number] for chunk in chunks]
            _, rank = ranked[str(names)]
            arrays[column] = rank[np.concatenate([np.empty(0, np.int32), *parts])]
        arrays["places"] = places_of({place: each.sizes.tolist() for place, each in self._chunks.items()})
        return arrays

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        for names in self._names:
            self._names[names] = Numbering.of(unpack_names(arrays[names]))
        places = arrays["places"]
        document, row, sizes = places.T
        ends = offsets_of(sizes)
        follows = (np.diff(document) == 0) & (np.diff(row) == 1)
        bounds = np.flatnonzero(np.concatenate([[True], ~follows, [True]]))
        for first, last in pairwise(bounds.tolist() if len(places) else []):
            part = slice(ends[first], ends[last])
            self._chunks[int(document[first]), int(row[first])] = _Chunk(
                sizes[first:last].astype(np.int32), tuple(arrays[column][part] for column in self.columns)
            )

    def _add(self, other: ExampleLog[T]) -> None:
        ours = {names: self._names[names].numbers_of(each) for names, each in other._names.items()}
        numbers = [ours[str(names)] for names in self.columns.values()]
        for place, chunk in other._chunks.items():
            columns = (number[column] for number, column in zip(numbers, chunk.columns, strict=True))
            self._chunks[place] = _Chunk(chunk.sizes, tuple(columns))

    def _forget_rest(self, forgotten: ExampleLog[T]) -> None:
        """Do nothing: an example log stores nothing except its columns, which `remove` changes itself."""


class _LoggedExamples(Corpus[T]):
    """Corpus of the examples that are stored in an example log."""

    def __init__(self, log: ExampleLog[T]) -> None:
        self.kind = type(log)
        self.names = [[*numbering, None] for numbering in log._numberings]  # id -1 stands for None, the last
        self.chunks = sorted(log._chunks.items())

    def partitions(self) -> Sequence[Partition[T]]:
        """Return one partition for each document."""
        return [
            Partition(str(document), document, 0, partial(self._examples, [chunk for _, chunk in chunks]))
            for document, chunks in groupby(self.chunks, key=lambda chunk: chunk[0][0])
        ]

    def _examples(self, chunks: Sequence[_Chunk]) -> Iterator[T]:
        for sizes, columns in chunks:
            spelled = [
                [names[number] for number in column.tolist()]
                for names, column in zip(self.names, columns, strict=True)
            ]
            begin = 0
            for size in sizes.tolist():
                yield self.kind.example_of([names[begin : begin + size] for names in spelled])
                begin += size
