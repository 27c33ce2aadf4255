"""Canonical correlation analysis (CCA) of two views, computed from their covariances."""

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

# Most columns of a view whose covariance is eigendecomposed, so that it may be singular; and of a view whose
# regularised covariance, which has full rank, is Cholesky-factored (3.2 GB at 20,000 columns).
WIDEST = 4000
WIDEST_REGULARISED = 20_000

_EXACT = 600  # up to this many columns of the narrower view, the full SVD is computed
_SINGULAR = 1e-10  # correlation-matrix eigenvalues below this share of the largest count as zero
_CONSTANT = 1e-13  # a variance below this share of the column's mean square is rounding error
_EQUAL = 1e-14  # values that differ by this share of the column's mean are equal up to rounding


@dataclass(frozen=True)
class View:
    """The first two moments of a data matrix X (n examples, p columns), one of the two views of a CCA.

    Attributes:
        second: XᵀX / n, float64 (p, p), dense or scipy.sparse.
        mean: float64 (p,); mean of each column.
        regularisation: share of the columns' mean variance that is added to each variance.
        pivot: float64 (p,); constants that were subtracted from the columns of the data to give X, so that no
            digits are lost where the mean is many times the deviation.
    """

    second: Any
    mean: Floats
    regularisation: float = 0.0
    pivot: Floats | float = 0.0

    @cached_property
    def variances(self) -> Floats:
        """Variance of each column, float64 (p,); zero for constant columns."""
        squares = np.asarray(self.second.diagonal())
        variances = squares - self.mean**2
        rounding = np.maximum(_CONSTANT * squares, (_EQUAL * (self.mean + self.pivot)) ** 2)
        return np.where(variances > rounding, variances, 0.0)

    @property
    def penalty(self) -> float:
        """The regularisation term that is added to each variance."""
        return self.regularisation * float(self.variances.mean())

    @property
    def diagonal(self) -> Floats:
        """Diagonal of the regularised covariance S, float64 (p,)."""
        return self.variances + self.penalty

    def covariance_times(self, v: Floats) -> Floats:
        """Multiply the covariance, without regularisation, by a matrix (p, k)."""
        return np.asarray(self.second @ v - np.outer(self.mean, self.mean @ v))


@dataclass(frozen=True)
class CanonicalPairs:
    """Canonical directions of two views: the projections with maximal correlation.

    X and Y are the data matrices of the views, and m_x and m_y their column means. The projected views
    (X − m_x) A and (Y − m_y) B each have the identity as regularised covariance; their cross-covariance is
    diag(correlations).

    Attributes:
        x_weights: A, float64 (p, r); in each column the entry of largest magnitude is positive.
        y_weights: B, float64 (q, r).
        correlations: float64 (r,), descending.
    """

    x_weights: Floats
    y_weights: Floats
    correlations: Floats


def cca(x: View, y: View, joint: Any, rank: int, *, random_state: int = 0) -> CanonicalPairs:
    """Compute the leading pairs of canonical directions (Hotelling 1936; Bach and Jordan 2005, section 2).

    The directions are S_x^-½ U and S_y^-½ V, where S_x^-½ S_xy S_y^-½ = U diag(correlations) Vᵀ is a singular
    value decomposition; S_x and S_y are the covariances of the views, and S_xy is their cross-covariance. The
    inverse roots are pseudo-inverses, so directions without variance get no weight, and one-hot views and
    collinear columns need no regularisation.

    Args:
        x: moments of the first view, p columns.
        y: moments of the second view, q columns, over the same examples.
        joint: XᵀY / n, float64 (p, q), dense or scipy.sparse.
        rank: number of pairs; fewer are returned if a view has a lower rank.
        random_state: seed of the starting vectors.

    Raises:
        InputError: a view with more than `WIDEST` columns is neither one-hot nor regularised, or a view with
            more than `WIDEST_REGULARISED` columns is not one-hot.
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
    """Compute the leading singular triplets of a matrix A, which is given by its products with vectors.

    A is decomposed in full if it is small, or if it can be formed and more than a quarter of its triplets are
    wanted; otherwise Lanczos iteration is used.

    Args:
        multiply: function that maps v to A v.
        backwards: function that maps u to Aᵀ u.
        shape: shape of A.
        rank: number of triplets.
        random_state: seed of the starting vector.

    Returns:
        Left singular vectors (m, r), singular values (r,), descending, and right singular vectors (n, r).
    """
    m, n = shape
    operator: Any = LinearOperator(
        shape,
        matvec=lambda v: multiply(v.reshape(n, -1))[:, 0],
        rmatvec=lambda u: backwards(u.reshape(m, -1))[:, 0],
        dtype=np.float64,
    )
    if max(shape) <= WIDEST or min(shape) <= _EXACT:  # products with an explicit matrix are faster
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
    """A matrix W that whitens a view, as functions that multiply by it: Wᵀ S W = I for the covariance S.

    Attributes:
        times: function that maps v to W v.
        transposed: function that maps v to Wᵀ v.
        size: number of columns of W.
    """

    times: Multiply
    transposed: Multiply
    size: int


def _root(view: View) -> _Root:
    """Return the whitening matrix of a view, computed by the cheapest method that applies."""
    p = len(view.mean)
    if scipy.sparse.issparse(view.second) and _is_diagonal(view.second):
        return _one_hot_root(view)
    if p > WIDEST_REGULARISED:
        what = f"a view of {p} columns is too wide"
        raise InputError(what, hint=f"keep at most {WIDEST_REGULARISED} columns")
    if p > WIDEST and view.regularisation <= 0:
        what = f"a view of {p} columns needs regularisation"
        raise InputError(what, hint="give a small positive number, or fewer columns")
    # Scale columns to variance 1 first, so that their units do not decide what counts as singular.
    scale = _inverse_root(view.diagonal)
    correlations = view.second.toarray() if scipy.sparse.issparse(view.second) else view.second.copy()
    correlations -= np.outer(view.mean, view.mean)
    correlations *= scale
    correlations *= scale[:, None]
    np.fill_diagonal(correlations, np.where(scale > 0, 1.0, 0.0))
    return _factor(correlations, scale) if p > WIDEST else _decompose(correlations, scale)


def _decompose(correlations: Floats, scale: Floats) -> _Root:
    """Compute the whitening matrix of a view from the eigenvectors of its correlation matrix.

    Eigenvectors with negligible eigenvalues are left out.

    Args:
        correlations: float64 (p, p); regularised correlation matrix of the view; overwritten.
        scale: float64 (p,); the inverse of each column's regularised standard deviation, or 0.
    """
    values, vectors = scipy.linalg.eigh(correlations, overwrite_a=True)
    kept = values > _SINGULAR * max(float(values[-1]), 0.0)
    root = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return _Root(lambda v: root @ v, lambda v: root.T @ v, root.shape[1])


def _factor(correlations: Floats, scale: Floats) -> _Root:
    """Compute the whitening matrix W = D^-½ L^-ᵀ of a view from its correlation matrix LLᵀ (Cholesky).

    Args:
        correlations: float64 (p, p); regularised correlation matrix of the view; overwritten.
        scale: float64 (p,); the diagonal of D^-½, where D holds the regularised variances.

    Raises:
        InputError: the matrix is numerically singular.
    """
    try:
        lower = scipy.linalg.cholesky(correlations, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        what = f"the covariance of a view of {len(scale)} columns is numerically singular"
        raise InputError(what, hint="give more regularisation") from error
    divide = partial(scipy.linalg.solve_triangular, lower, lower=True, check_finite=False)
    column = scale[:, None]
    return _Root(lambda v: column * divide(v, trans="T"), lambda v: divide(column * v), len(scale))


def _is_diagonal(second: Any) -> bool:
    """Return whether XᵀX / n is diagonal: no example has two non-zero columns, as in a one-hot view."""
    return bool(second.count_nonzero() == np.count_nonzero(second.diagonal()))


def _one_hot_root(view: View) -> _Root:
    """Compute the whitening matrix W of a one-hot view in time linear in its number of columns.

    The covariance is S = D − mmᵀ, where D is diagonal and m the mean. Therefore W = D^-½ (I − ssᵀ)^-½ with
    s = D^-½ m; the second factor only rescales the direction s.
    """
    inverse = _inverse_root(view.second.diagonal() + view.penalty)[:, None]
    s = inverse[:, 0] * view.mean
    length = float(s @ s)
    left = 1 - length  # zero if every example has a 1: then the direction s has no variance
    direction = s / np.sqrt(length) if length > 0 else s
    stretch = (1 / np.sqrt(left) if left > 1e-12 else 0.0) - 1

    def inner(v: Floats) -> Floats:
        return v + stretch * np.outer(direction, direction @ v)

    return _Root(lambda v: inverse * inner(v), lambda v: inner(inverse * v), len(s))


def _inverse_root(diagonal: Floats) -> Floats:
    return np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)), 0)


def _signed(a: Floats, b: Floats, sigma: Floats) -> CanonicalPairs:
    """Return pairs of canonical directions with fixed signs, without pairs of zero correlation.

    Args:
        a: float64 (p, r); directions of the first view.
        b: float64 (q, r); directions of the second view.
        sigma: float64 (r,); correlations.
    """
    kept = sigma > 0
    a, b, sigma = a[:, kept], b[:, kept], sigma[kept]
    signs = np.sign(a[np.abs(a).argmax(axis=0), np.arange(a.shape[1])])
    signs[signs == 0] = 1
    return CanonicalPairs(a * signs, b * signs, sigma)
