"""Base class of sketches that are scikit-learn transformers and project rows onto leading directions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from typing_extensions import Doc

from spectralnlp_sketch.errors import warn
from spectralnlp_sketch.matrices import StoredEstimator

Floats = NDArray[Any]


class Solution(NamedTuple):
    """Sketch of rows X (n, d) with its leading singular values and vectors.

    Args:
        sketch: rows B, much fewer than n, for which BᵀB is close to XᵀX.
        components: leading right singular vectors of B (k, d).
        singular_values: leading singular values of B (k,).
        bound: upper bound of ‖XᵀX − BᵀB‖₂, or None if the method has no deterministic bound.
    """

    sketch: Floats
    components: Floats
    singular_values: Floats
    bound: float | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class SketchTransformer(ClassNamePrefixFeaturesOutMixin, StoredEstimator):
    """Base class of transformers that sketch a stream of rows and project rows onto leading directions.

    Attributes:
        moments_: state from which the sketch is computed; the states for two sets of rows can be merged.
        n_rows_: number of rows seen.
        sketch_: sketch B (at most sketch_size, d), for which BᵀB is close to XᵀX, where X are the rows seen.
        components_: leading right singular vectors of B as rows (k, d); the entry of largest magnitude in
            each row is positive.
        singular_values_: leading singular values of B (k,).
    """

    depends_on_row_numbers: ClassVar[bool] = True

    sketch_size: Annotated[int, Ge(1), Doc("Number of rows of the sketch.")] = field(
        default=64, kw_only=False
    )
    n_components: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc("Number of directions that `transform` projects onto; None for all of the sketch."),
    ] = None

    @property
    def sketch_(self) -> Floats:
        """Sketch B of the rows seen (at most sketch_size, d), for which BᵀB is close to XᵀX."""
        return self._solved().sketch

    @property
    def components_(self) -> Floats:
        """Leading right singular vectors of the sketch as rows (k, d), onto which `transform` projects."""
        return self._solved().components

    @property
    def singular_values_(self) -> Floats:
        """Leading singular values of the sketch, descending (k,)."""
        return self._solved().singular_values

    def transform(self, X: Any) -> Any:
        """Return coordinates of rows along the components (n, k).

        Args:
            X: (n, d), dense or sparse; or a stream of rows, as for ``fit``. Dask data give a Dask array.

        Raises:
            MatrixError: the width differs, there are no rows, or a row holds NaN or infinity.
        """
        return self._of_rows(lambda rows: np.asarray(rows @ self.components_.T), X)

    def _solution_of(self, rows: Floats, *, bound: float | None = None, orthogonal: bool = False) -> Solution:
        sigma, directions = leading_directions(rows, orthogonal=orthogonal)
        kept = min(len(sigma), self.n_components or len(sigma))
        if self.n_components is not None and kept < self.n_components:
            what = f"{self.n_components} components were asked for, and the rows have rank {kept}"
            warn(what)
        narrow = np.dtype(self.input_["dtype"])
        return Solution(
            rows.astype(narrow, copy=False),
            directions[:kept].astype(narrow),
            sigma[:kept].astype(narrow),
            bound,
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def leading_directions(rows: Floats, *, orthogonal: bool = False) -> tuple[Floats, Floats]:
    """Return singular values and right singular vectors of rows B, without those that are rounding errors.

    Args:
        rows: B (m, d).
        orthogonal: whether the rows are orthogonal already, so that no decomposition is needed.

    Returns:
        Singular values, descending (r,), and right singular vectors as rows (r, d); the entry of largest
        magnitude in each is positive.
    """
    if not len(rows):
        return np.empty(0), np.empty((0, rows.shape[1]))
    m, d = rows.shape
    if orthogonal:
        sigma = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        order = np.argsort(-sigma, kind="stable")
        # A copy with the rows' dtype, since it may take most of the memory.
        sigma, vt = sigma[order], rows[order]
        vt /= np.maximum(sigma[:, None], np.finfo(rows.dtype).tiny).astype(rows.dtype)
    elif m * 4 < d:
        # For wide sketches, an SVD of the small factor R of a QR of Bᵀ is enough.
        q, r = np.linalg.qr(rows.T.astype(np.float64))
        _, sigma, vt = np.linalg.svd(r.T)
        vt = vt @ q.T
    else:
        _, sigma, vt = np.linalg.svd(rows.astype(np.float64), full_matrices=False)
    noise = max(m, d) * np.finfo(rows.dtype).eps * sigma[0]
    kept = np.count_nonzero(sigma > noise)
    sigma, vt = sigma[:kept], vt[:kept]
    signs = np.sign([row[np.abs(row).argmax()] for row in vt])  # row by row, so that |V| is never formed
    vt *= signs[:, None]
    return sigma, vt
