"""The estimator ``hmm-pool``: operators and hidden states predict together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.hmm.em import HMMEM
from spectralnlp.estimators.hmm.estimator import HMM, SequenceEstimator
from spectralnlp.inference.chains.filtering import MixtureFilter
from spectralnlp.runtime import Corpus


class HMMPool(SequenceEstimator):
    """The mean of what ``hmm`` and ``hmm-em`` predict, which err in different places.

    Args:
        n_states: of ``hmm``.
        em_states: of ``hmm-em``.
        iterations: of its EM.
        weight: of ``hmm``, between 0 and 1.
        max_symbols, min_count: as in ``hmm``.
        random_state: seed of both.
    """

    kind = "head"
    change_of_mind = "none"

    def __init__(
        self,
        n_states: int = 60,
        em_states: int = 100,
        iterations: int = 3,
        weight: float = 0.6,
        max_symbols: int = 50_000,
        min_count: int = 1,
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.em_states = em_states
        self.iterations = iterations
        self.weight = weight
        self.max_symbols = max_symbols
        self.min_count = min_count
        self.random_state = random_state

    def fit(self, corpus: Corpus[Sequence[str]], y: None = None) -> Self:
        """Fit both.

        Raises:
            InputError: there are no symbols.
            ConfigError: a setting is out of its range.
        """
        if not 0 < self.weight < 1:
            raise ConfigError(f"HMMPool.weight is between 0 and 1, not {self.weight}")
        common = {name: getattr(self, name) for name in ("max_symbols", "min_count", "random_state")}
        operators = HMM(self.n_states, **common).fit(corpus)
        hidden = HMMEM(self.em_states, self.iterations, **common).fit(corpus)
        weights = np.array([self.weight, 1 - self.weight])
        self.filter_ = MixtureFilter([operators.filter_, hidden.filter_], weights)
        self.n_sequences_, self.n_symbols_ = operators.n_sequences_, operators.n_symbols_
        return self
