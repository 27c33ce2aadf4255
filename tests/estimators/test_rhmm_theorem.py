"""With true moments the spectral parameters give the true probabilities (Stratos et al. 2013)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from exact_options import EXACT, UNSMOOTHED
from true_rhmm import TrueRHMM, weighted_table

from spectralnlp.estimators.rhmm.features import token_features
from spectralnlp.estimators.rhmm.solve import TagBigrams, spectral_model
from spectralnlp.estimators.shared.projections import find_directions, project_nodes
from spectralnlp.estimators.shared.smoothing import NO_SMOOTHING
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.text.signatures import signature_by_name


class Learned:
    """A model learned from true moments or those of a sample, and what it was learned from."""

    def __init__(
        self, seed: int, m: int = 2, n_states: int = 2, sample: int | None = None, **changes: object
    ) -> None:
        self.sentences = TrueRHMM(m, seed).sentences()
        seen = self.sentences
        if sample is not None:
            counts = np.random.default_rng(seed).multinomial(sample, [p for _, p in seen])
            seen = [(each, float(count)) for (each, _), count in zip(seen, counts, strict=True) if count]
        table = weighted_table(seen)
        options = replace(EXACT, n_states=n_states, **changes)  # type: ignore[arg-type]
        features = token_features(table, signature_by_name("english"))
        chain, words = (
            project_nodes(table.nodes, find_directions(table.nodes, each, options), options)
            for each in (features.chain, features.word)
        )
        bigrams = TagBigrams.of(table, interpolate=False)
        self.model = spectral_model(table, chain, words, bigrams, NO_SMOOTHING, UNSMOOTHED)
        self.tagger = RefinementTagger(self.model, (self.model,), beam=0.0)

    def probabilities(self) -> np.ndarray:
        return np.exp([self.tagger.log_probability(words, tags) for (words, tags), _ in self.sentences])

    def true_probabilities(self) -> np.ndarray:
        return np.array([probability for _, probability in self.sentences])


def test_the_true_probabilities_are_a_distribution() -> None:
    sentences = TrueRHMM(2).sentences()
    assert len({sentence for sentence, _ in sentences}) == len(sentences) > 300
    assert sum(probability for _, probability in sentences) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
def test_every_tagged_sentence_has_its_true_probability(seed: int) -> None:
    learned = Learned(seed)
    assert (learned.model.n_states == 2).sum() >= 3, "Ω of full rank where a state can be seen"
    assert learned.model.transitions.values.min() < 0
    np.testing.assert_allclose(learned.probabilities(), learned.true_probabilities(), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("random_state", [3, 4])
def test_neither_scaling_nor_the_seed_of_the_svd_matters_to_it(scaling: bool, random_state: int) -> None:
    learned = Learned(5, scaling=scaling, random_state=random_state)
    np.testing.assert_allclose(learned.probabilities(), learned.true_probabilities(), rtol=1e-6, atol=1e-12)


def test_error_falls_with_the_root_of_the_sample() -> None:
    sizes, errors = (10_000, 1_000_000), []
    for size in sizes:
        learned = [Learned(seed, sample=size) for seed in range(4)]
        errors.append(
            np.mean([np.abs(each.probabilities() - each.true_probabilities()).sum() for each in learned])
        )
    slope = np.log(errors[1] / errors[0]) / np.log(sizes[1] / sizes[0])
    assert -0.8 < slope < -0.35, errors


def test_posteriors_are_the_true_ones() -> None:
    learned = Learned(1)
    true: dict[tuple[str, ...], dict[tuple[str, ...], float]] = defaultdict(dict)
    for (words, tags), probability in learned.sentences:
        true[words][tags] = probability
    ambiguous = [words for words, readings in true.items() if len(readings) > 1]
    assert len(ambiguous) > 20
    for words in ambiguous:
        expected = np.zeros((len(words), len(learned.tagger.tags)))
        for tags, probability in true[words].items():
            for position, tag in enumerate(tags):
                expected[position, learned.tagger.tags.index(tag)] += probability
        total = sum(true[words].values())
        np.testing.assert_allclose(learned.tagger.posteriors(words), expected / total, atol=1e-6)
        assert learned.tagger.log_probability(words) == pytest.approx(np.log(total), rel=1e-6)


def test_three_refinements_need_three_dimensions() -> None:
    exact, short = Learned(0, m=3, n_states=3), Learned(0, m=3, n_states=2)
    np.testing.assert_allclose(exact.probabilities(), exact.true_probabilities(), rtol=1e-5, atol=1e-12)
    assert np.abs(short.probabilities() / short.true_probabilities() - 1).max() > 0.05


def test_one_refinement_is_the_supervised_hidden_markov_model() -> None:
    learned = Learned(2, n_states=1)
    errors = learned.probabilities() / learned.true_probabilities() - 1
    assert np.abs(errors).max() > 0.05
    assert learned.probabilities().sum() == pytest.approx(1)
