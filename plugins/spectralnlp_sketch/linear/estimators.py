"""Gaussian, CountSketch, OSNAP and SRHT sketches as transformers: the sketched SVD."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralnlp_sketch.linear.moments import (
    CountSketchMoments,
    GaussianMoments,
    LinearSketch,
    OSNAPMoments,
    SRHTMoments,
)
from spectralnlp_sketch.linear.sizes import warn_if_short
from spectralnlp_sketch.transformer import SketchTransformer, Solution


class _LinearTransformer(SketchTransformer):
    """S X, and the SVD of it in place of that of X (Chin and Liang 2019, section 2.1)."""

    def __init__(
        self,
        sketch_size: int = 64,
        *,
        n_components: int | None = None,
        epsilon: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.sketch_size = sketch_size
        self.n_components = n_components
        self.epsilon = epsilon
        self.random_state = random_state

    def _solve(self) -> Solution:
        if self.epsilon is not None:
            warn_if_short(self.moments_.method, self.n_features_in_, self.epsilon, self.n_rows_)
        return self._solution_of(self.moments_.sketch)


class GaussianSketch(_LinearTransformer):
    """Independent normal entries (Woodruff 2014, theorem 2.3).

    Args:
        sketch_size: m, rows of the sketch.
        n_components: directions that `transform` projects on; None: all that the sketch has.
        epsilon: if given, a warning says where the data are too few for singular values within 1 ± ε.
        random_state: seed of S, a number.
    """

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return GaussianMoments(self.sketch_size, n_columns, self.random_state)


class CountSketch(_LinearTransformer):
    """Every row, with a random sign, is added to one row of the sketch: the cheapest of all.

    Args:
        sketch_size: m, rows of the sketch.
        n_components: directions that `transform` projects on; None: all that the sketch has.
        epsilon: if given, a warning says where the data are too few for singular values within 1 ± ε.
        random_state: seed of S, a number.
    """

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return CountSketchMoments(self.sketch_size, n_columns, self.random_state)


class OSNAP(_LinearTransformer):
    """Every row goes to one row in each of ``n_nonzeros`` bands of the sketch.

    Args:
        sketch_size: m, rows of the sketch.
        n_components: directions that `transform` projects on; None: all that the sketch has.
        n_nonzeros: s of Nelson and Nguyên 2013.
        epsilon: if given, a warning says where the data are too few for singular values within 1 ± ε.
        random_state: seed of S, a number.
    """

    def __init__(
        self,
        sketch_size: int = 64,
        *,
        n_components: int | None = None,
        n_nonzeros: int = 4,
        epsilon: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(sketch_size, n_components=n_components, epsilon=epsilon, random_state=random_state)
        self.n_nonzeros = n_nonzeros

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return OSNAPMoments(self.sketch_size, n_columns, self.random_state, n_nonzeros=self.n_nonzeros)


class SRHT(_LinearTransformer):
    """Signs, a Hadamard transform over blocks of rows, a sample.

    Args:
        sketch_size: m, rows of the sketch.
        n_components: directions that `transform` projects on; None: all that the sketch has.
        block_size: rows of a block, a power of two; None: as `SRHTMoments` has it.
        epsilon: if given, a warning says where the data are too few for singular values within 1 ± ε.
        random_state: seed of S, a number.
    """

    def __init__(
        self,
        sketch_size: int = 64,
        *,
        n_components: int | None = None,
        block_size: int | None = None,
        epsilon: float | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(sketch_size, n_components=n_components, epsilon=epsilon, random_state=random_state)
        self.block_size = block_size

    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> LinearSketch:
        return SRHTMoments(self.sketch_size, n_columns, self.random_state, block_size=self.block_size)
