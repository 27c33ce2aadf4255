"""Models of sequences of more n-grams than memory: the same as without a limit, to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.hmm import HMM, states
from spectralnlp.estimators.hmm.moments import NGramCounts
from spectralnlp.estimators.hmm.ngrams import NGramTable, group_starts, in_chunks
from spectralnlp.runtime import Batch, InMemoryCorpus, Memory, accumulate, spill, use_engine, use_memory

# Bytes: enough for 512 symbols and for 4,096 n-grams at a time.
LITTLE = 1 << 21
N_SYMBOLS = 700


@pytest.fixture(scope="module")
def sequences() -> list[list[str]]:
    rng = np.random.default_rng(0)
    likely = 1 / np.arange(1, N_SYMBOLS + 1)
    rows = rng.choice(N_SYMBOLS, size=(1500, 12), p=likely / likely.sum())
    rows[:, 1:] = np.where(rng.random((1500, 11)) < 0.3, (rows[:, :-1] + 1) % N_SYMBOLS, rows[:, 1:])
    return [[f"s{number}" for number in row] + [f"once{n}"] for n, row in enumerate(rows)]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(spill, "MIN_SHARE", 100)
    with use_memory(LITTLE) as memory:
        yield memory


def observed(sequences: list[list[str]]) -> NGramCounts:
    counts = NGramCounts(4, vocabulary=[f"s{number}" for number in range(500)])
    for at in range(0, len(sequences), 50):
        counts.observe(Batch(sequences[at : at + 50], "text", 0, at))
    return counts


def state(counts: NGramCounts) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in counts.arrays().items()}


@pytest.fixture(scope="module")
def whole(sequences: list[list[str]]) -> NGramCounts:
    return observed(sequences)


def test_parts_merge_and_are_taken_out(
    sequences: list[list[str]], whole: NGramCounts, memory: Memory
) -> None:
    rest, gone = observed(sequences[:1000]), observed(sequences[1000:])
    before, theirs = state(rest), state(gone)
    assert len(rest.runs) >= 2
    rest.merge(gone)
    assert (state(rest), state(gone)) == (state(whole), theirs)
    rest.subtract(gone)
    assert state(rest) == before
    copy = NGramCounts.from_arrays(rest.parameters(), rest.arrays())
    assert copy.is_spilled
    assert state(copy) == before


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_every_engine_spills(
    sequences: list[list[str]], whole: NGramCounts, memory: Memory, engine: str
) -> None:
    corpus = InMemoryCorpus(sequences, n_partitions=10)
    with use_engine(engine, **({} if engine == "serial" else {"jobs": 2})):
        counts = accumulate(NGramCounts(4, vocabulary=whole.vocabulary), corpus)
    assert counts.is_spilled
    assert state(counts) == state(whole)


@pytest.mark.parametrize("lags", [(1, 0), (2, 1, 0), (1, 2, 0), (2, 3, 1, 0), (0,)])
def test_sums_are_the_same_in_any_order(
    sequences: list[list[str]], whole: NGramCounts, memory: Memory, lags: tuple[int, ...]
) -> None:
    def joined(pieces: Any) -> list[tuple[list[int], float]]:
        return [
            (row, w) for columns, weights in pieces for row, w in zip(columns.tolist(), weights, strict=True)
        ]

    grams = observed(sequences).grams()
    assert not isinstance(grams, NGramTable)
    expected = joined(whole.grams().sums(*lags))
    assert joined(grams.sums(*lags)) == joined(grams.sums(*lags)) == expected == sorted(expected)


def test_chunks_depend_on_the_rows_alone_and_tear_no_group() -> None:
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, 30, size=(3000, 3)).astype(np.int32), axis=0)
    weights = rng.random(len(rows))
    found = []
    for cuts in ([], [1, 2, 3, 700, 701, 2000], [*range(0, len(rows), 7)]):
        pieces = zip(np.split(rows, cuts), np.split(weights, cuts), strict=True)
        found.append([(c.tolist(), w.tolist()) for c, w in in_chunks(pieces, 100, 2)])
    assert found[0] == found[1] == found[2]
    chunks = [np.array(columns) for columns, _ in found[0]]
    assert np.concatenate(chunks).tolist() == rows.tolist()
    assert all(len(chunk) >= 100 for chunk in chunks[:-1])
    assert sum(len(group_starts(chunk[:, :2])) for chunk in chunks) == len(group_starts(rows[:, :2]))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"history": 1, "target": 2},
        {"history": 3, "target": 1, "max_symbols": 300, "leave_one_out": False},
        {"history": 2, "target": 4, "max_symbols": 100},
        {"algorithm": "hkz", "max_symbols": 60, "n_states": 5},
    ],
)
def test_models_are_the_same_to_the_byte(
    sequences: list[list[str]], monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    monkeypatch.setattr(states, "BLOCK", 200)
    monkeypatch.setattr(states, "FUTURES", 300)
    monkeypatch.setattr(spill, "MIN_SHARE", 100)
    corpus = InMemoryCorpus(sequences, n_partitions=7)
    learner = HMM(**{"n_states": 12, "operator_count": 20, "max_symbols": 500, **settings})
    free = learner.fit(corpus).operators_
    with use_memory(LITTLE) as memory:
        bound = HMM(**learner.get_params()).fit(corpus)
        assert {path.name.partition("-")[0] for path in memory.folder.iterdir()} >= {"words", "grams"}
    assert bound.operators_.symbols == free.symbols
    for name in ("initial", "stationary", "emission", "operators", "operator_index", "arrival", "base"):
        assert getattr(bound.operators_, name).tobytes() == getattr(free, name).tobytes(), name
    assert (bound.n_sequences_, bound.n_symbols_) == (len(sequences), 13 * len(sequences))


def test_operators_that_do_not_fit_are_refused_before_anything_is_counted(sequences: list[list[str]]) -> None:
    corpus = InMemoryCorpus(sequences)
    with use_memory(LITTLE), pytest.raises(ConfigError, match=r"fit into memory") as refusal:
        HMM(operator_count=1, n_states=20, max_symbols=500).fit(corpus)
    fitting = int(str(refusal.value).rpartition("operator_count=")[2])
    with use_memory(LITTLE):
        HMM(operator_count=fitting, n_states=20, max_symbols=500).fit(corpus)
        with pytest.raises(ConfigError, match="fit into memory"):
            HMM(operator_count=fitting - 1, n_states=20, max_symbols=500).fit(corpus)


def test_trigrams_of_the_published_algorithm_must_fit(sequences: list[list[str]]) -> None:
    with use_memory(1 << 19), pytest.raises(ConfigError, match=r"different 3-grams do not fit"):
        HMM(algorithm="hkz", n_states=3, max_symbols=300).fit(InMemoryCorpus(sequences))
