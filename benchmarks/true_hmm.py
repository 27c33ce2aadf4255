"""A random hidden Markov model with known parameters: exact n-grams, the forward algorithm, samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from spectralnlp.estimators.hmm.ngrams import NGramTable


@dataclass(frozen=True)
class TrueHMM:
    """Started in any distribution, unless `stationary`.

    Attributes:
        initial: (m,).
        transition: (m, m), column-stochastic: p(next state, state).
        emission: (V, m): p(symbol | state).
    """

    initial: np.ndarray
    transition: np.ndarray
    emission: np.ndarray

    @classmethod
    def random(cls, m: int = 3, V: int = 5, seed: int = 0, distance: float = 1.0) -> TrueHMM:
        """A random model; ``distance``, in [0, 1], is a factor of the differences between emissions."""
        rng = np.random.default_rng(seed)
        transition = rng.dirichlet(np.full(m, 0.5), size=m).T
        emission = rng.dirichlet(np.full(V, 0.5), size=m).T
        emission = emission.mean(axis=1, keepdims=True) * (1 - distance) + distance * emission
        return cls(rng.dirichlet(np.ones(m)), transition, emission)

    def stationary(self) -> TrueHMM:
        """The same model, started in its stationary distribution."""
        values, vectors = np.linalg.eig(self.transition)
        initial = np.real(vectors[:, np.argmax(values.real)])
        return replace(self, initial=initial / initial.sum())

    def log_probability(self, sequence: list[int]) -> float:
        """The forward algorithm."""
        state, logarithm = self.initial, 0.0
        for x in sequence:
            state = self.emission[x] * state
            logarithm += np.log(state.sum())
            state = self.transition @ (state / state.sum())
        return float(logarithm)

    def next_symbols(self, sequence: list[int]) -> np.ndarray:
        state = self.initial
        for x in sequence:
            state = self.transition @ (self.emission[x] * state)
            state = state / state.sum()
        return self.emission @ state

    def ngrams(self, order: int, length: int) -> NGramTable:
        """True probabilities of the n-grams at each position of a sequence of that length."""
        V = len(self.emission)
        weights: dict[tuple[int, ...], float] = {}
        for position in range(1, length + 1):
            known = min(position, order)
            begun = np.linalg.matrix_power(self.transition, position - known) @ self.initial
            for gram in product(range(V), repeat=known):
                state = begun
                probability = 1.0
                for x in gram:
                    state = self.emission[x] * state
                    probability *= state.sum()
                    state = self.transition @ (state / max(state.sum(), 1e-300))
                padded = (V,) * (order - known) + gram
                weights[padded] = weights.get(padded, 0.0) + probability
        grams = sorted(weights)
        return NGramTable(np.array(grams, np.int32), np.array([weights[gram] for gram in grams]), V)

    def sample(self, n_sequences: int, length: int, seed: int) -> list[list[str]]:
        rng = np.random.default_rng(seed)
        sequences = np.empty((n_sequences, length), int)
        states = rng.choice(len(self.initial), size=n_sequences, p=self.initial)
        for position in range(length):
            sequences[:, position] = _draw(rng, self.emission[:, states])
            states = _draw(rng, self.transition[:, states])
        return [[f"s{x}" for x in row] for row in sequences]


def _draw(rng: np.random.Generator, columns: np.ndarray) -> np.ndarray:
    return np.minimum((columns.cumsum(axis=0) < rng.random(columns.shape[1])).sum(axis=0), len(columns) - 1)
