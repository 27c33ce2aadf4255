"""Scikit-learn transformers for linear sketches: Gaussian, CountSketch, OSNAP and SRHT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Lt
from typing_extensions import Doc

from spectralnlp.estimator import Unlearning
from spectralnlp_sketch.linear.moments import (
    CountSketchMoments,
    GaussianMoments,
    LinearSketch,
    OSNAPMoments,
    SRHTMoments,
)
from spectralnlp_sketch.linear.sizes import warn_if_short
from spectralnlp_sketch.rows import check_sums
from spectralnlp_sketch.transformer import SketchTransformer, Solution


@dataclass(kw_only=True, eq=False, repr=False)
class LinearTransformer(SketchTransformer):
    """Base class of transformers that sketch rows X by a product S X with a random matrix S of few rows.

    The singular values and right singular vectors of S X approximate those of X (Chin and Liang 2019,
    section 2.1).
    """

    unlearning: ClassVar[Unlearning] = "exact"

    epsilon: Annotated[
        Annotated[float, Gt(0), Lt(1)] | None,
        Doc("If given, there is a warning if the data have too few rows for singular values within 1 ± ε."),
    ] = None
    random_state: Annotated[int, Ge(0), Doc("Seed of S.")] = 0

    def _solve(self) -> Solution:
        if self.epsilon is not None:
            warn_if_short(self.moments_.method, self.n_features_in_, self.epsilon, self.n_rows_)
        sketch = self.moments_.sketch
        with np.errstate(over="ignore", invalid="ignore"):
            check_sums(np.square(sketch).sum())
        return self._solution_of(sketch)


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianSketch(LinearTransformer):
    """Linear sketch S X with a matrix S of independent normal entries (Woodruff 2014, theorem 2.3).

    `transform` projects rows onto the leading right singular vectors of the sketch.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import GaussianSketch
        >>> X = np.random.default_rng(0).normal(size=(1000, 20))
        >>> sketch = GaussianSketch(sketch_size=200, n_components=5).fit(X)
        >>> sketch.sketch_.shape, sketch.transform(X).shape
        ((200, 20), (1000, 5))
    """

    unlearning = "merge-only"

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return GaussianMoments(self.sketch_size, n_columns, self.random_state)


@dataclass(kw_only=True, eq=False, repr=False)
class CountSketch(LinearTransformer):
    """Linear sketch that adds each row of X, with a random sign, to one row of the sketch.

    It is the fastest of the linear sketches. `transform` projects rows onto the leading right singular
    vectors of the sketch.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import CountSketch
        >>> X = np.random.default_rng(0).normal(size=(1000, 20))
        >>> sketch = CountSketch(sketch_size=200, n_components=5).fit(X)
        >>> sketch.sketch_.shape, sketch.transform(X).shape
        ((200, 20), (1000, 5))
    """

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return CountSketchMoments(self.sketch_size, n_columns, self.random_state)


@dataclass(kw_only=True, eq=False, repr=False)
class OSNAP(LinearTransformer):
    """Linear sketch that adds each row of X, with random signs, to one row in each of ``n_nonzeros`` bands.

    A band is a range of rows of the sketch. `transform` projects rows onto the leading right singular vectors
    of the sketch.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import OSNAP
        >>> X = np.random.default_rng(0).normal(size=(1000, 20))
        >>> sketch = OSNAP(sketch_size=200, n_components=5).fit(X)
        >>> sketch.sketch_.shape, sketch.transform(X).shape
        ((200, 20), (1000, 5))
    """

    n_nonzeros: Annotated[
        int, Ge(1), Doc("Number of bands (s in Nelson and Nguyên 2013), at most ``sketch_size``.")
    ] = 4

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return OSNAPMoments(self.sketch_size, n_columns, self.random_state, n_nonzeros=self.n_nonzeros)


@dataclass(kw_only=True, eq=False, repr=False)
class SRHT(LinearTransformer):
    """Linear sketch by the subsampled randomised Hadamard transform (SRHT).

    Blocks of rows are multiplied by random signs and a Hadamard matrix, and sampled rows of the results are
    added up. `transform` projects rows onto the leading right singular vectors of the sketch.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import SRHT
        >>> X = np.random.default_rng(0).normal(size=(1000, 20))
        >>> sketch = SRHT(sketch_size=200, n_components=5).fit(X)
        >>> sketch.sketch_.shape, sketch.transform(X).shape
        ((200, 20), (1000, 5))
    """

    block_size: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc("Rows of a block, a power of two, at least ``sketch_size``; None for 1,024 or more."),
    ] = None

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return SRHTMoments(self.sketch_size, n_columns, self.random_state, block_size=self.block_size)
