"""The estimator ``hmm-pool``: operators and hidden states predict together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt
from typing_extensions import Doc

from spectralnlp.estimator import IterativeEstimator
from spectralnlp.estimators.hmm.em import HMMEM
from spectralnlp.estimators.hmm.estimator import HMM, SequenceEstimator
from spectralnlp.inference.chains.filtering import MixtureFilter
from spectralnlp.runtime import Corpus


@dataclass(kw_only=True, eq=False, repr=False)
class HMMPool(SequenceEstimator, IterativeEstimator[Sequence[str]]):
    """The mean of what ``hmm`` and ``hmm-em`` predict, which err in different places."""

    n_states: Annotated[int, Ge(1), Doc("Of ``hmm``.")] = 60
    em_states: Annotated[int, Ge(1), Doc("Of ``hmm-em``.")] = 100
    iterations: Annotated[int, Ge(0), Doc("Iterations of EM of ``hmm-em``.")] = 3
    weight: Annotated[float, Gt(0), Lt(1), Doc("Of ``hmm``, between 0 and 1.")] = 0.6
    max_symbols: Annotated[
        int,
        Ge(1),
        Doc("How many symbols are told apart, the most frequent first."),
    ] = 50_000
    min_count: Annotated[int, Ge(1), Doc("How often a symbol occurs to be told apart.")] = 1
    random_state: Annotated[int, Ge(0), Doc("Seed of both.")] = 0

    def learn(self, corpus: Corpus[Sequence[str]]) -> None:
        """Fit both.

        Raises:
            InputError: there are no symbols.
        """
        common = {name: getattr(self, name) for name in ("max_symbols", "min_count", "random_state")}
        operators = HMM(n_states=self.n_states, **common).fit(corpus)
        hidden = HMMEM(n_states=self.em_states, iterations=self.iterations, **common).fit(corpus)
        weights = np.array([self.weight, 1 - self.weight])
        self.filter_ = MixtureFilter([operators.filter_, hidden.filter_], weights)
        self.n_sequences_, self.n_symbols_ = operators.n_sequences_, operators.n_symbols_
