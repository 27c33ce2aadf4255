"""Topics from moments: whitening and the tensor power method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spectralnlp.estimators.topics.triangle import SymmetricMatrix
from spectralnlp.linalg.tensor_power import tensor_power
from spectralnlp.linalg.whitening import whiten
from spectralnlp.parameters import Floats, TopicMixture

# Starts of the tensor power method for each topic, and its iterations: it converges quadratically.
_RESTARTS, _ITERATIONS = 10, 20

# Occurrences of each word that each topic has before EM counts, so that no probability is 0.
_SMOOTHING = 0.01


def whitening_of_pairs(
    first: Floats, pairs: SymmetricMatrix, alpha0: float, rank: int, *, scaling: bool, random_state: int
) -> tuple[Floats, Floats, Floats]:
    """Return W and M2 W for M2 = E[x1 ⊗ x2] - α0/(α0 + 1) E[x1] ⊗ E[x1].

    This is the whitening of Anandkumar et al. 2014, theorem 3.5.
    With ``scaling`` words are first divided by the square roots of their probabilities, as in a CCA. That is
    the paper's whitening in other units, but other directions are kept.

    Returns:
        W (V, r), M2 W (V, r), and the eigenvalues.
    """
    scale = 1 / np.sqrt(first) if scaling else np.ones(len(first))
    mean = scale * first
    shift = alpha0 / (alpha0 + 1)

    def multiply(x: Floats) -> Floats:
        return scale[:, None] * (pairs @ (scale[:, None] * x)) - shift * np.outer(mean, mean @ x)

    W, back, eigenvalues = whiten(multiply, len(first), rank, random_state=random_state)
    return scale[:, None] * W, back / scale[:, None], eigenvalues


@dataclass(frozen=True, kw_only=True)
class Whitened:
    """Moments of first and second order, with the projection that whitens the second.

    Attributes:
        first: float64 (V,); E[x1].
        pairs: (V, V); E[x1 ⊗ x2].
        whitener: float64 (V, k); W.
        back: float64 (V, k); M2 W.
    """

    first: Floats
    pairs: SymmetricMatrix
    whitener: Floats
    back: Floats


def third_moment(triples: Floats, whitened: Whitened, alpha0: float) -> Floats:
    """Return M3(W, W, W), (k, k, k): the triples less what a Dirichlet prior of α0 puts there."""
    W = whitened.whitener
    mean = W.T @ whitened.first
    pair = W.T @ (whitened.pairs @ W)
    mixed = pair[:, :, None] * mean
    mixed = mixed + mixed.transpose(0, 2, 1) + mixed.transpose(2, 1, 0)
    cube = mean[:, None, None] * mean[:, None] * mean
    return triples - alpha0 / (alpha0 + 2) * mixed + 2 * alpha0**2 / ((alpha0 + 2) * (alpha0 + 1)) * cube


def topics_of_tensor(
    tensor: Floats, back: Floats, alpha0: float, *, random_state: int
) -> tuple[Floats, Floats]:
    """Return weights and word distributions of the topics.

    With M2 = Σ a_i μ_i ⊗ μ_i the eigenpairs are λ_i = 2/((α0 + 2)√a_i) and v_i = √a_i W⊤μ_i.

    Args:
        tensor: M3(W, W, W), (k, k, k).
        back: M2 W, (V, k).
        alpha0: α0; 0 for the single-topic model.
        random_state: seed of the tensor power method.

    Returns:
        float64 (k,), α_i/α0, the topics' probabilities; float64 (k, V), rows on the simplex.
    """
    values, vectors = tensor_power(
        tensor, len(tensor), restarts=_RESTARTS, iterations=_ITERATIONS, random_state=random_state
    )
    topics = np.maximum(vectors @ back.T, 0.0)  # (k, V), √a_i μ_i; negative entries are sampling error
    totals = topics.sum(axis=1)
    proper = (values > 0) & (totals > 0)
    topics = topics[proper] / totals[proper, None]
    weights = (2 / ((alpha0 + 2) * values[proper])) ** 2
    order = np.argsort(-weights, kind="stable")
    return weights[order] / weights.sum(), topics[order]


def reestimated(topics: TopicMixture, counts: Floats) -> TopicMixture:
    """Return topics of expected counts of words: the M-step of EM.

    Args:
        topics: those under which the counts were expected.
        counts: float64 (k, V).
    """
    totals = counts.sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    smoothed = counts[order] + _SMOOTHING
    weights = (totals[order] + _SMOOTHING) / (totals + _SMOOTHING).sum()
    distributions = smoothed / smoothed.sum(axis=1, keepdims=True)
    return replace(topics, weights=weights, topics=distributions)
