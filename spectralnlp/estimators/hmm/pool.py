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
from spectralnlp.estimators.hmm.estimator import HMM, MaxSymbols, MinCount, SequenceEstimator
from spectralnlp.inference.chains.filtering import MixtureFilter
from spectralnlp.runtime import Corpus


@dataclass(kw_only=True, eq=False, repr=False)
class HMMPool(SequenceEstimator, IterativeEstimator[Sequence[str]]):
    """The weighted mean of the predictions of ``hmm`` and ``hmm-em``, which err in different places.

    Examples:
        >>> from spectralnlp.estimators.hmm import HMMPool
        >>> model = HMMPool(n_states=1, em_states=2, iterations=2).fit([["tick", "tock", "tick"]] * 20)
        >>> model.score([["tick", "tock"]]).shape
        (1,)
    """

    n_states: Annotated[int, Ge(1), Doc("Of ``hmm``.")] = HMM.n_states
    em_states: Annotated[int, Ge(1), Doc("Of ``hmm-em``.")] = HMMEM.n_states
    iterations: Annotated[int, Ge(0), Doc("Iterations of EM of ``hmm-em``.")] = 3
    weight: Annotated[float, Gt(0), Lt(1), Doc("Of ``hmm``, between 0 and 1.")] = 0.6
    max_symbols: MaxSymbols = HMM.max_symbols
    min_count: MinCount = HMM.min_count
    random_state: Annotated[int, Ge(0), Doc("Seed of both.")] = HMM.random_state

    def learn(self, corpus: Corpus[Sequence[str]]) -> None:
        """Fit both models.

        Raises:
            InputError: there are no symbols.
        """
        common = {name: getattr(self, name) for name in ("max_symbols", "min_count", "random_state")}
        operators = HMM(n_states=self.n_states, **common).fit(corpus)
        hidden = HMMEM(n_states=self.em_states, iterations=self.iterations, **common).fit(corpus)
        weights = np.array([self.weight, 1 - self.weight])
        self.filter_ = MixtureFilter([operators.filter_, hidden.filter_], weights)
        self.n_sequences_, self.n_symbols_ = operators.n_sequences_, operators.n_symbols_
