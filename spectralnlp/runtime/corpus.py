"""Corpora: re-iterable, lazy, partitioned streams of examples."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime.files import Location, is_address
from spectralnlp.runtime.items import items_of

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Batch(Generic[T]):
    """Consecutive examples of one document, with their position in the corpus.

    The pair ``(document_index, start + i)`` identifies example ``i`` in the corpus. The pair does not depend
    on batch sizes or partitions, so random numbers seeded with it are the same however the data are split.

    Args:
        examples: the examples, in order.
        document: name of their document, the same in all runs.
        document_index: position of the document in the corpus, from 0.
        start: row of the first example within its document, from 0.

    Examples:
        >>> from spectralnlp import Batch
        >>> batch = Batch(["a", "b"], document="letter", document_index=0, start=10)
        >>> batch.start + len(batch.examples)
        12
    """

    examples: Sequence[T]
    document: str
    document_index: int
    start: int

    __repr__ = one_line

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[T]:
        return iter(self.examples)

    def mapped(self, function: Callable[[T], R]) -> Iterator[R]:
        """Yield the result of a function for each example; its InputErrors get the document and the row."""
        return each_row(function, self.examples, self.start, self.document)


def each_row(
    function: Callable[[T], R], examples: Iterable[T], start: int = 0, document: str | None = None
) -> Iterator[R]:
    """Yield the result of a function for each example; the function's InputErrors get the example's row.

    Args:
        function: called with an example.
        examples: consecutive examples of a document.
        start: row of the first example, from 0.
        document: name of the document.

    Raises:
        InputError: as the function does; the message has the document and the row, from 1.
    """
    for row, example in enumerate(examples, start + 1):
        try:
            result = function(example)
        except InputError as error:
            if error.path or error.line or error.sentence:  # the function knows the place better
                raise
            raise type(error)(error.what, path=document, sentence=row, hint=error.hint) from error
        yield result


@dataclass(frozen=True)
class Partition(Generic[T]):
    """Part of a corpus that one worker reads: consecutive examples of one document.

    A partition can be pickled if ``read`` is a module-level function, or a partial of one.

    Args:
        document: name of the document, as in `Batch`.
        document_index: position of the document in the corpus.
        start: row of the partition's first example within the document.
        read: returns a new iterator over the examples at every call.
    """

    document: str
    document_index: int
    start: int
    read: Callable[[], Iterator[T]]

    __repr__ = one_line

    def __iter__(self) -> Iterator[T]:
        return self.read()

    def batches(self, size: int) -> Iterator[Batch[T]]:
        """Yield the partition's examples in batches of ``size``; the last may be shorter."""
        examples, start = self.read(), self.start
        while batch := list(islice(examples, size)):
            yield Batch(batch, self.document, self.document_index, start)
            start += len(batch)


class Corpus(ABC, Generic[T]):
    """A stream of examples that can be read many times and never has to fit in memory.

    Examples:
        >>> from spectralnlp import InMemoryCorpus
        >>> corpus = InMemoryCorpus(["a", "b", "c"], n_partitions=2)
        >>> len(corpus.partitions()), list(corpus)
        (2, ['a', 'b', 'c'])
    """

    # The `Engine` whose workers hold the examples, if they do; None for the current engine.
    engine: Any = None

    @abstractmethod
    def partitions(self) -> Sequence[Partition[T]]:
        """Return the parts that workers may read separately, in corpus order; reads nothing yet."""

    def __iter__(self) -> Iterator[T]:
        for partition in self.partitions():
            yield from partition

    def batches(self, size: int) -> Iterator[Batch[T]]:
        """Yield all examples in order, in batches of up to ``size`` that do not cross partitions."""
        for partition in self.partitions():
            yield from partition.batches(size)

    def first_source(self) -> Corpus[T]:
        """Return a corpus of the first of several sources, such as treebanks; by default, this corpus."""
        return self

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return messages to the user about the data, such as what is removed from trees on reading.

        This may read the data once more. The base class returns an empty list.

        Args:
            training: whether to include messages that matter only before training.
        """
        return []


class FileCorpus(Corpus[T]):
    """A corpus of files, each of them one document, read when needed.

    Args:
        paths: the files, in order; see `expand_inputs`.
        read: yields the examples of a file; a module-level function, so that it can be sent to workers.

    Examples:
        >>> from spectralnlp import FileCorpus
        >>> from spectralnlp.runtime import open_text
        >>> def lines(path):
        ...     with open_text(path) as file:
        ...         yield from (line.split() for line in file)
        ...
        >>> corpus = FileCorpus(["corpora/text/tokenized.txt"], lines)
        >>> next(iter(corpus))[:3]
        ['The', 'keeper', 'climbs']
    """

    def __init__(self, paths: Iterable[str | Path], read: Callable[[Any], Iterator[T]]) -> None:
        self.paths = [path if is_address(path) else Path(path) for path in paths]
        self.read = read

    def partitions(self) -> Sequence[Partition[T]]:
        """Return one partition for each file."""
        return [
            Partition(name_of(path), index, 0, partial(self.read, path))
            for index, path in enumerate(self.paths)
        ]


def name_of(path: Location) -> str:
    """Return the name of a file in messages: its path, with slashes, or its address."""
    return path if isinstance(path, str) else path.as_posix()


def remarks_on_files(remarks: Iterable[tuple[str, str]]) -> list[str]:
    """Return a message for each group of adjacent files with the same remark, which names the first file.

    Args:
        remarks: name of each file, and the remark on it; files whose remark is empty get no message.
    """
    messages = []
    for remark, group in groupby(remarks, key=itemgetter(1)):
        first, *others = (name for name, _ in group)
        more = f" and {len(others)} file{'s' * (len(others) > 1)} more" if others else ""
        messages += [f"{first}{more}: {remark}"] if remark else []
    return messages


class InMemoryCorpus(Corpus[T]):
    """A list of examples as a corpus of one document.

    Args:
        examples: the examples; stored as a list. A table or an array of one column is that column.
        n_partitions: number of partitions, of nearly equal length.

    Examples:
        >>> from spectralnlp import InMemoryCorpus
        >>> list(InMemoryCorpus([["a", "b"], ["b"]]))
        [['a', 'b'], ['b']]
    """

    def __init__(self, examples: Iterable[T], n_partitions: int = 1) -> None:
        self.examples = list(items_of(examples, "examples are expected", rows=True))
        self.n_partitions = n_partitions

    def __len__(self) -> int:
        return len(self.examples)

    def partitions(self) -> Sequence[Partition[T]]:
        """Return the partitions that are not empty."""
        n, parts = len(self.examples), self.n_partitions
        bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
        return [
            Partition("memory", 0, start, partial(iter, self.examples[start:end]))
            for start, end in bounds
            if start < end
        ]


class MappedCorpus(Corpus[T]):
    """Corpus of the results of applying a function to each example of another corpus.

    Args:
        corpus: the corpus of examples.
        function: called with each example; a module-level function, or a partial of one, so that it can be
            sent to workers.
    """

    def __init__(self, corpus: Corpus[Any], function: Callable[[Any], T]) -> None:
        self.corpus = corpus
        self.function = function

    def partitions(self) -> Sequence[Partition[T]]:
        """Return the partitions of `self.corpus`, with `self.function` applied to each example."""
        return [
            Partition(each.document, each.document_index, each.start, partial(_mapped, self.function, each))
            for each in self.corpus.partitions()
        ]


def _mapped(function: Callable[[Any], T], partition: Partition[Any]) -> Iterator[T]:
    return each_row(function, partition, partition.start, partition.document)


class ReiterableCorpus(Corpus[T]):
    """Corpus of the examples of a collection that can be iterated many times, such as an NLTK corpus reader.

    Args:
        examples: the collection; read lazily, and as often as needed.
        convert: see `as_corpus`.
    """

    def __init__(self, examples: Iterable[Any], convert: Callable[[Any], T] | None = None) -> None:
        self.examples = examples
        self.convert = convert

    def partitions(self) -> Sequence[Partition[T]]:
        """Return a single partition with all examples."""
        return [Partition("memory", 0, 0, partial(_converted, self.examples, self.convert))]


class StreamCorpus(Corpus[T]):
    """Corpus of the examples of an iterator, as one document; they can be processed in one pass only.

    Before that pass, the first examples can be inspected by iterating over the corpus. They are buffered, so
    the pass processes them too.

    Args:
        examples: the iterator.
    """

    def __init__(self, examples: Iterator[T]) -> None:
        self._examples = examples
        self._buffer: list[T] = []
        self._is_read = False

    def __iter__(self) -> Iterator[T]:
        self._check_unread()
        yield from list(self._buffer)
        for example in self._examples:
            self._buffer.append(example)
            yield example

    def partitions(self) -> Sequence[Partition[T]]:
        """Return a single partition with all examples, which can be read only once."""
        return [Partition("memory", 0, 0, self._read)]

    def _read(self) -> Iterator[T]:
        self._check_unread()
        self._is_read = True
        yield from self._buffer
        self._buffer.clear()
        yield from self._examples

    def _check_unread(self) -> None:
        if self._is_read:
            what = "an iterator can be read only once, and this method has several passes"
            raise ConfigError(what, hint="give a list or a corpus")


def _converted(examples: Iterable[Any], convert: Callable[[Any], T] | None) -> Iterator[T]:
    return iter(examples) if convert is None else each_row(convert, examples, document="memory")


def as_corpus(examples: Any, convert: Callable[[Any], Any] | None = None) -> Corpus[Any]:
    """Return a list, another collection or an iterator as a corpus; return a corpus unchanged.

    Args:
        examples: the examples. A list becomes one document in memory; an iterator can be read only once.
        convert: called with each element of what is not a corpus yet; returns the example, or raises an
            InputError, to which the number is added. None if all are examples.

    Raises:
        ConfigError: ``examples`` is a path, a text, a mapping, a table of several columns or not iterable.
    """
    if isinstance(examples, Corpus):
        return examples
    if isinstance(examples, (str, bytes, os.PathLike)):
        what = f"{str(examples)[:40]!r} is a text or a path, not a collection of examples"
        raise ConfigError(what, hint="read the file first, for instance with spectralnlp.read_treebank")
    hint = "give a list, an iterable or a corpus"
    examples = items_of(examples, "examples are expected", hint=hint, error=ConfigError, rows=True)
    if isinstance(examples, Iterator):
        return StreamCorpus(_converted(examples, convert))
    if isinstance(examples, (list, tuple)):
        return InMemoryCorpus(_converted(examples, convert))
    return ReiterableCorpus(examples, convert)
