"""Canonical correlation analysis of two views, from their covariances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from spectralnlp.errors import InputError
from spectralnlp.linalg.solve import conjugate_gradients

Floats = NDArray[np.float64]
Multiply = Callable[[Floats], Floats]

# Columns of a view whose covariance is factored; a wider one is solved by conjugate gradients.
WIDEST = 4000

_EXACT = 600  # columns of the narrower view up to which the whole SVD is computed
_SINGULAR = 1e-10  # eigenvalues of a matrix of correlations below this share of the largest are zero
_CONSTANT = 1e-13  # of a column's mean square: a variance below this share of it is rounding


@dataclass(frozen=True)
class View:
    """The first two moments of a view of n examples, (n, p).

    Attributes:
        second: XᵀX / n, float64 (p, p), dense or scipy.sparse.
        mean: float64 (p,).
        regularisation: this share of the mean variance of a column is added to each variance.
    """

    second: Any
    mean: Floats
    regularisation: float = 0.0

    @cached_property
    def variances(self) -> Floats:
        """Float64 (p,); zero where a column is constant."""
        squares = np.asarray(self.second.diagonal())
        variances = squares - self.mean**2
        return np.where(variances > _CONSTANT * squares, variances, 0.0)

    @property
    def penalty(self) -> float:
        """The number that is added to each variance."""
        return self.regularisation * float(self.variances.mean())

    @property
    def diagonal(self) -> Floats:
        """That of the regularised covariance S, float64 (p,)."""
        return self.variances + self.penalty

    def covariance(self, v: Floats) -> Floats:
        """S v, for v (p, k)."""
        return self.second @ v - np.outer(self.mean, self.mean @ v) + self.penalty * v


@dataclass(frozen=True)
class CanonicalPairs:
    """Projections of two views that are most correlated.

    The projected views (X − m_x) A and (Y − m_y) B have regularised covariances of the identity and a
    cross-covariance of diag(correlations).

    Attributes:
        x_weights: A, float64 (p, r); in each column the entry of largest magnitude is positive.
        y_weights: B, float64 (q, r).
        correlations: float64 (r,), descending.
    """

    x_weights: Floats
    y_weights: Floats
    correlations: Floats


def cca(x: View, y: View, joint: Any, rank: int, *, random_state: int = 0) -> CanonicalPairs:
    """The leading pairs of canonical directions (Hotelling 1936; Bach and Jordan 2005, section 2).

    With the covariances S_x, S_y and S_xy, the singular vectors of S_x^-½ S_xy S_y^-½, which is never formed
    where it would be large. Directions without variance have no weight (a pseudo-inverse), so nothing has to
    be regularised for one-hot views or collinear columns.

    Args:
        x: moments of the first view, p columns.
        y: moments of the second, q columns, of the same examples.
        joint: XᵀY / n, float64 (p, q), dense or scipy.sparse.
        rank: pairs wanted; fewer come back where a view has a lower rank.
        random_state: seed of starting vectors.

    Raises:
        InputError: a view of more than `WIDEST` columns is neither one-hot nor regularised.
    """
    x_root, y_root = _root(x), _root(y)

    def cross(v: Floats) -> Floats:
        return joint @ v - np.outer(x.mean, y.mean @ v)

    def cross_transposed(u: Floats) -> Floats:
        return joint.T @ u - np.outer(y.mean, x.mean @ u)

    if x_root is None or y_root is None:
        divide = tuple(_divider(*each) for each in ((x, x_root), (y, y_root)))
        return _signed(*_by_iteration((cross, cross_transposed), (x, y), divide, rank, random_state))
    multiply = _chain(y_root.times, cross, x_root.transposed)
    backwards = _chain(x_root.times, cross_transposed, y_root.transposed)
    u, sigma, v = _singular_triplets(multiply, backwards, (x_root.size, y_root.size), rank, random_state)
    return _signed(x_root.times(u), y_root.times(v), sigma)


def _chain(first: Multiply, second: Multiply, third: Multiply) -> Multiply:
    return lambda v: third(second(first(v)))


def _singular_triplets(
    multiply: Multiply, backwards: Multiply, shape: tuple[int, int], rank: int, random_state: int
) -> tuple[Floats, Floats, Floats]:
    """U, σ and V of a matrix that is only multiplied, exact: the whole SVD, or Lanczos for a few of many."""
    m, n = shape
    if min(shape) <= _EXACT or 4 * rank > min(shape):
        whole = backwards(np.eye(m)).T if m <= n else multiply(np.eye(n))
        u, sigma, vt = np.linalg.svd(whole, full_matrices=False)
        return u[:, :rank], sigma[:rank], vt[:rank].T
    operator = LinearOperator(
        shape,
        matvec=lambda v: multiply(v.reshape(n, -1))[:, 0],
        rmatvec=lambda u: backwards(u.reshape(m, -1))[:, 0],
        matmat=multiply,
        rmatmat=backwards,
        dtype=np.float64,
    )
    start = np.random.default_rng(random_state).standard_normal(min(shape))
    u, sigma, vt = svds(operator, k=rank, v0=start)
    order = np.argsort(-sigma, kind="stable")
    return u[:, order], sigma[order], vt[order].T


@dataclass(frozen=True)
class _Root:
    """W with Wᵀ S W = I, as two functions.

    Attributes:
        times: v to W v.
        transposed: v to Wᵀ v.
        size: columns of W.
    """

    times: Multiply
    transposed: Multiply
    size: int


def _root(view: View) -> _Root | None:
    """How to whiten a view; None where its covariance is too wide to be factored."""
    p = len(view.mean)
    if scipy.sparse.issparse(view.second) and _is_diagonal(view.second):
        return _one_hot_root(view)
    if p > WIDEST:
        if view.regularisation <= 0:
            what = f"a view of {p} columns needs regularisation"
            raise InputError(what, hint="give a small positive number, or fewer columns")
        return None
    # Columns are brought to variance 1 first, so that units do not decide what counts as singular.
    scale = _inverse_root(view.diagonal)
    second = view.second.toarray() if scipy.sparse.issparse(view.second) else view.second
    correlations = (second - np.outer(view.mean, view.mean)) * scale * scale[:, None]
    np.fill_diagonal(correlations, np.where(scale > 0, 1.0, 0.0))
    values, vectors = scipy.linalg.eigh(correlations, overwrite_a=True)
    kept = values > _SINGULAR * max(float(values[-1]), 0.0)
    root = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return _Root(lambda v: root @ v, lambda v: root.T @ v, root.shape[1])


def _is_diagonal(second: Any) -> bool:
    """Whether no two columns meet in a row, as in a one-hot view."""
    return bool(second.count_nonzero() == np.count_nonzero(second.diagonal()))


def _one_hot_root(view: View) -> _Root:
    """W for S = D − mmᵀ: D^-½ (I − ssᵀ)^-½ with s = D^-½ m, whose inner root changes only the direction s."""
    inverse = _inverse_root(view.second.diagonal() + view.penalty)[:, None]
    s = inverse[:, 0] * view.mean
    length = float(s @ s)
    left = 1 - length  # zero where every row has its 1: then s is a direction without variance
    direction = s / np.sqrt(length) if length > 0 else s
    stretch = (1 / np.sqrt(left) if left > 1e-12 else 0.0) - 1

    def inner(v: Floats) -> Floats:
        return v + stretch * np.outer(direction, direction @ v)

    return _Root(lambda v: inverse * inner(v), lambda v: inner(inverse * v), len(s))


def _inverse_root(diagonal: Floats) -> Floats:
    return np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)), 0)


def _by_iteration(
    cross: tuple[Multiply, Multiply],
    views: tuple[View, View],
    divide: tuple[Multiply, ...],
    rank: int,
    random_state: int,
) -> tuple[Floats, Floats, Floats]:
    """Subspace iteration by least squares (Lu and Foster 2014): a ← S_x⁻¹ S_xy b, b ← S_y⁻¹ S_yx a.

    Returns:
        A, B and the correlations, of which the signs are arbitrary.
    """
    x, y = views
    p, q = len(x.mean), len(y.mean)
    width = min(rank + 20, p, q)
    b = np.random.default_rng(random_state).standard_normal((q, width))
    b = _orthonormal_in(y.covariance, b)
    before: NDArray[Any] = np.zeros(0)
    for _ in range(100):
        a = _orthonormal_in(x.covariance, divide[0](cross[0](b)))
        b = _orthonormal_in(y.covariance, divide[1](cross[1](a)))
        sigma = np.linalg.svd(a.T @ cross[0](b), compute_uv=False)[:rank]
        if len(before) == len(sigma) and np.abs(sigma - before).max() < 1e-10:
            break
        before = sigma
    u, correlations, vt = np.linalg.svd(a.T @ cross[0](b), full_matrices=False)
    return a @ u[:, :rank], b @ vt.T[:, :rank], correlations[:rank]


def _divider(view: View, root: _Root | None) -> Multiply:
    """V to S⁻¹ v."""
    if root is not None:
        return lambda v: root.times(root.transposed(v))
    diagonal = view.diagonal[:, None]
    return lambda v: conjugate_gradients(view.covariance, v, diagonal, tolerance=1e-12)


def _orthonormal_in(covariance: Multiply, a: Floats) -> Floats:
    """A basis of the columns of A with AᵀSA = I; columns that depend on others are dropped."""
    values, vectors = np.linalg.eigh(a.T @ covariance(a))
    kept = values > 1e-14 * values[-1]
    return a @ (vectors[:, kept] / np.sqrt(values[kept]))


def _signed(a: Floats, b: Floats, sigma: Floats) -> CanonicalPairs:
    """Pairs with their signs fixed; those without correlation above rounding are left out."""
    kept = sigma > 0
    a, b, sigma = a[:, kept], b[:, kept], sigma[kept]
    signs = np.sign(a[np.abs(a).argmax(axis=0), np.arange(a.shape[1])])
    signs[signs == 0] = 1
    return CanonicalPairs(a * signs, b * signs, sigma)
