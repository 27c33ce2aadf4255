"""What sketches share as scikit-learn transformers: rows in, coordinates along leading directions out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Batch, Corpus, accumulate
from spectralnlp_sketch.errors import MatrixError, SketchWarning
from spectralnlp_sketch.rows import Matrix, Rows
from spectralnlp_sketch.stream import MatrixCorpus

Floats = NDArray[Any]
BATCH_ROWS = 8192


class Solution(NamedTuple):
    """What a sketch gives.

    Args:
        sketch: B (at most l, d).
        components: its leading right singular vectors (k, d).
        singular_values: those of B (k,).
        bound: at least ‖XᵀX − BᵀB‖₂; None where nothing is promised for this data.
    """

    sketch: Floats
    components: Floats
    singular_values: Floats
    bound: float | None = None


class SketchTransformer(TransformerMixin, ClassNamePrefixFeaturesOutMixin, BaseEstimator):
    """Base of what adds a stream of rows up to a sketch and projects on the sketch's leading directions.

    Attributes:
        moments_: what was added up; merges with that of another part of the data.
        input_: width, dtype and sparsity of the rows.
        n_rows_: rows seen.
        sketch_: B (at most sketch_size, d).
        components_: its leading right singular vectors (k, d), the entry of largest magnitude positive.
        singular_values_: those of B (k,).
    """

    n_components: int | None

    @abstractmethod
    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> Any:
        """Moments that nothing was added to."""

    @abstractmethod
    def _solve(self) -> Solution:
        """What follows from ``moments_``."""

    @property
    def sketch_(self) -> Floats:
        """B (at most sketch_size, d)."""
        return self._solved().sketch

    @property
    def components_(self) -> Floats:
        """The leading right singular vectors of B (k, d)."""
        return self._solved().components

    @property
    def singular_values_(self) -> Floats:
        """The leading singular values of B (k,)."""
        return self._solved().singular_values

    def _solved(self) -> Solution:
        """Solved at the first reading after a change: partial_fit with small batches stays cheap."""
        if "solution" not in self._solutions:
            with one_blas_thread():
                self._solutions["solution"] = self._solve()
        return self._solutions["solution"]

    def fit(self, X: Matrix | Corpus[Any], y: object = None) -> Self:
        """Sketch a matrix, or a corpus of rows (`MatrixCorpus`, `FileRows`) on the current engine.

        Args:
            X: (n, d) of numbers, dense or sparse; or a corpus with ``n_columns``.
            y: ignored.

        Raises:
            MatrixError: a NaN or an infinity (which row), or no rows.
        """
        corpus = X if isinstance(X, Corpus) else MatrixCorpus(self._validated(X, reset=True))
        with one_blas_thread():
            self.begin(corpus)
            accumulate(self.moments_, corpus, batch_size=BATCH_ROWS)
        self.finish()
        if not self.n_rows_:
            raise MatrixError("the stream holds no rows")
        return self

    def begin(self, corpus: Corpus[Any]) -> None:
        """Set empty ``moments_`` for the rows of a corpus; reads the first of them.

        Raises:
            MatrixError: there are no rows.
        """
        first = next(iter(corpus.batches(1)), None)
        if first is None:
            raise MatrixError("the stream holds no rows")
        self.restore(_described(first.examples.matrix))  # type: ignore[attr-defined]

    def restore(self, described: Mapping[str, Any], arrays: Mapping[str, Floats] | None = None) -> None:
        """Set ``moments_`` for rows as described, empty or as they were when they gave these arrays.

        Args:
            described: what ``input_`` was: ``n_columns``, ``dtype`` and ``sparse``.
            arrays: of the moments.
        """
        self.input_ = dict(described)
        self.n_features_in_ = int(described["n_columns"])
        self._dtype = np.dtype(described["dtype"])
        empty = self._empty_moments(self.n_features_in_, self._dtype, bool(described["sparse"]))
        self.moments_: Any = empty if arrays is None else empty.from_arrays(empty.parameters(), arrays)
        self.finish()

    def finish(self) -> None:
        """Take note that ``moments_`` have changed."""
        self.n_rows_ = int(self.moments_.n_rows)
        self._solutions: dict[str, Solution] = {}

    def partial_fit(self, X: Matrix, y: object = None) -> Self:
        """Add a batch of rows to what was added before.

        Args:
            X: (n, d), dense or sparse.
            y: ignored.

        Raises:
            MatrixError: a NaN or an infinity (which row).
        """
        first = not hasattr(self, "moments_")
        X = self._validated(X, reset=first)
        with one_blas_thread():
            if first:
                self.restore(_described(X))
            self.moments_.observe(Batch(Rows(X), "", 0, self.n_rows_))
        self.finish()
        return self

    def transform(self, X: Matrix) -> Floats:
        """Coordinates of rows along the components: X Vᵀ (n, k)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, finite=True)
        return np.asarray(X @ self.components_.T)

    def merge(self, other: Self) -> Self:
        """Add what another transformer of the same settings has seen, of other rows.

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

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        # Moments look for NaN themselves, more cheaply, and name the row.
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=finite,
        )

    def _solution_of(self, rows: Floats, *, bound: float | None = None, orthogonal: bool = False) -> Solution:
        sigma, directions = leading_directions(rows, orthogonal=orthogonal)
        kept = min(len(sigma), self.n_components or len(sigma))
        if self.n_components is not None and kept < self.n_components:
            what = f"{self.n_components} components were asked for, and the rows have rank {kept}"
            warnings.warn(what, SketchWarning, stacklevel=5)
        narrow = self._dtype
        return Solution(
            rows.astype(narrow, copy=False),
            directions[:kept].astype(narrow),
            sigma[:kept].astype(narrow),
            bound,
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def leading_directions(rows: Floats, *, orthogonal: bool = False) -> tuple[Floats, Floats]:
    """Singular values and right singular vectors of rows, those above rounding, signs fixed.

    Args:
        rows: B (m, d).
        orthogonal: whether they are so already, the longest first; nothing has to be decomposed then.

    Returns:
        σ (r,), descending, and Vᵀ (r, d): in each row the entry of largest magnitude is positive.
    """
    if not len(rows):
        return np.empty(0), np.empty((0, rows.shape[1]))
    m, d = rows.shape
    if orthogonal:
        sigma = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        order = np.argsort(-sigma, kind="stable")
        sigma, vt = sigma[order], rows[order] / np.maximum(sigma[order, None], np.finfo(np.float64).tiny)
    elif m * 4 < d:
        # The rows of a wide sketch: an SVD of the small triangle R of a QR of Bᵀ.
        q, r = np.linalg.qr(rows.T.astype(np.float64))
        _, sigma, vt = np.linalg.svd(r.T)
        vt = vt @ q.T
    else:
        _, sigma, vt = np.linalg.svd(rows.astype(np.float64), full_matrices=False)
    noise = max(m, d) * np.finfo(rows.dtype).eps * sigma[0]
    kept = np.count_nonzero(sigma > noise)
    sigma, vt = sigma[:kept], vt[:kept]
    signs = np.sign(vt[np.arange(kept), np.abs(vt).argmax(axis=1)])
    return sigma, vt * signs[:, None]


def _described(matrix: Matrix) -> dict[str, Any]:
    """What moments have to know of rows before they see them."""
    dtype = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return {"n_columns": int(matrix.shape[1]), "dtype": dtype.name, "sparse": sp.issparse(matrix)}
