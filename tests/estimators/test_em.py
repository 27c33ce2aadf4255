"""EM on observed trees, from a random start and from clusters."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from exact_options import UNSMOOTHED
from grammar_bytes import corpus, fingerprint, own_trees, trees

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.lpcfg import LPCFG, LatentEM, em
from spectralnlp.estimators.lpcfg.moments import CountedTable
from spectralnlp.estimators.lpcfg.states import StateCounts, TreeEventIndex
from spectralnlp.runtime import Batch, InMemoryCorpus
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.treelog import TreeLog, TreeTable

SMALL = {"n_states": 3, "iterations": 5, "nodes_per_state": 10.0}
CHANGES: dict[str, object] = {
    "n_states": 2,
    "iterations": 2,
    "start": "clusters",
    "nodes_per_state": 40.0,
    "binarisation": "left^1",
    "heads": "neutral",
    "signatures": "neutral",
    "random_state": 7,
}


@pytest.fixture(scope="module")
def examples(own_treebank: Path) -> list[Tree]:
    return own_trees(own_treebank)


def fit(examples: list[Tree], **params: object) -> LatentEM:
    return LatentEM(**{**SMALL, **params}).fit(InMemoryCorpus(examples))  # type: ignore[arg-type]


def brute_force(table: TreeTable, index: TreeEventIndex, p: StateCounts) -> tuple[StateCounts, float]:
    """Expected counts by adding up every assignment of states to the nodes of one tree."""
    binary, unary, pairs = index.offsets(p.n_states, p.columns)
    states = np.concatenate([[0], np.cumsum(p.n_states)])
    m = p.n_states[table.symbol].tolist()
    kinds = ("binary", "unary", "pairs", "root")
    counts = replace(p, **{kind: np.zeros_like(getattr(p, kind)) for kind in kinds})
    total = 0.0
    for scale in (None, 1.0):  # the first round finds the total
        norm = total if scale else 1.0
        for h in product(*map(range, m)):
            places = []
            for node in range(table.n_nodes):
                left, right, event = table.left[node], table.right[node], index.event[node]
                if left < 0:
                    places.append(("pairs", pairs[event] + h[node]))
                elif right < 0:
                    places.append(("unary", unary[event] + h[node] * m[left] + h[left]))
                else:
                    at = (h[node] * m[left] + h[left]) * m[right] + h[right]
                    places.append(("binary", binary[event] + at))
                if table.parent[node] < 0:
                    places.append(("root", states[table.symbol[node]] + h[node]))
            probability = float(np.prod([getattr(p, kind)[at] for kind, at in places]))
            if scale is None:
                total += probability
            else:
                for kind, at in places:
                    getattr(counts, kind)[at] += probability / norm
    return counts, float(np.log(total))


def test_one_e_step_equals_brute_force() -> None:
    log = TreeLog(Binariser().to_dict())
    log.observe(Batch(trees("(S (NP (N tom)) (VP (V saw) (NP (D the) (N dog))))"), "tiny", 0, 0))
    table = log.table()
    index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
    n_states = np.array([1 + (i + 1) % 3 for i in range(len(table.symbols))], np.int32)
    start = index.random_counts(n_states, noise=0.9, random_state=3)
    parameters = index.probabilities(start, 0.0)
    found, log_likelihood = index.expected_counts(parameters)
    expected, expected_likelihood = brute_force(table, index, parameters)
    assert log_likelihood == pytest.approx(expected_likelihood)
    for kind in ("binary", "unary", "pairs", "root"):
        np.testing.assert_allclose(getattr(found, kind), getattr(expected, kind), atol=1e-12)


def test_likelihood_never_falls_without_smoothing(
    examples: list[Tree], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(em, "SMOOTHING", 0.0)
    fitted = fit(examples, iterations=12)
    assert len(fitted.log_likelihoods_) == 12
    assert (np.diff(fitted.log_likelihoods_) > -1e-6).all()
    assert fitted.log_likelihoods_[-1] > fitted.log_likelihoods_[0] + 100


def test_without_noise_states_stay_alike(examples: list[Tree], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(em, "NOISE", 0.0)
    monkeypatch.setattr(em, "SMOOTHING", 0.0)
    fitted = fit(examples)
    assert np.ptp(fitted.log_likelihoods_) < 1e-6 * abs(fitted.log_likelihoods_[0])


def test_clusters_are_a_better_start_than_chance(examples: list[Tree]) -> None:
    random, clusters = (fit(examples, start=start, iterations=1) for start in ("random", "clusters"))
    assert clusters.log_likelihoods_[0] > random.log_likelihoods_[0] + 100


@pytest.mark.parametrize("start", ["random", "clusters"])
def test_the_same_seed_gives_the_same_bytes(start: str, examples: list[Tree]) -> None:
    assert fingerprint(fit(examples, start=start)) == fingerprint(fit(examples, start=start))


def test_every_switch_is_tried() -> None:
    assert CHANGES.keys() == LatentEM().get_params().keys()


@pytest.mark.parametrize("name", CHANGES)
def test_every_switch_does_something(name: str, examples: list[Tree]) -> None:
    ours, theirs = fingerprint(fit(examples)), fingerprint(fit(examples, **{name: CHANGES[name]}))
    assert {part for part in ours if ours[part] != theirs.get(part)} - {"binariser"}


@pytest.mark.parametrize("bad", [{"start": "none"}, {"iterations": 0}, {"nodes_per_state": -1.0}], ids=str)
def test_nonsense_is_refused_in_one_line(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        LatentEM(**bad).fit(corpus("(S (A a) (B b))"))  # type: ignore[arg-type]


def test_no_trees_are_refused() -> None:
    with pytest.raises(InputError, match="no trees"):
        LatentEM().fit(corpus(""))


def test_clusters_alone_are_the_fast_preset(examples: list[Tree]) -> None:
    ours = LPCFG.from_preset("fast").fit(InMemoryCorpus(examples))
    assert fingerprint(ours) == fingerprint(LPCFG.from_preset("fast").fit(InMemoryCorpus(examples)))
