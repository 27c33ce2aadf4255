"""One pass over a corpus: compute the moments of its partitions, and merge them in a fixed order.

The order depends on the partitions' numbers alone: eight neighbours (`Moments.fan_in`) are merged from left
to right, then eight such sums, and so on. Every engine follows this order, whichever worker finishes first,
so that sums of floats are identical, byte for byte. Such a tree of sums, unlike a running total, can be
computed on many workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from spectralnlp.display import one_line
from spectralnlp.errors import SpectralError
from spectralnlp.runtime.checkpoint import PassCheckpoint
from spectralnlp.runtime.corpus import Corpus, Partition
from spectralnlp.runtime.moments import FAN_IN, Moments

M = TypeVar("M", bound=Moments[Any])
T = TypeVar("T")


@dataclass(frozen=True)
class BadPartition:
    """Record of a partition (a part of a corpus) that was skipped because it failed.

    Args:
        document: name of its document.
        start: row of its first example within the document.
        reason: the error, on one line.
    """

    document: str
    start: int
    reason: str

    __repr__ = one_line

    def __str__(self) -> str:
        return self.reason if self.document in self.reason else f"{self.document}: {self.reason}"


@dataclass
class Part(Generic[M]):
    """Sum of the moments of neighbouring partitions of a corpus, and the partitions among them that failed.

    Attributes:
        moments: the sum.
        bad: the partitions that were skipped because they failed.
    """

    moments: M
    bad: tuple[BadPartition, ...] = ()

    __repr__ = one_line

    def merge(self, other: Part[M]) -> None:
        """Add the sum over the partitions that follow in the corpus, in place."""
        self.moments.merge(other.moments)
        self.bad += other.bad


@dataclass(frozen=True)
class Observer(Generic[M]):
    """Function that computes the moments of one partition, and stores them in the checkpoint.

    A partition that fails is tried again, up to ``attempts`` times, unless its data are invalid. If it still
    fails, it is skipped or the error is raised.

    Args:
        empty: empty moments.
        batch_size: number of examples observed at a time.
        attempts: maximum number of attempts for a partition whose data are valid.
        pause: seconds before the second attempt; doubled before each further one.
        skips_bad: whether to skip a partition that fails.
        finished: checkpoint that stores the moments of finished partitions, or None.
    """

    empty: M
    batch_size: int
    attempts: int = 1
    pause: float = 0.5
    skips_bad: bool = False
    finished: PassCheckpoint | None = None

    __repr__ = one_line

    def __call__(self, task: tuple[int, Partition[Any]]) -> Part[M]:
        """Return the moments of one partition, or empty moments with a record of why it was skipped.

        Args:
            task: index of the partition in the pass, and the partition.
        """
        number, partition = task
        moments = None if self.finished is None else self.finished.load(number, partition, self.empty)
        if moments is not None:
            return Part(moments)
        try:
            moments = self._persistently(partition)
        except Exception as error:
            if not self.skips_bad:
                raise
            reason = error.message if isinstance(error, SpectralError) else f"{type(error).__name__}: {error}"
            return Part(self.empty.empty_like(), (BadPartition(partition.document, partition.start, reason),))
        if self.finished is not None:
            self.finished.save(number, partition, moments)
        return Part(moments)

    def _persistently(self, partition: Partition[Any]) -> M:
        for attempt in range(1, self.attempts):
            try:
                return self._observe(partition)
            except Exception as error:
                if _is_in_the_data(error):
                    raise
                time.sleep(self.pause * 2 ** (attempt - 1))
        try:
            return self._observe(partition)
        except Exception as error:
            if self.attempts == 1 or isinstance(error, SpectralError):
                raise
            what = f"failed {self.attempts} times, the last time with {type(error).__name__}: {error}"
            hint = "`skip_bad_partitions` leaves it out"
            raise SpectralError(what, path=partition.document, hint=hint) from error

    def _observe(self, partition: Partition[Any]) -> M:
        moments = self.empty.empty_like()
        for batch in partition.batches(self.batch_size):
            moments.observe(batch)
        return moments


def _is_in_the_data(error: Exception) -> bool:
    """Whether the data, not the file system, caused an error, so that it would recur in another attempt."""
    return isinstance(error, SpectralError) and not isinstance(error.__cause__, OSError)


class MergeTree(Generic[M]):
    """Tree of sums, by which the moments of partitions are merged in a fixed order.

    Only one unfinished sum is stored for each level of the tree.

    Args:
        fan_in: number of neighbouring sums of a level that are merged to one sum of the next level.
    """

    def __init__(self, fan_in: int = FAN_IN) -> None:
        self.fan_in = fan_in
        self._open: list[tuple[Part[M], int] | None] = []

    def add(self, part: Part[M], level: int = 0) -> None:
        """Add the moments of the partitions that come next in the corpus.

        Args:
            part: the moments; they may be changed in place later.
            level: level of the tree: 0 for one partition, 1 for the sum of ``fan_in`` partitions, and so on.
        """
        if level == len(self._open):
            self._open.append(None)
        begun = self._open[level]
        if begun is not None:
            begun[0].merge(part)
            part = begun[0]
        n = 1 if begun is None else begun[1] + 1
        self._open[level] = (part, n) if n < self.fan_in else None
        if n == self.fan_in:
            self.add(part, level + 1)

    def total(self) -> Part[M] | None:
        """Return the sum of all moments that were added; None if there are none."""
        total: Part[M] | None = None
        for begun in self._open:
            if begun is not None:
                if total is not None:
                    begun[0].merge(total)
                total = begun[0]
        return total


# ---------------------------------------------------------------------------------------------------------
# Skipping partitions that fail


class SkipPolicy:
    """List of the partitions that failed, which all later passes skip.

    Args:
        report: called with one line for each skipped partition.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.bad: dict[tuple[str, int], BadPartition] = {}

    def leave_out(self, bad: BadPartition) -> None:
        """Report a partition that failed, and skip it in all later passes."""
        self.bad[bad.document, bad.start] = bad
        self.report(f"left out {bad}")

    def is_left_out(self, partition: Partition[Any]) -> bool:
        """Whether a partition is skipped because it failed before."""
        return (partition.document, partition.start) in self.bad


class SkippingCorpus(Corpus[T]):
    """A corpus whose iteration skips partitions that fail.

    It is for reading examples without an engine, such as the first trees of a treebank, from which
    conventions are learned. In passes over the data, the engine itself skips partitions that fail.
    """

    def __init__(self, corpus: Corpus[T]) -> None:
        self.corpus = corpus

    def partitions(self) -> list[Partition[T]]:
        """Return all partitions of the underlying corpus; those that fail are not skipped here."""
        return list(self.corpus.partitions())

    def first_source(self) -> Corpus[T]:
        """Return the first source of the underlying corpus, without partitions that fail."""
        return SkippingCorpus(self.corpus.first_source())

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return the messages to the user that the underlying corpus gives; see `Corpus.remarks`."""
        return self.corpus.remarks(training=training)

    def __iter__(self) -> Iterator[T]:
        for partition in self.partitions():
            try:
                yield from partition
            except Exception:  # the passes will report it
                continue
