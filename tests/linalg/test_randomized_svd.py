from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.linalg import randomized_svd

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]


def svd(matrix: np.ndarray, rank: int, **options: int) -> Triplets:
    return randomized_svd(lambda x: matrix @ x, lambda x: matrix.T @ x, matrix.shape, rank, **options)


def with_spectrum(m: int, n: int, sigma: list[float], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(rng.standard_normal((m, len(sigma))))[0]
    v = np.linalg.qr(rng.standard_normal((n, len(sigma))))[0]
    return u * sigma @ v.T


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (50, 50)])
def test_the_leading_triplets_are_numpys(shape: tuple[int, int]) -> None:
    matrix = with_spectrum(*shape, [0.7**i for i in range(30)])
    u, sigma, v = svd(matrix, 6)
    their_u, their_sigma, their_vt = np.linalg.svd(matrix)
    np.testing.assert_allclose(sigma, their_sigma[:6], rtol=1e-8)
    np.testing.assert_allclose(np.abs((u * their_u[:, :6]).sum(axis=0)), 1, rtol=1e-6)
    np.testing.assert_allclose(np.abs((v * their_vt[:6].T).sum(axis=0)), 1, rtol=1e-6)
    np.testing.assert_allclose(u * sigma @ v.T, their_u[:, :6] * their_sigma[:6] @ their_vt[:6], atol=1e-6)


def test_a_flat_spectrum_is_found_nearly() -> None:
    matrix = np.random.default_rng(0).standard_normal((200, 120))
    _, sigma, _ = svd(matrix, 10)
    expected = np.linalg.svd(matrix, compute_uv=False)[:10]
    np.testing.assert_allclose(sigma, expected, rtol=0.05)
    assert (sigma <= expected + 1e-9).all()


@given(m=st.integers(1, 12), n=st.integers(1, 12), rank=st.integers(1, 15), seed=st.integers(0, 1000))
def test_shapes_order_orthonormality_and_signs(m: int, n: int, rank: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).standard_normal((m, n))
    u, sigma, v = svd(matrix, rank)
    r = min(rank, m, n)
    assert (u.shape, sigma.shape, v.shape) == ((m, r), (r,), (n, r))
    assert (np.diff(sigma) <= 1e-12).all()
    np.testing.assert_allclose(u.T @ u, np.eye(r), atol=1e-10)
    np.testing.assert_allclose(v.T @ v, np.eye(r), atol=1e-10)
    assert (u[np.abs(u).argmax(axis=0), np.arange(r)] > 0).all()
    # The matrix is no larger than the oversampled sketch, so that the result is exact.
    np.testing.assert_allclose(sigma, np.linalg.svd(matrix, compute_uv=False)[:r], atol=1e-9)


def test_signs_do_not_depend_on_the_seed() -> None:
    matrix = with_spectrum(30, 20, [5.0, 3.0, 2.0, 1.0])
    first, second = svd(matrix, 3, random_state=0), svd(matrix, 3, random_state=99)
    for ours, theirs in zip(first, second, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    again = svd(matrix, 3, random_state=0)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))


def test_a_rank_that_is_not_there_comes_back_as_zeros() -> None:
    matrix = with_spectrum(30, 20, [4.0, 1.0])
    u, sigma, v = svd(matrix, 5)
    np.testing.assert_allclose(sigma, [4, 1, 0, 0, 0], atol=1e-10)
    assert np.isfinite(u).all()
    assert np.isfinite(v).all()
    np.testing.assert_allclose(u * sigma @ v.T, matrix, atol=1e-9)


def test_nothing_but_zeros() -> None:
    u, sigma, v = svd(np.zeros((7, 5)), 3)
    assert sigma.tolist() == [0, 0, 0]
    assert np.isfinite(u).all()
    assert np.isfinite(v).all()


@pytest.mark.parametrize("shape", [(0, 0), (4, 0), (0, 4)])
def test_a_matrix_without_entries(shape: tuple[int, int]) -> None:
    u, sigma, v = svd(np.zeros(shape), 3)
    assert (u.shape, sigma.shape, v.shape) == ((shape[0], 0), (0,), (shape[1], 0))
