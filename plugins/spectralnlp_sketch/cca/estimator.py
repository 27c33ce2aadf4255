"""The scikit-learn transformer for canonical correlation analysis (CCA)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.linalg import one_blas_thread
from spectralnlp.linalg.cca import View, cca
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp_sketch.adapters import corpus_of
from spectralnlp_sketch.cca.model import CCAModel, checked_view
from spectralnlp_sketch.cca.moments import PairMoments
from spectralnlp_sketch.cca.pairs import PairCorpus, Pairs
from spectralnlp_sketch.errors import MatrixError, warn
from spectralnlp_sketch.matrices import IncrementalEstimator
from spectralnlp_sketch.rows import row_type_of
from spectralnlp_sketch.stream import MatrixCorpus

Floats = NDArray[np.float64]

# With at most this many columns in both views, the sums are a dense matrix (128 MB). With more, and sparse
# rows, only pairs of columns that occur in the same row are stored.
DENSE_COLUMNS = 4000


@dataclass(kw_only=True, eq=False, repr=False)
class CCA(ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin, IncrementalEstimator):
    """Canonical correlation analysis: directions of two views whose projections are most correlated.

    The method is that of Hotelling (1936). Eigenwords use the same CCA, with a word and its context as the
    two views. The interface is that of ``sklearn.cross_decomposition.CCA``: ``y`` is the second view. Views
    are dense or sparse matrices, paths of files, or other streams of rows; columns are centred. One pass adds
    up sums and products of columns, so fitted estimators can be merged and rows can be removed again.

    In shapes, k is the number of pairs of directions, p the number of columns of X, and q that of y.

    Attributes:
        canonical_correlations_: float64 (k,), descending; shrunk by ``regularisation``.
        x_weights_, y_weights_: float64 (p, k) and (q, k); projections have variance 1, or less with
            ``regularisation``.
        x_loadings_, y_loadings_: float64 (p, k) and (q, k); covariances of columns and projections, divided
            by the variances of the projections.
        x_mean_, y_mean_: column means, float64 (p,) and (q,).
        model_: the solution as a model that can be saved (`CCAModel`).
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
    task = "views"

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
    def model_(self) -> CCAModel:
        """The solution as a model that can be saved."""
        solved: CCAModel = self._solved()
        return solved

    @property
    def canonical_correlations_(self) -> Floats:
        """Correlation of the two views along each pair of canonical directions, float64 (k,), descending."""
        return self.model_.correlations

    @property
    def x_weights_(self) -> Floats:
        """Canonical directions of X as columns, float64 (p, k).

        The entry with the largest absolute value in each column is positive.
        """
        return self.model_.x_weights

    @property
    def y_weights_(self) -> Floats:
        """Canonical directions of y, the second view, as columns, float64 (q, k)."""
        return self.model_.y_weights

    @property
    def x_loadings_(self) -> Floats:
        """Regression of X on its projections, float64 (p, k)."""
        return self.model_.x_loadings

    @property
    def y_loadings_(self) -> Floats:
        """Regression of y on its projections, float64 (q, k)."""
        return self.model_.y_loadings

    @property
    def x_mean_(self) -> Floats:
        """Mean of each column of X, float64 (p,)."""
        return self.model_.x_mean

    @property
    def y_mean_(self) -> Floats:
        """Mean of each column of y, float64 (q,)."""
        return self.model_.y_mean

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Convert the two views to one corpus of pairs of rows.

        Args:
            X: (n, p), dense or sparse, or a stream of rows; or, without ``y``, a corpus of pairs of rows.
            y: (n, q), dense or sparse, or a stream of rows.

        Raises:
            ValueError: a view is not a matrix, or has no rows.
            MatrixError: the views have different numbers of rows.
            InputError: a file is missing or has an unknown format.
        """
        return self._paired(X, y, reset=True)

    def _paired(self, X: Any, y: Any, *, reset: bool) -> Corpus[Any]:
        if y is None:
            if isinstance(X, Corpus):
                return X
            what = f"{type(self).__name__} requires y to be passed, but the target y is None"
            raise MatrixError(what, hint="give both views, fit(X, y)")
        views = self._corpus(X, reset=reset), _second_view(y)
        first, second = (each.matrix.shape[0] if isinstance(each, MatrixCorpus) else None for each in views)
        if first is not None and second is not None and first != second:
            what = f"X has {first} rows and y has {second}"
            raise MatrixError(what, hint="give both views of the same examples")
        for view in views:
            if isinstance(view, MatrixCorpus) and not reset:
                view.first_row = self.n_rows_
        return PairCorpus(*views)

    def init_moments(self, corpus: Corpus[Any]) -> PairMoments:
        """Return empty moments (sums and products of columns) for the two views of a corpus."""
        if isinstance(corpus, PairCorpus):
            x, y = corpus.described()
        elif (first := next(iter(corpus.batches(1)), None)) is not None:
            pairs = Pairs.of(first.examples)
            x, y = row_type_of(pairs.x), row_type_of(pairs.y)
        else:
            return PairMoments(1, 1)  # for stored moments, which have their own sizes
        widths = x["n_columns"], y["n_columns"]
        sparse = x["sparse"] or y["sparse"]
        return PairMoments(*widths, sparse=bool(sparse and sum(widths) > DENSE_COLUMNS))

    def solve(self, moments: PairMoments) -> None:
        """Compute the canonical directions from moments (sums and products of columns), and store both.

        Raises:
            InputError: there are fewer than two rows, no column of a view varies, or a wide view needs
                regularisation.
        """
        super().solve(moments)
        self._solved()

    def finish(self) -> None:
        """Discard cached canonical directions; call after changing ``moments_``."""
        super().finish()
        self.n_features_in_ = self.moments_.n_x

    def forget(self, X: Any, y: Any) -> Self:
        """Remove rows of both views that were added before.

        Args:
            X: (n, p), dense or sparse, or a stream of rows.
            y: (n, q), dense or sparse, or a stream of rows.

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

    def _more(self, X: Any, y: Any) -> Corpus[Any]:
        return self._paired(X, y, reset=False)

    def _solve(self) -> CCAModel:
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
        return CCAModel.of(pairs, x, y, joint)

    def transform(self, X: Any, y: Any = None) -> Any:
        """Project rows onto the canonical directions.

        Args:
            X: (n, p), dense or sparse; or a stream of rows, as for ``fit``.
            y: (n, q), dense or sparse, or None.

        Returns:
            Projection of X, float64 (n, k); if y is given, a tuple of the projections of X and y.
        """
        projected = self._of_rows(lambda rows: self.model_.transform(rows), X)
        return projected if y is None else (projected, self.transform_y(y))

    def transform_y(self, y: Any) -> Floats:
        """Project rows of the second view alone; return float64 (n, k).

        Args:
            y: (n, q), dense or sparse; or a stream of rows, as for ``fit``.
        """
        check_is_fitted(self)
        return self.model_.transform_y(y)

    def predict(self, X: Any) -> Floats:
        """Predict y by the linear regression of y on the projections of X that has the least squared error.

        ``sklearn.cross_decomposition.CCA`` predicts with the scale of the projections of y instead of X's;
        its squared error is larger.

        Args:
            X: (n, p), dense or sparse; or a stream of rows, as for ``fit``.

        Returns:
            float64 (n, q); (n,) if y has one column.
        """
        found: Floats = self._of_rows(lambda rows: self.model_.predict(rows), X)
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², the share of the variance of y that `predict` explains, averaged over its columns.

        Args:
            X: (n, p), dense or sparse; or a stream of rows, as for ``fit``.
            y: (n, q), or (n,) if it has one column; or a stream of rows.
            sample_weight: weights of the rows (n,); None for equal weights.
        """
        return float(super().score(X, checked_view(y, "y"), sample_weight))

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Map projections (n, k), as `transform` returns them, back to rows; see `CCAModel`."""
        check_is_fitted(self)
        return self.model_.inverse_transform(X, y)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to both views, and return the projections of X and of y, float64 (n, k) each."""
        return self.fit(X, y, **fit_params).transform(X, y)

    @property
    def _n_features_out(self) -> int:
        return len(self.canonical_correlations_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.regressor_tags.poor_score = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _second_view(y: Any) -> Corpus[Any]:
    """Return a matrix or a stream of rows as a corpus; moments check for NaN, and name its row."""
    corpus = corpus_of(y)
    return MatrixCorpus(checked_view(y, "y")) if corpus is None else corpus


def _check_varies(view: View, name: str, n_rows: int) -> None:
    """Raise an error if no column of a view varies.

    Args:
        view: first and second moments of one of the two data matrices.
        name: name of the matrix in messages.
        n_rows: number of rows.
    """
    if not view.variances.any():
        what = f"no column of {name} varies over the {n_rows} rows"
        raise MatrixError(what, hint="give more rows, or other columns")
