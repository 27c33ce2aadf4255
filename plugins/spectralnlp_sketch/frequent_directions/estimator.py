"""`FrequentDirections`, the transformer."""

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

# Up to so many columns XᵀX is exact, smaller than buffers, and twice as fast as shrinking them.
GRAM_COLUMNS = 2048


@dataclass(kw_only=True, eq=False, repr=False)
class FrequentDirections(SketchTransformer):
    """A sketch B of l rows with 0 ⪯ XᵀX − BᵀB ⪯ ``bound_``·I, of a stream of any length.

    Kim, Stratos and Sarikaya 2015, section 2; Liberty 2013. Rows are not centred: put `Centring` before it.

    Attributes:
        method_: ``figure-1``; or what ``auto`` chose: ``gram`` up to 2,048 columns, ``randomised`` above.
        bound_: at least ‖XᵀX − BᵀB‖₂, known from what was shrunk away.

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

    tells_rows_apart = False

    method: Annotated[
        Literal["auto", "figure-1"],
        Doc(
            "``auto``: XᵀX itself for up to 2,048 columns; above, large buffers shrunk through their leading "
            "directions, where a bound may fail with a probability of 1e-6 a buffer. ``figure-1``: the "
            "algorithm as the paper prints it."
        ),
    ] = "auto"
    random_state: Annotated[int, Ge(0), Doc("Seed of the directions.")] = 0

    @property
    def bound_(self) -> float:
        """At least ‖XᵀX − BᵀB‖₂."""
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
        """‖XᵀX − BᵀB‖₂, by reading the rows again.

        Args:
            X: the rows that were sketched: a matrix (n, d), or a corpus of them.
            steps: of the Lanczos method, where X is wide: each reads the rows once.
        """
        check_is_fitted(self)
        with one_blas_thread():
            return covariance_error(X, self.sketch_, steps)
