"""Workers of ``spectralnlp serve``: processes that can be ended whatever they do."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import Process
from collections.abc import Coroutine
from typing import Any

from spectralnlp_web import end_process, start_process

from spectralnlp.errors import ConfigError, SpectralError
from spectralnlp_spacy.serve.worker import HEADER, Answer, Setup, error_answer

_WORKER = "spectralnlp_spacy.serve.worker"


class WorkerDiedError(SpectralError):
    """A worker process that ended, or was ended."""


class Worker:
    """A process that analyses one text at a time.

    Args:
        process: has just been started; see `start`.
    """

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, setup: Setup, module: str = _WORKER) -> Worker:
        """Start a process and wait until its models are loaded.

        Args:
            setup: what it reads first.
            module: what the process runs.

        Raises:
            ConfigError: they cannot be loaded.
        """
        worker = cls(await start_process(module))
        try:
            await worker._send(setup.to_json())
            answer = await worker._receive()
            if answer.status != 200:
                raise ConfigError(json.loads(answer.content)["error"])
        except BaseException as error:
            await worker.end()
            if isinstance(error, WorkerDiedError):
                raise ConfigError("a worker process died while it loaded the models") from error
            raise
        return worker

    async def answer(self, asked: Any) -> Answer:
        """Analyse a text, or explain a bracket.

        Args:
            asked: a text, or what `Analyst.explain` takes, by name.

        Raises:
            WorkerDiedError: the process ended.
        """
        await self._send(json.dumps(asked))
        return await self._receive()

    async def end(self) -> None:
        """Kill the process, whatever it does, and wait until it has ended."""
        await end_process(self._process)

    async def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError as error:
            raise WorkerDiedError("a worker process died") from error

    async def _receive(self) -> Answer:
        assert self._process.stdout is not None
        try:
            status, length = HEADER.unpack(await self._process.stdout.readexactly(HEADER.size))
            return Answer(status, await self._process.stdout.readexactly(length))
        except asyncio.IncompleteReadError as error:
            raise WorkerDiedError("a worker process died") from error


class WorkerPool:
    """Workers, and requests that wait for one.

    Args:
        setup: of the workers.
        grace: seconds that a worker may go on for a client that went away, before it is ended: starting
            one takes longer.
        pause: seconds before a worker that could not be started is tried again.
        module: what the processes run.
    """

    def __init__(
        self, setup: Setup, *, grace: float = 1.0, pause: float = 5.0, module: str = _WORKER
    ) -> None:
        self._setup, self._grace, self._pause, self._module = setup, grace, pause, module
        self._limits = setup.limits
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._all: set[Worker] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0

    async def start(self) -> None:
        """Start the first worker, and the others behind it: kernels that it compiles they only load.

        Raises:
            ConfigError: the models cannot be loaded.
        """
        self._admit(await Worker.start(self._setup, self._module))
        for _ in range(self._limits.workers - 1):
            self._in_background(self._add())

    async def stop(self) -> None:
        """End all workers."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._all))

    async def answer(self, asked: Any) -> Answer:
        """Answer by the next free worker; an error in JSON if there is none, or it takes too long.

        Args:
            asked: as of `Worker.answer`.

        When this is cancelled, for the client went away, the worker has `grace` to come to an end.
        """
        if self._idle.empty() and self._waiting >= self._limits.waiting:
            return error_answer(503, "too many texts at once, try again later")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.patience):
                worker = await self._idle.get()
        except TimeoutError:
            return error_answer(503, "all workers are busy, try again later")
        finally:
            self._waiting -= 1
        work = asyncio.ensure_future(worker.answer(asked))
        try:
            done, _ = await asyncio.wait({work}, timeout=self._limits.seconds)
        except asyncio.CancelledError:
            self._in_background(self._release(worker, work, self._grace))
            raise
        self._in_background(self._release(worker, work, 0))
        if not done:
            return error_answer(504, f"the analysis took more than {self._limits.seconds:g} seconds")
        return error_answer(500, "the analysis failed") if work.exception() else work.result()

    async def _release(self, worker: Worker, work: asyncio.Future[Answer], seconds: float) -> None:
        """Give a worker to the next if it has done its work, or has within some seconds; else replace it."""
        try:
            done, _ = await asyncio.wait({work}, timeout=seconds)
        finally:
            work.cancel()
        if done and not work.exception():
            self._idle.put_nowait(worker)
            return
        await worker.end()
        self._all.discard(worker)
        await self._add()

    async def _add(self) -> None:
        """Start a worker; again and again, if the models cannot be loaded just now."""
        while True:
            try:
                return self._admit(await Worker.start(self._setup, self._module))
            except SpectralError as error:
                print(f"spectralnlp: {error}", file=sys.stderr, flush=True)
                await asyncio.sleep(self._pause)

    def _admit(self, worker: Worker) -> None:
        self._all.add(worker)
        self._idle.put_nowait(worker)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
