"""The estimator ``hmm-em``: hidden Markov models by EM, from a spectral start or a random one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.estimator import IterativeEstimator, fit_pass
from spectralnlp.estimators.hmm.estimator import SequenceEstimator, symbol_distribution
from spectralnlp.estimators.hmm.ngrams import UNKNOWN, NGramCounts, chosen_symbols
from spectralnlp.estimators.hmm.states import RegressionOptions, future_coordinates, smoothed_states
from spectralnlp.estimators.hmm.sums import NGramTable, encode
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.forward_backward import HiddenFilter, expected_counts
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import Floats, HiddenMarkov
from spectralnlp.runtime import Batch, Corpus, Moments, accumulate

SAMPLE = 10_000
"""Tokens that k-means looks at; all others join the nearest cluster."""

BEFORE = 0.5
"""Weight of what was expected before a token, beside the token and what is expected after it."""

START = RegressionOptions(
    n_states=40, history=2, target=2, backoff=10.0, ridge=0.0, damping=1.0, operator_count=0,
    leave_one_out=False, random_state=0,
)  # fmt: skip
"""How states are made for clustering."""


class ExpectedTransitions(Moments[Sequence[str]]):
    """Expected counts of starts, transitions and emissions under a model: the E-step of EM.

    Args:
        vocabulary: names of the symbols, the last one for all others.
        initial, transition, emission: the model; see :class:`~spectralnlp.parameters.HiddenMarkov`.
    """

    def __init__(
        self, vocabulary: Sequence[str], initial: Floats, transition: Floats, emission: Floats
    ) -> None:
        self.model = HiddenMarkov(
            symbols=tuple(vocabulary), initial=initial, transition=transition, emission=emission
        )
        self.start = np.zeros_like(initial)
        self.moves = np.zeros_like(transition)
        self.emitted = np.zeros_like(emission)
        self.log_likelihood = np.zeros(1)

    def parameters(self) -> dict[str, Any]:
        """The model."""
        model = self.model
        arrays = {"initial": model.initial, "transition": model.transition, "emission": model.emission}
        return {"vocabulary": model.symbols, **arrays}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``start`` (k,), ``moves`` (k, k), ``emitted`` (V, k) and ``log_likelihood`` (1,): float64."""
        sums = {"start": self.start, "moves": self.moves, "emitted": self.emitted}
        return {**sums, "log_likelihood": self.log_likelihood}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Add sequences."""
        index, unknown = self.model.symbol_index, len(self.model.symbols) - 1
        symbols = [index.get(symbol, unknown) for sequence in batch for symbol in sequence]
        offsets = np.cumsum([0, *(len(sequence) for sequence in batch if len(sequence))])
        self.log_likelihood += expected_counts(
            self.model, np.array(symbols, np.int32), offsets, self.start, self.moves, self.emitted
        )


@dataclass(kw_only=True, eq=False, repr=False)
class HMMEM(SequenceEstimator, IterativeEstimator[Sequence[str]]):
    """A hidden Markov model by EM (Baum et al. 1970).

    The spectral start clusters tokens: each has the expected futures before it and after it and itself as
    coordinates (those of ``hmm``), k-means makes states of them, and the states are counted. EM then needs a
    few iterations, where from a random start it needs dozens and ends lower.

    Attributes:
        model_: the :class:`~spectralnlp.parameters.HiddenMarkov`.
        log_likelihoods_: of the training symbols before each iteration.
    """

    presets: ClassVar = {"random": {"start": "random", "iterations": 25}}

    n_states: Annotated[int, Ge(1), Doc("Hidden states.")] = 100
    iterations: Annotated[int, Ge(0), Doc("Of EM; 0 for the counted clusters themselves.")] = 5
    start: Annotated[Literal["spectral", "random"], Doc("``spectral`` or ``random``.")] = "spectral"
    smoothing: Annotated[
        float,
        Gt(0),
        Doc(
            "Pseudo-counts, of each transition and, by the symbols' frequencies, for all emissions of "
            "a state together."
        ),
    ] = 0.5
    max_symbols: Annotated[
        int,
        Ge(1),
        Doc("How many symbols are told apart, the most frequent first."),
    ] = 50_000
    min_count: Annotated[int, Ge(1), Doc("How often a symbol occurs to be told apart.")] = 1
    random_state: Annotated[int, Ge(0), Doc("Seed of k-means, or of the random start.")] = 0

    def learn(self, corpus: Corpus[Sequence[str]]) -> None:
        """Start, and iterate.

        Raises:
            InputError: there are no symbols.
        """
        with fit_pass("n-grams"):
            seen = accumulate(WordCounts(), corpus)
            vocabulary = chosen_symbols(seen, self.max_symbols, self.min_count)
            counts = accumulate(NGramCounts(vocabulary, order=4), corpus)
        table = counts.table()
        symbols = (*counts.vocabulary, UNKNOWN)
        base = symbol_distribution(table.frequencies)
        with fit_pass("start"):
            if self.start == "spectral":
                sums = spectral_start(table, self.n_states, self.random_state)
            else:
                sums = random_start(base, self.n_states, self.random_state)
            self.model_ = self._maximise(symbols, base, *sums)
        self.log_likelihoods_: list[float] = []
        for iteration in range(self.iterations):
            with fit_pass(f"EM {iteration + 1}"):
                model = self.model_
                expected = accumulate(
                    ExpectedTransitions(symbols, model.initial, model.transition, model.emission), corpus
                )
                self.log_likelihoods_.append(float(expected.log_likelihood[0]))
                self.model_ = self._maximise(symbols, base, expected.start, expected.moves, expected.emitted)
        self.filter_ = HiddenFilter(self.model_)
        self.n_sequences_, self.n_symbols_ = table.n_sequences(), int(table.weights.sum())

    def _maximise(
        self, symbols: tuple[str, ...], base: Floats, start: Floats, moves: Floats, emitted: Floats
    ) -> HiddenMarkov:
        """The M-step: relative frequencies, smoothed."""
        start, moves = start + self.smoothing, moves + self.smoothing
        emitted = emitted + self.smoothing * base[:, None]
        start, moves, emitted = (each / each.sum(axis=0) for each in (start, moves, emitted))
        return HiddenMarkov(symbols=symbols, initial=start, transition=moves, emission=emitted)


def spectral_start(table: NGramTable, n_states: int, random_state: int) -> tuple[Floats, Floats, Floats]:
    """Counts of starts, transitions and emissions of the clusters of tokens.

    Args:
        table: 4-grams: a token's cluster depends on the two symbols before it, so a transition on three.
        n_states: clusters.
        random_state: seed.

    Returns:
        (k,), (k, k) with (next state, state), and (V, k).
    """
    trigrams, token = np.unique(table.grams[:, 1:], axis=0, return_inverse=True)
    counts = np.bincount(token, table.weights).astype(np.float64)
    points = _points(NGramTable(trigrams, counts, table.boundary))
    rng = np.random.default_rng(random_state)
    drawn = rng.choice(len(points), size=SAMPLE, p=counts / counts.sum())
    _, centres = kmeans(points[drawn], n_states, random_state=random_state)
    k = len(centres)
    state = (points @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)

    emitted = np.zeros((table.boundary, k))
    np.add.at(emitted, (trigrams[:, -1], state), counts)
    first = trigrams[:, -2] == table.boundary
    start = np.bincount(state[first], counts[first], minlength=k).astype(np.float64)
    # The token before is the trigram of the first three symbols; it is there unless the sequence begins here.
    base = np.int64(table.boundary + 1)
    power = base ** np.arange(2, -1, -1)
    codes = trigrams.astype(np.int64) @ power
    order = np.argsort(codes)
    inner = table.grams[:, -2] != table.boundary
    previous = order[np.searchsorted(codes[order], table.grams[inner, :3].astype(np.int64) @ power)]
    moves = np.zeros((k, k))
    np.add.at(moves, (state[token[inner]], state[previous]), table.weights[inner])
    return start, moves, emitted


def _points(table: NGramTable) -> Floats:
    """Coordinates of the symbol of each trigram, of what is expected after it, and before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer directions than these are no fault of the user's
        future, sigma = future_coordinates(table, START)
    points = np.ones((len(table.grams), 1 + 3 * len(sigma)))
    codes = encode(table.grams, table.boundary + 1)
    for part in smoothed_states(table, future, START):
        newest, older, symbol = part.columns.T
        rows = np.searchsorted(codes, encode(np.column_stack([older, newest, symbol]), table.boundary + 1))
        own, after, before = _unit(future[symbol] * sigma), _unit(part.after), BEFORE * _unit(part.before)
        points[rows, 1:] = np.hstack([own, after, before])
    return points


def random_start(base: Floats, n_states: int, random_state: int) -> tuple[Floats, Floats, Floats]:
    """Pseudo-counts drawn at random: uniform starts, Dirichlet transitions, emissions around the mean."""
    rng = np.random.default_rng(random_state)
    emitted = base[:, None] * rng.exponential(size=(len(base), n_states))
    return np.ones(n_states), 100 * rng.dirichlet(np.ones(n_states), n_states).T, 100 * len(base) * emitted


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
