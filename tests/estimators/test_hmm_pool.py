from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.errors import ConfigError
from spectralnlp.estimators.hmm import HMM, HMMEM, HMMPool
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.tasks.sequences import SequenceTask

CORPUS = InMemoryCorpus([line.split() for line in ["a b a b c", "b a b a", "c a b", "a b c a b c"] * 5])


def test_a_pool_predicts_the_mean_of_its_parts_and_survives_saving(tmp_path: Path) -> None:
    task = SequenceTask()
    pool = task.train(HMMPool(n_states=3, em_states=3, weight=0.25), CORPUS)
    operators, hidden = HMM(n_states=3).fit(CORPUS), HMMEM(n_states=3, iterations=3).fit(CORPUS)
    sequence = ["a", "b", "never seen", "c"]
    mean = 0.25 * operators.predict_proba(sequence) + 0.75 * hidden.predict_proba(sequence)
    np.testing.assert_allclose(pool.predict_proba(sequence), mean)
    pool.save(tmp_path / "model")
    np.testing.assert_allclose(spectralnlp.load(tmp_path / "model").predict_proba(sequence), mean, rtol=1e-5)
    assert pool.transform(sequence).shape == (4, 6)


def test_a_weight_of_one_is_no_pool() -> None:
    with pytest.raises(ConfigError, match="weight"):
        HMMPool(weight=1.0).fit(CORPUS)
