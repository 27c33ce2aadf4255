"""The randomised decomposition of sparse matrices, with ARPACK as the exact check; least squares; k-means."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import svds

from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.linalg.solve import conjugate_gradients, ridge
from spectralnlp.linalg.svd import orthonormal, sparse_svd


def sparse(m: int = 400, n: int = 300, kind: type = np.float64) -> scipy.sparse.csr_array:
    """A thin matrix with a decaying spectrum."""
    rng = np.random.default_rng(0)
    scale = scipy.sparse.diags_array(0.9 ** np.arange(n))
    return (scipy.sparse.random_array((m, n), density=0.05, rng=rng) @ scale).astype(kind).tocsr()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_leading_triplets_are_arpacks(kind: type) -> None:
    matrix = sparse(kind=kind)
    u, sigma, v = sparse_svd(matrix, 8)
    their_u, theirs, _ = svds(matrix.astype(np.float64), k=8)
    np.testing.assert_allclose(sigma, theirs[::-1], rtol=1e-4)
    assert u.dtype == sigma.dtype == v.dtype == kind
    overlap = np.linalg.svd(u.T @ their_u, compute_uv=False)
    np.testing.assert_allclose(overlap, 1, atol=1e-3)
    np.testing.assert_allclose(matrix @ v, u * sigma, atol=1e-3)
    assert (u[np.abs(u).argmax(axis=0), np.arange(8)] > 0).all()


def test_a_matrix_of_low_rank_gives_zeros_and_orthonormal_vectors() -> None:
    rng = np.random.default_rng(0)
    low = (rng.standard_normal((200, 3)) @ rng.standard_normal((3, 50))).astype(np.float32)
    u, sigma, _ = sparse_svd(scipy.sparse.csr_array(low), 6)
    assert (sigma[3:] < 1e-4 * sigma[0]).all()
    np.testing.assert_allclose(u.T @ u, np.eye(6), atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (3, 2)])
def test_small_matrices(shape: tuple[int, int]) -> None:
    u, sigma, v = sparse_svd(scipy.sparse.csr_array(np.ones(shape)), 4)
    assert u.shape == (shape[0], min(shape))
    assert v.shape == (shape[1], min(shape))
    assert len(sigma) == min(shape)


def test_bases_are_orthonormal_whatever_the_columns() -> None:
    rng = np.random.default_rng(0)
    tall = rng.standard_normal((500, 5))
    for x in (tall, np.column_stack([tall, tall[:, 0]]), tall * [1, 1e-3, 1e-6, 1e-9, 1]):
        basis = orthonormal(x)
        np.testing.assert_allclose(basis.T @ basis, np.eye(x.shape[1]), atol=1e-10)
        np.testing.assert_allclose(basis @ (basis.T @ x), x, atol=1e-10)


def test_ridge_is_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    x, y, w = sparse(60, 20).toarray(), rng.standard_normal((60, 3)), rng.random(60)
    penalty = 0.3 * ((w[:, None] * x**2).sum(axis=0)).mean()
    expected = np.linalg.solve(x.T @ (w[:, None] * x) + penalty * np.eye(20), x.T @ (w[:, None] * y))
    for features in (x, scipy.sparse.csr_array(x)):
        np.testing.assert_allclose(ridge(features, y, w, 0.3, tolerance=1e-12), expected, atol=1e-8)


def test_conjugate_gradients_leave_a_zero_column_alone() -> None:
    a = np.diag([1.0, 2.0, 3.0])
    right = np.array([[1.0, 0], [1, 0], [1, 0]])
    found = conjugate_gradients(lambda x: a @ x, right, np.diag(a)[:, None])
    np.testing.assert_allclose(found, [[1, 0], [1 / 2, 0], [1 / 3, 0]])


def test_kmeans_finds_clusters_far_apart_and_numbers_them_by_size() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 60, 10])
    points = 200 * np.eye(3)[truth] + rng.standard_normal((100, 3))
    label, centres = kmeans(points, 3)
    assert label.tolist() == np.array([1, 0, 2])[truth].tolist()
    np.testing.assert_allclose(centres[0], points[truth == 1].mean(axis=0))
    assert (kmeans(points, 3)[0] == label).all()


def test_kmeans_of_fewer_points_than_clusters() -> None:
    label, centres = kmeans(np.array([[0.0], [0.0], [1.0]], np.float32), 5)
    assert sorted(label.tolist()) == [0, 0, 1]
    assert len(centres) == 2


def test_kmeans_numbers_clusters_in_the_order_of_their_seeds() -> None:
    points = 200 * np.eye(3)[np.repeat([0, 1, 2], [30, 60, 10])]
    first = points[np.random.default_rng([7, 1]).integers(len(points))]
    label, centres = kmeans(points, 3, random_state=[7, 1], by_size=False)
    np.testing.assert_array_equal(centres[0], first)
    assert sorted(set(label.tolist())) == [0, 1, 2]


def test_kmeans_tells_points_apart_as_their_precision_allows() -> None:
    points = np.array([[1.0], [1.0], [1 + 1e-5], [2.0]])
    assert len(kmeans(points, 4)[1]) == 3
    assert len(kmeans(points.astype(np.float32), 4)[1]) == 2
