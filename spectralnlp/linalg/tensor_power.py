"""Decompose symmetric third-order tensors into orthogonal components, by the tensor power method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tensor_power(
    tensor: Floats,
    n_components: int,
    *,
    restarts: int = 10,
    iterations: int = 20,
    random_state: int = 0,
) -> tuple[Floats, Floats]:
    """Decompose a symmetric tensor, T ≈ Σ λ_i v_i ⊗ v_i ⊗ v_i, by the robust tensor power method.

    Anandkumar et al. 2014, algorithm 1: for each term, iterate θ ← T(I, θ, θ)/‖T(I, θ, θ)‖ from several
    random starts, iterate further from the result with the largest T(θ, θ, θ), and subtract the term from T
    (deflation). The v_i are assumed to be nearly orthonormal.

    Args:
        tensor: float64 (k, k, k), symmetric.
        n_components: number of terms, at most k.
        restarts: number of random starts for each term.
        iterations: maximum number of iterations from each start, and again from the best result.
        random_state: seed of the random starts.

    Returns:
        λ (n,), in order of extraction, where n is the number of terms; and the unit vectors V (n, k), signed
        such that λ ≥ 0.

    Raises:
        ValueError: the tensor has an entry that is not finite.
    """
    k = tensor.shape[0]
    if not np.isfinite(tensor).all():
        raise ValueError("the tensor has entries that are not finite")
    flat = tensor.reshape(k * k, k).copy()
    rng = np.random.default_rng(random_state)
    values, vectors = np.zeros(min(n_components, k)), np.zeros((min(n_components, k), k))
    for i in range(len(values)):
        starts = rng.standard_normal((restarts, k))
        starts -= (starts @ vectors[:i].T) @ vectors[:i]  # orthogonal to the components extracted before
        starts = _iterate(flat, _unit(starts), iterations)
        scores = (_contract(flat, starts) * starts).sum(axis=1)
        best = _iterate(flat, starts[[int(scores.argmax())]], iterations)
        vectors[i] = best[0]
        values[i] = (_contract(flat, best) * best).sum()
        flat -= values[i] * np.outer(np.outer(best[0], best[0]).ravel(), best[0])
    return values, vectors


def _iterate(flat: Floats, starts: Floats, iterations: int) -> Floats:
    for _ in range(iterations):
        moved = _contract(flat, starts)
        still = np.linalg.norm(moved, axis=1) <= 1e-300
        moved[still] = starts[still]
        moved = _unit(moved)
        if np.abs(moved - starts).max() < 1e-12:
            return moved
        starts = moved
    return starts


def _contract(flat: Floats, theta: Floats) -> Floats:
    """Return the contraction T(I, θ, θ) of a symmetric tensor T for each of n vectors θ, float64 (n, k).

    Args:
        flat: float64 (k², k); T with its first two axes joined.
        theta: float64 (n, k); a vector θ per row.
    """
    n, k = theta.shape
    once = (flat @ theta.T).reshape(k, k, n)
    return np.einsum("ijn,nj->ni", once, theta, optimize=True)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
