"""The ``hmm`` estimator: count n-grams, and compute an observable-operator model from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, MomentEstimator
from spectralnlp.estimators.hmm.hkz import solve_hkz
from spectralnlp.estimators.hmm.moments import UNKNOWN, NGramCounts, choose_symbols
from spectralnlp.estimators.hmm.ngrams import NGrams
from spectralnlp.estimators.hmm.solve import (
    PredictionSettings,
    solve_regression,
    symbol_distribution,
    with_unknown,
)
from spectralnlp.estimators.hmm.states import RegressionOptions
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.filtering import Filter, OperatorFilter
from spectralnlp.inference.chains.predictor import SequencePredictor
from spectralnlp.linalg.rank import Spectrum
from spectralnlp.parameters import Floats
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, Symbol, current_memory, symbols_named

# Number of symbols of each sequence that the published algorithm uses.
PUBLISHED = 3

# Weight of the symbols' frequencies in every prediction, and total negative probability of a prediction above
# which its state is shrunk. Without the weight perplexity is 5 to 15% worse, without shrinking 0.5%.
FLOOR, TOLERANCE = 0.02, 0.2

# Weight of the frequencies without stabilisation; it keeps likelihoods finite.
PUBLISHED_FLOOR = 1e-6

# Memory per number in the state vectors of a symbol (several arrays) and in operators (also saved), in bytes.
_STATE_BYTES, _OPERATOR_BYTES = 48, 12

# Hyper-parameters of all sequence estimators.
MaxSymbols = Annotated[
    int, Ge(1), Doc("Maximum size of the vocabulary, the most frequent symbols first; others are unknown.")
]
MinCount = Annotated[int, Ge(1), Doc("Least frequency of a symbol in the vocabulary.")]


class SequenceEstimator(Estimator[Sequence[Symbol]], SequencePredictor):
    """Base class of estimators that learn from sequences of symbols and predict the next symbol.

    Attributes:
        filter_: the :class:`~spectralnlp.inference.chains.filtering.Filter` that computes predictions.
        n_sequences_: number of training sequences.
        n_symbols_: number of symbols in the training sequences.

    Examples:
        >>> from spectralnlp.estimators.hmm import HMM, SequenceEstimator
        >>> model: SequenceEstimator = HMM(n_states=1).fit([["a", "b"], ["b", "a"]])
        >>> model.n_sequences_
        2
    """

    task = "sequences"

    filter_: Filter
    n_sequences_: int
    n_symbols_: int

    def _filter(self) -> Filter:
        self.check_is_fitted()
        return self.filter_


@dataclass(kw_only=True, eq=False, repr=False)
class HMM(SequenceEstimator, MomentEstimator[Sequence[Symbol]]):
    """Hidden Markov model in observable-operator form, learned from moments of n-grams.

    The default algorithm (``algorithm="regression"``) is described in
    :mod:`spectralnlp.estimators.hmm.solve`. ``preset=tutorial`` is the algorithm of Hsu, Kakade and Zhang
    (2009), see :mod:`spectralnlp.estimators.hmm.hkz`. See :mod:`spectralnlp.inference.chains.filtering` for
    how predictions are turned into probabilities.

    Attributes:
        operators_: the learned :class:`~spectralnlp.parameters.ObservableOperators`.
        singular_values_: float64 (rank,), descending; singular values of P21, the matrix of bigram
            probabilities, or canonical correlations of histories and symbols (``regression``, or ``hkz`` with
            ``whitening``).
        spectrum_: these with the size that sampling errors alone would have,
            :class:`~spectralnlp.linalg.rank.Spectrum`.

    Examples:
        >>> from spectralnlp import HMM
        >>> model = HMM(n_states=1).fit([["tick", "tock", "tick", "tock"]] * 20)
        >>> model.score([["tick", "tock"]]).shape
        (1,)
    """

    unlearning = "exact"
    spills = True

    spectrum_: Spectrum = field(init=False)

    presets: ClassVar = {
        "tutorial": {
            "algorithm": "hkz",
            "n_states": 20,
            "whitening": False,
            "triples": "initial",
            "stabilise": False,
        },
    }

    n_states: Annotated[
        int,
        Ge(1),
        Le(1_000_000),
        Doc("Dimension of the state (m); lowered with a warning if the data has a lower rank."),
    ] = field(default=60, kw_only=False)
    algorithm: Annotated[
        Literal["regression", "hkz"], Doc("Learning algorithm: ``regression`` or ``hkz``.")
    ] = "regression"
    history: Annotated[
        int,
        Ge(1),
        Le(1000),
        Doc("Regression: number of preceding symbols that the state before a symbol depends on."),
    ] = 2
    target: Annotated[
        int,
        Ge(1),
        Le(1000),
        Doc(
            "Regression: number of symbols that the state after a symbol depends on; the estimator is "
            "consistent with history + 1."
        ),
    ] = 3
    leave_one_out: Annotated[
        bool, Doc("Regression: estimate the state before a symbol without that occurrence of the symbol.")
    ] = True
    operator_count: Annotated[
        int,
        Ge(0),
        Doc(
            "Regression: least frequency of a symbol with its own operator; after a rarer symbol, the "
            "state is the symbol's mean state."
        ),
    ] = 50
    whitening: Annotated[bool, Doc("Hkz: divide P21 by the square roots of its marginals.")] = True
    triples: Annotated[
        Literal["initial", "all"],
        Doc(
            "Hkz: which trigrams to count: ``initial`` for the first three symbols of each sequence, ``all`` "
            "for all trigrams, which is exact only for chains that start in their stationary distribution."
        ),
    ] = "all"
    stabilise: Annotated[
        bool,
        Doc(
            "Mix the symbols' frequencies into every prediction, and shrink states that predict much "
            "negative probability towards the mean state."
        ),
    ] = True
    max_symbols: MaxSymbols = 50_000
    min_count: MinCount = 1
    random_state: Annotated[
        int, Ge(0), Doc("Seed of the SVD, which is randomised for more than 512 symbols.")
    ] = 0

    def init_moments(self, corpus: Corpus[Sequence[Symbol]]) -> WordCounts:
        """Return empty counts of symbols, for the first pass over the data."""
        return WordCounts()

    def init_kept_moments(self, corpus: Corpus[Sequence[Symbol]]) -> NGramCounts:
        """Return empty counts of n-grams over all symbols, not only those of the present vocabulary.

        The vocabulary is chosen again whenever data are added or removed.
        """
        return NGramCounts(self._order, self._first_symbols)

    def solve(self, moments: WordCounts | NGramCounts) -> NGramCounts | None:
        """Choose the vocabulary after the first pass over the data; compute the operators after the second.

        Args:
            moments: counts of symbols from the first pass, or counts of n-grams from the second; or kept
                counts of n-grams over all symbols, of which the vocabulary is chosen first.

        Returns:
            After the first pass, empty counts of n-grams over the chosen vocabulary, which the second pass
            fills; after the second, None.

        Raises:
            InputError: there are no symbols.
            ConfigError: the operators exceed the memory limit.
        """
        if isinstance(moments, WordCounts):
            self._check_memory(moments)
            symbols = choose_symbols(moments, self.max_symbols, self.min_count)
            return NGramCounts(self._order, self._first_symbols, symbols)
        with fit_pass("operators"):
            self._solve_for_operators(moments.within(self.max_symbols, self.min_count))
        return None

    def _solve_for_operators(self, counts: NGramCounts) -> None:
        """Compute the observable operators from n-grams over a vocabulary, and set the fitted attributes."""
        if self.algorithm == "hkz":
            grams: NGrams = (table := counts.table())
            operators, self.spectrum_ = solve_hkz(
                table,
                self._prediction(counts, table),
                self.n_states,
                all_triples=self.triples == "all",
                whitening=self.whitening,
                random_state=self.random_state,
            )
        else:
            grams = counts.grams()
            operators, self.spectrum_ = solve_regression(
                grams, self._prediction(counts, grams), self._regression_options
            )
        self.operators_ = with_unknown(operators, grams.frequencies)
        self.filter_ = OperatorFilter(self.operators_)
        self.n_sequences_, self.n_symbols_ = grams.n_sequences(), int(grams.frequencies.sum())

    @property
    def singular_values_(self) -> Floats:
        """Singular values of P21, or canonical correlations, float64 (rank,), descending."""
        self.check_is_fitted()
        return self.spectrum_.values

    def remarks(self) -> list[str]:
        """Return a line if the data bear fewer states than were asked for."""
        is_regression = self.algorithm == "regression"
        # The ridge makes more states harmless: with the default of 60, where the tags of 2,000 sentences bear
        # 25, perplexity is 1 % lower than with 25. So only a number that was asked for is answered.
        if is_regression and self.n_states == type(self).n_states:
            return []
        return self.spectrum_.remarks("n_states", constant=int(is_regression))

    def _prediction(self, counts: NGramCounts, grams: NGrams) -> PredictionSettings:
        assert counts.vocabulary is not None
        return PredictionSettings(
            symbols=(*symbols_named(counts.vocabulary), UNKNOWN),
            base=symbol_distribution(grams.frequencies),
            floor=FLOOR if self.stabilise else PUBLISHED_FLOOR,
            tolerance=TOLERANCE if self.stabilise else np.inf,
        )

    @property
    def _order(self) -> int:
        """Order n of the n-grams that the algorithm needs."""
        return 3 if self.algorithm == "hkz" else self._regression_options.order

    @property
    def _first_symbols(self) -> int | None:
        """Number of symbols at the start of each sequence whose n-grams are counted; None for all."""
        return PUBLISHED if self.algorithm == "hkz" and self.triples == "initial" else None

    @property
    def _regression_options(self) -> RegressionOptions:
        return RegressionOptions.of(self)

    def _check_memory(self, counts: WordCounts) -> None:
        """Raise an error if the operators will exceed the memory limit, before any n-gram is counted."""
        memory = current_memory()
        if memory is None:
            return
        n_symbols = len(counts.most_frequent(self.max_symbols, self.min_count))
        for_operators = memory.size * 5 // 8 - n_symbols * self.n_states * _STATE_BYTES
        n_fitting = for_operators // (self.n_states**2 * _OPERATOR_BYTES)
        least = 1 if self.algorithm == "hkz" else max(self.operator_count, 1)
        common = counts.most_frequent(self.max_symbols, max(self.min_count, least))
        if len(common) > n_fitting:
            what = f"{len(common):,} symbols have an operator of {self.n_states} × {self.n_states} numbers"
            hint = "raise `memory`, or lower n_states or max_symbols"
            if self.algorithm == "regression" and n_fitting > 0:
                hint = f"raise `memory`, or `set` operator_count={counts[common[n_fitting]] + 1}"
            raise ConfigError(f"{what}, but only {max(n_fitting, 0):,} fit into memory", hint=hint)
