"""The engine on real workers: results, faults, and what is refused."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from functools import partial
from pathlib import Path

import dask_functions
import pytest
from worker_functions import EndlessNumbers, refuse_seven, square

from spectralnlp.errors import ConfigError, InputError, SpectralError
from spectralnlp.runtime import (
    Corpus,
    Counts,
    FileCorpus,
    InMemoryCorpus,
    Partition,
    accumulate,
    map_ordered,
    skip_bad_partitions,
    use_checkpoint,
    use_engine,
)

pytest.importorskip("distributed")

from spectralnlp_dask.cluster import CONFIG, quiet, start_local
from spectralnlp_dask.engine import DaskEngine

pytestmark = pytest.mark.slow


class Parts(Corpus[list[str]]):
    """Partitions by the functions that read them."""

    def __init__(self, *reads: object) -> None:
        self.reads = reads

    def partitions(self) -> list[Partition[list[str]]]:
        return [Partition(f"part-{i}", i, 0, read) for i, read in enumerate(self.reads)]  # type: ignore[arg-type]


def words(*each: str) -> object:
    return partial(dask_functions.lines, list(each))


def test_map_is_ordered_and_reads_only_little_ahead(scheduler: str) -> None:
    stream = EndlessNumbers()
    with use_engine("dask", scheduler=scheduler):
        results = map_ordered(square, stream)
        assert [next(results) for _ in range(200)] == [i * i for i in range(200)]
        assert stream.taken <= 200 + 5 * 16
        assert list(map_ordered(square, [])) == []


def test_errors_come_after_the_results_before_them(scheduler: str) -> None:
    seen: list[int] = []
    with use_engine("dask", scheduler=scheduler), pytest.raises(InputError) as refusal:
        seen.extend(map_ordered(refuse_seven, range(100)))
    assert str(refusal.value) == "numbers.txt:7: seven; leave it out"
    assert seen == list(range(7))


def test_an_empty_corpus_and_empty_partitions(scheduler: str) -> None:
    with use_engine("dask", scheduler=scheduler):
        assert len(accumulate(Counts(), Parts())) == 0
        ragged = Parts(words(), words("a", "b", "a"), words(), words("b"))
        assert list(accumulate(Counts(), ragged).items()) == [("a", 2), ("b", 2)]


def test_workers_that_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From outside, which changes nothing; or by a partition, which is named."""
    # So few deaths that the innocent are often blamed as well.
    monkeypatch.setitem(CONFIG, "distributed.scheduler.allowed-failures", 2)
    monkeypatch.setattr("spectralnlp_dask.engine.SUSPICIONS", 20)
    with use_engine("dask", jobs=2) as engine:
        assert isinstance(engine, DaskEngine)
        slow = Parts(*(partial(dask_functions.slow_lines, [f"w{i}"], tmp_path) for i in range(6)))
        before = set(engine.client.run(os.getpid).values())
        killed: list[int] = []

        def kill_one() -> None:
            while not (busy := list(tmp_path.iterdir())):
                time.sleep(0.01)
            killed.append(int(busy[0].name))
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        counts = accumulate(Counts(), slow)
        killer.join()
        assert set(killed) < before
        assert list(counts.items()) == [(f"w{i}", 1) for i in range(6)]

        deadly = Parts(words("a"), dask_functions.die, words("b"))
        said: list[str] = []
        with skip_bad_partitions(said.append):
            counts = accumulate(Counts(), deadly)
        assert list(counts.items()) == [("a", 1), ("b", 1)]
        assert said == ["left out part-1: 3 workers died over it, one after the other"]

        many: list[object] = [words("a")] * 70  # so many that they are observed in groups
        many[42] = dask_functions.die
        with pytest.raises(SpectralError, match="part-42: 3 workers died over it"):
            accumulate(Counts(), Parts(*many))


def test_a_partition_that_fails_is_tried_again_then_named(scheduler: str, tmp_path: Path) -> None:
    with use_engine("dask", scheduler=scheduler):
        stumbling = Parts(words("a"), partial(dask_functions.fail_twice, tmp_path / "tries"))
        assert list(accumulate(Counts(), stumbling).items()) == [("a", 1), ("b", 1)]
        hopeless = Parts(words("a"), partial(dask_functions.fail))
        with pytest.raises(SpectralError, match=r"part-1: failed 3 times, .*ZeroDivisionError: a bug"):
            accumulate(Counts(), hopeless)


def test_a_run_that_was_cut_off_goes_on_from_its_checkpoint(scheduler: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.txt" for i in range(20)]
    for number, file in enumerate(files):
        file.write_text(f"w{number} w{number % 3}\n")
    folder = tmp_path / "kept"
    with use_engine("dask", scheduler=scheduler):
        corpus = FileCorpus(files, partial(dask_functions.read_unless, tmp_path / "stop"))
        (tmp_path / "stop").write_text("13.txt")
        with use_checkpoint(folder), pytest.raises(InputError, match=r"13\.txt"):
            accumulate(Counts(), corpus)
        assert any(folder.glob("pass-1-Counts/*.safetensors"))
        (tmp_path / "stop").write_text("")
        with use_checkpoint(folder) as checkpoint:
            resumed = accumulate(Counts(), corpus)
            checkpoint.remove()
    assert not folder.exists()
    assert list(resumed.items()) == list(accumulate(Counts(), corpus).items())


def refused(match: str, **options: object) -> SpectralError:
    """The error of an engine that is asked for with these options."""
    with pytest.raises(ConfigError, match=match) as refusal, use_engine("dask", **options):
        pass
    assert "\n" not in str(refusal.value)
    return refusal.value


def test_a_scheduler_that_does_not_answer_is_one_line() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        refused(f"{address} does not answer within 0.5 s", scheduler=address, timeout=0.5)
    refused(f"{address} does not answer", scheduler=address, timeout=0.5)  # nobody listens any more
    refused("no scheduler at nonsense", scheduler="nonsense")


def test_a_scheduler_that_disappears_is_one_line(tmp_path: Path) -> None:
    with quiet():
        cluster = start_local(1)
    slow = Parts(*(partial(dask_functions.slow_lines, ["w"], tmp_path) for _ in range(200)))
    closer = threading.Timer(1.0, cluster.close)
    closer.start()
    # The workers of a cluster that closes may be gone before its scheduler is.
    gone = pytest.raises(SpectralError, match=r"in the middle of the work, (the scheduler at|all workers)")
    with gone as refusal, use_engine("dask", scheduler=cluster.scheduler_address, timeout=1.0):
        accumulate(Counts(), slow)
    closer.join()
    assert "\n" not in str(refusal.value)


def test_workers_of_another_version_are_refused(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spectralnlp_dask.cluster.local_version", lambda: "9.9")
    refused(r"worker tcp://\S+ has spectralnlp 0\.\S+, and this is 9\.9", scheduler=scheduler)


def test_an_interrupt_is_the_clients_alone(scheduler: str) -> None:
    with use_engine("dask", scheduler=scheduler) as engine:
        assert isinstance(engine, DaskEngine)
        handlers = engine.client.run(signal.getsignal, signal.SIGINT)
    assert set(handlers.values()) == {signal.SIG_IGN}


def test_options_that_make_no_sense_are_refused(scheduler: str) -> None:
    refused("not both", scheduler=scheduler, jobs=2)
    refused("timeout", timeout=0.0)
    refused("jobs must be 1 or more", jobs=0)


def test_what_cannot_be_sent_is_refused(scheduler: str) -> None:
    with use_engine("dask", scheduler=scheduler), pytest.raises(ConfigError, match="cannot be sent"):
        list(map_ordered(partial(dask_functions.hold, threading.Lock()), [1]))


def test_files_by_address(scheduler: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\n")
    (tmp_path / "b.txt").write_text("b\n")
    from spectralnlp.runtime import expand_inputs

    corpus = FileCorpus(expand_inputs([f"file://{tmp_path}/*.txt"]), dask_functions.read_words)
    with use_engine("dask", scheduler=scheduler):
        assert list(accumulate(Counts(), corpus).items()) == [("a", 1), ("b", 2)]


def test_a_large_thing_does_not_travel_with_each_task(scheduler: str) -> None:
    heavy = dask_functions.Heavy()
    with use_engine("dask", scheduler=scheduler):
        assert len(list(map_ordered(partial(dask_functions.lift, heavy), range(200)))) == 200
    assert 1 <= heavy.times_pickled <= 4  # Dask pickles more than once to look whether it can


def test_the_corpus_in_memory_travels_with_its_tasks(scheduler: str) -> None:
    with use_engine("dask", scheduler=scheduler):
        counts = accumulate(Counts(), InMemoryCorpus([["a"]] * 100, n_partitions=20))
    assert counts["a"] == 100
