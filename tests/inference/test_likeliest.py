"""The likeliest trees and their probabilities, against every tree of every sentence of up to five words."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from spectralnlp.inference.trees.likeliest import likeliest_trees

PLAIN = reference.random_grammar(0, (1, 1, 1, 1))
LATENT = reference.random_grammar(3, (2, 2, 3, 2))
EVERY = 10_000  # more than any of the sentences has trees


def test_probabilities_under_a_grammar_of_one_state_are_exact() -> None:
    seen = 0
    for words in reference.sentences(5):
        forest, trees = reference.full_forest(PLAIN, words), reference.enumerate_trees(PLAIN, words)
        if forest is None or trees is None:
            continue
        found = likeliest_trees(reference.scored_forest(forest, [PLAIN], words), EVERY)
        true = dict(zip(trees.edges, (trees.values / trees.total).tolist(), strict=True))
        ours = {reference.chosen_edges(forest, choice): p for p, choice in found}
        assert ours == pytest.approx(true, rel=1e-9)
        assert [p for p, _ in found] == sorted(ours.values(), reverse=True)
        seen += len(found)
    assert seen > 1000


def test_hyperedges_of_a_latent_grammar_are_expected_as_often_as_their_posteriors_say() -> None:
    seen = 0
    for words in reference.sentences(4):
        forest = reference.full_forest(PLAIN, words)
        if forest is None:
            continue
        scored = reference.scored_forest(forest, [LATENT], words)
        found = likeliest_trees(scored, EVERY)
        if not found:
            continue
        expected = np.zeros(forest.n_edges)
        for p, choice in found:
            expected[choice[choice >= 0]] += p
        np.testing.assert_allclose(expected, scored.mean_edge, rtol=1e-6, atol=1e-9)
        assert sum(p for p, _ in found) == pytest.approx(1.0)
        seen += 1
    assert seen > 10
