"""Corpora: re-iterable, lazy, partitioned streams of examples."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.runtime.files import Location, is_address

T = TypeVar("T")


@dataclass(frozen=True)
class Batch(Generic[T]):
    """Consecutive examples of one document, and where they stand in the corpus.

    ``(document_index, start + i)`` is the global index of example ``i``. It does not depend on batch sizes
    or partitions, so a random sketch that draws from it gives the same result however the data was split.

    Args:
        examples: the examples, in order.
        document: identity of their document, stable over runs.
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


@dataclass(frozen=True)
class Partition(Generic[T]):
    """A run of consecutive examples of one document: what one worker reads, from recipe to rows.

    Picklable where ``read`` is: a function of a module, or a partial of one.

    Args:
        document: identity of the document, as in `Batch`.
        document_index: position of the document in the corpus.
        start: row of the partition's first example within the document.
        read: gives the examples afresh at every call.
    """

    document: str
    document_index: int
    start: int
    read: Callable[[], Iterator[T]]

    __repr__ = one_line

    def __iter__(self) -> Iterator[T]:
        return self.read()

    def batches(self, size: int) -> Iterator[Batch[T]]:
        """The partition's examples, ``size`` at a time (the last batch may be shorter)."""
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

    # The `Engine` that reaches the examples, where they lie on workers of their own; None: the one in use.
    engine: Any = None

    @abstractmethod
    def partitions(self) -> Sequence[Partition[T]]:
        """The parts that workers may read apart, in corpus order; reads nothing yet."""

    def __iter__(self) -> Iterator[T]:
        for partition in self.partitions():
            yield from partition

    def batches(self, size: int) -> Iterator[Batch[T]]:
        """All examples in order, ``size`` at a time; a batch never crosses a partition."""
        for partition in self.partitions():
            yield from partition.batches(size)

    def remarks(self, *, training: bool = False) -> list[str]:
        """Lines about what reading does to the data, for users to know; it may be read once more for them.

        Args:
            training: add what is to know of the data before a model learns from them.
        """
        return []


class FileCorpus(Corpus[T]):
    """One document a file, read when needed.

    Args:
        paths: the files, in order; see `expand_inputs`.
        read: gives the examples of a file; a function of a module, so that workers can be sent it.

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
        """One partition for each file."""
        return [
            Partition(_name_of(path), index, 0, partial(self.read, path))
            for index, path in enumerate(self.paths)
        ]


def _name_of(path: Location) -> str:
    return path if isinstance(path, str) else path.as_posix()


class InMemoryCorpus(Corpus[T]):
    """A list of examples as a corpus of one document.

    Args:
        examples: the examples; kept as a list.
        n_partitions: into how many row ranges of nearly equal length they are split.

    Examples:
        >>> from spectralnlp import InMemoryCorpus
        >>> list(InMemoryCorpus([["a", "b"], ["b"]]))
        [['a', 'b'], ['b']]
    """

    def __init__(self, examples: Iterable[T], n_partitions: int = 1) -> None:
        self.examples = list(examples)
        self.n_partitions = n_partitions

    def __len__(self) -> int:
        return len(self.examples)

    def partitions(self) -> Sequence[Partition[T]]:
        """Row ranges; empty ones are left out."""
        n, parts = len(self.examples), self.n_partitions
        bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
        return [
            Partition("memory", 0, start, partial(iter, self.examples[start:end]))
            for start, end in bounds
            if start < end
        ]


class MappedCorpus(Corpus[T]):
    """Another corpus, each example passed through a function.

    Args:
        corpus: the other corpus.
        function: of an example; a function of a module, or a partial of one, so that workers can be sent it.
    """

    def __init__(self, corpus: Corpus[Any], function: Callable[[Any], T]) -> None:
        self.corpus = corpus
        self.function = function

    def partitions(self) -> Sequence[Partition[T]]:
        """Return the partitions of the other corpus."""
        return [
            Partition(each.document, each.document_index, each.start, partial(_mapped, self.function, each))
            for each in self.corpus.partitions()
        ]


def _mapped(function: Callable[[Any], T], partition: Partition[Any]) -> Iterator[T]:
    return map(function, partition)


class ReiterableCorpus(Corpus[T]):
    """A collection that gives its examples afresh at every reading, such as a corpus reader of NLTK's.

    Args:
        examples: the collection; read lazily, and as often as needed.
    """

    def __init__(self, examples: Iterable[T]) -> None:
        self.examples = examples

    def partitions(self) -> Sequence[Partition[T]]:
        """One partition."""
        return [Partition("memory", 0, 0, partial(iter, self.examples))]


class StreamCorpus(Corpus[T]):
    """An iterator, which can be read only once, as a corpus of one document for one pass.

    Examples that are looked at before the pass (by ``iter`` of the corpus) are buffered, so the pass sees
    them too.

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
        """One partition, which can be read once."""
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


def as_corpus(examples: Any) -> Corpus[Any]:
    """Make a corpus of a corpus, a list, another collection or an iterator.

    Args:
        examples: the examples. A list becomes one document in memory; an iterator can be read only once.

    Raises:
        ConfigError: it is a path, a text or no iterable.
    """
    if isinstance(examples, Corpus):
        return examples
    if isinstance(examples, (str, bytes, os.PathLike)):
        what = f"{str(examples)[:40]!r} is a text or a path, not a collection of examples"
        raise ConfigError(what, hint="read the file first, for instance with spectralnlp.read_treebank")
    if not isinstance(examples, Iterable):
        what = f"{type(examples).__name__} is no collection of examples"
        raise ConfigError(what, hint="give a list, an iterable or a corpus")
    if isinstance(examples, Iterator):
        return StreamCorpus(examples)
    if isinstance(examples, (list, tuple)):
        return InMemoryCorpus(examples)
    return ReiterableCorpus(examples)
