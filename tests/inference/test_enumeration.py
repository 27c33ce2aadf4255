"""Inference against every tree of every sentence of up to five words, under random grammars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
import reference
from reference import Edge, Enumerated, enumerate_trees, full_forest

from spectralnlp.errors import ConfigError
from spectralnlp.inference.semirings import AnyAll, MaxPlus, SumProduct
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.decoders import (
    Decoder,
    LabelledRecallDecoder,
    MaxRuleDecoder,
    MBRDecoder,
    ViterbiDecoder,
    best_edges,
)
from spectralnlp.inference.trees.forest import LEXICAL, TOP, Forest
from spectralnlp.inference.trees.recursions import derivation_weights, prune_forest
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.sparse import state_weights
from spectralnlp.inference.trees.state_vectors import vector_offsets
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.inference.trees.viterbi import log_rules
from spectralnlp.inference.words.lexical import coarse_values
from spectralnlp.parameters import LatentGrammar

Words = tuple[str, ...]

COARSE = reference.random_grammar(0, (1, 1, 1, 1))
GRAMMARS = {
    "one state": COARSE,
    "dense": reference.random_grammar(1, (2, 3, 1, 4)),
    "with zeros": reference.random_grammar(2, (3, 2, 2, 1), lossy=0.5),
    "sparse": reference.as_sparse(reference.random_grammar(3, (2, 4, 3, 2), lossy=0.6)),
    "signed": reference.random_grammar(4, (2, 2, 3, 2), signed=True),
    "signed sparse": reference.as_sparse(reference.random_grammar(5, (4, 1, 2, 3), signed=True, lossy=0.4)),
}
SENTENCES = reference.sentences(5)
every_grammar = pytest.mark.parametrize("name", GRAMMARS)
every_positive_grammar = pytest.mark.parametrize("name", [n for n, g in GRAMMARS.items() if not g.is_signed])


@cache
def forest_of(words: Words) -> Forest | None:
    return full_forest(COARSE, words)


@cache
def enumerated(name: str, words: Words) -> Enumerated | None:
    return enumerate_trees(GRAMMARS[name], words)


def derivable(name: str) -> list[tuple[Words, Forest, Enumerated]]:
    found = []
    for words in SENTENCES:
        forest, trees = forest_of(words), enumerated(name, words)
        if forest is not None and trees is not None:
            found.append((words, forest, trees))
    return found


def test_the_sentences_are_worth_enumerating() -> None:
    counts = [len(trees.trees) for _, _, trees in derivable("one state")]
    assert 20 <= len(counts) < len(SENTENCES)
    assert max(counts) > 300
    assert min(counts) == 1


def test_the_chart_derives_what_can_be_derived() -> None:
    index = RuleIndex.of(COARSE)
    for words in SENTENCES:
        values = coarse_values(COARSE, reference.found_in(COARSE, words), None)
        chart, trees = inside(index, values), enumerated("one state", words)
        if trees is None:
            assert chart.total == 0
        else:
            assert chart.total * np.exp2(chart.exponent[-1]) == pytest.approx(trees.total, rel=1e-12)


def test_a_forest_without_thresholds_has_every_tree_once() -> None:
    for _, forest, trees in derivable("one state"):
        names = reference.edge_names(forest)
        assert len(set(names)) == len(names)
        assert len(set(reference.node_names(forest))) == forest.n_nodes
        assert reference.forest_trees(forest) == set(trees.edges)
        assert sorted(names) == trees.names


def test_trees_are_counted() -> None:
    for _, forest, trees in derivable("one state"):
        per_node = derivation_weights(SumProduct(), forest, np.ones(forest.n_edges))
        assert per_node[: forest.n_roots].sum() == len(trees.trees)


def test_the_recursion_over_a_forest_in_each_semiring() -> None:
    rng = np.random.default_rng(9)
    for _, forest, trees in derivable("one state"):
        weights, keep = rng.uniform(0.1, 2.0, forest.n_edges), rng.random(forest.n_edges) < 0.7
        names = reference.edge_names(forest)
        order = [names.index(name) for name in trees.names]
        products = np.exp(trees.uses @ np.log(weights[order]))
        whole = ~(trees.uses & ~keep[order]).any(axis=1)
        roots = slice(0, forest.n_roots)
        assert derivation_weights(SumProduct(), forest, weights)[roots].sum() == pytest.approx(products.sum())
        best = derivation_weights(MaxPlus(), forest, np.log(weights))[roots].max()
        assert best == pytest.approx(np.log(products.max()))
        assert derivation_weights(AnyAll(), forest, keep)[roots].any() == whole.any()


@every_positive_grammar
def test_the_recursion_over_states_in_each_semiring(name: str) -> None:
    grammar = GRAMMARS[name]
    rules = log_rules(grammar)
    plain = rules._replace(binary=np.exp(rules.binary), unary=np.exp(rules.unary))
    for words, forest, trees in derivable(name):
        offsets, leaves = vector_offsets(forest, grammar), reference.leaves_of(forest, grammar, words)
        root = np.concatenate(
            [grammar.root[slice(*grammar.state_offsets[s : s + 2])] for s in forest.symbol[: forest.n_roots]]
        )
        inside_of = state_weights(SumProduct(), forest, plain, offsets, leaves)[: len(root)]
        scale = np.exp(forest.log_scale)
        assert inside_of @ root * scale == pytest.approx(trees.total)
        logs = forest._replace(factor=np.log(forest.factor))
        with np.errstate(divide="ignore"):
            best = state_weights(MaxPlus(), logs, rules, offsets, np.log(leaves))[: len(root)] + np.log(root)
        assert np.exp(best.max()) * scale == pytest.approx(trees.best.max())


def test_forests_list_parents_first_and_edges_by_rule() -> None:
    for words, forest, _ in derivable("one state"):
        for node in range(forest.n_nodes):
            edges = slice(int(forest.edges[node]), int(forest.edges[node + 1]))
            assert (np.diff(forest.rule[edges]) >= 0).all()
            children = np.concatenate([forest.left[edges], forest.right[edges]])
            assert (children[children >= 0] > node).all()
        whole = (forest.kind == TOP) & (forest.start == 0) & (forest.end == len(words))
        assert whole.nonzero()[0].tolist() == list(range(forest.n_roots))


@every_grammar
def test_totals(name: str) -> None:
    for words, forest, trees in derivable(name):
        scores = reference.score(forest, GRAMMARS[name], words)
        assert scores.usable
        assert scores.log_total == pytest.approx(np.log(abs(trees.total)), abs=trees.tolerance + 1e-10)


@every_grammar
def test_posteriors_of_nodes_and_hyperedges(name: str) -> None:
    for words, forest, trees in derivable(name):
        scores = reference.score(forest, GRAMMARS[name], words)
        of_edge, of_node = trees.edge_posteriors, trees.node_posteriors
        expected = [of_edge[edge] for edge in reference.edge_names(forest)]
        np.testing.assert_allclose(scores.edge, expected, atol=trees.tolerance)
        expected = [of_node[node] for node in reference.node_names(forest)]
        np.testing.assert_allclose(scores.node, expected, atol=trees.tolerance)


@every_grammar
def test_the_probability_of_each_tree(name: str) -> None:
    for _, _, trees in derivable(name):
        chosen = range(0, len(trees.trees), max(1, len(trees.trees) // 8))
        for k in chosen:
            log_p = tree_log_probability(trees.trees[k], GRAMMARS[name], reference.shape_of_word)
            value = float(np.log(abs(trees.values[k])))
            assert log_p == pytest.approx(value + trees.log_weight, abs=1e-9)


@pytest.mark.parametrize("name", ["with zeros", "signed"])
def test_dense_and_sparse_forms_agree(name: str) -> None:
    sparse = reference.as_sparse(GRAMMARS[name])
    for words, forest, trees in derivable(name):
        ours, theirs = (reference.score(forest, g, words) for g in (GRAMMARS[name], sparse))
        assert ours.log_total == pytest.approx(theirs.log_total, abs=trees.tolerance)
        np.testing.assert_allclose(ours.edge, theirs.edge, atol=trees.tolerance)
        np.testing.assert_allclose(ours.node, theirs.node, atol=trees.tolerance)
        if not sparse.is_signed:
            both = (
                ViterbiDecoder().decode(reference.scored_forest(forest, [g], words))
                for g in (GRAMMARS[name], sparse)
            )
            np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("name", ["dense", "with zeros", "signed"])
def test_no_basis_of_the_states_is_better_than_another(name: str) -> None:
    turned = reference.change_basis(GRAMMARS[name], seed=6)
    assert turned.is_signed
    for words, forest, trees in derivable(name):
        ours, theirs = (reference.score(forest, g, words) for g in (GRAMMARS[name], turned))
        assert ours.log_total == pytest.approx(theirs.log_total, abs=1e3 * trees.tolerance)
        np.testing.assert_allclose(ours.edge, theirs.edge, atol=1e3 * trees.tolerance)
        np.testing.assert_allclose(ours.node, theirs.node, atol=1e3 * trees.tolerance)


def test_thresholds_keep_what_reaches_them() -> None:
    index = RuleIndex.of(COARSE)
    for words, _, trees in derivable("one state"):
        chart = inside(index, coarse_values(COARSE, reference.found_in(COARSE, words), None))
        pruned = build_forest(chart, index, node_threshold=0.0, edge_threshold=0.05)
        likely = {edge for edge, p in trees.edge_posteriors.items() if p >= 0.05}
        assert {edge for edge in reference.edge_names(pruned) if edge[0] != LEXICAL} <= likely
        whole = {tree for tree in trees.edges if tree <= likely}
        assert reference.forest_trees(pruned) == whole


def test_pruning_keeps_the_trees_whose_edges_are_all_kept() -> None:
    rng = np.random.default_rng(7)
    for words, forest, trees in derivable("dense"):
        keep = rng.random(forest.n_edges) < 0.85
        pruned, nodes, edges = prune_forest(forest, keep)
        names = reference.edge_names(forest)
        assert reference.edge_names(pruned) == [names[edge] for edge in edges]
        assert (forest.symbol[nodes] == pruned.symbol).all()
        kept = {edge for edge, is_kept in zip(names, keep, strict=True) if is_kept}
        left = [tree for tree in trees.edges if tree <= kept]
        assert reference.forest_trees(pruned) == set(left)
        if left:
            assert set(reference.edge_names(pruned)) == frozenset().union(*left)
            scores = reference.score(pruned, GRAMMARS["dense"], words)
            values = [v for tree, v in zip(trees.edges, trees.values, strict=True) if tree <= kept]
            assert scores.log_total == pytest.approx(np.log(sum(values)), abs=1e-10)
        else:
            assert pruned.n_nodes == pruned.n_edges == 0


# ---------------------------------------------------------------------------------------------------------
# Decoders


def assert_is_best(
    decoder: Decoder, names: Sequence[str], gain_from: Callable[..., Callable[[Edge], float]]
) -> None:
    """The decoder's tree has the largest gain of all trees, by posteriors that were enumerated."""
    grammars: list[LatentGrammar] = [GRAMMARS[name] for name in names]
    for words, forest, trees in derivable(names[0]):
        every = [enumerated(name, words) for name in names]
        edge = [each.edge_posteriors for each in every if each is not None]
        node = [each.node_posteriors for each in every if each is not None]
        gain = gain_from(edge, node)
        choice = decoder.decode(reference.scored_forest(forest, grammars, words))
        chosen = reference.chosen_edges(forest, choice)
        gains = trees.gains(gain)
        assert gains[trees.edges.index(chosen)] == pytest.approx(gains.max(), abs=1e-7, rel=1e-9)


def mean(posteriors: Sequence[dict], key: tuple[int, ...], most: float = np.inf) -> float:
    return float(np.mean([min(abs(each[key]), most) for each in posteriors]))


def mbr_gain(gamma: float, tag_weight: float) -> Callable[..., Callable[[Edge], float]]:
    def gain_from(edges: Sequence[dict], nodes: Sequence[dict]) -> Callable[[Edge], float]:
        def gain(edge: Edge) -> float:
            kind, symbol, *_, rule, _ = edge
            n_brackets = int(reference.N_BRACKETS[symbol])
            if kind == TOP:
                return n_brackets * (mean(edges, edge, 1.0) - gamma) if rule >= 0 else 0.0
            posterior = mean(nodes, edge[:4], 1.0)
            return n_brackets * (posterior - gamma) + (tag_weight * posterior if kind == LEXICAL else 0.0)

        return gain

    return gain_from


def recall_gain(edges: Sequence[dict], nodes: Sequence[dict]) -> Callable[[Edge], float]:
    def gain(edge: Edge) -> float:
        if edge[0] == TOP:
            return mean(edges, edge) if edge[4] >= 0 else 0.0
        return mean(nodes, edge[:4])

    return gain


def product_gain(edges: Sequence[dict], nodes: Sequence[dict]) -> Callable[[Edge], float]:
    return lambda edge: sum(float(np.log(max(abs(each[edge]), 1e-12))) for each in edges)


@every_positive_grammar
def test_viterbi_finds_the_best_derivation_with_its_states(name: str) -> None:
    for words, forest, trees in derivable(name):
        choice = ViterbiDecoder().decode(reference.scored_forest(forest, [GRAMMARS[name]], words))
        assert reference.chosen_edges(forest, choice) == trees.edges[int(trees.best.argmax())]


def test_viterbi_refuses_signed_grammars_in_one_line() -> None:
    words, forest, _ = derivable("signed")[0]
    with pytest.raises(ConfigError, match="viterbi") as refusal:
        ViterbiDecoder().decode(reference.scored_forest(forest, [GRAMMARS["signed"]], words))
    assert "\n" not in str(refusal.value)


@every_grammar
@pytest.mark.parametrize(("gamma", "tag_weight"), [(0.0, 0.0), (0.4, 0.3), (0.8, 1.0)])
def test_mbr(name: str, gamma: float, tag_weight: float) -> None:
    assert_is_best(MBRDecoder(gamma, tag_weight), [name], mbr_gain(gamma, tag_weight))


@every_grammar
def test_labelled_recall(name: str) -> None:
    assert_is_best(LabelledRecallDecoder(), [name], recall_gain)


def test_labelled_recall_without_absolute_values() -> None:
    def signed_gain(edges: Sequence[dict], nodes: Sequence[dict]) -> Callable[[Edge], float]:
        def gain(edge: Edge) -> float:
            if edge[0] == TOP:
                return edges[0][edge] if edge[4] >= 0 else 0.0
            return nodes[0][edge[:4]]

        return gain

    assert min(trees.total for _, _, trees in derivable("signed")) < 0, "the sign of Z matters"
    assert_is_best(LabelledRecallDecoder(absolute=False), ["signed"], signed_gain)


@every_grammar
def test_max_rule(name: str) -> None:
    assert_is_best(MaxRuleDecoder(), [name], product_gain)


def test_decoders_hear_every_grammar() -> None:
    names = ["dense", "signed", "sparse"]
    assert_is_best(MBRDecoder(0.3, 0.5), names, mbr_gain(0.3, 0.5))
    assert_is_best(LabelledRecallDecoder(), names, recall_gain)
    assert_is_best(MaxRuleDecoder(), names, product_gain)


def test_best_edges_add_up_any_gains() -> None:
    rng = np.random.default_rng(8)
    for _, forest, trees in derivable("one state"):
        gains = rng.standard_normal(forest.n_edges)
        by_name = dict(zip(reference.edge_names(forest), gains.tolist(), strict=True))
        chosen = reference.chosen_edges(forest, best_edges(forest, gains))
        totals = trees.gains(by_name.__getitem__)
        assert totals[trees.edges.index(chosen)] == pytest.approx(totals.max())
