from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from benchmarks.true_hmm import TrueHMM
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.hmm import HMMEM, em
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.tasks.sequences import SequenceTask

TRUE = TrueHMM.random(m=3, V=8, seed=2)
CORPUS = InMemoryCorpus(TRUE.sample(1500, 8, seed=0))


def test_em_never_lowers_the_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(em, "SMOOTHING", 1e-9)
    model = HMMEM(n_states=4, iterations=6).fit(CORPUS)
    assert (np.diff(model.log_likelihoods_) > -1e-6).all()


def test_a_spectral_start_is_ahead_of_a_random_one() -> None:
    spectral = HMMEM(n_states=5, iterations=1).fit(CORPUS).log_likelihoods_[0]
    for seed in range(3):
        assert (
            spectral
            > HMMEM(n_states=5, start="random", iterations=1, random_state=seed)
            .fit(CORPUS)
            .log_likelihoods_[0]
        )


def test_it_comes_near_the_true_model() -> None:
    test = TRUE.sample(300, 8, seed=9)
    truth = sum(TRUE.log_probability([int(x[1:]) for x in sequence]) for sequence in test)
    found = HMMEM(n_states=6, iterations=10).fit(CORPUS).score(test).sum()
    assert (truth - found) / (300 * 8) < 0.02


def test_predictions_are_distributions_and_survive_saving(tmp_path: Path) -> None:
    task = SequenceTask()
    model = task.train(HMMEM(n_states=4, iterations=1), CORPUS)
    model.save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    sequence = ["s1", "unheard of", "s0"]
    for each in (model, loaded):
        p = each.predict_proba(sequence)
        assert (p > 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(loaded.predict_proba(sequence), model.predict_proba(sequence), rtol=1e-5)
    assert loaded.transform(sequence).shape == (3, 4)


def test_few_symbols_and_bad_settings() -> None:
    model = HMMEM(iterations=2).fit(InMemoryCorpus([["a"], ["a", "a"]]))
    assert model.predict_proba(["a"])[-1, 0] > 0.5
    with pytest.raises(InputError, match="no symbols"):
        HMMEM().fit(InMemoryCorpus([[]]))
    with pytest.raises(ConfigError, match="n_states: got 0, expected int, 1 or more"):
        HMMEM(n_states=0).fit(CORPUS)
