"""With true moments the spectral parameters give the true probabilities (Cohen et al. 2012, theorem 1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exact_options import EXACT, UNSMOOTHED

from benchmarks.true_lpcfg import BINARY, WITH_UNARIES, TrueLPCFG, weighted_table
from spectralnlp.estimators.lpcfg.moments import CountedTable, nodes_of
from spectralnlp.estimators.lpcfg.solve import spectral_grammar
from spectralnlp.estimators.shared.projections import (
    ProjectionOptions,
    Projections,
    find_directions,
    project_nodes,
)
from spectralnlp.estimators.shared.smoothing import NO_SMOOTHING
from spectralnlp.inference.trees.tree_scores import tree_log_probability
from spectralnlp.parameters import LatentGrammar
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.features import node_features
from spectralnlp.trees.treelog import TreeTable

ENGLISH = signature_by_name("english")
# Symbols whose inside and outside features, both, tell two states apart.
TWO_STATES = {
    ("binary", "simple"): ["NP", "N", "V"],
    ("binary", "tutorial"): ["NP", "N", "V", "D"],
    ("binary", "rich"): ["NP", "VP", "N", "V", "D"],
    ("unary", "simple"): ["NP", "N", "V"],
    ("unary", "tutorial"): ["NP", "VP", "N", "V", "D", "G"],
    ("unary", "rich"): ["NP", "VP", "N", "V", "D", "G"],
}
CASES = [(*case, seed) for case in TWO_STATES for seed in (0, 1)]


class Learned:
    """A grammar learned from true moments, and what it was learned from."""

    def __init__(self, rules: str, features: str, seed: int, options: ProjectionOptions = EXACT) -> None:
        two = TWO_STATES[rules, features]
        true = TrueLPCFG({"binary": BINARY, "unary": WITH_UNARIES}[rules], dict.fromkeys(two, 2), seed)
        self.two = two
        self.trees: list[tuple[Tree, float]] = true.trees()
        self.binariser = Binariser(unaries="collapse" if rules == "binary" else "compress")
        self.table: TreeTable = weighted_table(self.trees, self.binariser)
        nodes = nodes_of(self.table)
        directions = find_directions(nodes, node_features(self.table, features, ENGLISH), options)
        self.projections: Projections = project_nodes(nodes, directions, options)
        counted = CountedTable.of(self.table, UNSMOOTHED)
        self.grammar: LatentGrammar = spectral_grammar(counted, self.projections, NO_SMOOTHING)

    def probabilities(self) -> np.ndarray:
        return np.exp(
            [
                tree_log_probability(self.binariser.binarise(tree), self.grammar, ENGLISH)
                for tree, _ in self.trees
            ]
        )

    def true_probabilities(self) -> np.ndarray:
        return np.array([probability for _, probability in self.trees])


def test_the_true_probabilities_are_a_distribution() -> None:
    for rules in (BINARY, WITH_UNARIES):
        trees = TrueLPCFG(rules, {"NP": 2, "VP": 2, "N": 2}).trees()
        assert len({str(tree) for tree, _ in trees}) == len(trees) > 100
        assert sum(probability for _, probability in trees) == pytest.approx(1)


@pytest.mark.parametrize(("rules", "features", "seed"), CASES)
def test_every_tree_has_its_true_probability(rules: str, features: str, seed: int) -> None:
    learned = Learned(rules, features, seed)
    n_states = dict(zip(learned.grammar.symbols, learned.grammar.n_states.tolist(), strict=True))
    assert {symbol for symbol, n in n_states.items() if n == 2} == set(learned.two), "Ω of full rank"
    assert learned.grammar.is_signed
    assert len(learned.grammar.unary_rules) == (0 if rules == "binary" else 3)
    np.testing.assert_allclose(learned.probabilities(), learned.true_probabilities(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("seed", [3, 4])
def test_neither_scaling_nor_the_seed_of_the_svd_matters_to_it(scaling: bool, seed: int) -> None:
    learned = Learned("unary", "tutorial", 2, replace(EXACT, scaling=scaling, random_state=seed))
    np.testing.assert_allclose(learned.probabilities(), learned.true_probabilities(), rtol=1e-6, atol=0)


def test_too_few_states_are_not_enough() -> None:
    learned = Learned("unary", "tutorial", 0, replace(EXACT, n_states=1))
    errors = learned.probabilities() / learned.true_probabilities() - 1
    assert np.abs(errors).max() > 0.05
    # It is the PCFG then, a distribution all the same.
    assert learned.probabilities().sum() == pytest.approx(1)


def test_inside_and_outside_are_whitened() -> None:
    learned = Learned("unary", "tutorial", 0)
    table, grammar = learned.table, learned.grammar
    weight = table.weight[table.tree]
    for symbol, m in enumerate(grammar.n_states.tolist()):
        rows = np.flatnonzero(table.symbol == symbol)
        y = learned.projections.inside[rows, :m]
        z = learned.projections.outside[rows, :m]
        moment = (y * weight[rows, None]).T @ z / weight[rows].sum()
        np.testing.assert_allclose(moment, np.eye(m), atol=1e-9)
