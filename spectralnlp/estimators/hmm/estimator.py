"""The estimator ``hmm``: count n-grams, solve for observable operators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, fit_pass
from spectralnlp.estimators.hmm.hkz import solve_hkz
from spectralnlp.estimators.hmm.ngrams import UNKNOWN, NGramCounts, count_ngrams, count_symbols
from spectralnlp.estimators.hmm.open_ngrams import OpenNGramCounts
from spectralnlp.estimators.hmm.regression import solve_regression
from spectralnlp.estimators.hmm.states import RegressionOptions
from spectralnlp.estimators.hmm.sums import NGrams, NGramTable
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.filtering import Filter, OperatorFilter
from spectralnlp.inference.chains.predictor import SequencePredictor
from spectralnlp.linalg import one_blas_thread
from spectralnlp.parameters import Floats, ObservableOperators
from spectralnlp.runtime import Corpus, current_memory

PUBLISHED = 3
"""Symbols of each sequence that the published algorithm looks at."""

_STATE, _OPERATOR = 48, 12
"""Bytes for each number in the states of symbols, which have several, and in operators, which are saved."""


class SequenceEstimator(Estimator, SequencePredictor):
    """An estimator that learns from sequences of symbols and predicts them.

    Attributes:
        filter_: what predicts.
        n_sequences_, n_symbols_: how much it learned from.
    """

    task = "sequences"

    filter_: Filter
    n_sequences_: int
    n_symbols_: int

    @abstractmethod
    def fit(self, corpus: Corpus[Sequence[str]], y: None = None) -> Self:
        """Learn from sequences of symbols."""

    def _filter(self) -> Filter:
        self.check_is_fitted()
        return self.filter_


class HMM(SequenceEstimator):
    """A hidden Markov model in the form of observable operators, by moments of n-grams.

    The default (``algorithm="regression"``) is described in :mod:`spectralnlp.estimators.hmm.regression`,
    ``preset=tutorial`` is Hsu, Kakade and Zhang (2009): :mod:`spectralnlp.estimators.hmm.hkz`. What makes
    predictions distributions is described in :mod:`spectralnlp.inference.chains.filtering`.

    Args:
        n_states: m; numbers in a state. Lowered, with a warning, where the data has fewer directions.
        algorithm: ``regression`` or ``hkz``.
        history: regression: symbols from which the future is predicted.
        target: regression: symbols from which what follows is predicted; history + 1 is consistent.
        backoff: regression: κ, occurrences that the shorter history counts for.
        ridge: regression: penalty, in square roots of the number of symbols; a coordinate weighs that number
            times its squared correlation.
        damping: regression: occurrences added to all counts before the CCA divides by their roots.
        leave_one_out: regression: whether states that are regressed upon do without the symbol that follows.
        operator_count: regression: occurrences from which on a symbol has an operator of its own; after rarer
            ones the state is the mean one.
        whitening: hkz: divide P21 by the square roots of its margins.
        triples: hkz: ``initial`` for the first three symbols of each sequence, ``all`` for any three.
        floor: weight of the symbols' frequencies in every prediction.
        tolerance: negative probability that a prediction may have before its state is shrunk to the mean;
            null for any.
        max_symbols: how many symbols are told apart, the most frequent first.
        min_count: how often a symbol occurs to be told apart.
        random_state: seed of the SVD, where there are more than 512 symbols.

    Attributes:
        operators_: the :class:`~spectralnlp.parameters.ObservableOperators`.
        singular_values_: float64 (n_states,); of P21, or canonical correlations where it was whitened.
    """

    kind = "spectral"
    change_of_mind = "exact"
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

    def __init__(
        self,
        n_states: int = 60,
        algorithm: Literal["regression", "hkz"] = "regression",
        history: int = 2,
        target: int = 3,
        backoff: float = 10.0,
        ridge: float = 4.0,
        damping: float = 60.0,
        leave_one_out: bool = True,
        operator_count: int = 50,
        whitening: bool = True,
        triples: Literal["initial", "all"] = "all",
        floor: float = 0.02,
        tolerance: float | None = 0.2,
        max_symbols: int = 50_000,
        min_count: int = 1,
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.algorithm = algorithm
        self.history = history
        self.target = target
        self.backoff = backoff
        self.ridge = ridge
        self.damping = damping
        self.leave_one_out = leave_one_out
        self.operator_count = operator_count
        self.whitening = whitening
        self.triples = triples
        self.floor = floor
        self.tolerance = tolerance
        self.max_symbols = max_symbols
        self.min_count = min_count
        self.random_state = random_state

    def fit(self, corpus: Corpus[Sequence[str]], y: None = None) -> Self:
        """Count, decompose, solve.

        Args:
            corpus: sequences of symbols.
            y: ignored.

        Raises:
            InputError: there are no symbols.
            ConfigError: a setting is out of its range.
        """
        self._check()
        order, first = self._grams()
        with fit_pass("symbols"):
            seen = count_symbols(corpus)
            self._check_room(seen)
        with fit_pass("n-grams"):
            vocabulary = seen.most_frequent(self.max_symbols, self.min_count)
            counts = count_ngrams(corpus, vocabulary, order, first)
        self.solve(counts)
        return self

    def no_moments(self, corpus: Corpus[Sequence[str]]) -> OpenNGramCounts:
        """Counts of n-grams over all symbols, for those that are told apart change with the data."""
        self._check()
        return OpenNGramCounts(*self._grams())

    def solve(self, counts: NGramCounts | OpenNGramCounts) -> None:
        """Set the fitted attributes from counts."""
        if isinstance(counts, OpenNGramCounts):
            counts = counts.within(self.max_symbols, self.min_count)
        with fit_pass("operators"), one_blas_thread():
            self._solve(counts)

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

    def _check_room(self, seen: WordCounts) -> None:
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

    def _check(self) -> None:
        for name, least in (("n_states", 1), ("history", 1), ("target", 1), ("max_symbols", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"HMM.{name} is at least {least}, not {getattr(self, name)}")
        for name in ("backoff", "ridge", "damping", "floor", "tolerance"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigError(f"HMM.{name} is not negative, and {value} is")


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
