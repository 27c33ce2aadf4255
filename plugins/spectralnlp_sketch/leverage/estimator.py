"""The scikit-learn transformer for leverage scores of the rows of a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, Moments, map_ordered
from spectralnlp_sketch.errors import warn
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
from spectralnlp_sketch.matrices import IncrementalEstimator
from spectralnlp_sketch.rows import Matrix, RowMoments, check_sums, no_rows

Floats = NDArray[np.float64]
EXACT = ("gram", "qr", "svd")
BATCH_ROWS = RowMoments.batch_size


@dataclass(kw_only=True, eq=False, repr=False)
class LeverageScores(IncrementalEstimator):
    """Transformer that returns the leverage score of each row of X, the diagonal of X(XᵀX)⁺Xᵀ.

    The score says how much a row influences a least-squares fit; rows of high scores are worth sampling.
    `fit` is a first pass over any number of rows, `transform` a second (Chin and Liang 2019, section 3;
    Drineas, Magdon-Ismail, Mahoney and Woodruff 2012). Exact scores lie between 0 and 1, sum to the rank of
    X, and do not depend on the scale of columns. After `partial_fit`, the method ``auto`` is always ``gram``,
    since rows cannot be read again for ``qr``.

    Attributes:
        method_: the method used; with ``auto``, the chosen one.
        sketch_: the matrix from which scores are computed: XᵀX for ``gram``, the factor R of X = QR for
            ``qr`` and ``svd``, else the sketch S X.
        rank_: numerical rank of X.
        condition_: condition number of the matrix that is inverted: its largest singular value divided by
            the smallest one that is not treated as zero.
        error_: estimated relative error of scores from rounding. Scores from a sketch of m rows have a much
            larger error, about √(d/m) for d columns.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import LeverageScores
        >>> X = np.random.default_rng(0).normal(size=(100, 4))
        >>> scores = LeverageScores().fit(X).scores(X)
        >>> scores.shape, round(float(scores.sum()), 6)
        ((100,), 4.0)
    """

    sketch_size: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc("Rows of the sketch (m) if ``method`` is a sketch; None for `required_rows` of ``epsilon``."),
    ] = field(default=None, kw_only=False)
    method: Annotated[
        Literal["auto", "gram", "qr", "svd", "gaussian", "countsketch", "osnap", "srht"],
        Doc(
            "``auto``: ``gram``, or ``qr`` with one more pass if ``gram`` is not accurate to 1e-6. "
            "``gram``: XᵀX and Cholesky. ``qr``: R of a blocked QR. ``svd``: SVD of R, the paper's "
            "algorithm 1. ``gaussian``, ``countsketch``, ``osnap``, ``srht``: sketches, algorithm 2."
        ),
    ] = "auto"
    truncate: Annotated[
        float,
        Ge(0),
        Lt(1),
        Doc(
            "Singular values up to this share of the largest are treated as zero (algorithm 3); 0 for those "
            "below rounding only."
        ),
    ] = 0.0
    bias_correction: Annotated[
        bool,
        Doc("Whether to multiply sketched scores by (m − r)/m, which removes their upward bias."),
    ] = True
    epsilon: Annotated[
        Annotated[float, Gt(0), Lt(1)] | None,
        Doc(
            "Precision ε for `required_rows`; if given, there is a warning if the data have too few rows "
            "for it."
        ),
    ] = None
    random_state: Annotated[int, Ge(0), Doc("Seed of the sketch.")] = 0

    def transform(self, X: Matrix) -> Floats:
        """Return leverage scores of rows relative to the fitted rows, float64 (n, 1)."""
        return self.scores(X)[:, None]

    def scores(self, X: Matrix) -> Floats:
        """Return leverage scores of rows as a vector, float64 (n,)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, finite=True)
        with one_blas_thread():
            blocks = [row_scores(X[low : low + BATCH_ROWS], self.whitener_) for low in _starts(X)]
        return self._factor() * np.concatenate(blocks)

    def stream_scores(self, corpus: Corpus[Any]) -> Iterator[Floats]:
        """Yield the leverage scores of a corpus of rows, an array float64 (n,) for each block of n rows.

        This is the second pass over the rows; it runs on the current execution engine.
        """
        check_is_fitted(self)
        blocks = (batch.examples.matrix for batch in corpus.batches(BATCH_ROWS))  # type: ignore[attr-defined]
        # A partial function, since it must be sent to worker processes.
        return map_ordered(partial(_block_scores, self.whitener_, self._factor()), blocks)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the name of the single output column, ``leverage``."""
        check_is_fitted(self)
        return np.array(["leverage"], dtype=object)

    def _factor(self) -> float:
        """Return the factor by which sketched scores are multiplied to correct their bias."""
        if self.method_ in EXACT or not self.bias_correction:
            return 1.0
        m = int(self.moments_.sketch_size)
        return max(m - self.rank_, 0) / m

    # -- First pass

    def init_moments(self, corpus: Corpus[Any]) -> Any:
        """Return empty moments (sums over rows) of the kind that ``method`` needs: for ``auto``, XᵀX."""
        self.method_: str = "gram" if self.method == "auto" else self.method
        return self._empty_moments(self.n_features_in_)

    def _empty_moments(self, d: int) -> Any:
        if self.method_ == "gram":
            return GramMoments(d)
        if self.method_ in EXACT:
            return TriangleMoments(d)
        size = self.sketch_size or required_rows(self.method_, d, self.epsilon or 0.5)
        if size <= d and not self.truncate:
            hint = f"use at least {required_rows(self.method_, d, 0.5):,}"
            warn(f"a sketch of {size} rows is too small for {d} columns: all scores would be equal; {hint}")
        return MOMENTS[self.method_](size, d, self.random_state)

    def solve(self, moments: Any) -> Moments[Any] | None:
        """Compute the matrix that maps rows to scores, or request another pass over the rows.

        Returns:
            None if the matrix is computed. If ``method`` is ``auto`` and XᵀX would give too inaccurate
            scores: empty moments for another pass, which computes the factor R of X = QR instead.

        Raises:
            MatrixError: there are no rows.
        """
        self._take(moments)
        if not self.n_rows_:
            raise no_rows()
        whitener = self._whiten_directly()
        if whitener is None and self.method == "auto" and self.method_ == "gram" and not self.truncate:
            self.method_ = "qr"
            return TriangleMoments(self.n_features_in_)
        self._keep(whitener or self._whiten_by_svd())
        return None

    def finish(self) -> None:
        """Recompute the whitening matrix, which gives scores; call after changing ``moments_``."""
        self._take(self.moments_)
        self._keep(self._whiten_directly() or self._whiten_by_svd())

    def _take(self, moments: Any) -> None:
        self.moments_ = moments
        self.n_rows_ = moments.n_rows
        check_sums(self.sketch_)

    def _whiten_directly(self) -> Whitener | None:
        """Compute the matrix that maps rows to scores, from a Cholesky factor of XᵀX or from R of X = QR.

        Returns None if this is too inaccurate, or if the settings require an SVD.
        """
        if self.truncate or self.method_ == "svd":
            return None
        if self.method_ == "gram":
            return from_gram(self.moments_.gram)
        if self.method_ == "qr":
            return from_triangle(self.moments_.triangle)
        # Algorithm 2 with R instead of ΣVᵀ: scores are equal, and inverting R is cheaper than an SVD.
        return from_triangle(np.asarray(np.linalg.qr(self.moments_.sketch, mode="r")))

    def _whiten_by_svd(self) -> Whitener:
        # Rounding of R's singular values; numpy's n·eps would drop directions that QR determines.
        rounding = 4 * max(self.n_rows_**0.5, self.n_features_in_) * EPS
        if self.method_ != "gram":
            return from_rows(self._root(), max(self.truncate, rounding))
        # The Gram matrix determines singular values only down to the square root of rounding.
        whitener = from_rows(self._root(), max(self.truncate, rounding**0.5))
        return whitener._replace(error=whitener.condition**2 * EPS)

    def _keep(self, whitener: Whitener) -> None:
        if self.method_ in EXACT and whitener.error > TOLERANCE:
            what = f"leverage scores accurate to about {whitener.error:.0e}, not {TOLERANCE:.0e}"
            why = f"the condition number is {whitener.condition:.0e}"
            warn(f"{what}: {why} by method {self.method_}; truncate=1e-6 drops the smallest directions")
        if self.epsilon is not None and self.method_ not in EXACT:
            warn_if_short(self.method_, self.n_features_in_, self.epsilon, self.n_rows_)
        self.whitener_ = whitener
        self.rank_, self.condition_, self.error_ = whitener.rank, whitener.condition, whitener.error

    def _root(self) -> Floats:
        """Return a matrix B (m, d) for which BᵀB is the Gram matrix of X, or of the sketch of X."""
        if self.method_ != "gram":
            return self.sketch_
        squares, vectors = np.linalg.eigh(self.moments_.gram)
        return np.sqrt(np.maximum(squares, 0.0))[:, None] * vectors.T

    @property
    def sketch_(self) -> Floats:
        """Matrix from which scores are computed: XᵀX, R of X = QR, or a sketch S X, as ``method_`` says."""
        if self.method_ == "gram":
            return self.moments_.gram
        return self.moments_.triangle if self.method_ in EXACT else self.moments_.sketch

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _starts(matrix: Matrix) -> range:
    return range(0, matrix.shape[0], BATCH_ROWS)


def _block_scores(whitener: Whitener, factor: float, rows: Matrix) -> Floats:
    with one_blas_thread():
        return factor * row_scores(rows, whitener)
