"""A limit of memory, and sorted runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Run, current_memory, merge_runs, parse_size, spill, sum_by_key, use_memory


@pytest.mark.parametrize(
    ("text", "size"),
    [("800MB", 800 << 20), ("1.5 GB", 3 << 29), ("1g", 1 << 30), ("1GiB", 1 << 30), ("1073741824", 1 << 30)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "1.GB", "1PB", "10MB", "0"])
def test_what_is_no_size_or_too_small_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_size(text)


def test_the_folder_is_gone_after_the_block_however_it_ends(tmp_path: Path) -> None:
    block = use_memory("1GB", folder=tmp_path)
    memory = block.__enter__()
    assert current_memory() == memory
    memory.new_file("run").write_text("something")
    assert not block.__exit__(KeyError, KeyError(), None)
    assert current_memory() is None
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match="no temporary folder"), use_memory("1GB", folder=tmp_path / "none"):
        pass


def test_without_a_limit_the_folder_is_there_when_needed_and_gone_with_the_process(tmp_path: Path) -> None:
    lines = [
        "from spectralnlp.runtime import default_memory",
        "memory = default_memory()",
        "assert memory is default_memory() and not memory.folder.exists()",
        "memory.new_file('run').write_text('something')",
        "print(memory.folder)",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert Path(done.stdout.strip()).parent == tmp_path
    assert list(tmp_path.iterdir()) == []


counts_of_runs = st.lists(st.dictionaries(st.integers(0, 2**62), st.integers(1, 9), max_size=30), max_size=6)


@given(counts_of_runs, st.integers(1, 7))
def test_runs_merge_to_what_a_counter_counts(tables: list[dict[int, int]], share: int) -> None:
    with use_memory(1 << 30) as memory, pytest.MonkeyPatch.context() as patched:
        patched.setattr(spill, "MIN_SHARE", share)
        runs = []
        for table in tables:
            keys = np.array(sorted(table), np.int64)
            counts = np.array([table[key] for key in keys.tolist()], np.int64)
            runs.append(Run.write(memory.new_file("run"), keys, counts))
        merged = list(merge_runs(runs, 1))
    expected = sum((Counter(table) for table in tables), Counter())
    keys = [key for part, _ in merged for key in part.tolist()]
    assert keys == sorted(expected)
    assert [count for _, part in merged for count in part.tolist()] == [expected[key] for key in keys]


def test_keys_that_sum_to_zero_are_left_out() -> None:
    keys, counts = sum_by_key(np.array([3, 1, 3, 2]), np.array([1, 5, -1, 4]))
    assert (keys.tolist(), counts.tolist()) == ([1, 2], [5, 4])


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot spill: No space left on device; free some space"):
        Run.write(Path("/dev/full"), np.arange(10_000), np.arange(10_000))
