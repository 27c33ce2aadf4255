"""Compute topics from moments, by whitening and the tensor power method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spectralnlp.estimators.topics.triangle import SymmetricMatrix
from spectralnlp.linalg.tensor_power import tensor_power
from spectralnlp.linalg.whitening import whiten
from spectralnlp.parameters import Floats, TopicMixture

# Numbers of starts and of iterations of the tensor power method, which converges quadratically.
_RESTARTS, _ITERATIONS = 10, 20

# Pseudo-count of each word in each topic in the M-step, so that no probability is 0.
_SMOOTHING = 0.01


def whitening_of_pairs(
    first: Floats, pairs: SymmetricMatrix, alpha0: float, rank: int, *, scaling: bool, random_state: int
) -> tuple[Floats, Floats, Floats]:
    """Whiten the second moment M2 = E[x1 ⊗ x2] - α0/(α0 + 1) E[x1] ⊗ E[x1].

    Here x1 and x2 are one-hot vectors, of length V, of two words of a document; V is the size of the
    vocabulary. M2 is that of Anandkumar et al. 2014, theorem 3.5.

    Args:
        first: float64 (V,); E[x1].
        pairs: (V, V); E[x1 ⊗ x2].
        alpha0: concentration α0 of the Dirichlet prior.
        rank: maximum number of directions.
        scaling: choose the leading directions after division by the square roots of word probabilities, as
            in a CCA; W whitens M2 in either case.
        random_state: seed of the randomised SVD.

    Returns:
        The whitening matrix W, float64 (V, r); the product M2 W, float64 (V, r); and the r eigenvalues,
        descending.
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
    """First and second moments of words, and a matrix that whitens the second moment M2.

    Attributes:
        first: float64 (V,); E[x1], mean of the one-hot vectors of words.
        pairs: (V, V); E[x1 ⊗ x2], mean over pairs of words of a document.
        whitener: float64 (V, k); whitening matrix W.
        back: float64 (V, k); M2 W, which maps whitened vectors back.
    """

    first: Floats
    pairs: SymmetricMatrix
    whitener: Floats
    back: Floats


def third_moment(triples: Floats, whitened: Whitened, alpha0: float) -> Floats:
    """Return the whitened third moment of topics, M3(W, W, W), float64 (k, k, k).

    Args:
        triples: float64 (k, k, k); E[x1 ⊗ x2 ⊗ x3](W, W, W), the mean over triples of words of a document,
            projected by the whitening matrix W; see `TripleMoments`.
        whitened: first and second moments, and W.
        alpha0: concentration α0 of the Dirichlet prior, whose contribution to the triples is subtracted.
    """
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
    """Decompose the whitened third moment into topics.

    Let μ_i be the word distribution of topic i, and a_i its weight in the second moment
    M2 = Σ a_i μ_i ⊗ μ_i. Then the tensor has the eigenvalues λ_i = 2/((α0 + 2)√a_i) and the eigenvectors
    v_i = √a_i W⊤μ_i, where W is the whitening matrix.

    Args:
        tensor: float64 (k, k, k); the whitened third moment M3(W, W, W).
        back: float64 (V, k); the product M2 W.
        alpha0: concentration α0 of the Dirichlet prior; 0 for the single-topic model.
        random_state: seed of the tensor power method.

    Returns:
        The topics' weights, float64 (n,), descending and with sum 1; and their word distributions, float64
        (n, V). Topics that the decomposition did not determine are left out, so n ≤ k.
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
    """Estimate topics from expected counts of words: the M-step of EM.

    Args:
        topics: present topics, from which the counts were computed.
        counts: float64 (k, V); expected count of each word in each topic.
    """
    totals = counts.sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    smoothed = counts[order] + _SMOOTHING
    weights = (totals[order] + _SMOOTHING) / (totals + _SMOOTHING).sum()
    distributions = smoothed / smoothed.sum(axis=1, keepdims=True)
    return replace(topics, weights=weights, topics=distributions)
