"""Engines, which apply a function to many tasks in this thread, in other threads or in other processes."""

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
from contextvars import copy_context
from multiprocessing import get_context
from typing import Any, ClassVar, Protocol, TypeVar

from spectralnlp.errors import ConfigError, SpectralError
from spectralnlp.runtime.corpus import Partition
from spectralnlp.runtime.interrupts import children_ignoring_interrupts
from spectralnlp.runtime.memory import reserve_blas_buffers
from spectralnlp.runtime.moments import Moments
from spectralnlp.runtime.reduction import MergeTree, Observer, Part

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
M = TypeVar("M", bound=Moments[Any])


class Engine(ABC):
    """Base class of engines, which apply a function to many tasks, serially or in parallel.

    A plugin's engine implements `map`, and takes its options in ``__init__``. It also overrides `reduce` if
    it can merge moments on its workers, and `open` and `close` if it needs a connection.
    """

    #: Number of examples that `map_ordered` sends as one task; above 1 if sending costs more than calling.
    chunk_size: ClassVar[int] = 1
    #: Number of attempts for a partition that fails for a reason other than its content.
    attempts: ClassVar[int] = 1
    #: Seconds before the second attempt; doubled before each further one.
    pause: ClassVar[float] = 0.5

    @property
    def n_threads(self) -> int:
        """Number of threads that `map_kernels` may use; by default the cores that this process may use."""
        return positive_jobs(None)

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to each task, and yield the values in order; reads a few tasks ahead."""

    def reduce(self, observer: Observer[M], tasks: Sequence[tuple[int, Partition[Any]]]) -> Part[M] | None:
        """Compute the moments of the partitions of a corpus, and merge them in a fixed order (`MergeTree`).

        Args:
            observer: computes the moments of a partition.
            tasks: for each partition, its index in the pass, and the partition.

        Returns:
            The merged moments; None if there are no tasks.
        """
        tree = MergeTree[M](observer.empty.fan_in)
        for part in self.map(observer, tasks):
            tree.add(part)
            del part  # free it before the next partition is observed
        return tree.total()

    def open(self) -> None:  # noqa: B027 (most engines have nothing to open)
        """Prepare the engine; called before all other methods."""

    def close(self) -> None:  # noqa: B027
        """Release all resources; called after all other methods."""


class SerialEngine(Engine):
    """Engine that runs all tasks in this thread, one after the other."""

    n_threads = 1

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to each task in this thread, as the built-in ``map`` does."""
        return map(function, tasks)


class ThreadsEngine(Engine):
    """Engine that runs tasks in threads, for functions that spend their time in kernels without the GIL.

    Args:
        jobs: number of threads; by default the number of cores that this process may use.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = positive_jobs(jobs)

    @property
    def n_threads(self) -> int:
        """Number of threads that run tasks."""
        return self.jobs

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to each task in threads, and yield the values in order.

        Each task runs in a copy of the caller's context. At most two tasks per thread are pending.
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
    """Engine that runs tasks in worker processes.

    Each call of `map` starts its own workers, and sends the function to each worker only once.

    Args:
        jobs: number of processes; by default the number of cores that this process may use.
    """

    chunk_size = 16

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = positive_jobs(jobs)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to each task in other processes, and yield the values in order.

        At most two tasks per process are pending.
        """
        # Forking a process with threads (numba's, numpy's) can hang; spawning works the same on all systems.
        pool = ProcessPoolExecutor(
            self.jobs,
            mp_context=get_context("spawn"),
            initializer=_start_worker,
            initargs=(_pickled(function),),
        )

        def submit(task: T) -> Pending[R]:
            with children_ignoring_interrupts():
                return pool.submit(_work, task)

        try:
            yield from in_window(submit, tasks, 2 * self.jobs)
        except BrokenProcessPool as error:
            pool.shutdown(wait=False, cancel_futures=True)
            hint = "it ran out of memory, or the script lacks an `if __name__ == '__main__':` guard"
            raise SpectralError("a worker process died", hint=hint) from error
        except BaseException:
            # After an interrupt or an error, do not wait for tasks whose results nobody will read, nor for
            # the pool itself, which can wait for ever for a lock that a killed worker held.
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        else:
            pool.shutdown()


class Pending(Protocol[R_co]):
    """Protocol of the result of a task that was sent to a worker."""

    def done(self) -> bool:
        """Whether the result is available."""

    def result(self) -> R_co:
        """Wait for the result and return it."""


def in_window(submit: Callable[[T], Pending[R]], tasks: Iterable[T], width: int) -> Iterator[R]:
    """Yield results in the order of the tasks, with at most ``width`` tasks submitted and not yet yielded.

    Args:
        submit: sends a task to a worker.
        tasks: the tasks, read when needed. If reading one raises a SpectralError, the results of all earlier
            tasks are yielded before the error is raised.
        width: maximum number of pending tasks.
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent handles it
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
    """Return a number of workers after checking that it is positive.

    None stands for the number of cores that this process may use.
    """
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs < 1:
        raise ConfigError(f"jobs must be 1 or more, not {jobs}")
    return jobs
