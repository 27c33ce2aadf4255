"""Models that are replaced while others read and write them, and writers that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.storage import check_writable, load_model, replacing, save_model

# How many kills and loads; SECURITY.md says what was tried with more.
KILLS = int(os.environ.get("SPECTRALNLP_KILLS", "5"))
LOADS = int(os.environ.get("SPECTRALNLP_LOADS", "300"))

# Saves models number N, N + 1, … to a folder until it is killed; each has its number everywhere.
WRITER = """
import sys
import numpy as np
from spectralnlp.storage import save_model
first, path = int(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
for number in range(first, first + 100_000):
    arrays = {"x": np.full(5000, number)}
    save_model(path, kind="k", metadata={"number": number}, arrays=arrays, card=str(number))
"""


def save(path: Path, number: int) -> None:
    arrays = {"x": np.full(5000, number)}
    save_model(path, kind="k", metadata={"number": number}, arrays=arrays, card=str(number))


def check_whole(path: Path) -> int:
    """Load a model, all of whose parts must be of one writing; its number."""
    stored = load_model(path)
    number = int(stored.metadata["number"])
    assert (stored.arrays["x"] == number).all()
    assert stored.card == str(number)
    return number


def start_writer(first: int, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(first), str(path)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def stop(*writers: subprocess.Popen[str]) -> None:
    for writer in writers:
        writer.kill()
        writer.communicate()


@pytest.mark.slow
def test_loads_beside_two_writers_are_never_mixed(tmp_path: Path) -> None:
    save(tmp_path / "m", 0)
    writers = [start_writer(first, tmp_path / "m") for first in (1, 1_000_000)]
    try:
        loads, numbers, end = 0, set(), time.monotonic() + 60 + LOADS / 5
        while (loads < LOADS or len(numbers) < 10) and time.monotonic() < end:
            numbers.add(check_whole(tmp_path / "m"))
            loads += 1
        assert [writer.poll() for writer in writers] == [None, None]
    finally:
        stop(*writers)
    assert loads >= LOADS
    assert len(numbers) >= 10


@pytest.mark.slow
def test_killed_writers_lose_no_model_and_the_next_one_tidies_up(tmp_path: Path) -> None:
    seed = int(time.time())
    random = Random(seed)
    print(f"seed {seed}")  # pytest shows it where the test fails
    save(tmp_path / "m", 0)
    for _ in range(KILLS):
        writer = start_writer(1, tmp_path / "m")
        time.sleep(random.uniform(0.0, 0.1))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        check_whole(tmp_path / "m")
    save(tmp_path / "m", 7)
    assert check_whole(tmp_path / "m") == 7
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_a_model_that_made_way_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where folders cannot be exchanged, a writer may be killed between its two renames."""
    save(tmp_path / "m", 1)
    (tmp_path / "m").rename(tmp_path / ".m.0123abcd.old")
    (tmp_path / ".m.4567cdef.tmp").mkdir()
    with pytest.raises(ModelError, match="no such model"):
        load_model(tmp_path / "m")
    with pytest.raises(ZeroDivisionError), replacing.staged_folder(tmp_path / "m"):
        raise ZeroDivisionError
    assert check_whole(tmp_path / "m") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_what_looks_like_a_leftover_of_another_model_stays(tmp_path: Path) -> None:
    strangers = {".m.0123abcd.tmp.txt", ".m2.0123abcd.tmp", ".mm.0123abcd.tmp", ".m.tmp"}
    for name in strangers:
        (tmp_path / name).mkdir()
    save(tmp_path / "m", 1)
    assert {each.name for each in tmp_path.iterdir()} == strangers | {"m"}


def test_two_renames_do_where_folders_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "_exchange", lambda one, other: False)
    for number in (1, 2):
        save(tmp_path / "m", number)
        assert check_whole(tmp_path / "m") == number
    assert [each.name for each in tmp_path.iterdir()] == ["m"]


def test_a_writer_waits_for_another_and_then_gives_up(tmp_path: Path) -> None:
    held = replacing._locked(tmp_path, 0.0)
    if held is None:
        pytest.skip("folders have no locks here")
    check_writable(tmp_path / "m")  # asks no one to wait
    with (
        pytest.raises(ConfigError, match="another process has been writing"),
        replacing.staged_folder(tmp_path / "m", patience=0.1),
    ):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []
