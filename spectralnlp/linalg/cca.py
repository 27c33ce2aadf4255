"""Canonical correlation analysis of two views: dense, sparse or one-hot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.linalg.solve import conjugate_gradients
from spectralnlp.linalg.svd import randomized_svd

Floats = NDArray[np.float64]

# Columns of a view whose covariance is factored; a wider one is solved by conjugate gradients.
WIDEST = 4000

_EXACT = 600  # columns of the narrower view up to which the whole SVD is computed
_SINGULAR = 1e-10  # eigenvalues of a covariance below this share of the largest are zero


@dataclass(frozen=True)
class OneHot:
    """A view of one discrete variable, as codes: the rows of a one-hot matrix without the matrix.

    Args:
        codes: int (n,); which column holds the 1; negative for a row of zeros.
        size: columns.
    """

    codes: NDArray[np.integer[Any]]
    size: int

    def matrix(self) -> scipy.sparse.csr_array:
        """float64 (n, size)."""
        held = self.codes >= 0
        starts = np.append(0, np.cumsum(held))
        codes = self.codes[held]
        if len(codes) and int(codes.max()) >= self.size:
            raise InputError(f"a code of {int(codes.max())} in a one-hot view of {self.size} columns")
        return scipy.sparse.csr_array((np.ones(len(codes)), codes, starts), shape=(len(held), self.size))


# A dense matrix, a scipy.sparse matrix or a `OneHot`.
View = Any


@dataclass(frozen=True)
class CCA:
    """Projections of two views that are most correlated.

    The projected views (X − m_x) A and (Y − m_y) B have covariances of the identity (where the data has that
    many directions) and a cross-covariance of diag(correlations).

    Attributes:
        x_weights: A, float64 (p, r).
        y_weights: B, float64 (q, r).
        correlations: float64 (r,), descending.
        x_mean: m_x, float64 (p,); zeros without centring.
        y_mean: m_y, float64 (q,).
    """

    x_weights: Floats
    y_weights: Floats
    correlations: Floats
    x_mean: Floats
    y_mean: Floats

    def project_x(self, x: View) -> Floats:
        """Rows of the first view, projected, float64 (n, r)."""
        return np.asarray(_matrix(x) @ self.x_weights) - self.x_mean @ self.x_weights

    def project_y(self, y: View) -> Floats:
        """Rows of the second view, projected, float64 (n, r)."""
        return np.asarray(_matrix(y) @ self.y_weights) - self.y_mean @ self.y_weights


def cca(
    x: View,
    y: View,
    rank: int,
    *,
    regularisation: float | tuple[float, float] = 0.0,
    centre: bool = True,
    random_state: int = 0,
) -> CCA:
    """The leading pairs of canonical directions (Hotelling 1936; Bach and Jordan 2005, section 2).

    With the covariances S_x, S_y and S_xy, the singular vectors of S_x^-½ S_xy S_y^-½, which is never formed
    where it would be large. Directions without variance have no weight (a pseudo-inverse), so nothing has to
    be regularised for one-hot views or collinear columns.

    Args:
        x: n examples of the first view, (n, p).
        y: the same examples of the second, (n, q).
        rank: pairs wanted; fewer come back where a view has a lower rank.
        regularisation: added to the diagonals of S_x and S_y, one number or one each; a view wider than
            `WIDEST` needs some unless it is one-hot.
        centre: take means away first.
        random_state: seed of the randomised SVD.

    Raises:
        InputError: the views have different numbers of examples, or none; a value is not finite; or a wide
            view is not regularised.
    """
    x, y = _matrix(x), _matrix(y)
    n = x.shape[0]
    if n != y.shape[0]:
        raise InputError(f"the views have {n} and {y.shape[0]} examples; give the same ones")
    if n == 0:
        raise InputError("no examples to correlate")
    x_penalty, y_penalty = np.broadcast_to(regularisation, 2).tolist()
    x_mean = np.asarray(x.mean(axis=0)).ravel() if centre else np.zeros(x.shape[1])
    y_mean = np.asarray(y.mean(axis=0)).ravel() if centre else np.zeros(y.shape[1])
    whiten_x, whiten_y = _whitener(x, x_mean, x_penalty), _whitener(y, y_mean, y_penalty)
    joint = x.T @ y if scipy.sparse.issparse(x) and scipy.sparse.issparse(y) else None

    def cross(v: Floats) -> Floats:
        product = joint @ v if joint is not None else x.T @ (y @ v)
        return product / n - np.outer(x_mean, y_mean @ v)

    def cross_transposed(u: Floats) -> Floats:
        product = joint.T @ u if joint is not None else y.T @ (x @ u)
        return product / n - np.outer(y_mean, x_mean @ u)

    if whiten_x.root is None or whiten_y.root is None:
        a, b, sigma = _by_iteration(cross, cross_transposed, whiten_x, whiten_y, rank, random_state)
        return _signed(a, b, sigma, x_mean, y_mean)
    x_root, x_root_transposed, x_size = whiten_x.root
    y_root, y_root_transposed, y_size = whiten_y.root
    multiply = _chain(y_root, cross, x_root_transposed)
    if min(x_size, y_size) <= _EXACT:
        if x_size <= y_size:
            v, sigma, ut = np.linalg.svd(
                _chain(x_root, cross_transposed, y_root_transposed)(np.eye(x_size)), full_matrices=False
            )
            u = ut.T
        else:
            u, sigma, vt = np.linalg.svd(multiply(np.eye(y_size)), full_matrices=False)
            v = vt.T
        u, sigma, v = u[:, :rank], sigma[:rank], v[:, :rank]
    else:
        backwards = _chain(x_root, cross_transposed, y_root_transposed)
        u, sigma, v = randomized_svd(
            multiply,
            backwards,
            (x_size, y_size),
            rank,
            oversampling=20,
            iterations=6,
            random_state=random_state,
        )
    return _signed(x_root(u), y_root(v), sigma, x_mean, y_mean)


Multiply = Callable[[Floats], Floats]


def _chain(first: Multiply, second: Multiply, third: Multiply) -> Multiply:
    return lambda v: third(second(first(v)))


@dataclass(frozen=True)
class _Whitener:
    """How to divide by a view's covariance S.

    Attributes:
        root: W with Wᵀ S W = I as a function, Wᵀ as another, and the number of W's columns; or None.
        covariance: S as a function.
        diagonal: that of S, (p, 1).
    """

    root: tuple[Multiply, Multiply, int] | None
    covariance: Multiply
    diagonal: Floats


def _whitener(x: Any, mean: Floats, penalty: float) -> _Whitener:
    n, p = x.shape

    def covariance(v: Floats) -> Floats:
        return x.T @ (x @ v) / n - np.outer(mean, mean @ v) + penalty * v

    squares = x.multiply(x) if scipy.sparse.issparse(x) else x**2
    diagonal = np.asarray(squares.sum(axis=0)).ravel() / n
    if scipy.sparse.issparse(x) and _is_one_hot(x):
        return _Whitener(_one_hot_root(diagonal + penalty, mean), covariance, diagonal[:, None])
    diagonal = np.maximum(diagonal - mean**2 + penalty, 0.0)
    if p > WIDEST:
        if penalty <= 0:
            what = f"a view of {p} columns needs regularisation"
            raise InputError(what, hint="give a small positive number, or fewer columns")
        return _Whitener(None, covariance, diagonal[:, None])
    gram = x.T @ x
    full = np.asarray(gram.todense() if scipy.sparse.issparse(gram) else gram) / n
    full = full - np.outer(mean, mean) + penalty * np.eye(p)
    values, vectors = scipy.linalg.eigh(full)
    kept = values > _SINGULAR * max(float(values[-1]), 0.0)
    root = vectors[:, kept] / np.sqrt(values[kept])
    return _Whitener((lambda v: root @ v, lambda v: root.T @ v, root.shape[1]), covariance, diagonal[:, None])


def _is_one_hot(x: Any) -> bool:
    """Whether each row has at most one entry, so that XᵀX is a diagonal."""
    rows = x.tocsr()
    return bool((np.diff(rows.indptr) <= 1).all())


def _one_hot_root(diagonal: Floats, mean: Floats) -> tuple[Multiply, Multiply, int]:
    """W for S = D − mmᵀ: D^-½ (I − ssᵀ)^-½ with s = D^-½ m, whose inner root changes only the direction s."""
    inverse = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)), 0)[:, None]
    s = inverse[:, 0] * mean
    length = float(s @ s)
    left = 1 - length  # zero where every row has its 1: then s is a direction without variance
    direction = s / np.sqrt(length) if length > 0 else s
    stretch = (1 / np.sqrt(left) if left > 1e-12 else 0.0) - 1

    def inner(v: Floats) -> Floats:
        return v + stretch * np.outer(direction, direction @ v)

    return lambda v: inverse * inner(v), lambda v: inner(inverse * v), len(mean)


def _by_iteration(
    cross: Multiply, cross_transposed: Multiply, x: _Whitener, y: _Whitener, rank: int, random_state: int
) -> tuple[Floats, Floats, Floats]:
    """Subspace iteration by least squares (Lu and Foster 2014): a ← S_x⁻¹ S_xy b, b ← S_y⁻¹ S_yx a.

    Returns:
        A, B and the correlations, of which the signs are arbitrary.
    """
    p, q = len(x.diagonal), len(y.diagonal)
    width = min(rank + 20, p, q)
    b = np.random.default_rng(random_state).standard_normal((q, width))
    b = _orthonormal_in(y.covariance, b)
    before: NDArray[Any] = np.zeros(0)
    for _ in range(100):
        a = _orthonormal_in(x.covariance, _divide(x, cross(b)))
        b = _orthonormal_in(y.covariance, _divide(y, cross_transposed(a)))
        sigma = np.linalg.svd(a.T @ cross(b), compute_uv=False)[:rank]
        if len(before) == len(sigma) and np.abs(sigma - before).max() < 1e-10:
            break
        before = sigma
    u, correlations, vt = np.linalg.svd(a.T @ cross(b))
    return a @ u[:, :rank], b @ vt.T[:, :rank], correlations[:rank]


def _divide(view: _Whitener, right: Floats) -> Floats:
    """S⁻¹ of a matrix."""
    if view.root is not None:
        root, transposed, _ = view.root
        return root(transposed(right))
    return conjugate_gradients(view.covariance, right, view.diagonal, tolerance=1e-12)


def _orthonormal_in(covariance: Multiply, a: Floats) -> Floats:
    """A basis of the columns of A with AᵀSA = I; columns that depend on others are dropped."""
    values, vectors = np.linalg.eigh(a.T @ covariance(a))
    kept = values > 1e-14 * values[-1]
    return a @ (vectors[:, kept] / np.sqrt(values[kept]))


def _signed(a: Floats, b: Floats, sigma: Floats, x_mean: Floats, y_mean: Floats) -> CCA:
    """Signs fixed: the entry of largest magnitude in each column of A is positive."""
    signs = np.sign(a[np.abs(a).argmax(axis=0), np.arange(a.shape[1])])
    signs[signs == 0] = 1
    return CCA(a * signs, b * signs, sigma, x_mean, y_mean)


def _matrix(view: View) -> Any:
    if isinstance(view, OneHot):
        return view.matrix()
    if scipy.sparse.issparse(view):
        matrix = scipy.sparse.csr_array(view, dtype=np.float64)
        matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = values = np.asarray(view, np.float64)
    if not np.isfinite(values).all():
        raise InputError("a value of a view is not finite", hint="leave out NaN and infinity")
    return matrix
