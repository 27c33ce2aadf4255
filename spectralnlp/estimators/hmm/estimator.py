"""The estimator ``hmm``: count n-grams, solve for observable operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, MomentEstimator, fit_pass
from spectralnlp.estimators.hmm.hkz import solve_hkz
from spectralnlp.estimators.hmm.moments import UNKNOWN, NGramCounts, chosen_symbols
from spectralnlp.estimators.hmm.open_moments import OpenNGramCounts
from spectralnlp.estimators.hmm.regression import solve_regression
from spectralnlp.estimators.hmm.states import RegressionOptions
from spectralnlp.estimators.hmm.ngrams import NGrams, NGramTable
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.filtering import Filter, OperatorFilter
from spectralnlp.inference.chains.predictor import SequencePredictor
from spectralnlp.parameters import Floats, ObservableOperators
from spectralnlp.runtime import Corpus, Moments, current_memory

PUBLISHED = 3
"""Symbols of each sequence that the published algorithm looks at."""

_STATE, _OPERATOR = 48, 12
"""Bytes for each number in the states of symbols, which have several, and in operators, which are saved."""


class SequenceEstimator(Estimator[Sequence[str]], SequencePredictor):
    """An estimator that learns from sequences of symbols and predicts them.

    Attributes:
        filter_: what predicts.
        n_sequences_, n_symbols_: how much it learned from.
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

    The default (``algorithm="regression"``) is described in :mod:`spectralnlp.estimators.hmm.regression`,
    ``preset=tutorial`` is Hsu, Kakade and Zhang (2009): :mod:`spectralnlp.estimators.hmm.hkz`. What makes
    predictions distributions is described in :mod:`spectralnlp.inference.chains.filtering`.

    Attributes:
        operators_: the :class:`~spectralnlp.parameters.ObservableOperators`.
        singular_values_: float64 (n_states,); of P21, or canonical correlations where it was whitened.
    """

    unlearning = "exact"
    spills = True
    presets: ClassVar = {
        "tutorial": {
            "algorithm": "hkz",
            "n_states": 20,
            "whitening": False,
            "triples": "initial",
            "floor": 1e-6,
            "tolerance": None,
        },
    }

    n_states: Annotated[
        int,
        Ge(1),
        Doc("M; numbers in a state. Lowered, with a warning, where the data has fewer directions."),
    ] = 60
    algorithm: Annotated[Literal["regression", "hkz"], Doc("``regression`` or ``hkz``.")] = "regression"
    history: Annotated[int, Ge(1), Doc("Regression: symbols from which the future is predicted.")] = 2
    target: Annotated[
        int,
        Ge(1),
        Doc("Regression: symbols from which what follows is predicted; history + 1 is consistent."),
    ] = 3
    backoff: Annotated[
        float,
        Ge(0),
        Doc("Regression: κ, occurrences that the shorter history counts for."),
    ] = 10.0
    ridge: Annotated[
        float,
        Ge(0),
        Doc(
            "Regression: penalty, in square roots of the number of symbols; a coordinate weighs that "
            "number times its squared correlation."
        ),
    ] = 4.0
    damping: Annotated[
        float,
        Ge(0),
        Doc("Regression: occurrences added to all counts before the CCA divides by their roots."),
    ] = 60.0
    leave_one_out: Annotated[
        bool,
        Doc("Regression: whether states that are regressed upon do without the symbol that follows."),
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
        Doc("Hkz: ``initial`` for the first three symbols of each sequence, ``all`` for any three."),
    ] = "all"
    floor: Annotated[float, Ge(0), Doc("Weight of the symbols' frequencies in every prediction.")] = 0.02
    tolerance: Annotated[
        Annotated[float, Ge(0)] | None,
        Doc(
            "Negative probability that a prediction may have before its state is shrunk to the mean; "
            "null for any."
        ),
    ] = 0.2
    max_symbols: Annotated[
        int,
        Ge(1),
        Doc("How many symbols are told apart, the most frequent first."),
    ] = 50_000
    min_count: Annotated[int, Ge(1), Doc("How often a symbol occurs to be told apart.")] = 1
    random_state: Annotated[int, Ge(0), Doc("Seed of the SVD, where there are more than 512 symbols.")] = 0

    def init_moments(self, corpus: Corpus[Sequence[str]]) -> WordCounts:
        """Return empty counts of symbols."""
        return WordCounts()

    @singledispatchmethod
    def solve(self, moments: Any) -> Moments[Sequence[str]] | None:
        """Choose the symbols that are told apart, of their counts; or solve for operators, of n-grams.

        Raises:
            InputError: there are no symbols.
            ConfigError: the memory is limited, and the operators need more.
        """
        raise TypeError(f"no pass of HMM gives {type(moments).__name__}")

    @solve.register
    def _(self, moments: WordCounts) -> NGramCounts:
        self._check_memory(moments)
        return NGramCounts(chosen_symbols(moments, self.max_symbols, self.min_count), *self._grams())

    @solve.register
    def _(self, moments: NGramCounts) -> None:
        with fit_pass("operators"):
            self._solve(moments)

    def init_kept_moments(self, corpus: Corpus[Sequence[str]]) -> OpenNGramCounts:
        """Return empty counts of n-grams over all symbols: those that are told apart change with the data."""
        return OpenNGramCounts(*self._grams())

    def solve_kept(self, moments: OpenNGramCounts) -> Self:
        """Learn from kept counts, of which the most frequent symbols are told apart."""
        self.validate()
        self.solve(moments.within(self.max_symbols, self.min_count))
        return self

    def _grams(self) -> tuple[int, int | None]:
        """The n of the n-grams, and of how many symbols of a sequence; None for all."""
        if self.algorithm == "hkz":
            return 3, PUBLISHED if self.triples == "initial" else None
        return self._options().order, None

    def _solve(self, counts: NGramCounts) -> None:
        grams: NGrams = counts.table() if self.algorithm == "hkz" else counts.grams()
        symbols = (*counts.vocabulary, UNKNOWN)
        frequencies = grams.frequencies
        base = symbol_distribution(frequencies)
        tolerance = np.inf if self.tolerance is None else self.tolerance
        if isinstance(grams, NGramTable) and self.algorithm == "hkz":
            operators, self.singular_values_ = solve_hkz(
                grams, symbols, self.n_states, whitening=self.whitening, base=base, floor=self.floor,
                tolerance=tolerance, random_state=self.random_state,
            )  # fmt: skip
        else:
            options = self._options()
            operators, self.singular_values_ = solve_regression(
                grams, symbols, base, self.floor, tolerance, options
            )
        self.operators_ = with_unknown(operators, frequencies)
        self.filter_ = OperatorFilter(self.operators_)
        self.n_sequences_, self.n_symbols_ = grams.n_sequences(), int(frequencies.sum())

    def _options(self) -> RegressionOptions:
        return RegressionOptions(
            self.n_states, self.history, self.target, self.backoff, self.ridge, self.damping,
            self.operator_count, self.leave_one_out, self.random_state,
        )  # fmt: skip

    def _check_memory(self, seen: WordCounts) -> None:
        """Refuse operators that the memory has no room for, before any n-gram is counted."""
        memory = current_memory()
        if memory is None:
            return
        n_symbols = len(seen.most_frequent(self.max_symbols, self.min_count))
        room = (memory.size * 5 // 8 - n_symbols * self.n_states * _STATE) // (self.n_states**2 * _OPERATOR)
        least = 1 if self.algorithm == "hkz" else max(self.operator_count, 1)
        common = seen.most_frequent(self.max_symbols, max(self.min_count, least))
        if len(common) > room:
            what = f"{len(common):,} symbols have an operator of {self.n_states} × {self.n_states} numbers"
            hint = "raise --memory, or lower n_states or max_symbols"
            if self.algorithm == "regression" and room > 0:
                hint = f"raise --memory, or --set operator_count={seen[common[room]] + 1}"
            raise ConfigError(f"{what}: the memory has room for {max(room, 0):,}", hint=hint)


def symbol_distribution(frequencies: Floats) -> Floats:
    """float64 (V,): a positive distribution, every symbol half an occurrence up."""
    positive = frequencies + 0.5
    return positive / positive.sum()


def with_unknown(operators: ObservableOperators, frequencies: Floats) -> ObservableOperators:
    """Operators that expect unknown symbols where symbols seen once stand, if no unknown one was seen.

    Good and Turing: what was never seen is together about as frequent as what was seen once.
    """
    once = frequencies == 1
    if frequencies[-1] or not once.any():
        return operators
    emission, arrival = operators.emission.copy(), operators.arrival.copy()
    emission[-1], arrival[-1] = emission[once].sum(axis=0), arrival[once].mean(axis=0)
    index = operators.operator_index.copy()
    index[-1] = -1
    return replace(operators, emission=emission, arrival=arrival, operator_index=index)
