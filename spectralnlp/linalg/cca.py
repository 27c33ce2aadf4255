"""Canonical correlation analysis of two views, from their covariances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from spectralnlp.errors import InputError

Floats = NDArray[np.float64]
Multiply = Callable[[Floats], Floats]

# Columns of a view whose covariance is decomposed, or made the identity whatever its rank; and of one that a
# regularised covariance of full rank, which has a Cholesky factor, can have: it takes 3.2 GB.
WIDEST = 4000
WIDEST_REGULARISED = 20_000

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
        InputError: a view of more than `WIDEST` columns is neither one-hot nor regularised, or one of more
            than `WIDEST_REGULARISED` columns is not one-hot.
    """
    x_root, y_root = _root(x), _root(y)

    def cross(v: Floats) -> Floats:
        return joint @ v - np.outer(x.mean, y.mean @ v)

    def cross_transposed(u: Floats) -> Floats:
        return joint.T @ u - np.outer(y.mean, x.mean @ u)

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
    operator: Any = LinearOperator(
        shape,
        matvec=lambda v: multiply(v.reshape(n, -1))[:, 0],
        rmatvec=lambda u: backwards(u.reshape(m, -1))[:, 0],
        dtype=np.float64,
    )
    if max(shape) <= WIDEST or min(shape) <= _EXACT:  # written out, it is multiplied faster
        operator = backwards(np.eye(m)).T if m <= n else multiply(np.eye(n))
        if min(shape) <= _EXACT or 4 * rank > min(shape):
            u, sigma, vt = np.linalg.svd(operator, full_matrices=False)
            return u[:, :rank], sigma[:rank], vt[:rank].T
    start = np.random.default_rng(random_state).standard_normal(min(shape))
    u, sigma, vt = svds(operator, k=min(rank, min(shape) - 1), v0=start)
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


def _root(view: View) -> _Root:
    """How to whiten a view."""
    p = len(view.mean)
    if scipy.sparse.issparse(view.second) and _is_diagonal(view.second):
        return _one_hot_root(view)
    if p > WIDEST_REGULARISED:
        what = f"a view of {p} columns is too wide"
        raise InputError(what, hint=f"keep at most {WIDEST_REGULARISED} columns")
    if p > WIDEST and view.regularisation <= 0:
        what = f"a view of {p} columns needs regularisation"
        raise InputError(what, hint="give a small positive number, or fewer columns")
    # Columns are brought to variance 1 first, so that units do not decide what counts as singular.
    scale = _inverse_root(view.diagonal)
    correlations = view.second.toarray() if scipy.sparse.issparse(view.second) else view.second.copy()
    correlations -= np.outer(view.mean, view.mean)
    correlations *= scale
    correlations *= scale[:, None]
    np.fill_diagonal(correlations, np.where(scale > 0, 1.0, 0.0))
    return _factor(correlations, scale) if p > WIDEST else _decompose(correlations, scale)


def _decompose(correlations: Floats, scale: Floats) -> _Root:
    """W from the eigenvectors of the correlations; those without variance are left out."""
    values, vectors = scipy.linalg.eigh(correlations, overwrite_a=True)
    kept = values > _SINGULAR * max(float(values[-1]), 0.0)
    root = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return _Root(lambda v: root @ v, lambda v: root.T @ v, root.shape[1])


def _factor(correlations: Floats, scale: Floats) -> _Root:
    """W = D^-½ L^-ᵀ, L the Cholesky factor of the correlations."""
    try:
        lower = scipy.linalg.cholesky(correlations, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        what = f"a view of {len(scale)} columns is singular to rounding"
        raise InputError(what, hint="give more regularisation") from error
    divide = partial(scipy.linalg.solve_triangular, lower, lower=True, check_finite=False)
    column = scale[:, None]
    return _Root(lambda v: column * divide(v, trans="T"), lambda v: divide(column * v), len(scale))


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


def _signed(a: Floats, b: Floats, sigma: Floats) -> CanonicalPairs:
    """Pairs with their signs fixed; those without correlation above rounding are left out."""
    kept = sigma > 0
    a, b, sigma = a[:, kept], b[:, kept], sigma[kept]
    signs = np.sign(a[np.abs(a).argmax(axis=0), np.arange(a.shape[1])])
    signs[signs == 0] = 1
    return CanonicalPairs(a * signs, b * signs, sigma)
