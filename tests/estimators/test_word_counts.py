"""Words on disk: the same as in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from spectralnlp.errors import InputError
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.runtime import Batch, InMemoryCorpus, Memory, accumulate, use_engine, use_memory

# Bytes: a segment holds 1,024 words.
LITTLE = 1 << 22
ODD = ["", "\udc80", "\u2028", "a b", "🐈", "\ue000", "\ud7ff", "\0"]


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    rng = np.random.default_rng(0)
    likely = 1 / np.arange(1, 2001)
    rows = rng.choice(2000, size=(2000, 8), p=likely / likely.sum())
    return [[*(f"w{number}" for number in row), f"once{n}", ODD[n % 8]] for n, row in enumerate(rows)]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with use_memory(LITTLE) as memory:
        yield memory


def observed(sentences: list[list[str]]) -> WordCounts:
    counts = WordCounts()
    for at in range(0, len(sentences), 100):
        counts.observe(Batch(sentences[at : at + 100], "text", 0, at))
    return counts


def state(counts: WordCounts) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in counts.arrays().items()}


def test_on_disk_and_in_memory_words_are_counted_alike(sentences: list[list[str]], memory: Memory) -> None:
    counts = observed(sentences)
    expected = Counter(word for sentence in sentences for word in sentence)
    assert len(counts.segments) >= 2
    assert counts.total() == expected.total()
    assert all(counts[word] == expected[word] for word in ["w0", "w1999", "once7", "never", *ODD])
    whole = counts.in_memory()
    assert not whole.is_spilled
    assert state(counts) == state(whole)
    assert len(whole) == len(counts) == len(expected)


@pytest.mark.parametrize(("n", "least", "most"), [*product((1, 7, 300, 10**6), (1, 2, 9), (None, 40, 1))])
def test_the_most_frequent_are_the_same(
    sentences: list[list[str]], memory: Memory, n: int, least: int, most: int | None
) -> None:
    counts = observed(sentences)
    expected = Counter(word for sentence in sentences for word in sentence)
    wanted = [word for word in expected if least <= expected[word] <= (most or 10**9)]
    wanted = sorted(wanted, key=lambda word: (-expected[word], word))[:n]
    assert counts.most_frequent(n, least, most) == wanted
    assert counts.in_memory().most_frequent(n, least, most) == wanted


def test_parts_merge_and_are_taken_out(sentences: list[list[str]], memory: Memory) -> None:
    rest, gone, whole = observed(sentences[:1500]), observed(sentences[1500:]), observed(sentences)
    before, theirs = state(rest), state(gone)
    rest.merge(gone)
    assert (state(rest), state(gone)) == (state(whole), theirs)
    rest.subtract(gone)
    assert state(rest) == before
    with pytest.raises(InputError, match="cannot take out"):
        rest.subtract(whole)


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_engines_spill_too(sentences: list[list[str]], memory: Memory, engine: str) -> None:
    corpus = InMemoryCorpus(sentences, n_partitions=10)
    with use_engine(engine, jobs=2):
        counts = accumulate(WordCounts(), corpus)
    assert counts.is_spilled
    assert state(counts) == state(observed(sentences))
