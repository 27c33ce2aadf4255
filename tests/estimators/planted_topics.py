"""Documents drawn from known topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PlantedTopics:
    """Attributes: alpha (k,), or the topics' weights in the single-topic model; topics (k, V)."""

    alpha: np.ndarray
    topics: np.ndarray

    @classmethod
    def random(cls, k: int = 4, V: int = 60, alpha0: float = 1.0, seed: int = 0) -> PlantedTopics:
        rng = np.random.default_rng(seed)
        weights = rng.dirichlet(np.full(k, 8.0))
        return cls(np.sort(weights)[::-1] * (alpha0 or 1.0), rng.dirichlet(np.full(V, 0.15), size=k))

    def documents(self, n: int, length: int, *, single: bool, seed: int = 1) -> list[list[str]]:
        rng = np.random.default_rng(seed)
        k, V = self.topics.shape
        out = []
        for _ in range(n):
            if single:
                mixture = np.eye(k)[rng.choice(k, p=self.alpha / self.alpha.sum())]
            else:
                mixture = rng.dirichlet(self.alpha)
            out.append([word_of(w) for w in rng.choice(V, size=length, p=mixture @ self.topics)])
        return out


def word_of(number: int) -> str:
    return f"word{number}"


def matched(found: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, float]:
    """Which found topic is which true one, greedily by L1 distance, and the mean distance."""
    distance = np.abs(found[:, None] - truth[None]).sum(axis=2)
    place, total = np.full(len(truth), -1), 0.0
    for _ in range(len(truth)):
        i, j = np.unravel_index(np.argmin(distance), distance.shape)
        total += distance[i, j]
        place[j] = i
        distance[i, :], distance[:, j] = np.inf, np.inf
    return place, total / len(truth)
