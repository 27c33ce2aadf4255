from __future__ import annotations

import numpy as np
import pytest

from spectralnlp.linalg.tensor_power import tensor_power
from spectralnlp.linalg.whitening import whiten


def orthogonal(k: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((k, k)))[0]


def tensor_of(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("n,ni,nj,nk->ijk", values, vectors, vectors, vectors)


def test_an_orthogonal_tensor_is_taken_apart() -> None:
    values, vectors = np.array([5.0, 3.0, 2.5, 1.0]), orthogonal(6)[:4]
    found, rows = tensor_power(tensor_of(values, vectors), 4)
    order = np.argsort(-found)
    np.testing.assert_allclose(found[order], values, rtol=1e-9)
    np.testing.assert_allclose(rows[order], vectors, atol=1e-9)


def test_noise_moves_the_terms_as_far_as_it_is_large() -> None:
    values, vectors = np.array([3.0, 2.0, 1.5]), orthogonal(3)
    noise = np.random.default_rng(1).standard_normal((3, 3, 3))
    noise = sum(
        noise.transpose(p) for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    )
    for size in (1e-2, 1e-4):
        found, _ = tensor_power(tensor_of(values, vectors) + size * noise, 3)
        assert np.abs(np.sort(found)[::-1] - values).max() < 30 * size


def test_the_seed_decides_and_nothing_else() -> None:
    tensor = tensor_of(np.ones(3), orthogonal(3))
    first, again = tensor_power(tensor, 3, random_state=1), tensor_power(tensor, 3, random_state=1)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))


def test_a_zero_tensor_has_no_terms_and_nan_is_refused() -> None:
    values, vectors = tensor_power(np.zeros((3, 3, 3)), 2)
    assert not values.any()
    assert np.isfinite(vectors).all()
    with pytest.raises(ValueError, match="not finite"):
        tensor_power(np.full((2, 2, 2), np.nan), 1)


def test_whitening_makes_the_identity_and_finds_the_eigenvalues() -> None:
    basis = orthogonal(40)
    eigenvalues = np.zeros(40)
    eigenvalues[:6] = [4, 3, 2, -5, 1, 0.5]
    matrix = (basis * eigenvalues) @ basis.T
    W, back, found = whiten(lambda x: matrix @ x, 40, 4)
    np.testing.assert_allclose(found, [4, 3, 2, 1], rtol=1e-9)
    np.testing.assert_allclose(W.T @ matrix @ W, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(back, matrix @ W, atol=1e-9)


def test_whitening_keeps_only_what_is_positive() -> None:
    matrix = np.diag([2.0, 1.0, 0.0, 0.0, -3.0])
    W, _, found = whiten(lambda x: matrix @ x, 5, 4)
    assert W.shape == (5, 2)
    assert found.shape == (4,)
    zero = whiten(lambda x: 0 * x, 5, 2)[0]
    assert zero.shape == (5, 0)
