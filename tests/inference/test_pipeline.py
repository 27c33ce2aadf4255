"""From tokens to posteriors: the coarse grammar, the pruner and the grammars that score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from reference import enumerate_trees, infer, parser_of

from spectralnlp.inference.trees.decoders import MaxRuleDecoder
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.parameters import LatentGrammar

COARSE = reference.random_grammar(10, (1, 1, 1, 1))
FINE = reference.random_grammar(11, (2, 3, 2, 2))
PRUNER = reference.random_grammar(12, (2, 2, 1, 2))
EVERYTHING = Pruning(0.0, 0.0, 0.0, 0.0, 0.0)
WORDS = ("q", "p", "q", "q")


def parser(*grammars: LatentGrammar, **settings: Any) -> ForestParser:
    return parser_of(COARSE, *grammars, **settings)


def without_roots(grammar: LatentGrammar) -> LatentGrammar:
    return replace(grammar, root=np.zeros_like(grammar.root))


def test_the_probability_of_a_sentence_is_that_of_its_trees() -> None:
    trees = enumerate_trees(FINE, WORDS)
    found = infer(parser(FINE), WORDS)
    assert trees is not None
    assert found is not None
    assert found.log_probability == pytest.approx(np.log(trees.total) + trees.log_weight)
    assert (found.any_tag, found.coarse_only) == (False, False)


def test_a_grammar_that_scores_nothing_is_left_out() -> None:
    found = infer(parser(without_roots(FINE), FINE), WORDS)
    assert found is not None
    assert found.first[1].grammars == (FINE,)
    assert not found.coarse_only


def test_the_coarse_grammar_stands_in_for_all_others() -> None:
    found = infer(parser(without_roots(FINE), without_roots(FINE)), WORDS)
    assert found is not None
    assert found.coarse_only
    assert found.first[1].grammars == (COARSE,)
    trees = enumerate_trees(COARSE, WORDS)
    assert trees is not None
    assert found.log_probability == pytest.approx(np.log(trees.total) + trees.log_weight)


def test_every_tag_is_tried_before_giving_up() -> None:
    assert infer(parser(COARSE), ("q", "p")) is not None
    found = infer(parser(COARSE), ("p", "p"))  # two tokens of T have no parse, of T and U they have
    assert found is not None
    assert found.any_tag
    nothing = np.zeros((2, 4), bool)
    nothing[:, 2] = True  # T and T again, by order
    assert infer(parser(COARSE), ("p", "p"), allowed=nothing) is None


def test_a_pruner_keeps_the_hyperedges_that_it_finds_likely() -> None:
    trees = enumerate_trees(PRUNER, WORDS)
    assert trees is not None
    threshold = 0.1
    pruned = infer(
        parser(FINE, pruning=replace(EVERYTHING, pruner_threshold=threshold), pruner=PRUNER), WORDS
    )
    assert pruned is not None
    likely = {edge for edge, posterior in trees.edge_posteriors.items() if posterior >= threshold}
    expected = {tree for tree in trees.edges if tree <= likely}
    assert 0 < len(expected) < len(trees.edges)
    assert reference.forest_trees(pruned.first[1].forest) == expected


def test_a_pruner_without_a_threshold_changes_nothing() -> None:
    ours, theirs = infer(parser(FINE), WORDS), infer(parser(FINE, pruner=PRUNER), WORDS)
    assert ours is not None
    assert theirs is not None
    assert ours.log_probability == pytest.approx(theirs.log_probability)
    ours_best, theirs_best = (MaxRuleDecoder().decode(each.first[1]) for each in (ours, theirs))
    np.testing.assert_array_equal(ours_best, theirs_best)


def test_the_others_score_what_the_last_of_several_grammars_finds_likely() -> None:
    trees = enumerate_trees(PRUNER, WORDS)
    assert trees is not None
    threshold = 0.1
    found = infer(parser(FINE, PRUNER, pruning=replace(EVERYTHING, grammar_threshold=threshold)), WORDS)
    assert found is not None
    likely = {edge for edge, posterior in trees.edge_posteriors.items() if posterior >= threshold}
    expected = {tree for tree in trees.edges if tree <= likely}
    assert 0 < len(expected) < len(trees.edges)
    scored = found.first[1]
    forest, (first, last) = scored.forest, scored.posteriors
    assert reference.forest_trees(forest) == expected
    names = reference.edge_names(forest)
    for name, posterior in zip(names, last.edge.tolist(), strict=True):
        assert posterior == pytest.approx(trees.edge_posteriors[name])
    np.testing.assert_allclose(first.edge, reference.score(forest, FINE, WORDS).edge)


def test_pruning_costs_little_probability() -> None:
    usual = replace(Pruning(), beam=0.0)  # a beam needs a grammar whose probabilities are proper
    for words in reference.sentences(4):
        everything, some = infer(parser(FINE), words), infer(parser(FINE, pruning=usual), words)
        assert everything is not None
        assert some is not None
        if everything.any_tag:
            continue  # such tags weigh less in the coarse grammar than in the fine one
        assert some.log_probability <= everything.log_probability + 1e-9
        assert some.log_probability == pytest.approx(everything.log_probability, abs=0.01)
