"""Execution engine ``dask``: workers compute and merge statistics (moments) of partitions of a corpus."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from pickle import PicklingError
from typing import Any, Generic, TypeVar, cast

from distributed import Client, Future, KilledWorker, wait

from spectralnlp.errors import ConfigError, SpectralError
from spectralnlp.runtime import (
    FAN_IN,
    BadPartition,
    Engine,
    MergeTree,
    Moments,
    Observer,
    Part,
    Partition,
    in_window,
    positive_jobs,
)
from spectralnlp_dask.cluster import check_answers, connect, quiet, start_local

T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=Moments[Any])

# Seconds to wait for a result before checking that the scheduler still answers.
PATIENCE = 5.0
# How often workers may die without a partition to blame before the pass is abandoned.
SUSPICIONS = 3
# Minimum number of tasks for each worker, so that none waits long for the slowest at the end.
TASKS_A_WORKER = 4

Numbered = tuple[int, Partition[Any]]


class DaskEngine(Engine):
    """Engine that runs on the workers of a Dask scheduler, or on local workers that it starts and stops.

    Args:
        scheduler: address of the scheduler, ``tcp://host:port``; None to start workers on this machine.
        jobs: number of single-threaded worker processes to start; None for one for each core.
        timeout: seconds to wait for an answer of the scheduler.

    Examples:
        >>> from spectralnlp_dask import DaskEngine
        >>> DaskEngine(jobs=2).jobs
        2
    """

    chunk_size = 16
    attempts = 3

    def __init__(self, scheduler: str | None = None, jobs: int | None = None, timeout: float = 10.0) -> None:
        if scheduler is not None and jobs is not None:
            raise ConfigError("the scheduler has its own workers", hint="give a scheduler or jobs, not both")
        if not timeout > 0:
            raise ConfigError(f"timeout must be positive, not {timeout}")
        self.address = scheduler
        self.jobs = positive_jobs(jobs)
        self.timeout = timeout
        self._resources = ExitStack()
        self._client: Client | None = None

    def open(self) -> None:
        """Connect to the scheduler; start local workers first if no scheduler was given."""
        try:
            self._resources.enter_context(quiet())
            address = self.address
            if address is None:
                cluster = self._resources.enter_context(start_local(self.jobs))
                address = str(cluster.scheduler_address)
            self._client = connect(address, self.timeout)
            self._resources.callback(_close, self._client)
            self._connected_to = address
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect from the scheduler, and stop the workers that this engine started."""
        self._client = None
        self._resources.close()

    @property
    def client(self) -> Client:
        """Dask client of the open engine."""
        if self._client is None:
            raise SpectralError("the engine is closed", hint="use its results inside 'with use_engine'")
        return self._client

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to tasks on the workers, and yield results in order.

        At most two tasks per worker are submitted at a time; the function is sent to each worker once.
        """
        width = 2 * max(1, sum(self.client.nthreads().values()))
        shared = self._shared(function)
        try:
            yield from in_window(lambda task: _Awaited(self, self._submit(_call, shared, task)), tasks, width)
        except KilledWorker as error:
            raise _died(error) from error

    def reduce(self, observe: Observer[M], tasks: Sequence[Numbered]) -> Part[M] | None:
        """Compute the moments (training statistics) of partitions on the workers, and return them merged.

        Args:
            observe: function that computes the moments of a partition.
            tasks: (number, partition) pairs; the numbers determine the order in which moments are merged.

        Returns:
            The merged moments, with a list of the partitions that were skipped; None without partitions.

        Raises:
            SpectralError: a partition kills its workers and may not be skipped, or the scheduler is gone.
        """
        killers: list[BadPartition] = []
        suspicions = 0
        while tasks:
            run = f"observe-{secrets.token_hex(4)}"
            fan_in = observe.empty.fan_in
            shared, groups = self._shared(observe), self._groups(tasks, fan_in)
            try:
                part: Part[M] = self._result(self._grow(shared, groups, run, fan_in))
                return Part(part.moments, (*part.bad, *killers))
            except KilledWorker as error:
                if suspicions == SUSPICIONS:
                    raise _died(error) from error
                blamed = cast("tuple[str, int] | str", error.task)
            # Dask blames all tasks of a dead worker, queued ones too, so each suspect is run again alone.
            suspects = groups[cast(int, blamed[1])] if blamed[0] == run else []
            deadly = [(task, death) for task in suspects if (death := self._death_by(observe, task))]
            suspicions += not deadly
            for (_, partition), death in deadly:
                if not observe.skips_bad:
                    raise SpectralError(death.what, path=partition.document, hint=death.hint)
                killers.append(BadPartition(partition.document, partition.start, death.what))
            guilty = {number for (number, _), _ in deadly}
            tasks = [task for task in tasks if task[0] not in guilty]
        return Part(observe.empty.empty_like(), tuple(killers)) if killers else None

    def _groups(self, tasks: Sequence[Numbered], fan_in: int) -> list[Sequence[Numbered]]:
        """Divide partitions into groups of neighbouring ones, one group for each Dask task.

        Args:
            tasks: numbered partitions.
            fan_in: number of moments that are merged at once.
        """
        n_workers = max(1, sum(self.client.nthreads().values()))
        size = 1
        while len(tasks) >= fan_in * size * TASKS_A_WORKER * n_workers:
            size *= fan_in
        return [tasks[at : at + size] for at in range(0, len(tasks), size)]

    def _grow(
        self, shared: Future[Any], groups: Sequence[Sequence[Numbered]], run: str, fan_in: int
    ) -> Future[Any]:
        """Submit the Dask tasks that compute the moments of partitions and merge them in a tree.

        Merges run before further partitions are read, to save memory.

        Args:
            shared: future of the function that computes the moments of a partition.
            groups: numbered partitions, one group for each task.
            run: name of the run, which is part of the keys of its tasks.
            fan_in: number of moments that are merged at once.

        Returns:
            Future of the merged moments of all partitions.
        """
        nodes = [self._submit(_observed, shared, group, key=(run, at)) for at, group in enumerate(groups)]
        while len(nodes) > 1:
            nodes = [self._sum(nodes[at : at + fan_in]) for at in range(0, len(nodes), fan_in)]
        return nodes[0]

    def _sum(self, nodes: list[Future[Any]]) -> Future[Any]:
        """Merge moments on the workers, from left to right, with at most `FAN_IN` moments in one Dask task.

        Args:
            nodes: futures of the moments to merge.

        Returns:
            Future of the merged moments.
        """
        while len(nodes) > 1:
            nodes = [self._submit(_merged, nodes[:FAN_IN]), *nodes[FAN_IN:]]
        return nodes[0]

    def _death_by(self, observe: Observer[Any], task: Numbered) -> SpectralError | None:
        try:
            self._result(self._submit(_call, observe, task))
        except KilledWorker as error:
            return _died(error)
        return None

    def _shared(self, value: R) -> Future[R]:
        """Send a value to the workers once, instead of with each task; return its future.

        The value is sent as the result of a Dask task, which Dask runs again if the workers that hold the
        result die; a value sent by ``Client.scatter`` would then be lost.
        """
        return self._submit(_same, value, priority=2)

    def _submit(self, function: Callable[..., R], *args: object, **options: Any) -> Future[R]:
        priority = 1 if function is _merged else 0
        try:
            options = {"pure": False, "priority": priority, **options}
            return self.client.submit(function, *args, **options)
        except (PicklingError, TypeError, AttributeError) as error:
            what = f"cannot be sent to workers: {error}"
            raise ConfigError(what, hint="try the engine serial or threads") from error

    def _result(self, future: Future[R]) -> R:
        """Wait for a future's result, and raise an error if the scheduler disappears meanwhile."""
        try:
            while not future.done():
                try:
                    with self.client.as_current():
                        wait(future, timeout=PATIENCE)
                except TimeoutError:
                    self._check_scheduler()
            return future.result()
        except CancelledError as error:
            self._check_scheduler()
            raise SpectralError("the scheduler was restarted in the middle of the work") from error

    def _check_scheduler(self) -> None:
        hint = "start again; what a `checkpoint` kept is not lost"
        try:
            check_answers(self._connected_to, self.timeout)
        except ConfigError as error:
            raise SpectralError(f"in the middle of the work, {error.what}", hint=hint) from error
        try:
            self.client.wait_for_workers(1, timeout=self.timeout)
        except TimeoutError as error:
            raise SpectralError("in the middle of the work, all workers are gone", hint=hint) from error


class _Awaited(Generic[R]):
    """Future whose `result` checks that the scheduler is still there while it waits."""

    def __init__(self, engine: DaskEngine, future: Future[R]) -> None:
        self.engine = engine
        self.future = future

    def done(self) -> bool:
        """Return whether the result is available."""
        return bool(self.future.done())

    def result(self) -> R:
        """Wait for the result; raises SpectralError if the scheduler is gone."""
        return self.engine._result(self.future)


def _close(client: Client) -> None:
    # Closing can fail in several ways if the scheduler is gone; errors do not matter, since the work is over.
    with suppress(Exception, CancelledError):
        client.close()


def _died(error: KilledWorker) -> SpectralError:
    what = f"{error.allowed_failures + 1} workers died over it, one after the other"
    return SpectralError(what, hint="give them more memory, or look at their logs")


def _same(value: R) -> R:
    return value


def _call(function: Callable[[T], R], task: T) -> R:
    return function(task)


def _observed(observe: Observer[M], tasks: Sequence[Numbered]) -> Part[M]:
    tree = MergeTree[M](observe.empty.fan_in)
    for task in tasks:
        tree.add(observe(task))
    total = tree.total()
    assert total is not None
    return total


def _merged(parts: list[Part[M]]) -> Part[M]:
    """Merge moments into new ones; the inputs are not changed, as a worker may need them again."""
    total = Part(parts[0].moments.empty_like())
    for part in parts:
        total.merge(part)
    return total
