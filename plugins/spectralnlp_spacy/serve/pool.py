"""Pool of worker processes of ``spectralnlp serve``, which can be killed if an analysis takes too long."""

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
    """Error raised if a worker process ended or was killed before it answered."""


class Worker:
    """Worker process that analyses one text at a time.

    Args:
        process: the process, just started by `start`.
    """

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, setup: Setup, module: str = _WORKER) -> Worker:
        """Start a worker process and wait until its models are loaded.

        Args:
            setup: settings of the worker.
            module: full name of the module that the process runs.

        Raises:
            ConfigError: the models cannot be loaded.
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
        """Let the process analyse a text or explain a bracket, and return its answer.

        Args:
            asked: a text to analyse, or arguments of `Analyst.explain` by name.

        Raises:
            WorkerDiedError: the process ended.
        """
        await self._send(json.dumps(asked))
        return await self._receive()

    async def end(self) -> None:
        """Kill the process and wait until it has ended."""
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
    """Pool of workers, with a queue of requests that wait for a free one.

    Args:
        setup: settings of the workers.
        grace: seconds that a worker may still work on the request of a client that disconnected, before the
            worker is killed. This avoids starting a new worker, which takes longer.
        pause: seconds before another attempt to start a worker that could not be started.
        module: full name of the module that the processes run.
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
        """Start the first worker, wait until it is ready, and start the others in the background.

        The first worker compiles and caches machine code, which the others then load.

        Raises:
            ConfigError: the models cannot be loaded.
        """
        self._admit(await Worker.start(self._setup, self._module))
        for _ in range(self._limits.workers - 1):
            self._in_background(self._add())

    async def stop(self) -> None:
        """Kill all workers."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._all))

    async def answer(self, asked: Any) -> Answer:
        """Let the next free worker answer a request; return an error answer if this takes too long.

        If the client disconnects, this task is cancelled, and the worker has ``grace`` seconds to finish.

        Args:
            asked: a text to analyse, or arguments of `Analyst.explain` by name.
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
        """Return a worker to the pool once it has answered; if it fails or is too slow, kill and replace it.

        Args:
            worker: the worker.
            work: future of the answer that the worker computes.
            seconds: maximum time to wait for the answer.
        """
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
        """Start a worker and add it to the pool; after a failure, try again after a pause."""
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
