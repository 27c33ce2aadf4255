"""Public presets recover planted models as samples grow (slides "Guarantees", "Estimation Guarantees")."""

from __future__ import annotations

from statistics import mean

import numpy as np
import pytest
from true_rhmm import TrueRHMM

import spectralnlp
from benchmarks.recovery import planted_hmm, planted_lpcfg
from benchmarks.true_lpcfg import BINARY, TrueLPCFG
from spectralnlp.models.rhmm_tagger import RefinementTagger

# Small samples do not bear all states.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("plant", [planted_hmm, planted_lpcfg])
def test_error_falls_with_the_root_of_the_sample(plant) -> None:  # type: ignore[no-untyped-def]
    planted, sizes = plant(1.0), (1_000, 30_000)
    few, many = (mean(planted.error(size, seed) for seed in range(3)) for size in sizes)
    slope = np.log(many / few) / np.log(sizes[1] / sizes[0])
    assert -0.8 < slope < -0.35, (few, many)


@pytest.mark.parametrize(
    "settings",
    [{}, {"smoothing": False}, {"keep_rare_words": True}, {"features": "simple"}],
    ids=str,
)
def test_trees_have_nearly_their_true_probabilities(settings: dict[str, object]) -> None:
    """A constant share of the tag's mean vector in the vectors of its words would leave a larger error."""
    trees = TrueLPCFG(BINARY, {"NP": 2, "N": 2}).trees()
    true = np.array([probability for _, probability in trees])
    counts = np.random.default_rng(0).multinomial(10_000, true / true.sum())
    sample = [tree for (tree, _), count in zip(trees, counts, strict=True) for _ in range(count)]
    parser = spectralnlp.train("lpcfg", sample, preset="tutorial", n_states=2, **settings)
    learned = np.exp([parser.tree_log_probability(tree) for tree, _ in trees])
    assert np.abs(learned - true).sum() < 0.05


def test_tagged_sentences_have_nearly_their_true_probabilities() -> None:
    errors = []
    for seed in range(3):
        sentences = TrueRHMM(2, seed).sentences()
        true = np.array([probability for _, probability in sentences])
        for size in (1_000, 30_000):
            counts = np.random.default_rng(seed).multinomial(size, true / true.sum())
            sample = [each for (each, _), count in zip(sentences, counts, strict=True) for _ in range(count)]
            tagger = spectralnlp.train("rhmm", sample, preset="tutorial", n_states=2)
            assert isinstance(tagger, RefinementTagger)
            learned = np.exp([tagger.log_probability(*each) for each, _ in sentences])
            errors.append(np.abs(learned - true).sum())
    assert mean(errors[1::2]) < 0.4 * mean(errors[::2]), errors
