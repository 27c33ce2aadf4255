from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import engine_functions
import pytest
from worker_functions import EndlessNumbers, refuse_seven, square

from spectralnlp.errors import ConfigError, InputError, RegistryError, SpectralError
from spectralnlp.runtime import (
    Counts,
    InMemoryCorpus,
    Partition,
    SerialEngine,
    accumulate,
    current_engine,
    current_execution,
    map_kernels,
    map_ordered,
    positive_jobs,
    use_checkpoint,
    use_engine,
)

ENGINES = {"serial": {}, "threads": {"jobs": 2}, "processes": {"jobs": 2}}
every_engine = pytest.mark.parametrize("name", ENGINES)


@every_engine
def test_map_is_ordered(name: str) -> None:
    with use_engine(name, **ENGINES[name]):
        assert list(map_ordered(square, range(100))) == [i * i for i in range(100)]
        assert list(map_ordered(square, InMemoryCorpus([3], 2))) == [9]
        assert list(map_ordered(square, [])) == []


@every_engine
def test_map_reads_only_little_ahead_of_an_endless_stream(name: str) -> None:
    stream = EndlessNumbers()
    with use_engine(name, **ENGINES[name]):
        results = map_ordered(square, stream)
        assert next(results) == 0
        assert stream.taken <= 15
        assert [next(results) for _ in range(200)][-1] == 200 * 200
        assert stream.taken <= 200 + 5 * 16
        results.close() if hasattr(results, "close") else None


@every_engine
def test_an_error_in_a_worker_is_the_same_line_after_the_results_before_it(name: str) -> None:
    seen: list[int] = []
    with use_engine(name, **ENGINES[name]), pytest.raises(InputError) as refusal:
        seen.extend(map_ordered(refuse_seven, range(100)))
    assert str(refusal.value) == "numbers.txt:7: seven; leave it out"
    assert seen == list(range(7))


@every_engine
def test_an_error_in_the_stream_comes_after_the_results_before_it(name: str) -> None:
    def stream() -> Iterator[int]:
        yield from range(10)
        raise InputError("torn", path="stream.txt", line=11)

    seen: list[int] = []
    with use_engine(name, **ENGINES[name]), pytest.raises(InputError, match=r"stream\.txt:11: torn"):
        seen.extend(map_ordered(square, stream()))
    assert seen == [i * i for i in range(10)]


@every_engine
def test_a_bug_stays_the_exception_it_is(name: str) -> None:
    with use_engine(name, **ENGINES[name]), pytest.raises(ZeroDivisionError, match="a bug"):
        list(map_ordered(engine_functions.stumble, [1]))


class TornCorpus(InMemoryCorpus[list[str]]):
    def partitions(self) -> list[Partition[list[str]]]:
        def torn() -> Iterator[list[str]]:
            yield ["a"]
            raise InputError("torn")

        return [*super().partitions(), Partition("torn", 1, 0, torn)]


def test_moments_are_untouched_when_the_corpus_is_torn() -> None:
    counts = accumulate(Counts(), InMemoryCorpus([["a"]]))
    with pytest.raises(InputError, match="torn"):
        accumulate(counts, TornCorpus([["a"]]))
    assert list(counts.items()) == [("a", 1)]
    assert accumulate(counts, InMemoryCorpus([["a", "b"]])) is counts
    assert list(counts.items()) == [("a", 2), ("b", 1)]


def test_the_engine_is_a_context() -> None:
    assert isinstance(current_engine(), SerialEngine)
    with use_engine("threads", jobs=1) as threads:
        assert current_engine() is threads
        with use_engine("serial"):
            results = map_ordered(square, [2])
        assert current_engine() is threads
        assert list(results) == [4]
    assert isinstance(current_engine(), SerialEngine)


@pytest.mark.parametrize(
    ("engine", "options", "threads"),
    [(None, {}, None), ("serial", {}, 1), ("threads", {"jobs": 3}, 3), ("processes", {"jobs": 3}, None)],
)
def test_kernels_run_on_as_many_threads_as_the_engine_allows(
    engine: str | None, options: dict[str, int], threads: int | None
) -> None:
    expected = positive_jobs(None) if threads is None else threads
    together = threading.Barrier(expected)  # opens once that many calls are under way
    with nullcontext() if engine is None else use_engine(engine, **options):
        results = list(map_kernels(lambda n: (together.wait(10), n * n)[1], range(expected)))
    assert results == [n * n for n in range(expected)]


def test_kernels_see_the_callers_context() -> None:
    with use_engine("threads", jobs=2) as engine:
        assert list(map_kernels(lambda _: current_engine() is engine, range(4))) == [True] * 4


def test_blocks_that_are_left_in_another_order_set_their_own_field_back(tmp_path: Path) -> None:
    before = current_execution()
    checkpoint, engine = use_checkpoint(tmp_path), use_engine("threads", jobs=1)
    checkpoint.__enter__()
    engine.__enter__()
    checkpoint.__exit__(None, None, None)
    assert current_execution().checkpoint is None
    assert current_execution().engine is not None
    engine.__exit__(None, None, None)
    assert current_execution() == before


def test_an_engine_or_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RegistryError, match="did you mean processes"), use_engine("proceses"):
        pass
    with pytest.raises(ConfigError, match="speed"), use_engine("threads", speed=11):
        pass
    with pytest.raises(ConfigError, match="jobs must be 1 or more"), use_engine("processes", jobs=0):
        pass


def test_what_processes_cannot_be_sent_is_refused() -> None:
    with use_engine("processes", jobs=1), pytest.raises(ConfigError, match="worker processes"):
        list(map_ordered(lambda x: x, [1]))


def test_a_worker_that_dies_is_one_line() -> None:
    with use_engine("processes", jobs=1), pytest.raises(SpectralError, match="a worker process died"):
        list(map_ordered(engine_functions.die, [1]))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_an_interrupt_ends_the_pool_promptly(tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(
        "import engine_functions\n"
        "from spectralnlp.runtime import map_ordered, use_engine\n"
        "def stream():\n"
        "    print('reading', flush=True)\n"
        "    yield from range(9)\n"
        "if __name__ == '__main__':\n"
        "    with use_engine('processes', jobs=2):\n"
        "        list(map_ordered(engine_functions.sleep_long, stream()))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    assert process.stdout.readline() == "asleep\n"
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert time.monotonic() - started < 10
    assert errors.count("KeyboardInterrupt") == 1


def test_an_option_that_an_engine_does_not_have_is_named() -> None:
    message = "the engine serial does not take jobs; leave it out"
    with pytest.raises(ConfigError, match=message), use_engine("serial", jobs=2):
        pass
