"""Eigenwords of more text than memory: the same as without a limit, to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import InputError
from spectralnlp.estimators.eigenwords import Eigenwords, PairCounts
from spectralnlp.runtime import Batch, InMemoryCorpus, Memory, accumulate, use_engine, use_memory

N_WORDS = 3000
# Bytes: a table holds 24,000 pairs, a segment 4,096 words.
LITTLE = 1 << 23


@pytest.fixture(scope="module")
def lines() -> list[str]:
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(N_WORDS)])
    likely = 1 / np.arange(1, N_WORDS + 1)
    rows = rng.choice(words, size=(4000, 12), p=likely / likely.sum())
    # And words that occur once, so that segments are full of words before tables are full of pairs.
    return [" ".join([*row, f"rare{number}", f"once{number}"]) for number, row in enumerate(rows)]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with use_memory(LITTLE) as memory:
        yield memory


def state(counts: PairCounts) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in counts.arrays().items()}


def observed(lines: list[str], start: int = 0) -> PairCounts:
    counts = PairCounts()
    for at in range(0, len(lines), 100):
        counts.observe(Batch(lines[at : at + 100], "text", 0, start + at))
    return counts


@pytest.fixture(scope="module")
def whole(lines: list[str]) -> dict[str, bytes]:
    return state(observed(lines))


def test_what_is_on_disk_and_in_memory_is_what_was_counted(
    lines: list[str], whole: dict[str, bytes], memory: Memory
) -> None:
    counts = observed(lines)
    assert len(counts.segments) >= 2
    assert any(len(segment.runs) > 1 for segment in counts.segments)
    assert counts.is_spilled
    assert counts.n_tokens == 14 * len(lines)
    assert state(counts) == whole


@pytest.mark.parametrize("cuts", [(1000, 3000), (10, 20, 30, 3990), (2000,)])
def test_parts_merge_in_any_order(
    lines: list[str], whole: dict[str, bytes], memory: Memory, cuts: tuple[int, ...]
) -> None:
    parts = [observed(lines[a:b], a) for a, b in zip((0, *cuts), (*cuts, len(lines)), strict=True)]
    total = PairCounts()
    for part in reversed(parts):
        before = state(part)
        total.merge(part)
        assert state(part) == before
    assert state(total) == whole


def test_subtract_undoes_merge(lines: list[str], memory: Memory) -> None:
    counts, gone = observed(lines[:3000]), observed(lines[3000:], 3000)
    before = state(counts)
    counts.merge(gone)
    counts.subtract(gone)
    assert state(counts) == before


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_every_engine_spills(lines: list[str], whole: dict[str, bytes], memory: Memory, engine: str) -> None:
    corpus = InMemoryCorpus(lines, n_partitions=10)
    with use_engine(engine, **({} if engine == "serial" else {"jobs": 2})):
        counts = accumulate(PairCounts(), corpus)
    assert counts.is_spilled
    assert state(counts) == whole


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"positions": "pooled", "window": 3},
        {"variant": "svd", "transform": "log", "vocabulary": 700},
        {"contexts": "right"},
        {"contexts": 50, "transform": "none", "min_count": 1, "vocabulary": 1500, "lowercase": False},
    ],
)
def test_vectors_are_the_same_to_the_byte(lines: list[str], settings: dict[str, Any]) -> None:
    corpus = InMemoryCorpus(lines, n_partitions=7)
    free = Eigenwords(dimensions=10, clusters=5, **settings).fit(corpus)
    with use_memory(LITTLE) as memory:
        bound = Eigenwords(dimensions=10, clusters=5, **settings).fit(corpus)
        assert list(memory.folder.iterdir())
    assert bound.is_exact_
    assert (bound.n_tokens_, bound.n_types_) == (free.n_tokens_, free.n_types_)
    ours, theirs = bound.word_vectors_, free.word_vectors_
    assert (ours.words, ours.contexts) == (theirs.words, theirs.contexts)
    for name in ("counts", "vectors", "singular_values", "context_vectors", "clusters"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes(), name


def test_more_words_than_there_is_room_for_are_cut_and_it_says_so(lines: list[str]) -> None:
    corpus = InMemoryCorpus(lines)
    with use_memory(1 << 20):
        bound = Eigenwords(dimensions=10).fit(corpus)
    assert not bound.is_exact_
    n = len(bound.word_vectors_.words)
    assert n == 5 * (1 << 17) // (5 * 4 * 30)
    same = Eigenwords(dimensions=10, vocabulary=n).fit(corpus)
    assert bound.word_vectors_.vectors.tobytes() == same.word_vectors_.vectors.tobytes()


def test_too_few_words_are_refused_as_in_memory(lines: list[str]) -> None:
    with pytest.raises(InputError) as free:
        Eigenwords(min_count=10**6).fit(InMemoryCorpus(lines))
    with use_memory(LITTLE), pytest.raises(InputError) as bound:
        Eigenwords(min_count=10**6).fit(InMemoryCorpus(lines))
    assert str(bound.value) == str(free.value)
