"""Engines run the two verbs over a corpus: add up its moments, or map a function over it in order.

Which engine runs is a context, never an argument of ``fit`` or ``parse_many``::

    with use_engine("processes", jobs=4):
        estimator.fit(corpus)

Every engine adds up each partition from empty and merges the parts in one fixed order
(`spectralnlp.runtime.reduction`), so sums of floats are equal to the byte whichever engine ran. Errors in the
input come after the results of what stood before it, from every engine.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from multiprocessing import get_context
from typing import Any, ClassVar, Protocol, TypeVar

from spectralnlp import registry
from spectralnlp.errors import ConfigError, InputError, SpectralError
from spectralnlp.runtime.checkpoint import current_checkpoint
from spectralnlp.runtime.context import current_execution, executing
from spectralnlp.runtime.corpus import Corpus, Partition
from spectralnlp.runtime.memory import reserve_blas_buffers
from spectralnlp.runtime.moments import Moments
from spectralnlp.runtime.reduction import MergeTree, Observer, Part, current_skip_policy

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
M = TypeVar("M", bound=Moments[Any])


def accumulate(moments: M, corpus: Corpus[Any], *, batch_size: int | None = None) -> M:
    """Add a corpus to moments, with the current engine.

    Args:
        moments: changed in place, once the whole corpus has been read without error.
        corpus: the examples.
        batch_size: examples observed at a time; by default as many as the moments say.

    Returns:
        ``moments``.
    """
    engine, checkpoint = current_engine(), current_checkpoint()
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
    """Return the sum over the partitions, less those that are to be left out."""
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
    """Return the function of each example, in order, with the current engine.

    Lazy: examples are read little further than results are taken, so that a stream larger than memory
    passes through and its first results come early.

    Args:
        function: for the ``processes`` engine, one that can be pickled.
        examples: a corpus, or any iterable.
        chunk_size: examples sent to a worker at a time; by default as many as the engine says.
    """
    engine = current_engine()
    chunk_size = engine.chunk_size if chunk_size is None else chunk_size
    if chunk_size == 1:
        return engine.map(function, examples)
    return _flatten(engine.map(partial(_apply, function), _chunks(examples, chunk_size)))


def map_kernels(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Return the function of each item, in order, on threads of this process.

    For functions that spend their time in kernels without the GIL, such as learning one of several grammars
    from counts. There are as many threads as the engine in use allows: one inside ``use_engine("serial")``,
    ``jobs`` inside ``use_engine("threads", jobs=…)``; outside of all, and with engines whose workers are
    other processes (they wait meanwhile), all cores that this process may use.

    Args:
        function: called with a copy of the caller's context.
        items: read little further than results are taken.
    """
    engine = current_execution().engine
    threads = positive_jobs(None) if engine is None else engine.n_threads
    return map(function, items) if threads == 1 else ThreadsEngine(threads).map(function, items)


def _chunks(examples: Iterable[T], largest: int) -> Iterator[list[T]]:
    """Lists of examples, small ones first so that the first results do not wait for a full list."""
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


# ---------------------------------------------------------------------------------------------------------
# Engines


class Engine(ABC):
    """One way to call a function on many tasks.

    A plugin's engine supplies `map` and its options; also `reduce`, if it can merge where its workers are,
    and `open` and `close`, if it has something to connect to.
    """

    #: Examples that `map_ordered` sends as one task: more than 1 where sending costs more than calling.
    chunk_size: ClassVar[int] = 1
    #: How often a partition is tried that fails for another reason than what is in it.
    attempts: ClassVar[int] = 1
    #: Seconds before the second try; twice as many before the next.
    pause: ClassVar[float] = 0.5

    @property
    def n_threads(self) -> int:
        """Threads of this process that `map_kernels` may use: the cores that it may use."""
        return positive_jobs(None)

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Return the function of each task, in order, reading only a bounded number of tasks ahead."""

    def reduce(self, observer: Observer[M], tasks: Sequence[tuple[int, Partition[Any]]]) -> Part[M] | None:
        """Partitions observed and merged, in the order of `reduction`; None without tasks.

        Args:
            observer: makes a part of a task.
            tasks: partitions with their numbers.
        """
        tree = MergeTree[M]()
        for part in self.map(observer, tasks):
            tree.add(part)
        return tree.total()

    def open(self) -> None:  # noqa: B027 (most engines have nothing to open)
        """Get ready, before the first call of the others."""

    def close(self) -> None:  # noqa: B027
        """Let go of everything, after the last."""


class SerialEngine(Engine):
    """Everything in this thread, one task after the other."""

    n_threads = 1

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Map like the builtin."""
        return map(function, tasks)


class ThreadsEngine(Engine):
    """Threads of this process: for functions that spend their time in kernels without the GIL.

    Args:
        jobs: number of threads; by default the cores that this process may use.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = positive_jobs(jobs)

    @property
    def n_threads(self) -> int:
        """The number of threads."""
        return self.jobs

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Map in order, each task in a copy of the caller's context.

        At most two tasks a thread are under way.
        """
        reserve_blas_buffers(threading.active_count() + self.jobs)
        pool, context = ThreadPoolExecutor(self.jobs), copy_context()
        try:
            yield from in_window(
                lambda task: pool.submit(context.copy().run, function, task), tasks, 2 * self.jobs
            )
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class ProcessesEngine(Engine):
    """Worker processes, started afresh for each pass; the function is sent to each of them once.

    Args:
        jobs: number of processes; by default the cores that this process may use.
    """

    chunk_size = 16

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = positive_jobs(jobs)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Map in order; at most two tasks a process are under way."""
        # Forking a process that runs threads (numba's, numpy's) can hang it; spawning is the same anywhere.
        pool = ProcessPoolExecutor(
            self.jobs,
            mp_context=get_context("spawn"),
            initializer=_start_worker,
            initargs=(_pickled(function),),
        )
        try:
            yield from in_window(lambda task: pool.submit(_work, task), tasks, 2 * self.jobs)
        except BrokenProcessPool as error:
            pool.shutdown(wait=False, cancel_futures=True)
            hint = "it ran out of memory, or the script lacks an `if __name__ == '__main__':` guard"
            raise SpectralError("a worker process died", hint=hint) from error
        except BaseException:
            # An interrupt or an error does not wait for tasks whose results nobody will read.
            # Nor for the pool itself, which can wait for ever for a lock that a killed worker held.
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        else:
            pool.shutdown()


class Pending(Protocol[R_co]):
    """The result of a task, once a worker has it."""

    def done(self) -> bool:
        """Whether it is there."""

    def result(self) -> R_co:
        """Wait for it."""


def in_window(submit: Callable[[T], Pending[R]], tasks: Iterable[T], width: int) -> Iterator[R]:
    """Results in the order of the tasks, with at most ``width`` of them submitted and not yet yielded.

    Args:
        submit: sends a task to a worker.
        tasks: read as they are needed; an error in reading them comes after the results of those before it.
        width: how many.
    """
    pending: deque[Pending[R]] = deque()
    upcoming = iter(tasks)
    failure: SpectralError | None = None
    while True:
        while failure is None and len(pending) < width and not (pending and pending[0].done()):
            try:
                task = next(upcoming)
            except StopIteration:
                break
            except SpectralError as error:
                failure = error
                break
            pending.append(submit(task))
        if not pending:
            break
        yield pending.popleft().result()
    if failure is not None:
        raise failure


_worker_function: Callable[[Any], Any]


def _start_worker(pickled: bytes) -> None:
    global _worker_function
    # Ctrl-C reaches the whole process group; the parent alone answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker_function = pickle.loads(pickled)


def _work(task: Any) -> Any:
    return _worker_function(task)


def _pickled(function: Callable[..., Any]) -> bytes:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
        hint = "use functions and classes of a module, or the engine serial or threads"
        raise ConfigError(f"cannot be sent to worker processes: {error}", hint=hint) from error


def positive_jobs(jobs: int | None) -> int:
    """A number of workers; None for the cores that this process may use."""
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs < 1:
        raise ConfigError(f"jobs must be 1 or more, not {jobs}")
    return jobs


# ---------------------------------------------------------------------------------------------------------
# Which one runs


def current_engine() -> Engine:
    """Return the engine of the innermost `use_engine`; serial outside of all."""
    return current_execution().engine or SerialEngine()


@contextmanager
def use_engine(name: str, /, **options: object) -> Iterator[Engine]:
    """Run the verbs inside the ``with`` block on a registered engine.

    Args:
        name: ``serial``, ``threads``, ``processes``, or a plugin's.
        options: of the engine, such as ``jobs``.

    Raises:
        RegistryError: there is no such engine, or it cannot be loaded.
        ConfigError: the engine has no such option.

    Examples:
        >>> import spectralnlp
        >>> with spectralnlp.use_engine("threads", jobs=2):
        ...     parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg")
        ...
        >>> parser.task
        'parsing'
    """
    kind = registry.engines.get(name)
    try:
        engine: Engine = kind(**options)
    except TypeError as error:
        given = " and ".join(f"`{option}`" for option in options)
        what = f"the engine {name} does not take {given}"
        raise ConfigError(what, hint="leave it out, or take another engine") from error
    with executing(engine=engine):
        try:
            engine.open()
            yield engine
        finally:
            engine.close()
