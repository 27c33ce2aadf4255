"""Base classes of estimators whose training data are rows of matrices, for spectralnlp and scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralnlp.estimator import MomentEstimator, Unlearning, unchanged_on_error
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Batch, Corpus, Moments, accumulate
from spectralnlp_sketch.adapters import corpus_of
from spectralnlp_sketch.dask_rows import DaskRows
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import (
    Matrix,
    Rows,
    check_finite,
    check_matrix,
    describe_rows,
    matrix_of,
    no_rows,
    other_width,
)
from spectralnlp_sketch.stream import MatrixCorpus


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixEstimator(MomentEstimator[Any], TransformerMixin, BaseEstimator):
    """Base class of transformers whose ``fit`` takes a matrix (n, d), dense or sparse, or a stream of rows.

    Streams are paths of files (``.npy``, ``.npz``, ``.parquet``, ``.csv``, text) and folders of files, Arrow
    tables, Dask arrays and data frames, iterables of batches, and corpora such as `MatrixCorpus` and
    `FileRows`.

    Attributes:
        n_features_in_: number of columns, d.
    """

    task = "matrices"

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Convert a matrix or a stream to a corpus of rows, and set ``n_features_in_``.

        Raises:
            ValueError: X is not a matrix, or has no rows (scikit-learn's error).
            InputError: as for `spectralnlp_sketch.adapters.corpus_of`.
        """
        return self._corpus(X, reset=True)

    def _corpus(self, X: Any, *, reset: bool) -> Corpus[Any]:
        corpus = corpus_of(X)
        if corpus is None:
            return MatrixCorpus(self._validated(X, reset=reset))
        width = int(corpus.n_columns)  # type: ignore[attr-defined]
        expected = width if reset else int(vars(self)["n_features_in_"])
        if width != expected:
            raise other_width(width, expected)
        if reset and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_features_in_ = width
        return corpus

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        # Moments check for NaN themselves, which is cheaper, and their error names the row.
        check_matrix(X)
        kinds = [np.float64, np.float32]
        try:
            return validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite
            )
        except ValueError as error:
            # Some of scikit-learn's messages show the array over many lines.
            first, *others = str(error).splitlines()
            if not others:
                raise
            hint = next((line for line in others if line.startswith("Reshape")), None)
            raise MatrixError(first.rstrip(":"), hint=hint) from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalEstimator(MatrixEstimator):
    """Base class of transformers that can learn from further rows, and be merged with each other.

    The fitted values are computed from ``moments_``, to which rows can be added at any time.

    Attributes:
        moments_: sums over the rows seen, or a sketch of these rows.
        n_rows_: number of rows seen.
    """

    unlearning: ClassVar[Unlearning] = "merge-only"
    # Whether the contribution of a row depends on its number, because random signs are drawn by number.
    depends_on_row_numbers: ClassVar[bool] = False

    @abstractmethod
    def init_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Return empty moments (statistics of rows), to which the rows of the corpus are added afterwards."""

    def solve(self, moments: Any) -> Moments[Any] | None:
        """Store the moments; subclasses compute the solution on first use.

        Raises:
            MatrixError: the moments hold no rows.
        """
        self.moments_ = moments
        self.finish()
        if not self.n_rows_:
            raise no_rows()
        return None

    def finish(self) -> None:
        """Discard the cached solution; call after changing ``moments_``."""
        self.n_rows_ = self.moments_.n_rows
        # Cached in a dictionary, since scikit-learn requires that reading does not change attributes.
        self.solutions_: dict[str, Any] = {}

    def _solve(self) -> Any:
        """Compute what `_solved` returns from ``moments_``; for subclasses that read it."""
        raise NotImplementedError

    def _solved(self) -> Any:
        """Return the solution; it is computed on first use, so that `partial_fit` is cheap."""
        solutions = self._fitted("solutions_")
        if "solution" not in solutions:
            with one_blas_thread():
                solutions["solution"] = self._solve()
        return solutions["solution"]

    def _fitted(self, name: str) -> Any:
        # An AttributeError, since scikit-learn expects hasattr(pca, "mean_") to be False before fit.
        if name not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted")
        return vars(self)[name]

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from further rows in addition to earlier ones; after an error nothing is changed.

        Args:
            X: (n, d), dense or sparse; or a stream of rows, as for ``fit``.
            y: the second view (n, q) for `CCA`; ignored by others.

        Raises:
            ConfigError: a hyper-parameter has another type than declared or is out of its range.
            MatrixError: the width differs, a row holds NaN or infinity, or X is a stream and the estimator
                depends on row numbers, as linear sketches do.
        """
        first = not hasattr(self, "moments_")
        if first:
            self.validate()
        with unchanged_on_error(self), one_blas_thread():
            corpus = self.as_corpus(X, y) if first else self._more(X, y)
            moments: Any = self.init_moments(corpus) if first else self.moments_
            self._add(corpus, moments)
            self.moments_ = moments
            self.finish()
        return self

    def _more(self, X: Any, y: Any) -> Corpus[Any]:
        """Convert further data to a corpus of rows of the fitted width."""
        return self._corpus(X, reset=False)

    def _add(self, corpus: Corpus[Any], moments: Any) -> None:
        """Add rows to moments.

        Args:
            corpus: the rows. A matrix is added as one batch, and a stream batch by batch.
            moments: moments to change.
        """
        if isinstance(corpus, MatrixCorpus):
            moments.observe(Batch(Rows(corpus.matrix), "", 0, moments.n_rows))
        elif self.depends_on_row_numbers:
            what = f"{type(self).__name__} depends on row numbers, and rows of a stream are numbered from 0"
            raise MatrixError(what, hint="give matrices to partial_fit, or the whole stream to fit")
        else:
            accumulate(moments, corpus)

    def _of_rows(self, function: Callable[[Matrix], Any], X: Any) -> Any:
        """Apply a function to rows: to a matrix at once, to a stream batch by batch.

        Args:
            function: function to apply; it gets finite rows of the fitted width, dense or CSR, float32 or
                float64.
            X: (n, d), dense or sparse; or a stream of rows, as for ``fit``.

        Returns:
            An array with one row for each row of X; for Dask data, a lazy Dask array.

        Raises:
            MatrixError: the width differs, there are no rows, or a row holds NaN or infinity.
        """
        check_is_fitted(self)
        corpus, of_batch = self._corpus(X, reset=False), partial(self._of_batch, function)
        if isinstance(corpus, MatrixCorpus):
            return of_batch(Batch(Rows(corpus.matrix), corpus.document, 0, corpus.first_row))
        if isinstance(corpus, DaskRows):
            return corpus.map(of_batch)
        results = [of_batch(batch) for batch in corpus.batches(self.moments_.batch_size)]
        if not results:
            raise no_rows()
        return np.concatenate(results)

    def _of_batch(self, function: Callable[[Matrix], Any], batch: Batch[Any]) -> Any:
        matrix = matrix_of(batch, self.n_features_in_)
        check_finite(matrix, batch.start, batch.document)
        return function(matrix)

    def merge(self, other: Self) -> Self:
        """Merge with an estimator of the same settings that was fitted on other rows.

        In a linear sketch, the random signs of a row depend on the row's number. To merge linear sketches of
        the parts of a matrix, fit each on ``MatrixCorpus(part, first_row=…)``, so that no two rows have the
        same number.

        Raises:
            ConfigError: the estimators differ in a setting or in width; the message names the difference.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self.moments_.merge(other.moments_)
        self.finish()
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class StoredEstimator(IncrementalEstimator):
    """Base class of estimators with model folders, which hold their moments; registered as sketches.

    Attributes:
        input_: width, dtype and sparsity of the rows.
    """

    @abstractmethod
    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> Any:
        """Return moments without rows, for rows of this width, dtype and sparsity."""

    def init_moments(self, corpus: Corpus[Any]) -> Any:
        """Return empty moments (statistics of rows), to which the rows of the corpus are added afterwards.

        Raises:
            MatrixError: there are no rows.
        """
        return self._moments_for(describe_rows(corpus))

    def _moments_for(self, row_type: Mapping[str, Any]) -> Any:
        self.input_ = dict(row_type)
        self.n_features_in_ = int(row_type["n_columns"])
        dtype = np.dtype(row_type["dtype"])
        return self._empty_moments(self.n_features_in_, dtype, bool(row_type["sparse"]))

    def begin(self, corpus: Corpus[Any]) -> None:
        """Set ``moments_`` to moments without rows, for rows of the width and type of a corpus' first row.

        Raises:
            ConfigError: a hyper-parameter has another type than declared or is out of its range.
            MatrixError: there are no rows.
        """
        self.validate()
        self.moments_ = self.init_moments(corpus)
        self.finish()

    def restore(self, row_type: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Restore ``moments_`` from stored arrays.

        Args:
            row_type: the stored ``input_``: ``n_columns``, ``dtype`` and ``sparse``.
            arrays: stored arrays of the moments; None for moments without rows.
        """
        empty = self._moments_for(row_type)
        self.moments_ = empty if arrays is None else empty.restored(arrays)
        self.finish()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a model folder; `spectralnlp_sketch.files.load_sketch` gives the estimator back.

        Args:
            path: the folder to create.
            overwrite: whether an existing model may be replaced.

        Raises:
            NotFittedError: the estimator is not fitted.
            ConfigError: the folder cannot be written, or exists; or this class is no registered sketch.
        """
        from spectralnlp_sketch.files import save_fitted

        self.check_is_fitted()
        save_fitted(self, path, overwrite=overwrite)
