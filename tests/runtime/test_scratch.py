"""Arrays in files of the temporary folder."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import concatenated, scratch, scratch_array, spilled, trim_memory, use_memory

MUCH, LARGE = 1 << 40, 64 << 20


def test_without_a_limit_arrays_are_those_that_are_given() -> None:
    array = np.ones(LARGE, np.uint8)
    assert spilled(array) is array
    assert scratch_array((2, LARGE), np.uint8).base is None
    trim_memory()


def test_what_is_written_stays_when_pages_go_and_when_the_block_ends(tmp_path: Path) -> None:
    with use_memory(MUCH, folder=tmp_path) as memory:
        array = scratch_array((LARGE // 8, 2), np.float32)
        assert not array.any()
        array[:, 1] = np.arange(len(array))
        before = scratch.resident_bytes()
        trim_memory()
        if sys.platform == "linux":
            assert before - scratch.resident_bytes() > LARGE // 2
        assert array[-1].tolist() == [0, len(array) - 1]
        copy = concatenated([array[:3], array[:0], array[3:]])
        assert list(memory.folder.iterdir()) == [] or sys.platform == "win32"
    assert list(tmp_path.iterdir()) == []
    assert np.array_equal(copy, array)


def test_more_than_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with use_memory("400MB"):
        monkeypatch.setattr(scratch, "resident_bytes", lambda: 400 << 20)
        trim_memory()
        monkeypatch.setattr(scratch, "resident_bytes", lambda: 401 << 20)
        with pytest.raises(ConfigError, match="400 MB of memory is too little: 401 MB cannot go to disk"):
            trim_memory()
