"""Grammars whose states are counted: clusters of nodes, and EM on the observed trees."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from exact_options import EXACT, UNSMOOTHED
from grammar_bytes import own_trees

from benchmarks.true_lpcfg import WITH_UNARIES, TrueLPCFG, weighted_table
from spectralnlp.estimators.lpcfg.moments import CountedTable, nodes_of
from spectralnlp.estimators.lpcfg.states import StateCounts, TreeEventIndex, state_grammar
from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.feature_kernels import number_features
from spectralnlp.estimators.shared.projections import find_directions
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.runtime import Batch
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.features import node_features
from spectralnlp.trees.treelog import TreeLog, TreeTable

ENGLISH = signature_by_name("english")


@pytest.fixture(scope="module")
def examples(own_treebank: Path) -> list[Tree]:
    return own_trees(own_treebank)[:60]


@pytest.fixture(scope="module")
def table(examples: list[Tree]) -> TreeTable:
    log = TreeLog(Binariser().to_dict())
    log.observe(Batch(examples, "own", 0, 0))
    return log.table()


def random_states(table: TreeTable, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n_states = rng.integers(1, 4, len(table.symbols)).astype(np.int32)
    return (rng.random(table.n_nodes) * n_states[table.symbol]).astype(np.int32), n_states


def softened(table: TreeTable, seed: int) -> tuple[TreeEventIndex, StateCounts]:
    index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
    return index, index.probabilities(index.count_states(*random_states(table, seed)), 0.3)


def test_counts_add_up_to_the_nodes(table: TreeTable) -> None:
    index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
    counts = index.count_states(*random_states(table, 0))
    assert counts.binary.sum() == (table.right >= 0).sum()
    assert counts.unary.sum() == ((table.left >= 0) & (table.right < 0)).sum()
    assert counts.pairs.sum() == (table.word >= 0).sum()
    assert counts.root.sum() == table.n_trees


def test_each_state_has_a_distribution_over_events(table: TreeTable) -> None:
    index, made = softened(table, 1)
    sums = np.zeros((len(table.symbols), int(made.n_states.max())))
    for values, offsets, parents in zip(
        (made.binary, made.unary, made.pairs),
        index.offsets(made.n_states, made.columns),
        (index.binary_rules[:, 0], index.unary_rules[:, 0], index.pairs[:, 1]),
        strict=True,
    ):
        for event, a in enumerate(parents.tolist()):
            m = int(made.n_states[a])
            sums[a, :m] += values[offsets[event] : offsets[event + 1]].reshape(m, -1).sum(axis=1)
    used = np.arange(sums.shape[1]) < made.n_states[:, None]
    assert (sums[used] <= 1 + 1e-9).all()
    assert sums[used].max() == pytest.approx(1)
    assert made.root.sum() == pytest.approx(1)


def test_probabilities_are_shares_mixed_with_the_mean_over_states(table: TreeTable) -> None:
    index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
    counts = index.count_states(*random_states(table, 1))
    made, offsets = index.probabilities(counts, 0.3), index.offsets(counts.n_states, counts.columns)
    kinds = (
        ("binary", index.binary_rules[:, 0]),
        ("unary", index.unary_rules[:, 0]),
        ("pairs", index.pairs[:, 1]),
    )
    blocks = [
        (kind, a, slice(*getattr(offsets, kind)[event : event + 2]))
        for kind, parents in kinds
        for event, a in enumerate(parents.tolist())
    ]
    totals = np.zeros((len(table.symbols), 3))
    for kind, a, part in blocks:
        m = counts.n_states[a]
        totals[a, :m] += getattr(counts, kind)[part].reshape(m, -1).sum(axis=1)
    for kind, a, part in blocks:
        m = counts.n_states[a]
        shares = getattr(counts, kind)[part].reshape(m, -1) / np.maximum(totals[a, :m, None], 1e-300)
        expected = 0.7 * shares + 0.3 * shares.mean(axis=0)
        np.testing.assert_allclose(getattr(made, kind)[part], expected.ravel(), atol=1e-12)


def test_tensors_have_zeros_where_a_rule_has_no_columns(table: TreeTable) -> None:
    index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
    state, n_states = random_states(table, 1)
    tensors = index.binary_tensors(index.count_states(state, n_states))
    dense = {tuple(rule): np.zeros(n_states[rule]) for rule in index.binary_rules.tolist()}
    for row in np.flatnonzero(table.right >= 0).tolist():
        nodes = [row, table.left[row], table.right[row]]
        dense[tuple(table.symbol[nodes].tolist())][tuple(state[nodes])] += 1
    assert tensors.values.tolist() == np.concatenate([dense[rule].ravel() for rule in sorted(dense)]).tolist()


def test_the_likelihood_of_em_is_that_of_the_trees(examples: list[Tree], table: TreeTable) -> None:
    index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
    counts = index.count_states(*random_states(table, 2))
    _, log_likelihood = index.expected_counts(index.probabilities(counts, 0.0))
    grammar = state_grammar(index, counts, 0.0)
    assert not grammar.is_signed
    binary = [Binariser().binarise(tree) for tree in examples]
    assert sum(tree_log_probability(tree, grammar, ENGLISH) for tree in binary) == pytest.approx(
        log_likelihood
    )


def test_em_never_loses_likelihood_and_keeps_the_counts(table: TreeTable) -> None:
    index, parameters = softened(table, 3)
    likelihoods = []
    for _ in range(6):
        counts, log_likelihood = index.expected_counts(parameters)
        likelihoods.append(log_likelihood)
        assert counts.binary.sum() == pytest.approx((table.right >= 0).sum())
        assert counts.pairs.sum() == pytest.approx((table.word >= 0).sum())
        assert counts.root.sum() == pytest.approx(table.n_trees)
        parameters = index.probabilities(counts, 0.0)
    assert (np.diff(likelihoods) > -1e-9).all()
    assert likelihoods[-1] > likelihoods[0] + 1


def test_what_the_nodes_add_makes_the_expected_counts(table: TreeTable) -> None:
    index, parameters = softened(table, 3)
    counts, _ = index.expected_counts(parameters)
    shares = index.observed(parameters).shares_of_nodes(0.0)
    whole = np.concatenate([counts.binary, counts.unary, counts.pairs, counts.root])
    np.testing.assert_allclose(shares.sum(axis=0), whole, atol=1e-5)
    roots = table.parent < 0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0 + roots, atol=1e-5)
    few = index.observed(parameters).shares_of_nodes(0.1)
    np.testing.assert_array_equal(
        few.toarray(), np.where(shares.toarray() >= np.float32(0.1), shares.toarray(), 0)
    )


def test_weights_count_as_repetitions() -> None:
    trees = TrueLPCFG(WITH_UNARIES, {"NP": 2}).trees()[:12]
    once = weighted_table(trees, Binariser())
    log = TreeLog(Binariser().to_dict())
    log.observe(Batch([tree for tree, _ in trees for _ in range(3)], "thrice", 0, 0))
    thrice, weighted = log.table(), replace(once, weight=np.full(12, 3.0))
    states = random_states(once, 4)
    found = []
    for table, repeat in ((weighted, 1), (thrice, 3)):
        bounds = np.searchsorted(once.tree, np.arange(13))
        state = np.concatenate([np.tile(states[0][a:b], repeat) for a, b in pairwise(bounds)])
        index = TreeEventIndex.of(CountedTable.of(table, UNSMOOTHED))
        counts = index.count_states(state.astype(np.int32), states[1])
        found.append(index.expected_counts(index.probabilities(counts, 0.2)))
    (ours, our_likelihood), (theirs, their_likelihood) = found
    assert our_likelihood == pytest.approx(their_likelihood)
    np.testing.assert_allclose(ours.binary, theirs.binary)
    np.testing.assert_allclose(ours.pairs, theirs.pairs)


def test_features_that_are_all_too_rare_give_no_directions(table: TreeTable) -> None:
    options = replace(EXACT, min_feature_count=1e9)
    directions = find_directions(nodes_of(table), node_features(table, "rich", ENGLISH), options)
    assert all(part.u.shape[1] <= 1 for part in directions.parts.values())


def test_clusters_are_numbered_without_gaps_and_repeatable(table: TreeTable) -> None:
    options = replace(
        EXACT, n_states=4, nodes_per_state=5.0, min_nodes=10.0, min_feature_count=2.0, shrinkage=0.15
    )
    directions = find_directions(nodes_of(table), node_features(table, "rich", ENGLISH), options)
    wanted = np.full(len(table.symbols), 3, np.int32)

    def cluster(seed: int) -> tuple[np.ndarray, np.ndarray]:
        return cluster_nodes(table.n_nodes, directions, wanted, dimensions=4, random_state=[seed])

    state, n_states = cluster(0)
    assert n_states.max() == 3
    for symbol, m in enumerate(n_states.tolist()):
        assert np.unique(state[table.symbol == symbol]).tolist() == list(range(m))
    again, _ = cluster(0)
    np.testing.assert_array_equal(state, again)
    assert (cluster(1)[0] != state).any()


def test_features_are_numbered_as_they_come() -> None:
    ids = np.random.default_rng(0).integers(0, 40, (300, 3)).astype(np.uint64) * np.uint64(2**57 + 12345)
    column, n_features = number_features(ids)
    seen: dict[int, int] = {0: -1}
    expected = [seen.setdefault(name, len(seen) - 1) for name in ids.ravel().tolist()]
    assert column.ravel().tolist() == expected
    assert n_features == len(seen) - 1
