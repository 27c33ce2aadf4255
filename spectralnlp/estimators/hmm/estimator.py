"""The estimator ``hmm``: count n-grams, solve for observable operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, MomentEstimator
from spectralnlp.estimators.hmm.hkz import solve_hkz
from spectralnlp.estimators.hmm.moments import UNKNOWN, NGramCounts, choose_symbols
from spectralnlp.estimators.hmm.ngrams import NGrams
from spectralnlp.estimators.hmm.open_moments import OpenNGramCounts
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
from spectralnlp.parameters import ObservableOperators
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, Moments, current_memory

# Symbols of each sequence that the published algorithm looks at.
PUBLISHED = 3

# Weight of the symbols' frequencies in every prediction, and negative probability that a prediction may have
# before its state is shrunk; without the weight perplexity is 5 to 15% worse, without shrinking 0.5%.
FLOOR, TOLERANCE = 0.02, 0.2

# Weight of the frequencies without the stabiliser: likelihoods stay finite.
PUBLISHED_FLOOR = 1e-6

# Bytes for each number in the states of symbols, which have several, and in operators, which are saved.
_STATE_BYTES, _OPERATOR_BYTES = 48, 12

# Hyper-parameters that all estimators of sequences declare.
MaxSymbols = Annotated[int, Ge(1), Doc("How many symbols are told apart, the most frequent first.")]
MinCount = Annotated[int, Ge(1), Doc("How often a symbol occurs to be told apart.")]


class SequenceEstimator(Estimator[Sequence[str]], SequencePredictor):
    """An estimator that learns from sequences of symbols and predicts them.

    Attributes:
        filter_: the :class:`~spectralnlp.inference.chains.filtering.Filter` that predicts.
        n_sequences_: sequences that it learned from.
        n_symbols_: symbols in them.

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
class HMM(SequenceEstimator, MomentEstimator[Sequence[str]]):
    """A hidden Markov model in the form of observable operators, by moments of n-grams.

    The default (``algorithm="regression"``) is described in :mod:`spectralnlp.estimators.hmm.solve`,
    ``preset=tutorial`` is Hsu, Kakade and Zhang (2009): :mod:`spectralnlp.estimators.hmm.hkz`. How
    predictions are made distributions is described in :mod:`spectralnlp.inference.chains.filtering`.

    Attributes:
        operators_: the :class:`~spectralnlp.parameters.ObservableOperators`.
        singular_values_: float64 (n_states,); of P21, or canonical correlations where it was whitened.

    Examples:
        >>> from spectralnlp import HMM
        >>> model = HMM(n_states=1).fit([["tick", "tock", "tick", "tock"]] * 20)
        >>> model.score([["tick", "tock"]]).shape
        (1,)
    """

    unlearning = "exact"
    spills = True
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
        Doc("M; numbers in a state. Lowered, with a warning, where the data has fewer directions."),
    ] = field(default=60, kw_only=False)
    algorithm: Annotated[Literal["regression", "hkz"], Doc("``regression`` or ``hkz``.")] = "regression"
    history: Annotated[int, Ge(1), Doc("Regression: symbols from which the future is predicted.")] = 2
    target: Annotated[
        int,
        Ge(1),
        Doc("Regression: symbols from which what follows is predicted; history + 1 is consistent."),
    ] = 3
    leave_one_out: Annotated[
        bool, Doc("Regression: whether states that are regressed upon do without the symbol that follows.")
    ] = True
    operator_count: Annotated[
        int,
        Ge(0),
        Doc(
            "Regression: occurrences from which on a symbol has an operator of its own; after rarer "
            "ones the state is the mean one."
        ),
    ] = 50
    whitening: Annotated[bool, Doc("Hkz: divide P21 by the square roots of its margins.")] = True
    triples: Annotated[
        Literal["initial", "all"],
        Doc(
            "Hkz: ``initial`` for the first three symbols of each sequence, ``all`` for any three, which is "
            "exact only for chains that start stationary."
        ),
    ] = "all"
    stabilise: Annotated[
        bool,
        Doc(
            "Mix the symbols' frequencies into every prediction, and shrink states that predict much "
            "negative probability to the mean."
        ),
    ] = True
    max_symbols: MaxSymbols = 50_000
    min_count: MinCount = 1
    random_state: Annotated[int, Ge(0), Doc("Seed of the SVD, where there are more than 512 symbols.")] = 0

    def init_moments(self, corpus: Corpus[Sequence[str]]) -> WordCounts:
        """Return empty counts of symbols."""
        return WordCounts()

    @singledispatchmethod
    def solve(self, moments: Any) -> Moments[Sequence[str]] | None:
        """Turn the moments of a pass into the next pass, and those of the last one into operators.

        First come counts of symbols, from which those that are told apart are chosen, then counts of n-grams.

        Raises:
            InputError: there are no symbols.
            ConfigError: the memory is limited, and the operators need more.
        """
        raise TypeError(f"no pass of HMM gives {type(moments).__name__}")

    @solve.register
    def _choose_symbols(self, moments: WordCounts) -> NGramCounts:
        """First pass: the most frequent symbols are told apart."""
        self._check_memory(moments)
        symbols = choose_symbols(moments, self.max_symbols, self.min_count)
        return NGramCounts(symbols, self._order, self._first_symbols)

    @solve.register
    def _solve_for_operators(self, moments: NGramCounts) -> None:
        """Second pass: n-grams become observable operators."""
        with fit_pass("operators"):
            if self.algorithm == "hkz":
                self._solve_hkz(moments)
            else:
                self._solve_regression(moments)

    def init_kept_moments(self, corpus: Corpus[Sequence[str]]) -> OpenNGramCounts:
        """Return empty counts of n-grams over all symbols: those that are told apart change with the data."""
        return OpenNGramCounts(self._order, self._first_symbols)

    def solve_kept(self, moments: OpenNGramCounts) -> Self:
        """Learn from kept counts, of which the most frequent symbols are told apart."""
        self.validate()
        return super().solve_kept(moments.within(self.max_symbols, self.min_count))

    @property
    def _order(self) -> int:
        """The n of the n-grams that are counted."""
        return 3 if self.algorithm == "hkz" else self._regression_options.order

    @property
    def _first_symbols(self) -> int | None:
        """Symbols of each sequence whose n-grams are counted; None for all."""
        return PUBLISHED if self.algorithm == "hkz" and self.triples == "initial" else None

    @property
    def _regression_options(self) -> RegressionOptions:
        return RegressionOptions.of(self)

    def _solve_hkz(self, counts: NGramCounts) -> None:
        table = counts.table()
        operators, self.singular_values_ = solve_hkz(
            table,
            self._prediction(counts, table),
            self.n_states,
            all_triples=self.triples == "all",
            whitening=self.whitening,
            random_state=self.random_state,
        )
        self._keep(operators, table)

    def _solve_regression(self, counts: NGramCounts) -> None:
        grams = counts.grams()
        operators, self.singular_values_ = solve_regression(
            grams, self._prediction(counts, grams), self._regression_options
        )
        self._keep(operators, grams)

    def _prediction(self, counts: NGramCounts, grams: NGrams) -> PredictionSettings:
        return PredictionSettings(
            symbols=(*counts.vocabulary, UNKNOWN),
            base=symbol_distribution(grams.frequencies),
            floor=FLOOR if self.stabilise else PUBLISHED_FLOOR,
            tolerance=TOLERANCE if self.stabilise else np.inf,
        )

    def _keep(self, operators: ObservableOperators, grams: NGrams) -> None:
        """Set the fitted attributes."""
        self.operators_ = with_unknown(operators, grams.frequencies)
        self.filter_ = OperatorFilter(self.operators_)
        self.n_sequences_, self.n_symbols_ = grams.n_sequences(), int(grams.frequencies.sum())

    def _check_memory(self, counts: WordCounts) -> None:
        """Refuse operators that are more than the memory holds, before any n-gram is counted."""
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
            raise ConfigError(f"{what}: the memory has room for {max(n_fitting, 0):,}", hint=hint)
