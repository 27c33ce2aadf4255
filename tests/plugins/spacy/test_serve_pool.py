"""Workers of ``spectralnlp serve``: limits of time and number, and work that nobody waits for any more."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("uvicorn")

from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.pool import Worker, WorkerPool
from spectralnlp_spacy.serve.worker import Answer, Setup

from spectralnlp.errors import ConfigError


def with_pool(body: Callable[[WorkerPool], Awaitable[Any]], model: str = "m", **limits: Any) -> Any:
    """Run a coroutine with a pool that has all its workers; then none of its processes is left."""

    async def run() -> Any:
        settings = Limits(**{"workers": 2, "seconds": 5.0, **limits})
        setup = Setup(models=[model], lang="en", k=1, limits=settings)
        pool = WorkerPool(setup, grace=1.0, pause=0.1, module="obedient_worker")
        try:
            await pool.start()
            while pool._idle.qsize() < settings.workers:
                await asyncio.sleep(0.01)
            result = await body(pool)
            processes = [worker._process.pid for worker in pool._all]
        finally:
            await pool.stop()
        for process in processes:
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)
        return result

    return asyncio.run(asyncio.wait_for(run(), 60))


def process_of(answer: Answer) -> int:
    return int(json.loads(answer.content)[0])


def error_of(answer: Answer) -> str:
    return str(json.loads(answer.content)["error"])


def test_workers_answer_at_once_and_again() -> None:
    async def body(pool: WorkerPool) -> None:
        both = await asyncio.gather(pool.answer("sleep 0.4"), pool.answer("sleep 0.4"))
        assert len({process_of(answer) for answer in both}) == 2
        many = await asyncio.gather(*(pool.answer("go") for _ in range(10)))
        assert {process_of(answer) for answer in many} == {process_of(answer) for answer in both}
        assert len((await pool.answer("long 3000000")).content) > 3_000_000

    with_pool(body)


def test_what_takes_too_long_is_ended_and_others_go_on() -> None:
    async def body(pool: WorkerPool) -> None:
        slow, quick = await asyncio.gather(pool.answer("sleep 30"), pool.answer("go"))
        assert (slow.status, error_of(slow)) == (504, "the analysis took more than 0.5 seconds")
        assert quick.status == 200
        while pool._idle.qsize() < 2:  # a new one takes its place
            await asyncio.sleep(0.05)

    with_pool(body, seconds=0.5)


def test_a_worker_that_dies_is_replaced() -> None:
    async def body(pool: WorkerPool) -> None:
        before = process_of(await pool.answer("go"))
        dead = await pool.answer("die")
        assert (dead.status, error_of(dead)) == (500, "the analysis failed")
        assert process_of(await pool.answer("go")) != before

    with_pool(body, workers=1)


def test_more_than_may_wait_are_sent_away() -> None:
    async def body(pool: WorkerPool) -> None:
        work = [asyncio.ensure_future(pool.answer("sleep 0.3")) for _ in range(3)]
        await asyncio.sleep(0.1)
        refused = await pool.answer("go")
        assert (refused.status, error_of(refused)) == (503, "too many texts at once, try again later")
        assert [answer.status for answer in await asyncio.gather(*work)] == [200] * 3

    with_pool(body, workers=1, waiting=2)


def test_who_waits_too_long_is_sent_away() -> None:
    async def body(pool: WorkerPool) -> None:
        slow = asyncio.ensure_future(pool.answer("sleep 2"))
        await asyncio.sleep(0.05)
        waited = await pool.answer("go")
        assert (waited.status, error_of(waited)) == (503, "all workers are busy, try again later")
        assert (await slow).status == 504

    with_pool(body, workers=1, seconds=0.4)


@pytest.mark.parametrize(("work", "survives"), [("sleep 0.15", True), ("sleep 30", False)])
def test_work_whose_client_went_away_is_ended_unless_it_ends_soon(work: str, survives: bool) -> None:
    async def body(pool: WorkerPool) -> None:
        before = process_of(await pool.answer("go"))
        left = asyncio.ensure_future(pool.answer(work))
        await asyncio.sleep(0.05)
        left.cancel()
        with suppress(asyncio.CancelledError):
            await left
        assert (process_of(await pool.answer("go")) == before) == survives

    with_pool(body, workers=1)


def test_a_place_in_the_queue_that_is_given_up_is_free() -> None:
    async def body(pool: WorkerPool) -> None:
        working = asyncio.ensure_future(pool.answer("sleep 0.3"))
        await asyncio.sleep(0.05)
        waiting = asyncio.ensure_future(pool.answer("go"))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.sleep(0)
        assert [answer.status for answer in await asyncio.gather(working, pool.answer("go"))] == [200, 200]

    with_pool(body, workers=1, waiting=1)


@pytest.mark.parametrize(("model", "what"), [("none", "no model"), ("dies", "died while it loaded")])
def test_models_that_cannot_be_loaded_are_refused(model: str, what: str) -> None:
    async def body(pool: WorkerPool) -> None:
        raise AssertionError

    with pytest.raises(ConfigError, match=what):
        with_pool(body, model)


def test_a_worker_that_cannot_be_started_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    start, failures = Worker.start, [ConfigError("the folder is being replaced")]

    async def start_or_fail(setup: Setup, module: str) -> Worker:
        if failures and not first:
            raise failures.pop()
        first.clear()
        return await start(setup, module)

    first = [True]
    monkeypatch.setattr(Worker, "start", start_or_fail)

    async def body(pool: WorkerPool) -> None:
        await pool.answer("die")
        assert (await pool.answer("go")).status == 200

    with_pool(body, workers=1)
    assert "the folder is being replaced" in capfd.readouterr().err
