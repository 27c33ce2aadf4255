"""The two operations on a corpus: accumulate moments (sums over examples), or map a function in order.

The current engine runs them (`spectralnlp.runtime.context`). Every engine accumulates each partition
separately and merges the parts in a fixed order (`spectralnlp.runtime.reduction`), so that all engines give
identical sums of floats, byte for byte. On every engine, an error in the input is raised after the results of
the examples before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from spectralnlp.errors import InputError, SpectralError
from spectralnlp.runtime.context import (
    current_checkpoint,
    current_engine,
    current_execution,
    current_skip_policy,
)
from spectralnlp.runtime.corpus import Corpus, Partition
from spectralnlp.runtime.engine import Engine, ThreadsEngine, positive_jobs
from spectralnlp.runtime.moments import Moments
from spectralnlp.runtime.reduction import Observer

T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=Moments[Any])


def accumulate(moments: M, corpus: Corpus[Any], *, batch_size: int | None = None) -> M:
    """Compute the moments of a corpus with the current engine, and add them to the given moments.

    Args:
        moments: changed in place, once the whole corpus has been read without error.
        corpus: the examples.
        batch_size: number of examples observed at a time; by default `Moments.batch_size`.

    Returns:
        The argument ``moments``.
    """
    engine, checkpoint = corpus.engine or current_engine(), current_checkpoint()
    batch_size = moments.batch_size if batch_size is None else batch_size
    empty, partitions = moments.empty_like(), corpus.partitions()
    finished = None if checkpoint is None else checkpoint.next_pass(empty, batch_size)
    total = None if finished is None else finished.load_total(partitions, empty)
    if total is None:
        skips = current_skip_policy() is not None
        observer = Observer(
            empty,
            batch_size,
            attempts=engine.attempts,
            pause=engine.pause,
            skips_bad=skips,
            finished=finished,
        )
        total = _reduce(engine, observer, partitions)
        if finished is not None:
            finished.save_total(partitions, total)
    moments.merge(total)
    return moments


def _reduce(engine: Engine, observer: Observer[M], partitions: Sequence[Partition[Any]]) -> M:
    """Compute the moments of all partitions except skipped ones, and return their sum.

    Raises:
        InputError: all partitions had to be skipped.
    """
    policy = current_skip_policy()
    tasks = [
        (number, partition)
        for number, partition in enumerate(partitions)
        if policy is None or not policy.is_left_out(partition)
    ]
    part = engine.reduce(observer, tasks)
    for bad in () if part is None else part.bad:
        assert policy is not None
        policy.leave_out(bad)
    if policy is not None and policy.bad and all(map(policy.is_left_out, partitions)):
        raise InputError(f"none of {len(partitions)} partitions can be read")
    return observer.empty.empty_like() if part is None else part.moments


def map_ordered(
    function: Callable[[T], R], examples: Iterable[T], *, chunk_size: int | None = None
) -> Iterator[R]:
    """Return an iterator over a function's value for each example, in order, with the current engine.

    The iterator is lazy: examples are read only a little ahead of results, so that streams may be larger than
    memory and first results come early.

    Args:
        function: the function to apply; for the ``processes`` engine it must be picklable.
        examples: a corpus, or any iterable.
        chunk_size: number of examples sent to a worker at a time; by default `Engine.chunk_size`.
    """
    engine = current_engine()
    chunk_size = engine.chunk_size if chunk_size is None else chunk_size
    if chunk_size == 1:
        return engine.map(function, examples)
    return _flatten(engine.map(partial(_apply, function), _chunks(examples, chunk_size)))


def map_kernels(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Return an iterator over a function's value for each item, in order, on threads of this process.

    Use it for functions that spend their time in kernels without the GIL, such as learning one of several
    grammars from counts. There is one thread inside ``use_engine("serial")``, and there are ``jobs`` threads
    inside ``use_engine("threads", jobs=…)``. With other engines, or none, there are as many threads as cores
    that this process may use.

    Args:
        function: the function to apply, called in a copy of the caller's context.
        items: read only a little ahead of results.
    """
    engine = current_execution().engine
    threads = positive_jobs(None) if engine is None else engine.n_threads
    return map(function, items) if threads == 1 else ThreadsEngine(threads).map(function, items)


def _chunks(examples: Iterable[T], largest: int) -> Iterator[list[T]]:
    """Yield lists of up to ``largest`` examples, small lists first so that the first results come early."""
    chunk: list[T] = []
    size = 1
    try:
        for example in examples:
            chunk.append(example)
            if len(chunk) == size:
                yield chunk
                chunk, size = [], min(2 * size, largest)
    except SpectralError:
        yield chunk
        raise
    yield chunk


def _apply(function: Callable[[T], R], chunk: list[T]) -> tuple[list[R], SpectralError | None]:
    results: list[R] = []
    try:
        results.extend(map(function, chunk))
    except SpectralError as error:
        return results, error
    return results, None


def _flatten(outcomes: Iterator[tuple[list[R], SpectralError | None]]) -> Iterator[R]:
    for results, error in outcomes:
        yield from results
        if error is not None:
            raise error
