"""Centring and scaling over a stream: column means, deviations, document frequencies, row norms."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralnlp.runtime import Batch, Corpus, accumulate
from spectralnlp_sketch.columns import ColumnMoments
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.rows import Matrix, Rows
from spectralnlp_sketch.stream import MatrixCorpus

Floats = NDArray[np.float64]


class Centring(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Columns less their means, divided by their deviations, times their idf; rows of length one.

    Applied in this order: idf, mean, deviation, row norm. Means make a sparse matrix dense, and are refused
    for one. Whatever is chosen, one pass collects it, and passes over parts merge.

    Args:
        mean: subtract column means.
        deviation: divide by standard deviations; constant columns are left as they are.
        idf: multiply by the inverse document frequency; not together with ``mean`` or ``deviation``.
        norm: divide each row by its Euclidean length, unless it is zero.

    Attributes:
        moments_: sums; `merge` adds those of another part.
        mean_, deviation_, idf_: float64 (d,).
        n_rows_: rows seen.
    """

    def __init__(
        self, *, mean: bool = True, deviation: bool = False, idf: bool = False, norm: bool = False
    ) -> None:
        self.mean = mean
        self.deviation = deviation
        self.idf = idf
        self.norm = norm

    def fit(self, X: Matrix | Corpus[Any], y: object = None) -> Self:
        """Collect sums of a matrix (n, d), or of a corpus of rows on the current engine.

        Raises:
            MatrixError: a NaN or an infinity (which row); means of sparse rows are to be subtracted.
        """
        if isinstance(X, Corpus):
            self.n_features_in_ = X.n_columns  # type: ignore[attr-defined]
            corpus: Corpus[Any] = X
        else:
            corpus = MatrixCorpus(self._validated(X, reset=True))
        self._check_settings()
        self.moments_ = accumulate(ColumnMoments(self.n_features_in_), corpus, batch_size=8192)
        if not self.moments_.n_rows:
            raise MatrixError("the stream holds no rows")
        return self._solve()

    def partial_fit(self, X: Matrix, y: object = None) -> Self:
        """Add the sums of a batch of rows (n, d)."""
        first = not hasattr(self, "moments_")
        X = self._validated(X, reset=first)
        if first:
            self._check_settings()
            self.moments_ = ColumnMoments(X.shape[1])
        self.moments_.observe(Batch(Rows(X), "", 0, int(self.moments_.n_rows)))
        return self._solve()

    def merge(self, other: Self) -> Self:
        """Add what another has seen.

        Raises:
            ConfigError: of another width.
        """
        self.moments_.merge(other.moments_)
        return self._solve()

    def transform(self, X: Matrix) -> Matrix:
        """Rows (n, d) centred and scaled, of their own dtype; sparse rows stay sparse."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, finite=True)
        if sp.issparse(X):
            return self._transform_sparse(X)
        X = X.copy()
        if self.idf:
            X *= self.idf_.astype(X.dtype)
        if self.mean:
            X -= self.mean_.astype(X.dtype)
        if self.deviation:
            X /= self._divisors().astype(X.dtype)
        if self.norm:
            lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
            X /= np.where(lengths > 0, lengths, 1)[:, None].astype(X.dtype)
        return X

    def _transform_sparse(self, X: Matrix) -> Matrix:
        factors = self.idf_ if self.idf else np.ones(X.shape[1])
        if self.deviation:
            factors = factors / self._divisors()
        X = sp.csr_matrix((X.data * factors.astype(X.dtype)[X.indices], X.indices, X.indptr), shape=X.shape)
        if self.norm:
            lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).reshape(-1))
            X.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(X.indptr)).astype(X.dtype)
        return X

    def _divisors(self) -> Floats:
        # What rounding leaves of a constant column's deviation is not a deviation.
        noise = 1e-7 * np.abs(self.mean_)
        return np.where(self.deviation_ > noise, self.deviation_, 1.0)

    def _solve(self) -> Self:
        self.mean_, self.deviation_ = self.moments_.means, self.moments_.deviations
        self.idf_, self.n_rows_ = self.moments_.idf, int(self.moments_.n_rows)
        return self

    def _check_settings(self) -> None:
        if self.idf and (self.mean or self.deviation):
            what = "idf goes together with norm only: means and deviations are those of unweighted columns"
            raise SizeError(what, hint="chain two of them in a Pipeline")

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        if self.mean and sp.issparse(X):
            hint = "use mean=False, or make them dense"
            raise MatrixError("subtracting means would make sparse rows dense", hint=hint)
        kinds = [np.float64, np.float32]
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.mean
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
