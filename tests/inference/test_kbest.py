"""The k best trees against every tree of every sentence of up to five words."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import reference
from reference import Edge, Enumerated, enumerate_trees, full_forest

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.decoders import (
    Decoder,
    GainDecoder,
    LabelledRecallDecoder,
    MaxRuleDecoder,
    MBRDecoder,
    ViterbiDecoder,
)
from spectralnlp.inference.trees.forest import WORD, Forest
from spectralnlp.inference.trees.kbest import best_edges, best_trees
from spectralnlp.inference.trees.recursions import prune_forest
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.words.lexical import coarse_values

COARSE = reference.random_grammar(0, (1, 1, 1, 1))
SIGNED = reference.random_grammar(4, (2, 2, 3, 2), signed=True)
EVERY = 10_000  # more than any of the sentences has trees

gain_decoders = pytest.mark.parametrize(
    "decoder", [MBRDecoder(), MBRDecoder(0.0, 0.0), LabelledRecallDecoder(), MaxRuleDecoder()], ids=repr
)


@cache
def parsed() -> list[tuple[tuple[str, ...], Forest, Enumerated]]:
    """Sentences, their forests and their trees."""
    found = []
    for words in reference.sentences(5):
        forest, trees = full_forest(COARSE, words), enumerate_trees(COARSE, words)
        if forest is not None and trees is not None:
            found.append((words, forest, trees))
    return found


def totals_of(forest: Forest, trees: Enumerated, gains: np.ndarray) -> dict[frozenset[Edge], float]:
    """The total gain of each tree."""
    by_name = dict(zip(reference.edge_names(forest), gains.tolist(), strict=True))
    return {tree: float(sum(by_name[edge] for edge in tree)) for tree in trees.edges}


def assert_are_best(forest: Forest, trees: Enumerated, gains: np.ndarray, k: int) -> None:
    """They are k of the trees that have a total, none twice, each worth what is said; no other is better."""
    every = {tree: total for tree, total in totals_of(forest, trees, gains).items() if total > -np.inf}
    found = best_trees(forest, gains, k)
    chosen = [reference.chosen_edges(forest, choice) for _, choice in found]
    values = [value for value, _ in found]
    assert len(found) == min(k, len(every))
    assert len(set(chosen)) == len(chosen)
    assert values == pytest.approx([every[tree] for tree in chosen], abs=1e-9)
    assert values == pytest.approx(sorted(every.values(), reverse=True)[:k], abs=1e-9)
    assert all(better >= worse for better, worse in pairwise(values))
    if found:
        np.testing.assert_array_equal(found[0][1], best_edges(forest, gains))


@pytest.mark.parametrize("k", [0, 1, 2, 13, 100, EVERY])
def test_the_k_best_of_any_gains(k: int) -> None:
    rng = np.random.default_rng(k)
    for _, forest, trees in parsed():
        assert_are_best(forest, trees, rng.standard_normal(forest.n_edges), k)


@pytest.mark.parametrize("k", [5, 60, EVERY])
def test_ties(k: int) -> None:
    rng = np.random.default_rng(k)
    for _, forest, trees in parsed():
        assert_are_best(forest, trees, np.zeros(forest.n_edges), k)
        assert_are_best(forest, trees, rng.integers(-1, 2, forest.n_edges).astype(float), k)


@pytest.mark.parametrize("share", [0.05, 0.2, 1.0])
def test_hyperedges_without_a_gain_are_in_no_tree(share: float) -> None:
    rng = np.random.default_rng(10)
    seen = []
    for _, forest, trees in parsed():
        gains = rng.standard_normal(forest.n_edges)
        gains[rng.random(forest.n_edges) < share] = -np.inf
        for k in (1, 4, EVERY):
            assert_are_best(forest, trees, gains, k)
        seen.append(len(best_trees(forest, gains, EVERY)) / len(trees.trees))
    assert min(seen) == 0
    assert share == 1.0 or 0 < sum(seen) < len(seen)


def test_the_sentences_have_what_is_to_be_tested() -> None:
    words = {words for words, _, _ in parsed()}
    assert {len(each) for each in words} == {1, 2, 3, 4, 5}
    unary = [
        tree for _, _, trees in parsed() for tree in trees.edges if any(e[0] == 0 and e[4] >= 0 for e in tree)
    ]
    assert unary
    assert max(len(trees.trees) for _, _, trees in parsed()) in range(300, EVERY)
    assert any(forest.n_roots > 1 for _, forest, _ in parsed())


def test_one_word_has_a_tree_for_each_tag_and_unary_rule() -> None:
    forest = next(forest for words, forest, _ in parsed() if words == ("q",))
    found = best_trees(forest, 2.0 ** np.arange(forest.n_edges), EVERY)
    for _, choice in found:
        assert (choice >= 0).sum() == 2
        assert (forest.rule[choice[choice >= 0]] == WORD).sum() == 1
    kinds = {
        int(forest.rule[edge]) >= 0 for _, choice in found for edge in choice if forest.rule[edge] != WORD
    }
    assert kinds == {True, False}
    assert [value for value, _ in found] == sorted({value for value, _ in found}, reverse=True)
    assert len(found) == (forest.rule != WORD).sum() > 1


def test_a_forest_without_trees() -> None:
    _, forest, _ = parsed()[0]
    empty, _, _ = prune_forest(forest, np.zeros(forest.n_edges, bool))
    assert best_trees(empty, np.zeros(0), 3) == []


# ---------------------------------------------------------------------------------------------------------
# Decoders


@gain_decoders
def test_decoders_order_trees_by_their_gains(decoder: GainDecoder) -> None:
    for words, forest, trees in parsed():
        scored = reference.scored_forest(forest, [COARSE, SIGNED], words)
        gains = decoder.gains(scored)
        assert gains.shape == (forest.n_edges,)
        assert_are_best(forest, trees, gains, 8)
        found = decoder.k_best(scored, 8)
        for (value, choice), (expected, edges) in zip(found, best_trees(forest, gains, 8), strict=True):
            assert value == expected
            np.testing.assert_array_equal(choice, edges)
        np.testing.assert_array_equal(found[0][1], decoder.decode(scored))


def test_viterbi_refuses_in_one_line() -> None:
    words, forest, _ = parsed()[0]
    decoder: Decoder = ViterbiDecoder()
    with pytest.raises(ConfigError, match=r"viterbi.*k best") as refusal:
        decoder.k_best(reference.scored_forest(forest, [COARSE], words), 2)
    assert "\n" not in str(refusal.value)


# ---------------------------------------------------------------------------------------------------------
# Long sentences


def test_a_long_sentence() -> None:
    n, k = 400, 50
    words = ["p"] * (n - 1) + ["q"]
    index = RuleIndex.of(COARSE)
    chart = inside(index, coarse_values(COARSE, reference.found_in(COARSE, words), None))
    forest = build_forest(chart, index, node_threshold=1e-5, edge_threshold=1e-5)
    gains = np.random.default_rng(11).standard_normal(forest.n_edges)
    found = best_trees(forest, gains, k)
    assert len({choice.tobytes() for _, choice in found}) == k
    for value, choice in found:
        chosen = choice[choice >= 0]
        assert (forest.rule[chosen] == WORD).sum() == n
        assert (forest.right[chosen] >= 0).sum() == n - 1
        assert value == pytest.approx(gains[chosen].sum())
