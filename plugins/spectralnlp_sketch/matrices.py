"""Base classes of what learns from the rows of matrices: spectralnlp's contract and scikit-learn's."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralnlp.estimator import MomentEstimator, Unlearning, unchanged_on_error
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Batch, Corpus, Moments
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import Matrix, Rows, check_structure
from spectralnlp_sketch.stream import MatrixCorpus


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixEstimator(MomentEstimator[Any], TransformerMixin, BaseEstimator):
    """Base of transformers of rows: ``fit`` takes a matrix (n, d), or a corpus of rows with ``n_columns``.

    A matrix is dense or sparse; corpora are `MatrixCorpus`, `FileRows` or one's own.

    Attributes:
        n_features_in_: d.
    """

    task = "matrices"

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Make a corpus of a matrix; of a corpus, note the width.

        Raises:
            ValueError: scikit-learn's, of what is no matrix, or has no rows.
        """
        if isinstance(X, Corpus):
            self.n_features_in_ = int(X.n_columns)  # type: ignore[attr-defined]
            return X
        return MatrixCorpus(self._validated(X, reset=True))

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        # Moments look for NaN themselves, more cheaply, and name the row.
        check_structure(X)
        kinds = [np.float64, np.float32]
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalEstimator(MatrixEstimator):
    """Base of transformers whose one pass can go on: more rows are added, other parts are merged.

    Attributes:
        moments_: what was added up.
        n_rows_: rows seen.
    """

    unlearning: ClassVar[Unlearning] = "merge-only"

    @abstractmethod
    def init_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Return empty moments for rows such as those of a corpus."""

    def solve(self, moments: Any) -> Moments[Any] | None:
        """Take over moments.

        Raises:
            MatrixError: there are no rows in them.
        """
        self.moments_ = moments
        self.finish()
        if not self.n_rows_:
            raise MatrixError("the stream holds no rows")
        return None

    def finish(self) -> None:
        """Take note that ``moments_`` have changed."""
        self.n_rows_ = int(self.moments_.n_rows)

    def partial_fit(self, X: Matrix, y: object = None) -> Self:
        """Add a batch of rows to those added before.

        Args:
            X: (n, d), dense or sparse.
            y: ignored.

        Raises:
            ConfigError: a hyper-parameter has another type than declared or is out of its range.
            MatrixError: a NaN or an infinity (which row).
        """
        first = not hasattr(self, "moments_")
        if first:
            self.validate()
        with unchanged_on_error(self), one_blas_thread():
            X = self._validated(X, reset=first)
            moments: Any = self.init_moments(MatrixCorpus(X)) if first else self.moments_
            moments.observe(Batch(Rows(X), "", 0, int(moments.n_rows)))
            self.moments_ = moments
            self.finish()
        return self

    def merge(self, other: Self) -> Self:
        """Add what another of the same settings has seen, of other rows.

        A linear sketch tells rows apart by their numbers: fit its parts on
        ``MatrixCorpus(part, first_row=…)``, or the signs of one part are those of the other.

        Raises:
            ConfigError: the two differ in a setting or in width; says in which.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self.moments_.merge(other.moments_)
        self.finish()
        return self
