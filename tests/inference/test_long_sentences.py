"""Sentences of hundreds of tokens neither underflow nor overflow."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log

import numpy as np
import pytest
import reference

from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.decoders import (
    LabelledRecallDecoder,
    MaxRuleDecoder,
    MBRDecoder,
    ViterbiDecoder,
)
from spectralnlp.inference.trees.forest import TOP, Forest
from spectralnlp.inference.trees.latent import score_forest
from spectralnlp.inference.trees.parsing import Pruning
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.inference.words.lexical import coarse_values
from spectralnlp.parameters import DenseTensors, LatentGrammar, Lexicon
from spectralnlp.trees import Tree

pytestmark = pytest.mark.slow

N = 400
BRACKETS = np.array([1, 0], np.int32)
TINY = pytest.mark.parametrize("p_word", [1e-30, 0.5, 1e30])


def grammar(left: str, n_states: int, p_word: float, seed: int = 0) -> LatentGrammar:
    """S → left S and S → T over the one word "w"; ``left`` is S (every bracketing) or T (a single one)."""
    rng = np.random.default_rng(seed)
    symbols, m = ("S", "T"), n_states

    def dense(*shape: int) -> DenseTensors:
        values = rng.dirichlet(np.ones(int(np.prod(shape[1:]))), size=shape[0]).ravel() / 2
        return DenseTensors(offsets=np.array([0, values.size], np.int64), values=values)

    binary = np.array([(0, symbols.index(left), 0)], np.int32)
    lexicon = Lexicon(
        words=("w",),
        signatures=("UNK",),
        scheme="english",
        starts=np.array([0, 1, 1], np.int64),
        tags=np.array([1], np.int32),
        offsets=np.array([0, m], np.int64),
        values=np.full(m, p_word),
        backoff=np.zeros(1),
        word_signature=np.zeros(1, np.int32),
        log_weight=np.zeros(2),
    )
    root = np.repeat([1.0 / m, 0.0], m)
    return LatentGrammar(
        symbols=symbols,
        is_tag=np.array([False, True]),
        n_states=np.array([m, m], np.int32),
        binary_rules=binary,
        binary=dense(m, m, m),
        unary_rules=np.array([(0, 1)], np.int32),
        unary=dense(m, m),
        root=root,
        tag_default=np.repeat([0.0, 1.0], m),
        lexicon=lexicon,
    )


def forest_of(coarse: LatentGrammar, words: Sequence[str], threshold: float) -> Forest:
    index = RuleIndex.of(coarse)
    chart = inside(index, coarse_values(coarse, reference.found_in(coarse, words), None))
    return build_forest(chart, index, node_threshold=threshold, edge_threshold=threshold)


@TINY
def test_the_inside_total_is_catalans(p_word: float) -> None:
    coarse = grammar("S", 1, p_word)
    values = coarse_values(coarse, reference.found_in(coarse, ["w"] * N), None)
    chart = inside(RuleIndex.of(coarse), values)
    n_bracketings = lgamma(2 * N - 1) - lgamma(N) - lgamma(N + 1)  # log of the Catalan number C(n − 1)
    expected = n_bracketings + (N - 1) * log(0.5) + N * log(0.5) + N * log(p_word)
    assert log(chart.total) + chart.exponent[-1] * log(2) == pytest.approx(expected, rel=1e-9)


@TINY
@pytest.mark.parametrize("m", [1, 3])
def test_the_only_tree_has_the_probability_of_the_sentence(m: int, p_word: float) -> None:
    words = ["w"] * N
    coarse, fine = grammar("T", 1, p_word), grammar("T", m, 1.5 * p_word, seed=1)
    forest = forest_of(coarse, words, 0.0)
    scores = reference.score(forest, fine, words)
    tree = Tree("S", [Tree("T", word="w")])
    for _ in range(N - 1):
        tree = Tree("S", [Tree("T", word="w"), tree])
    assert scores.usable
    assert scores.log_total == pytest.approx(
        tree_log_probability(tree, fine, reference.shape_of_word), rel=1e-9
    )
    np.testing.assert_allclose(scores.edge, 1.0, rtol=1e-9)
    np.testing.assert_allclose(scores.node, 1.0, rtol=1e-9)


@pytest.mark.parametrize("m", [1, 4])
def test_posteriors_of_a_pruned_forest_are_those_of_a_distribution(m: int) -> None:
    words = ["w"] * N
    forest = forest_of(grammar("S", 1, 1e-20), words, 1e-4)
    scores = reference.score(forest, grammar("S", m, 1e-20, seed=2), words)
    assert scores.usable
    assert scores.node[: forest.n_roots].sum() == pytest.approx(1)
    words_seen = (forest.kind == TOP) & (forest.end == forest.start + 1)
    assert scores.node[words_seen].sum() == pytest.approx(N)
    assert scores.edge.min() >= 0
    assert scores.edge.max() <= 1 + 1e-9
    assert scores.edge[forest.right >= 0].sum() == pytest.approx(N - 1)  # binary rules in every tree


def test_every_decoder_gives_a_tree_of_a_long_sentence() -> None:
    coarse = grammar("S", 1, 1e-20)
    parser = reference.parser_of(
        coarse,
        grammar("S", 2, 1e-20),
        pruning=Pruning(0.0, 1e-4, 1e-4),
        n_brackets=BRACKETS,
    )
    found = reference.infer(parser, ["w"] * N)
    assert found is not None
    assert np.isfinite(found.log_probability)
    _, scored = found.first
    forest = scored.forest
    for decoder in (MBRDecoder(), LabelledRecallDecoder(), MaxRuleDecoder(), ViterbiDecoder()):
        chosen = [e for e in decoder.decode(scored).tolist() if e >= 0]
        assert (forest.right[chosen] >= 0).sum() == N - 1
        assert (forest.rule[chosen] == -2).sum() == N


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_no_leaf_is_too_large_or_too_small(factor: float) -> None:
    words = ["w"] * 12
    forest = forest_of(grammar("S", 1, 0.1), words, 0.0)
    fine = grammar("S", 2, 1.0)
    leaves = reference.leaves_of(forest, fine, words)
    usual, scaled = score_forest(forest, fine, leaves), score_forest(forest, fine, leaves * factor)
    assert scaled.log_total == pytest.approx(usual.log_total + len(words) * log(factor))
    np.testing.assert_allclose(scaled.edge, usual.edge, rtol=1e-9)


def test_what_is_not_a_number_is_called_unusable() -> None:
    words = ["w"] * 12
    forest = forest_of(grammar("S", 1, 0.1), words, 0.0)
    fine = grammar("S", 2, 1.0)
    for value in (np.inf, np.nan, 0.0):
        scores = score_forest(forest, fine, reference.leaves_of(forest, fine, words) * value)
        assert not scores.usable
        assert scores.log_total == -np.inf
        assert not scores.edge.any()
        assert not scores.node.any()


def test_a_beam_drops_symbols_but_no_sentence() -> None:
    coarse = reference.random_grammar(9, (1, 1, 1, 1))
    index = RuleIndex.of(coarse)
    for words in reference.sentences(5):
        values = coarse_values(coarse, reference.found_in(coarse, words), None)
        everything = inside(index, values)
        some = inside(index, values, beam=1e-6)
        assert (some.total > 0) == (everything.total > 0)
        assert some.total <= everything.total * (1 + 1e-12)
