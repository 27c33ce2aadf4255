"""Room that is asked for before code that ends the process, or never comes back, where there is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info

from spectralnlp.errors import is_out_of_memory
from spectralnlp.runtime import memory


def test_room_that_is_there_is_not_taken() -> None:
    memory.require_room(1 << 20, "nothing")


@pytest.mark.skipif(sys.platform == "win32", reason="asking is taking there")
def test_room_that_is_not_there_is_missed_by_name() -> None:
    with pytest.raises(MemoryError, match="another 1152921504606 MB for a dream") as caught:
        memory.require_room(1152921504606 << 20, "a dream")
    assert is_out_of_memory(caught.value)


def test_every_openblas_has_buffers_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_buffers", {})
    asked: list[int] = []
    monkeypatch.setattr(memory, "require_room", lambda n_bytes, purpose: asked.append(n_bytes))
    files = {each["filepath"] for each in threadpool_info() if each["internal_api"] == "openblas"}
    memory.reserve_blas_buffers(2)
    memory.reserve_blas_buffers(3)
    memory.reserve_blas_buffers(3)
    memory.reserve_blas_buffers(1)
    assert memory._buffers == dict.fromkeys(files, 3)
    assert asked == [2 * memory.BUFFER_BYTES] * len(files) + [memory.BUFFER_BYTES] * len(files)
    matrix = np.eye(300)  # and they are given back: products go on
    np.testing.assert_array_equal(scipy.linalg.blas.dgemm(1.0, matrix, matrix), matrix @ matrix)


def test_more_threads_than_tables_have_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_buffers", {})
    monkeypatch.setattr(memory, "MAX_BUFFERS", 2)
    memory.reserve_blas_buffers(1000)
    assert set(memory._buffers.values()) <= {2}
