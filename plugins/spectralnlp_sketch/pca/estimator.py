"""The scikit-learn transformer for principal component analysis (PCA) of streams of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import accumulate
from spectralnlp_sketch.errors import MatrixError, SizeError, warn
from spectralnlp_sketch.matrices import StoredEstimator
from spectralnlp_sketch.pca.directions import DirectionsMoments
from spectralnlp_sketch.pca.scatter import ScatterMoments
from spectralnlp_sketch.pca.spectrum import Spectrum
from spectralnlp_sketch.rows import Matrix

Floats = NDArray[Any]

# Up to this many columns, the exact covariance is smaller than a sketch's buffers and faster than shrinking.
EXACT_COLUMNS = 2048


@dataclass(kw_only=True, eq=False, repr=False)
class StreamingPCA(ClassNamePrefixFeaturesOutMixin, StoredEstimator):
    """Principal component analysis of rows that come in batches, dense or sparse, in constant memory.

    The interface is that of ``sklearn.decomposition.PCA`` and ``IncrementalPCA``. Sparse rows stay sparse:
    covariances are centred by rank-one corrections. Up to 2,048 columns the result equals that of ``PCA`` up
    to rounding; with more columns, a frequent-directions sketch replaces the covariance (Liberty 2013), and
    `bound_` bounds its error. Fitted parts can be merged.

    Attributes:
        method_: ``exact`` or ``sketch``.
        moments_: number, mean and scatter of the rows seen, from which the components are computed.
        components_: k principal axes as orthonormal rows (k, d); the entry of largest magnitude in each row
            is positive.
        explained_variance_: variances along the axes, descending, with divisor n − 1 (k,); float64 if float32
            of the rows cannot hold them.
        explained_variance_ratio_: shares of the total variance (k,).
        singular_values_: singular values of the centred rows along the axes (k,).
        mean_: column means (d,).
        noise_variance_: mean variance of the omitted directions, as in ``PCA``'s probabilistic model.
        bound_: upper bound of the spectral norm of the difference between the covariance and the decomposed
            matrix, and so of the error of each eigenvalue; 0 if exact.
        n_components_: number k of principal axes; below ``n_components`` if the rows have a lower rank.
        n_samples_seen_: number of rows seen.

    Examples:
        >>> import scipy.sparse as sp
        >>> from spectralnlp_sketch import StreamingPCA
        >>> rows = sp.random_array((1000, 50), density=0.1, format="csr", random_state=0)
        >>> pca = StreamingPCA(3).partial_fit(rows[:600]).partial_fit(rows[600:])
        >>> pca.transform(rows).shape, pca.bound_
        ((1000, 3), 0.0)
    """

    n_components: Annotated[
        Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] | None,
        Doc(
            "Number of principal components (k); a share of the variance, such as 0.95, for the fewest that "
            "explain more; None for all. Shares and None need the method ``exact``."
        ),
    ] = field(default=2, kw_only=False)
    method: Annotated[
        Literal["auto", "exact", "sketch"],
        Doc(
            "``exact``: the covariance itself, d² numbers, at most 32,768 columns. ``sketch``: frequent "
            "directions, ``sketch_size`` × d numbers. ``auto``: ``exact`` up to 2,048 columns, else "
            "``sketch``."
        ),
    ] = "auto"
    whiten: Annotated[bool, Doc("Divide coordinates by the standard deviations along the axes.")] = False
    sketch_size: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc(
            "Rows of the sketch (l), at least ``n_components``; None for 1.5 times ``n_components``, and at "
            "least 64."
        ),
    ] = None
    random_state: Annotated[int, Ge(0), Doc("Seed of the sketch.")] = 0

    def check_combination(self) -> None:
        """Check that the settings can be combined.

        Raises:
            ConfigError: ``sketch_size`` is below ``n_components``, or a sketch would need all directions.
        """
        number = self._number
        if number is None and self.method == "sketch":
            raise _needs_all(self.n_components)
        if number is not None and self.sketch_size is not None and self.sketch_size < number:
            what = f"sketch_size {self.sketch_size} is less than n_components {number}"
            raise SizeError(what, hint="make sketch_size larger, or leave it out")

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> Any:
        if self.method == "exact" or (self.method == "auto" and n_columns <= EXACT_COLUMNS):
            return ScatterMoments(n_columns, dtype.name)
        if (number := self._number) is None:
            raise _needs_all(self.n_components, n_columns)
        size = self.sketch_size or max(64, number + number // 2)
        return DirectionsMoments(size, n_columns, dtype.name, sparse, self.random_state)

    def solve(self, moments: Any) -> None:
        """Store moments, and compute the components.

        Raises:
            MatrixError: the moments hold fewer than two rows.
        """
        super().solve(moments)
        self._solved()

    def forget(self, X: Any) -> Self:
        """Remove rows that were added before; the result equals a fit without them, up to rounding.

        Args:
            X: (n, d), dense or sparse; or a stream of rows, as for ``fit``.

        Raises:
            ConfigError: the method is ``sketch``, from which rows cannot be removed.
            MatrixError: as for ``fit``, no row would be left, or the rows were never added.
        """
        check_is_fitted(self)
        if not isinstance(self.moments_, ScatterMoments):
            raise ConfigError(
                "a sketch can be updated and merged, but cannot forget", hint="use method='exact'"
            )
        with one_blas_thread():
            self.moments_.forget(accumulate(self.moments_.empty_like(), self._corpus(X, reset=False)))
        self.finish()
        return self

    @property
    def method_(self) -> str:
        """Method used, ``exact`` or ``sketch``; the setting ``auto`` chooses it by the number of columns."""
        return "exact" if isinstance(self._fitted("moments_"), ScatterMoments) else "sketch"

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows seen."""
        return self._fitted("moments_").n_rows

    @property
    def mean_(self) -> Floats:
        """Mean of each column (d,), which is subtracted from rows."""
        moments = self._fitted("moments_")
        return moments.mean.astype(moments.dtype)

    @property
    def components_(self) -> Floats:
        """Principal axes as rows, orthonormal (k, d), the axis with the largest variance first."""
        return self._solved().vectors

    @property
    def n_components_(self) -> int:
        """Number of principal axes, k."""
        return len(self.components_)

    @property
    def explained_variance_(self) -> Floats:
        """Variance of the rows along each principal axis, descending (k,)."""
        return self._narrow(self._solved().squares / (self.n_samples_seen_ - 1))

    @property
    def explained_variance_ratio_(self) -> Floats:
        """Variance along each principal axis as a share of the total variance (k,)."""
        solved = self._solved()
        return self._narrow(solved.squares / max(solved.total, np.finfo(np.float64).tiny))

    @property
    def singular_values_(self) -> Floats:
        """Singular value of the centred rows along each principal axis (k,)."""
        return self._narrow(np.sqrt(self._solved().squares))

    @property
    def noise_variance_(self) -> float:
        """Mean variance of the rows along the directions that are not among the components."""
        solved, n = self._solved(), self.n_samples_seen_
        left = min(self.n_features_in_, n) - len(solved.squares)
        return max(0.0, solved.total - float(solved.squares.sum())) / (n - 1) / left if left > 0 else 0.0

    @property
    def bound_(self) -> float:
        """Upper bound of the error of each variance; 0 for ``exact``.

        It bounds the spectral norm of the difference between the covariance and the sketched covariance.
        """
        return self._solved().bound / (self.n_samples_seen_ - 1)

    def transform(self, X: Any) -> Any:
        """Return coordinates of rows along the axes (n, k); sparse rows are centred without becoming dense.

        Args:
            X: (n, d), dense or sparse; or a stream of rows, as for ``fit``. Dask data give a Dask array.

        Raises:
            MatrixError: the width differs, there are no rows, or a row holds NaN or infinity.
        """
        return self._of_rows(self._coordinates, X)

    def inverse_transform(self, X: Any) -> Floats:
        """Map coordinates (n, k), as `transform` returns them, back to rows (n, d)."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != len(self.components_):
            raise MatrixError(f"{X.shape[1]} coordinates a row, and there are {len(self.components_)} axes")
        return np.asarray((X * self._scales()) @ self.components_ + self.mean_)

    def get_covariance(self) -> Floats:
        """Return the covariance (d, d) of probabilistic PCA (Tipping and Bishop 1999).

        In this model, the variance along each principal axis is that of the rows, and the variance in all
        other directions is the noise variance.
        """
        check_is_fitted(self)
        components, noise = self.components_, self.noise_variance_
        covariance = (components.T * (self._modelled() - noise)) @ components
        covariance.flat[:: len(covariance) + 1] += noise
        return self._narrow(covariance)

    def score_samples(self, X: Any) -> Any:
        """Return the log-likelihood of each row under probabilistic PCA (`get_covariance`), float64 (n,).

        Args:
            X: as for `transform`.

        Raises:
            MatrixError: as for `transform`, or the noise variance is 0, so the likelihood is undefined.
        """
        return self._of_rows(self._log_likelihoods, X)

    def _log_likelihoods(self, X: Matrix) -> Floats:
        d, k, noise = self.n_features_in_, len(self.components_), self.noise_variance_
        if k < d and not noise:
            raise MatrixError("all variance lies along the axes", hint="take fewer components, or more rows")
        z = self._projected(X).astype(np.float64)
        variances = self._modelled()
        log = np.square(z) @ (1 / variances) + np.log(variances).sum() + d * np.log(2 * np.pi)
        if k < d:
            beyond = np.maximum(self._squared_distances(X) - np.square(z).sum(axis=1), 0.0)
            log += beyond / noise + (d - k) * np.log(noise)
        return -0.5 * log

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log-likelihood of rows under probabilistic PCA (`get_covariance`)."""
        return float(self.score_samples(X).mean())

    def _solve(self) -> Spectrum:
        """Compute eigenvalues and eigenvectors of the scatter."""
        if self.n_rows_ < 2:
            raise MatrixError("n_samples = 1, and two rows or more are needed")
        moments = self.moments_
        number, asked = self._number, self.n_components
        spectrum: Spectrum = moments.leading(number or self.n_features_in_).above_rounding(moments.dtype)
        found = len(spectrum.squares)
        if number is not None and found < number:
            warn(f"{number} components were asked for, and the rows have rank {found}")
        return spectrum.explaining(asked) if number is None and asked is not None else spectrum

    @property
    def _number(self) -> int | None:
        """Number of components that is asked for; None for a share of the variance, and for all."""
        asked: Any = self.n_components
        return int(asked) if isinstance(asked, Integral) else None

    def _coordinates(self, X: Matrix) -> Floats:
        return self._projected(X) / self._scales()

    def _projected(self, X: Matrix) -> Floats:
        """Return coordinates of rows along the principal axes (n, k), not scaled to unit variance."""
        components = self.components_
        if sp.issparse(X):
            return np.asarray(X @ components.T) - self.mean_ @ components.T
        return (X - self.mean_.astype(X.dtype)) @ components.T

    def _squared_distances(self, X: Matrix) -> Floats:
        """Return the squared distance ‖x − μ‖² of each row x from the mean μ, float64 (n,)."""
        mean = self.moments_.mean
        if sp.issparse(X):
            lengths = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
            return lengths - 2 * np.asarray(X @ mean).reshape(-1) + mean @ mean
        centred = X - mean
        return np.einsum("ij,ij->i", centred, centred)

    def _scales(self) -> Floats:
        deviations = np.sqrt(self.explained_variance_)
        return deviations if self.whiten else np.ones_like(deviations)

    def _modelled(self) -> NDArray[np.float64]:
        """Return the variance along each axis in probabilistic PCA (k,), at least the noise variance."""
        return np.maximum(self.explained_variance_.astype(np.float64), self.noise_variance_)

    def _narrow(self, values: Floats) -> Floats:
        """Return values in the dtype of the rows; in float64 if float32 cannot hold them."""
        with np.errstate(over="ignore"):
            narrow = values.astype(self.moments_.dtype)
        lost = ~np.isfinite(narrow) | (np.abs(narrow) < np.finfo(narrow.dtype).tiny) & (values != 0)
        return values if lost.any() else narrow

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _needs_all(n_components: float | None, width: int | None = None) -> SizeError:
    """Return the error for a sketch of all directions of so many columns; None if the user chose a sketch."""
    why = "" if width is None else f" for {width:,} columns"
    what = f"n_components={n_components} needs all directions, and a sketch{why} has the leading ones"
    return SizeError(what, hint="give a number, or method='exact' (up to 32,768 columns)")
