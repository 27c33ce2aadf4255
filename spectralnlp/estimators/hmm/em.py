"""The ``hmm-em`` estimator: hidden Markov models by EM, with spectral or random initialisation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.estimator import IterativeEstimator
from spectralnlp.estimators.hmm.estimator import HMM, MaxSymbols, MinCount, SequenceEstimator
from spectralnlp.estimators.hmm.moments import (
    UNKNOWN,
    ExpectedTransitions,
    NGramCounts,
    StateSums,
    choose_symbols,
)
from spectralnlp.estimators.hmm.ngrams import NGramTable, encode
from spectralnlp.estimators.hmm.solve import symbol_distribution
from spectralnlp.estimators.hmm.states import RegressionOptions, future_coordinates, smoothed_states
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.inference.chains.forward_backward import HiddenFilter
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import Floats, HiddenMarkov
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, Symbol, accumulate, symbols_named

# Number of tokens that k-means clusters; all other tokens join the nearest cluster.
SAMPLE = 10_000

# Weight of the expected future before a token; the token itself and the expected future after it have weight
# 1.
BEFORE = 0.5

# Pseudo-count of each initial state and each transition, and total pseudo-count of the emissions of a state,
# shared by the symbols' frequencies; it keeps every probability positive.
SMOOTHING = 0.5

# Options of the state vectors that are clustered.
CLUSTERED_STATES = RegressionOptions(
    n_states=40,
    history=2,
    target=2,
    ridge=0.0,
    damping=1.0,
    operator_count=0,
    leave_one_out=False,
    random_state=0,
)


@dataclass(kw_only=True, eq=False, repr=False)
class HMMEM(SequenceEstimator, IterativeEstimator[Sequence[Symbol]]):
    """Hidden Markov model learned by EM (Baum et al. 1970).

    The spectral initialisation represents each token by a vector, which concatenates the vector of its symbol
    with the spectral states after and before the token, as computed by ``hmm``. The vectors are clustered
    with k-means, and counts of the clusters initialise the hidden states. EM then needs only a few
    iterations; from a random start it needs dozens and reaches a lower likelihood.

    Attributes:
        model_: the learned :class:`~spectralnlp.parameters.HiddenMarkov`.
        log_likelihoods_: natural log likelihood of the training sequences before each iteration.

    Examples:
        >>> from spectralnlp.estimators.hmm import HMMEM
        >>> model = HMMEM(n_states=2, iterations=2).fit([["tick", "tock", "tick", "tock"]] * 20)
        >>> model.score([["tick", "tock"]]).shape
        (1,)
    """

    presets: ClassVar = {"random": {"start": "random", "iterations": 25}}

    n_states: Annotated[int, Ge(1), Le(1_000_000), Doc("Number of hidden states.")] = field(
        default=100, kw_only=False
    )
    iterations: Annotated[int, Ge(0), Le(1000), Doc("Number of EM iterations; 0 for the initial model.")] = 5
    start: Annotated[Literal["spectral", "random"], Doc("Initialisation: ``spectral`` or ``random``.")] = (
        "spectral"
    )
    max_symbols: MaxSymbols = HMM.max_symbols
    min_count: MinCount = HMM.min_count
    random_state: Annotated[int, Ge(0), Doc("Seed of k-means or of the random initialisation.")] = 0

    def learn(self, corpus: Corpus[Sequence[Symbol]]) -> None:
        """Initialise the model from clusters or at random, and run EM.

        Raises:
            InputError: there are no symbols.
        """
        with fit_pass("n-grams"):
            symbol_counts = accumulate(WordCounts(), corpus)
            vocabulary = choose_symbols(symbol_counts, self.max_symbols, self.min_count)
            table = accumulate(NGramCounts(4, vocabulary=vocabulary), corpus).table()
        symbols = (*symbols_named(vocabulary), UNKNOWN)
        base = symbol_distribution(table.frequencies)
        with fit_pass("start"):
            if self.start == "spectral":
                sums = spectral_start(table, self.n_states, self.random_state)
            else:
                sums = random_start(base, self.n_states, self.random_state)
            self.model_ = self._maximise(symbols, base, sums)
        self.log_likelihoods_: list[float] = []
        for iteration in range(self.iterations):
            with fit_pass(f"EM {iteration + 1}"):
                model = self.model_
                empty = ExpectedTransitions(
                    symbols, initial=model.initial, transition=model.transition, emission=model.emission
                )
                expected = accumulate(empty, corpus)
                self.log_likelihoods_.append(float(expected.log_likelihood[0]))
                self.model_ = self._maximise(symbols, base, expected.sums)
        self.filter_ = HiddenFilter(self.model_)
        self.n_sequences_, self.n_symbols_ = table.n_sequences(), int(table.weights.sum())

    def _maximise(self, symbols: tuple[Symbol, ...], base: Floats, sums: StateSums) -> HiddenMarkov:
        """Compute the M-step: estimate the model by smoothed relative frequencies of expected counts.

        Args:
            symbols: the symbols.
            base: float64 (V,); distribution over symbols with which emissions are smoothed.
            sums: expected counts.
        """
        smoothed = (
            sums.start + SMOOTHING,
            sums.moves + SMOOTHING,
            sums.emitted + SMOOTHING * base[:, None],
        )
        initial, transition, emission = (each / each.sum(axis=0) for each in smoothed)
        return HiddenMarkov(symbols=symbols, initial=initial, transition=transition, emission=emission)


def spectral_start(table: NGramTable, n_states: int, random_state: int) -> StateSums:
    """Cluster tokens, and return the counts of initial states, transitions and emissions of the clusters.

    Args:
        table: 4-grams with their counts. A token's cluster depends on the token and on the two symbols before
            it, so a transition between the clusters of two adjacent tokens depends on four symbols.
        n_states: number of clusters.
        random_state: seed of k-means.
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
    # The previous token is that of the trigram of the first three symbols, unless the sequence begins here.
    base = np.int64(table.boundary + 1)
    power = base ** np.arange(2, -1, -1)
    codes = trigrams.astype(np.int64) @ power
    order = np.argsort(codes)
    inner = table.grams[:, -2] != table.boundary
    previous = order[np.searchsorted(codes[order], table.grams[inner, :3].astype(np.int64) @ power)]
    moves = np.zeros((k, k))
    np.add.at(moves, (state[token[inner]], state[previous]), table.weights[inner])
    return StateSums(start=start, moves=moves, emitted=emitted)


def _points(table: NGramTable) -> Floats:
    """Return the vectors by which tokens are clustered, float64 (n_trigrams, 1 + 3 k).

    The vector of a trigram represents its last symbol in the context of the first two. It consists of a
    constant 1, the coordinates of the last symbol, the state after it, and the state before it (k numbers
    each). A state is the expected future of a history (`smoothed_states`).

    Args:
        table: distinct trigrams with their counts.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user did not choose this number of directions
        future, (sigma, _) = future_coordinates(table, CLUSTERED_STATES)
    points = np.ones((len(table.grams), 1 + 3 * len(sigma)))
    codes = encode(table.grams, table.boundary + 1)
    for part in smoothed_states(table, future, CLUSTERED_STATES):
        newest, older, symbol = part.columns.T
        rows = np.searchsorted(codes, encode(np.column_stack([older, newest, symbol]), table.boundary + 1))
        token, after, before = _unit(future[symbol] * sigma), _unit(part.after), BEFORE * _unit(part.before)
        points[rows, 1:] = np.hstack([token, after, before])
    return points


def random_start(base: Floats, n_states: int, random_state: int) -> StateSums:
    """Draw random counts to initialise EM.

    Initial states are uniform, transitions have a Dirichlet distribution, and emissions vary around ``base``.

    Args:
        base: float64 (V,); distribution over symbols.
        n_states: number of states.
        random_state: seed.
    """
    rng = np.random.default_rng(random_state)
    emitted = base[:, None] * rng.exponential(size=(len(base), n_states))
    moves = 100 * rng.dirichlet(np.ones(n_states), n_states).T
    return StateSums(start=np.ones(n_states), moves=moves, emitted=100 * len(base) * emitted)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
