"""Hidden Markov models as published: Hsu, Kakade and Zhang 2009, *A spectral algorithm for learning HMMs*."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from spectralnlp.estimators.hmm.sums import NGramTable
from spectralnlp.linalg import randomized_svd
from spectralnlp.linalg.rank import usable_rank
from spectralnlp.parameters import Floats, ObservableOperators

DENSE = 512
"""Symbols up to which the SVD is exact."""


def solve_hkz(
    table: NGramTable,
    symbols: tuple[str, ...],
    n_states: int,
    *,
    whitening: bool,
    base: Floats,
    floor: float,
    tolerance: float,
    random_state: int = 0,
) -> tuple[ObservableOperators, Floats]:
    """The algorithm LearnHMM of section 4 of the paper; P3x1 is only ever seen between two projections.

    Args:
        table: trigrams of the first three symbols of each sequence, as published, or of all symbols.
        symbols: V names.
        n_states: m in the paper.
        whitening: divide P21 by the square roots of its margins before the SVD, and take the operators in
            that basis; the published algorithm does not.
        base: float64 (V,); see `ObservableOperators`.
        floor: its weight.
        tolerance: see `ObservableOperators`.
        random_state: seed of the SVD where there are many symbols.

    Returns:
        The operators, one for every symbol, and the singular values.
    """
    older, old, new = table.grams.T
    weights, V = table.weights, table.boundary
    has_two, has_three = old != V, older != V
    starts = np.bincount(new[~has_two], weights[~has_two], minlength=V)
    first = starts / starts.sum()
    pairs = sp.csr_matrix((weights[has_two], (new[has_two], old[has_two])), shape=(V, V))
    P21 = pairs * (1 / max(float(pairs.sum()), np.finfo(float).tiny))
    P1 = np.asarray(P21.sum(axis=0)).ravel()

    left_scale = right_scale = np.ones(V)
    if whitening:
        left_scale, right_scale = (_inverse_root(np.asarray(P21.sum(axis=axis)).ravel()) for axis in (1, 0))
    U, sigma, right = _svd(sp.diags(left_scale) @ P21 @ sp.diags(right_scale), n_states, random_state)
    rank = usable_rank(sigma, n_states, "n_states")
    U, sigma = left_scale[:, None] * U[:, :rank], sigma[:rank]
    right = right_scale[:, None] * right[:, :rank] / sigma  # (U⊤ P21)⁺

    b1 = U.T @ first
    b_inf = right.T @ P1
    operators = np.zeros((V, rank, rank))
    triples = np.flatnonzero(has_three)
    triples = triples[np.argsort(old[triples], kind="stable")]
    bounds = np.searchsorted(old[triples], np.arange(V + 1))
    total = max(weights[triples].sum(), np.finfo(float).tiny)
    for x in range(V):
        rows = triples[bounds[x] : bounds[x + 1]]
        operators[x] = (U[new[rows]] * (weights[rows] / total)[:, None]).T @ right[older[rows]]

    emission = b_inf @ operators
    stationary = _scaled(U.T @ P1, b_inf, U.T @ P1)
    arrival = np.array([_scaled(operator @ stationary, b_inf, stationary) for operator in operators])
    return ObservableOperators(
        symbols=symbols,
        initial=_scaled(b1, b_inf, b1),
        normaliser=b_inf,
        stationary=stationary,
        emission=emission,
        operators=operators,
        operator_index=np.arange(V, dtype=np.int32),
        arrival=arrival,
        base=base,
        floor=floor,
        tolerance=tolerance,
    ), sigma


def _inverse_root(margin: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(margin), out=np.zeros_like(margin), where=margin > 0)


def _svd(matrix: sp.csr_matrix, rank: int, random_state: int) -> tuple[Floats, Floats, Floats]:
    V = matrix.shape[0]
    if V <= DENSE:
        u, sigma, vt = np.linalg.svd(matrix.toarray())
        return u, sigma, vt.T
    transposed = matrix.T.tocsr()
    return randomized_svd(
        lambda x: matrix @ x, lambda x: transposed @ x, (V, V), rank, random_state=random_state
    )


def _scaled(state: Floats, normaliser: Floats, otherwise: Floats) -> Floats:
    """The state scaled so that its probabilities sum to one; another where they sum to nothing."""
    total = normaliser @ state
    return state / total if total > 1e-12 else otherwise
