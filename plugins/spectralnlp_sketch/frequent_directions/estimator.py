"""Scikit-learn transformer that sketches a stream of rows by frequent directions and projects onto them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus
from spectralnlp_sketch.frequent_directions.error import covariance_error
from spectralnlp_sketch.frequent_directions.gram import GramMoments
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.rows import Matrix
from spectralnlp_sketch.transformer import SketchTransformer, Solution

# Up to this many columns, XᵀX itself is exact, smaller than the buffers and twice as fast as shrinking.
GRAM_COLUMNS = 2048


@dataclass(kw_only=True, eq=False, repr=False)
class FrequentDirections(SketchTransformer):
    """Transformer that sketches a stream of rows X (n, d) by few rows B, with BᵀB close to XᵀX.

    The guarantee is 0 ⪯ XᵀX − BᵀB ⪯ ``bound_``·I (Liberty 2013; Kim, Stratos and Sarikaya 2015, section 2).
    Rows are not centred; apply `Centring` first if they should be.

    Attributes:
        method_: name of the algorithm that was used. With ``method="auto"`` it is ``gram`` for up to 2,048
            columns and ``randomised`` for more.
        bound_: upper bound of ‖XᵀX − BᵀB‖₂: exact for ``gram``; for ``randomised``, it fails with a
            probability of at most 1e-6 for each buffer of rows.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import FrequentDirections
        >>> X = np.random.default_rng(0).normal(size=(1000, 50))
        >>> sketch = FrequentDirections(sketch_size=16).fit(X)
        >>> sketch.sketch_.shape
        (16, 50)
        >>> bool(sketch.measured_error(X) <= sketch.bound_)
        True
    """

    depends_on_row_numbers = False

    method: Annotated[
        Literal["auto", "figure-1"],
        Doc(
            "``auto``: XᵀX itself for up to 2,048 columns; with more, large buffers shrunk through their "
            "leading directions, whose bound fails with a probability of at most 1e-6 for each buffer. "
            "``figure-1``: the algorithm of Kim et al. 2015, figure 1."
        ),
    ] = "auto"
    random_state: Annotated[int, Ge(0), Doc("Seed of the random directions.")] = 0

    @property
    def bound_(self) -> float:
        """Upper bound of the sketch's error ‖XᵀX − BᵀB‖₂ for rows X and sketch B."""
        bound = self._solved().bound
        assert bound is not None
        return bound

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> Any:
        of_auto = "gram" if n_columns <= GRAM_COLUMNS else "randomised"
        self.method_ = of_auto if self.method == "auto" else self.method
        if self.method_ == "gram":
            return GramMoments(n_columns, dtype.name)
        return FrequentDirectionsMoments(
            self.sketch_size,
            n_columns,
            method=self.method_,
            dtype=dtype.name,
            sparse=sparse and self.method_ == "randomised",
            seed=self.random_state,
        )

    def _solve(self) -> Solution:
        sketch = self.moments_.leading_rows(self.sketch_size)
        return self._solution_of(sketch.rows, bound=sketch.bound, orthogonal=self.method_ != "figure-1")

    def measured_error(self, X: Matrix | Corpus[Any], steps: int = 60) -> float:
        """Return the sketch's error ‖XᵀX − BᵀB‖₂, by reading the rows again.

        The error is exact up to 2,048 columns; with more, it is estimated from below.

        Args:
            X: the rows that were sketched: a matrix (n, d), or a corpus of them.
            steps: number of Lanczos steps for more than 2,048 columns; each step reads the rows once.
        """
        check_is_fitted(self)
        with one_blas_thread():
            return covariance_error(X, self.sketch_, steps)
