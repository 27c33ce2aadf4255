"""Base class of sequence models, with their common methods: scores, predictions, states and samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.inference.chains.filtering import Filter, run_sequences
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import Symbol, each_row, items_of, symbol_names


class SequencePredictor(ABC):
    """A sequence model, which gives likelihoods, next-symbol distributions, states and samples.

    A symbol that is not in `symbols` is treated as the last of them, which stands for all unknown symbols.
    A sequence is a list of symbols of any length; the model does not predict where sequences end. A symbol is
    a string, an integer or a Boolean; 1, True and "1" are three symbols. Any other symbol, such as a float or
    a missing value, is an InputError, which names its position.

    Examples:
        >>> from spectralnlp.estimators.hmm import HMM, SequencePredictor
        >>> model: SequencePredictor = HMM(n_states=1).fit([["a", "b"], ["b", "a"]])
        >>> model.transform(["a", "b"]).shape[0]
        2
    """

    @abstractmethod
    def _filter(self) -> Filter:
        """Return the model's filter: the object that computes states and predicts the next symbol."""

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The V known symbols, in the order of `predict_proba`'s columns."""
        return self._filter().symbols

    def encode(self, sequence: Sequence[Symbol]) -> Ints:
        """Return the id of each symbol of a sequence, int32 (n,).

        Raises:
            InputError: the sequence is one string, not a list of symbols, or holds something else.
        """
        return _encode(self._filter(), sequence)

    def score(self, sequences: Iterable[Sequence[Symbol]]) -> Floats:
        """Return the natural log-probability of each sequence, float64 (n_sequences,).

        The probabilities of all sequences of the same length sum to one.

        Raises:
            InputError: a sequence is not a list of symbols; the message has its number, from 1.
        """
        filter_ = self._filter()
        listed = items_of(sequences, "sequences are expected", hint="give lists of symbols", rows=True)
        encoded = list(each_row(partial(_encode, filter_), listed))
        logarithms = np.zeros(len(encoded))

        def add(which: NDArray[np.int64], _: int, p: Floats, __: Floats, symbols: Ints) -> None:
            logarithms[which] += np.log(p[np.arange(len(which)), symbols])

        with np.errstate(divide="ignore"):  # symbols that a model without a floor excludes are -inf
            run_sequences(filter_, encoded, add)
        return logarithms

    def predict_proba(self, sequence: Sequence[Symbol]) -> Floats:
        """Return the distribution of each symbol given the symbols before it, and of the next symbol.

        Returns:
            float64 (n + 1, V); nonnegative, rows sum to one.
        """
        filter_ = self._filter()
        states, rows = filter_.start(1), []
        for symbol in [*_encode(filter_, sequence).tolist(), None]:
            p, states = filter_.predict(states)
            rows.append(p[0])
            if symbol is not None:
                states = filter_.update(states, np.array([symbol], np.int32))
        return np.array(rows)

    def predict(self, history: Sequence[Symbol], *, steps: int = 1) -> Floats:
        """Return the distribution of each of the next ``steps`` symbols, given the symbols in ``history``.

        At each step the state becomes its expectation over the next symbol. With observable operators B_x,
        this is the product of Σ_x B_x and the state, if no prediction is negative.

        Args:
            history: the symbols so far.
            steps: number of symbols to predict.

        Returns:
            float64 (steps, V).

        Raises:
            ConfigError: ``steps`` is less than 1.
        """
        if steps < 1:
            raise ConfigError(f"cannot predict {steps} steps ahead", hint="give `steps` of 1 or more")
        filter_ = self._filter()
        states, rows = filter_.start(1), []
        for symbol in _encode(filter_, history):
            _, states = filter_.predict(states)
            states = filter_.update(states, np.array([symbol], np.int32))
        every = np.arange(len(filter_.symbols), dtype=np.int32)
        for _ in range(steps):
            p, states = filter_.predict(states)
            rows.append(p[0])
            states = p @ filter_.update(np.repeat(states, len(every), axis=0), every)
        return np.array(rows)

    def transform(self, sequence: Sequence[Symbol]) -> Floats:
        """Return the state after each symbol, float64 (n, k): vectors of tokens in context (eigentokens)."""
        filter_ = self._filter()
        encoded = _encode(filter_, sequence)
        states, rows = filter_.start(1), np.empty((len(encoded), filter_.width))
        for position, symbol in enumerate(encoded):
            _, states = filter_.predict(states)
            states = filter_.update(states, np.array([symbol], np.int32))
            rows[position] = states[0, : filter_.width]
        return rows

    def sample(self, n_sequences: int = 1, *, length: int = 20, random_state: int = 0) -> list[list[Symbol]]:
        """Draw sequences from the model.

        Args:
            n_sequences: number of sequences.
            length: number of symbols of each sequence.
            random_state: seed of the random numbers.

        Raises:
            ConfigError: ``n_sequences`` or ``length`` is negative.
        """
        if n_sequences < 0 or length < 0:
            raise ConfigError("cannot draw a negative number of sequences or symbols")
        filter_, rng = self._filter(), np.random.default_rng(random_state)
        states = filter_.start(n_sequences)
        drawn = np.empty((n_sequences, length), np.int32)
        for position in range(length):
            p, states = filter_.predict(states)
            below = p.cumsum(axis=1) < rng.random(n_sequences)[:, None]
            drawn[:, position] = np.minimum(below.sum(axis=1), len(filter_.symbols) - 1)
            states = filter_.update(states, np.ascontiguousarray(drawn[:, position]))
        return [[filter_.symbols[symbol] for symbol in row] for row in drawn]


def _encode(filter_: Filter, sequence: Sequence[Symbol]) -> Ints:
    index, unknown = filter_.symbol_index, len(filter_.symbols) - 1
    return np.array([index.get(name, unknown) for name in symbol_names(sequence)], np.int32)
