"""Learn hidden Markov models by the spectral algorithm of Hsu, Kakade and Zhang, as published.

Source: Hsu, Kakade and Zhang 2009, *A spectral algorithm for learning hidden Markov models*.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from spectralnlp.estimators.hmm.ngrams import NGramTable
from spectralnlp.estimators.hmm.solve import PredictionSettings
from spectralnlp.linalg import randomized_svd
from spectralnlp.linalg.rank import Spectrum, sampling_noise, usable_rank
from spectralnlp.parameters import Floats, ObservableOperators

# Largest number of symbols for which the SVD is exact rather than randomised.
DENSE = 512


def solve_hkz(
    table: NGramTable,
    prediction: PredictionSettings,
    n_states: int,
    *,
    all_triples: bool,
    whitening: bool,
    random_state: int,
) -> tuple[ObservableOperators, Spectrum]:
    """Learn a hidden Markov model by the algorithm LearnHMM (Hsu, Kakade and Zhang 2009, section 4).

    The matrices P3x1 of trigram probabilities are used only in products, and never stored.

    Args:
        table: trigrams of the first three symbols of each sequence, as published, or of all symbols.
        prediction: symbols, and settings that turn predictions into probabilities.
        n_states: dimension of the state, m in the paper.
        all_triples: estimate P21, the matrix of bigram probabilities, from all pairs of adjacent symbols.
            This is exact only for chains that start in their stationary distribution. If False, P21 and the
            symbol probabilities P1 are marginals of the same trigrams as P3x1, as published.
        whitening: divide P21 by the square roots of its marginals before the SVD, and divide the singular
            vectors by the same square roots; the published algorithm does neither.
        random_state: seed of the SVD, which is randomised for many symbols.

    Returns:
        The model, with an operator for every symbol; and the singular values of P21, whitened if requested.
    """
    older, old, new = table.grams.T
    weights, V = table.weights, table.boundary
    has_two, has_three = old != V, older != V
    rows, columns, paired = (new, old, has_two) if all_triples else (old, older, has_three)
    pairs = sp.csr_matrix((weights[paired], (rows[paired], columns[paired])), shape=(V, V))
    n_pairs = float(pairs.sum())
    P21 = pairs * (1 / max(n_pairs, np.finfo(float).tiny))
    P1 = first = np.asarray(P21.sum(axis=0)).ravel()
    if all_triples:
        starts = np.bincount(new[~has_two], weights[~has_two], minlength=V)
        first = starts / starts.sum()

    left_scale = right_scale = np.ones(V)
    margins = [np.asarray(P21.sum(axis=axis)).ravel() for axis in (1, 0)]
    if whitening:
        left_scale, right_scale = map(_inverse_root, margins)
    noise = sampling_noise(margins[0] * left_scale**2, margins[1] * right_scale**2, n_pairs)
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
    model = ObservableOperators(
        symbols=prediction.symbols,
        initial=_scaled(b1, b_inf, b1),
        normaliser=b_inf,
        stationary=stationary,
        emission=emission,
        operators=operators,
        operator_index=np.arange(V, dtype=np.int32),
        arrival=arrival,
        base=prediction.base,
        floor=prediction.floor,
        tolerance=prediction.tolerance,
    )
    return model, Spectrum(sigma, noise)


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
    """Scale a state so that the probabilities of all next symbols sum to one.

    Args:
        state: float64 (k,); the state.
        normaliser: float64 (k,); its product with a state is the sum of the probabilities (b∞ in the paper).
        otherwise: result if the sum is not positive.
    """
    total = normaliser @ state
    return state / total if total > 1e-12 else otherwise
