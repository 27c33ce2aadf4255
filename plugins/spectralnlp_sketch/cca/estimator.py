"""The scikit-learn transformer for canonical correlation analysis (CCA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.linalg import one_blas_thread
from spectralnlp.linalg.cca import CanonicalPairs, View, cca
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp_sketch.cca.moments import PairMoments
from spectralnlp_sketch.cca.pairs import PairCorpus
from spectralnlp_sketch.errors import MatrixError, warn
from spectralnlp_sketch.matrices import IncrementalEstimator
from spectralnlp_sketch.rows import Matrix, check_structure, describe_rows
from spectralnlp_sketch.stream import MatrixCorpus

Floats = NDArray[np.float64]

# With at most this many columns in both views, the sums are a dense matrix (128 MB). With more, and sparse
# rows, only pairs of columns that occur in the same row are stored.
DENSE_COLUMNS = 4000

# A variance below this share of the mean square has lost more than half of its digits.
_FEW_DIGITS = 1e-8


@dataclass(kw_only=True, eq=False, repr=False)
class CCA(ClassNamePrefixFeaturesOutMixin, IncrementalEstimator):
    """Canonical correlation analysis: directions of two views whose projections are most correlated.

    The method is that of Hotelling (1936). Eigenwords use the same CCA, with a word and its context as the
    two views. The interface is that of ``sklearn.cross_decomposition.CCA``: ``y`` is the second view. Views
    are dense or sparse matrices, or two corpora of rows (`FileRows`); columns are centred. One pass adds up
    sums and products of columns, so fitted estimators can be merged and rows can be removed again.

    In shapes, k is the number of pairs of directions, p the number of columns of X, and q that of y.

    Attributes:
        canonical_correlations_: float64 (k,), descending; shrunk by ``regularisation``.
        x_weights_, y_weights_: float64 (p, k) and (q, k); projections have variance 1, or less with
            ``regularisation``.
        x_mean_, y_mean_: column means, float64 (p,) and (q,).
        moments_: sums and products of columns (`PairMoments`); `merge` adds those of another fitted
            estimator.
        n_rows_: number of rows seen.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import CCA
        >>> rng = np.random.default_rng(0)
        >>> signal = rng.normal(size=(1000, 1))
        >>> X, Y = (signal + rng.normal(size=(1000, d)) for d in (5, 4))
        >>> model = CCA(1).fit(X, Y)
        >>> model.canonical_correlations_.round(1)
        array([0.8])
        >>> model.transform(X).shape
        (1000, 1)
    """

    unlearning = "exact"

    n_components: Annotated[int, Ge(1), Doc("Number of pairs of directions.")] = field(
        default=2, kw_only=False
    )
    regularisation: Annotated[
        float,
        Ge(0),
        Doc(
            "Share of the mean variance of a view's columns that is added to each variance; a view of more "
            "than 4,000 columns needs a positive value unless it is one-hot."
        ),
    ] = 0.0
    random_state: Annotated[int, Ge(0), Doc("Seed of the starting vectors.")] = 0

    @property
    def canonical_correlations_(self) -> Floats:
        """Correlation of the two views along each pair of canonical directions, float64 (k,), descending."""
        return self._solved().correlations

    @property
    def x_weights_(self) -> Floats:
        """Canonical directions of X as columns, float64 (p, k).

        The entry with the largest absolute value in each column is positive.
        """
        return self._solved().x_weights

    @property
    def y_weights_(self) -> Floats:
        """Canonical directions of y, the second view, as columns, float64 (q, k)."""
        return self._solved().y_weights

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Convert the two views to one corpus of joined rows: the columns of X, then those of y.

        Raises:
            ValueError: a view is not a matrix, or has no rows.
            MatrixError: the views have different numbers of rows.
        """
        if not isinstance(X, PairCorpus):
            return self._paired(X, y, reset=True)
        self.n_features_in_ = X.widths[0]
        return X

    def _paired(self, X: Any, y: Any, *, reset: bool, first_row: int = 0) -> PairCorpus:
        if isinstance(X, Corpus) and isinstance(y, Corpus):
            if reset:
                self.n_features_in_ = int(X.n_columns)  # type: ignore[attr-defined]
            return PairCorpus(X, y)
        if isinstance(X, Corpus) or isinstance(y, Corpus):
            raise MatrixError("X and y must both be matrices or both be corpora")
        if y is None:
            what = f"{type(self).__name__} requires y to be passed, but the target y is None"
            raise MatrixError(what, hint="give both views, fit(X, y)")
        X, y = self._validated(X, reset=reset), _second_view(y)
        if X.shape[0] != y.shape[0]:
            what = f"X has {X.shape[0]} rows and y has {y.shape[0]}"
            raise MatrixError(what, hint="give both views of the same examples")
        return PairCorpus(MatrixCorpus(X, first_row=first_row), MatrixCorpus(y, first_row=first_row))

    def init_moments(self, corpus: Corpus[Any]) -> PairMoments:
        """Return empty moments (sums and products of columns) for the two views of a corpus.

        Raises:
            MatrixError: the corpus has no rows.
        """
        assert isinstance(corpus, PairCorpus)
        sparse = bool(describe_rows(corpus)["sparse"])
        return PairMoments(*corpus.widths, sparse=sparse and sum(corpus.widths) > DENSE_COLUMNS)

    def solve(self, moments: PairMoments) -> None:
        """Compute the canonical directions from moments (sums and products of columns), and store both.

        Raises:
            InputError: there are fewer than two rows, no column of a view varies, or a wide view needs
                regularisation.
        """
        super().solve(moments)
        self._solved()

    def forget(self, X: Any, y: Any) -> Self:
        """Remove rows of both views that were added before.

        Args:
            X: (n, p), dense or sparse.
            y: (n, q).

        Raises:
            MatrixError: the rows are invalid as in `partial_fit`, or no rows would be left.
        """
        check_is_fitted(self)
        with one_blas_thread():
            gone = accumulate(self.moments_.empty_like(), self._more(X, y))
        if gone.n_rows >= self.n_rows_:
            what = f"cannot forget {gone.n_rows} rows: only {self.n_rows_} were learned from"
            raise MatrixError(what, hint="at least one row must be left")
        self.moments_.subtract(gone)
        self.finish()
        return self

    def _more(self, X: Any, y: Any) -> PairCorpus:
        corpus = self._paired(X, y, reset=False, first_row=self.n_rows_)
        for name, found, expected in zip(
            ("X", "y"), corpus.widths, (self.moments_.n_x, self.moments_.n_y), strict=True
        ):
            if found != expected:
                raise MatrixError(f"{name} has {found} columns where {expected} are expected")
        return corpus

    def finish(self) -> None:
        """Discard cached canonical directions; call after changing ``moments_``."""
        super().finish()
        if self.n_rows_:
            x, y, _ = self.moments_.views()
            self.x_mean_, self.y_mean_ = x.mean, y.mean

    def _solve(self) -> CanonicalPairs:
        """Compute the canonical directions."""
        if self.n_rows_ < 2:
            raise MatrixError("n_samples = 1, and two rows or more are needed")
        x, y, joint = self.moments_.views(self.regularisation)
        for name, view in (("X", x), ("y", y)):
            _check_varies(view, name, self.n_rows_)
        pairs = cca(x, y, joint, self.n_components, random_state=self.random_state)
        found = len(pairs.correlations)
        if found < self.n_components:
            warn(f"{self.n_components} components were asked for, and the views have {found} in common")
        return pairs

    def transform(self, X: Matrix, y: Any = None) -> Any:
        """Project rows onto the canonical directions.

        Args:
            X: (n, p), dense or sparse.
            y: (n, q) or None.

        Returns:
            Projection of X, float64 (n, k); if y is given, a tuple of the projections of X and y.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False, finite=True)
        projected = np.asarray(X @ self.x_weights_) - self.x_mean_ @ self.x_weights_
        return projected if y is None else (projected, self.transform_y(y))

    def transform_y(self, y: Any) -> Floats:
        """Project rows of the second view alone.

        Args:
            y: (n, q), dense or sparse.

        Returns:
            float64 (n, k).
        """
        check_is_fitted(self)
        y = _second_view(y, finite=True)
        if y.shape[1] != self.moments_.n_y:
            raise MatrixError(f"y has {y.shape[1]} columns where {self.moments_.n_y} are expected")
        return np.asarray(y @ self.y_weights_) - self.y_mean_ @ self.y_weights_

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to both views, and return the projections of X and of y, float64 (n, k) each."""
        return self.fit(X, y, **fit_params).transform(X, y)

    @property
    def _n_features_out(self) -> int:
        return len(self.canonical_correlations_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _second_view(y: Any, finite: bool = False) -> Matrix:
    check_structure(y)
    kinds = [np.float64, np.float32]
    y = check_array(
        y, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite, ensure_2d=False, input_name="y"
    )
    return y.reshape(-1, 1) if y.ndim == 1 else y


def _check_varies(view: View, name: str, n_rows: int) -> None:
    """Raise an error if no column of a view varies, and warn if rounding dominates a variance.

    Args:
        view: first and second moments of one of the two data matrices.
        name: name of the matrix in messages.
        n_rows: number of rows.
    """
    if not view.variances.any():
        what = f"no column of {name} varies over the {n_rows} rows"
        raise MatrixError(what, hint="give more rows, or other columns")
    squares = view.second.diagonal()
    few = np.flatnonzero((view.variances > 0) & (view.variances < _FEW_DIGITS * squares))
    if len(few):
        what = f"column {few[0]} of {name} has a mean far beyond its deviation, and loses digits"
        warn(f"{what}: subtract a constant first")
