"""Base of sketches as transformers: rows in, coordinates along leading directions out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from typing_extensions import Doc

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus
from spectralnlp_sketch.errors import warn
from spectralnlp_sketch.matrices import IncrementalEstimator
from spectralnlp_sketch.rows import describe_rows

Floats = NDArray[Any]


class Solution(NamedTuple):
    """Results of a sketch.

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


@dataclass(kw_only=True, eq=False, repr=False)
class SketchTransformer(ClassNamePrefixFeaturesOutMixin, IncrementalEstimator):
    """Base of what adds a stream of rows up to a sketch and projects on the sketch's leading directions.

    Attributes:
        moments_: the sums; they merge with those of another part of the data.
        input_: width, dtype and sparsity of the rows.
        n_rows_: rows seen.
        sketch_: B (at most sketch_size, d).
        components_: its leading right singular vectors (k, d), the entry of largest magnitude positive.
        singular_values_: those of B (k,).
    """

    # Whether what a row adds depends on its number: random signs are drawn for each.
    tells_rows_apart: ClassVar[bool] = True

    sketch_size: Annotated[int, Ge(1), Doc("Rows of the sketch.")] = field(default=64, kw_only=False)
    n_components: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc("Directions that `transform` projects on; None: all that the sketch has."),
    ] = None

    @abstractmethod
    def _empty_moments(self, n_columns: int, dtype: np.dtype[Any], sparse: bool) -> Any:
        """Empty moments of rows of a width, dtype and sparsity."""

    @abstractmethod
    def _solve(self) -> Solution:
        """Solve for the sketch from ``moments_``."""

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
        if "solution" not in self.solutions_:
            with one_blas_thread():
                self.solutions_["solution"] = self._solve()
        return self.solutions_["solution"]

    def init_moments(self, corpus: Corpus[Any]) -> Any:
        """Return empty moments for rows such as the first of a corpus.

        Raises:
            MatrixError: there are no rows.
        """
        return self._moments_for(describe_rows(corpus))

    def _moments_for(self, described: Mapping[str, Any]) -> Any:
        self.input_ = dict(described)
        self.n_features_in_ = int(described["n_columns"])
        dtype = np.dtype(described["dtype"])
        return self._empty_moments(self.n_features_in_, dtype, bool(described["sparse"]))

    def begin(self, corpus: Corpus[Any]) -> None:
        """Set empty ``moments_`` for the rows of a corpus; reads the first of them.

        Raises:
            ConfigError: a hyper-parameter has another type than declared or is out of its range.
            MatrixError: there are no rows.
        """
        self.validate()
        self.moments_ = self.init_moments(corpus)
        self.finish()

    def restore(self, described: Mapping[str, Any], arrays: Mapping[str, Floats] | None = None) -> None:
        """Set ``moments_`` for rows as described, empty or as they were when they gave these arrays.

        Args:
            described: an earlier ``input_``: ``n_columns``, ``dtype`` and ``sparse``.
            arrays: of the moments.
        """
        empty = self._moments_for(described)
        self.moments_ = empty if arrays is None else empty.restored(arrays)
        self.finish()

    def finish(self) -> None:
        """Take note that ``moments_`` have changed."""
        super().finish()
        # In a dictionary: scikit-learn wants attributes unchanged by reading.
        self.solutions_: dict[str, Solution] = {}

    def transform(self, X: Any) -> Any:
        """Coordinates of rows along the components: X Vᵀ (n, k).

        Args:
            X: (n, d), dense or sparse; or a stream of them, as of ``fit``: of data of Dask an array of Dask.

        Raises:
            MatrixError: another width, no rows, or a NaN or an infinity (which row).
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
        # A copy that stays as narrow as the rows, for it may be most of the memory.
        sigma, vt = sigma[order], rows[order]
        vt /= np.maximum(sigma[:, None], np.finfo(rows.dtype).tiny).astype(rows.dtype)
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
    signs = np.sign([row[np.abs(row).argmax()] for row in vt])  # row by row, without |V| as a whole
    vt *= signs[:, None]
    return sigma, vt
