"""`LeverageScores`: how much each row of a matrix stands alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Batch, Corpus, accumulate, map_ordered
from spectralnlp_sketch.errors import MatrixError, SizeError, SketchWarning
from spectralnlp_sketch.frequent_directions.gram import GramMoments
from spectralnlp_sketch.leverage.moments import TriangleMoments
from spectralnlp_sketch.leverage.whitening import (
    EPS,
    TOLERANCE,
    Whitener,
    from_gram,
    from_rows,
    from_triangle,
    row_scores,
)
from spectralnlp_sketch.linear.moments import MOMENTS
from spectralnlp_sketch.linear.sizes import required_rows, warn_if_short
from spectralnlp_sketch.rows import Matrix, Rows
from spectralnlp_sketch.stream import MatrixCorpus

Floats = NDArray[np.float64]
EXACT = ("gram", "qr", "svd")
BATCH_ROWS = 8192


class LeverageScores(TransformerMixin, BaseEstimator):
    """The diagonal of X(XᵀX)⁺Xᵀ, for X of any number of rows, in two passes.

    Chin and Liang 2019, section 3; Drineas, Magdon-Ismail, Mahoney and Woodruff 2012. `fit` is the first
    pass, `transform` the second. Exact scores lie between 0 and 1 and sum to the rank of X; they are the same
    for any scale of the columns.

    Args:
        sketch_size: m, rows of the sketch where ``method`` is one; None: `required_rows` for ``epsilon``.
        method: ``auto``: ``gram``, and where that is not accurate to 1e-6 ``qr``, which takes one more pass.
            ``gram``: XᵀX and Cholesky. ``qr``: R of a blocked QR. ``svd``: of R, the paper's algorithm 1.
            ``gaussian``, ``countsketch``, ``osnap``, ``srht``: sketched, algorithm 2.
        truncate: algorithm 3: singular values up to this share of the largest count as zero. 0: those below
            rounding alone.
        bias_correction: multiply sketched scores by (m − r)/m; without it they are too large by as much.
        epsilon: ε of `required_rows`; if given, a warning says where the data have too few rows for it.
        random_state: seed of the sketch, a number.

    Attributes:
        method_: the method that was used; of ``auto`` the one chosen.
        sketch_: XᵀX for ``gram``, R for ``qr`` and ``svd``, S X otherwise.
        rank_: directions that count.
        condition_: σ₁/σ_r of what was inverted.
        error_: estimate of the relative error that rounding causes; sketches err by much more, about √(d/m).
    """

    def __init__(
        self,
        sketch_size: int | None = None,
        *,
        method: str = "auto",
        truncate: float = 0.0,
        bias_correction: bool = True,
        epsilon: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.sketch_size = sketch_size
        self.method = method
        self.truncate = truncate
        self.bias_correction = bias_correction
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X: Matrix | Corpus[Any], y: object = None) -> Self:
        """The first pass, over a matrix (n, d) or a corpus of rows with ``n_columns``.

        Args:
            X: dense or sparse; a `MatrixCorpus` or `FileRows` is read on the current engine.
            y: ignored.

        Raises:
            MatrixError: a NaN or an infinity (which row), or no rows.
        """
        corpus = self._corpus(X, reset=True)
        with one_blas_thread():
            self._add_up(corpus, self._first_method())
            if not self.n_rows_:
                raise MatrixError("the stream holds no rows")
            self._solve(corpus)
        return self

    def partial_fit(self, X: Matrix, y: object = None) -> Self:
        """Add rows to the first pass. ``auto`` stays with ``gram``: there is nothing to read again.

        Args:
            X: (n, d), dense or sparse.
            y: ignored.
        """
        first = not hasattr(self, "moments_")
        X = self._validated(X, reset=first)
        with one_blas_thread():
            if first:
                self.method_ = self._first_method()
                self.moments_ = self._empty_moments(self.method_, X.shape[1])
                self.n_rows_ = 0
            self.moments_.observe(Batch(Rows(X), "", 0, self.n_rows_))
            self.n_rows_ += X.shape[0]
            self._solve(None)
        return self

    def transform(self, X: Matrix) -> Floats:
        """Scores of rows with respect to the rows fitted: float64 (n, 1)."""
        return self.scores(X)[:, None]

    def scores(self, X: Matrix) -> Floats:
        """The same as a vector (n,)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, finite=True)
        with one_blas_thread():
            blocks = [row_scores(X[low : low + BATCH_ROWS], self._whitener) for low in _starts(X)]
        return self._factor() * np.concatenate(blocks)

    def stream_scores(self, corpus: Corpus[Any]) -> Iterator[Floats]:
        """The second pass over a corpus, on the current engine: scores by the block, in order."""
        check_is_fitted(self)
        blocks = (batch.examples.matrix for batch in corpus.batches(BATCH_ROWS))  # type: ignore[attr-defined]
        # A function that can be sent to worker processes.
        return map_ordered(partial(_block_scores, self._whitener, self._factor()), blocks)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """One name, ``leverage``."""
        check_is_fitted(self)
        return np.array(["leverage"], dtype=object)

    def _factor(self) -> float:
        """What takes the bias out of sketched scores."""
        if self.method_ in EXACT or not self.bias_correction:
            return 1.0
        m = int(self.moments_.sketch_size)
        return max(m - self.rank_, 0) / m

    # -- the first pass

    def _first_method(self) -> str:
        known = ("auto", *EXACT, *MOMENTS)
        if self.method not in known:
            raise SizeError(f"no method is called {self.method!r}", hint=f"there are {', '.join(known)}")
        if not 0 <= self.truncate < 1:
            raise SizeError(f"truncate must be at least 0 and under 1, not {self.truncate}")
        return "gram" if self.method == "auto" else self.method

    def _add_up(self, corpus: Corpus[Any], method: str) -> None:
        self.method_ = method
        self.moments_ = self._empty_moments(method, self.n_features_in_)
        accumulate(self.moments_, corpus, batch_size=BATCH_ROWS)
        self.n_rows_ = int(self.moments_.n_rows)

    def _empty_moments(self, method: str, d: int) -> Any:
        if method == "gram":
            return GramMoments(d)
        if method in EXACT:
            return TriangleMoments(d)
        size = self.sketch_size or required_rows(method, d, self.epsilon or 0.5)
        if size <= d:
            hint = f"take at least {required_rows(method, d, 0.5):,}"
            what = f"a sketch of {size} rows cannot tell the scores of {d} columns: all would be alike"
            warnings.warn(f"{what}; {hint}", SketchWarning, stacklevel=4)
        return MOMENTS[method](size, d, self.random_state)

    def _solve(self, corpus: Corpus[Any] | None) -> None:
        # Of R's singular values: numpy's n·eps would give up directions that QR still knows.
        rounding = 4 * max(self.n_rows_**0.5, self.n_features_in_) * EPS
        whitener: Whitener | None = None
        if self.method_ == "gram" and not self.truncate:
            whitener = from_gram(self.moments_.gram)
            if whitener is None and self.method == "auto" and corpus is not None:
                self._add_up(corpus, "qr")
        if self.method_ == "qr" and not self.truncate:
            whitener = from_triangle(self.moments_.triangle)
        if self.method_ in MOMENTS and not self.truncate:
            # Algorithm 2 with R for ΣVᵀ: the same scores, and inverting a triangle is cheaper than an SVD.
            whitener = from_triangle(np.asarray(np.linalg.qr(self.moments_.sketch, mode="r")))
        if whitener is None:
            # The Gram matrix knows singular values only down to the root of rounding.
            least = rounding**0.5 if self.method_ == "gram" else rounding
            whitener = from_rows(self._root(), max(self.truncate, least))
            if self.method_ == "gram":
                whitener = whitener._replace(error=whitener.condition**2 * EPS)
        if self.method_ in EXACT and whitener.error > TOLERANCE:
            what = f"leverage scores accurate to about {whitener.error:.0e}, not {TOLERANCE:.0e}"
            why = f"the condition number is {whitener.condition:.0e}"
            advice = "truncate=1e-6 leaves the smallest directions out"
            warnings.warn(f"{what}: {why} by method {self.method_}; {advice}", SketchWarning, stacklevel=3)
        if self.epsilon is not None and self.method_ not in EXACT:
            warn_if_short(self.method_, self.n_features_in_, self.epsilon, self.n_rows_)
        self._whitener = whitener
        self.rank_, self.condition_, self.error_ = whitener.rank, whitener.condition, whitener.error

    def _root(self) -> Floats:
        """B with BᵀB equal to what was added up."""
        if self.method_ != "gram":
            return self.sketch_
        squares, vectors = np.linalg.eigh(self.moments_.gram)
        return np.sqrt(np.maximum(squares, 0.0))[:, None] * vectors.T

    @property
    def sketch_(self) -> Floats:
        """What stands for X: XᵀX, R or S X."""
        if self.method_ == "gram":
            return self.moments_.gram
        return self.moments_.triangle if self.method_ in EXACT else self.moments_.sketch

    def _corpus(self, X: Matrix | Corpus[Any], *, reset: bool) -> Corpus[Any]:
        if isinstance(X, Corpus):
            self.n_features_in_ = X.n_columns  # type: ignore[attr-defined]
            return X
        return MatrixCorpus(self._validated(X, reset=reset))

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        kinds = [np.float64, np.float32]
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _starts(matrix: Matrix) -> range:
    return range(0, matrix.shape[0], BATCH_ROWS)


def _block_scores(whitener: Whitener, factor: float, rows: Matrix) -> Floats:
    with one_blas_thread():
        return factor * row_scores(rows, whitener)
