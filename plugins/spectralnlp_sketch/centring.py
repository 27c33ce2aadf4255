"""A scikit-learn transformer that centres and scales columns, weights them by idf, and normalises rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.runtime import Corpus
from spectralnlp_sketch.columns import ColumnMoments
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.matrices import IncrementalEstimator
from spectralnlp_sketch.rows import Matrix

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class Centring(OneToOneFeatureMixin, IncrementalEstimator):
    """Transformer that weights columns by idf, centres and scales them, and normalises rows.

    The steps are applied in this order: idf, mean, deviation, row norm. Sparse rows cannot be centred,
    because subtracting means would make them dense. All statistics are collected in one pass, and
    transformers fitted to parts of the data can be merged.

    Attributes:
        moments_: column sums; `merge` adds those of another fitted estimator.
        mean_, deviation_, idf_: mean, standard deviation and inverse document frequency of each column,
            float64 (d,).
        n_rows_: number of rows seen.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import Centring
        >>> X = np.random.default_rng(0).normal(loc=3, size=(100, 4))
        >>> bool(np.abs(Centring().fit(X).transform(X).mean(axis=0)).max() < 1e-6)
        True
    """

    unlearning = "exact"

    mean: Annotated[bool, Doc("Subtract column means.")] = True
    deviation: Annotated[
        bool, Doc("Divide by standard deviations; constant columns are left as they are.")
    ] = False
    idf: Annotated[
        bool, Doc("Multiply by the inverse document frequency; not together with ``mean`` or ``deviation``.")
    ] = False
    norm: Annotated[bool, Doc("Divide each row by its Euclidean length, unless it is zero.")] = False

    def check_combination(self) -> None:
        """Check that the settings can be combined.

        Raises:
            SizeError: ``idf`` is combined with ``mean`` or ``deviation``.
        """
        if self.idf and (self.mean or self.deviation):
            what = "idf cannot be combined with mean or deviation, which are those of unweighted columns"
            raise SizeError(what, hint="chain two of them in a Pipeline")

    def init_moments(self, corpus: Corpus[Any]) -> ColumnMoments:
        """Return empty moments of columns, to which the rows of the corpus will be added."""
        return ColumnMoments(self.n_features_in_)

    def finish(self) -> None:
        """Recompute means, deviations and idf; call after changing ``moments_``."""
        super().finish()
        self.mean_, self.deviation_ = self.moments_.means, self.moments_.deviations
        self.idf_ = self.moments_.idf

    def transform(self, X: Matrix) -> Matrix:
        """Weight, centre, scale and normalise rows (n, d) by the settings; dtype and sparsity are kept."""
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
        # A constant column's deviation may be nonzero by rounding; treat it as zero.
        noise = 1e-7 * np.abs(self.mean_)
        return np.where(self.deviation_ > noise, self.deviation_, 1.0)

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        if self.mean and sp.issparse(X):
            hint = "use mean=False, or make them dense"
            raise MatrixError("subtracting means would make sparse rows dense", hint=hint)
        return super()._validated(X, reset=reset, finite=finite)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.mean
        return tags
