"""Leading eigenvalues and eigenvectors of a scatter matrix, the solution of PCA."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


class Spectrum(NamedTuple):
    """Leading eigenvalues and eigenvectors of a scatter S (d, d).

    Args:
        squares: eigenvalues, descending, float64 (k,).
        vectors: unit eigenvectors as rows (k, d).
        total: trace of S.
        bound: upper bound of ‖S − Ŝ‖₂, where Ŝ is the matrix that was decomposed, S or a sketch of S.
    """

    squares: NDArray[np.float64]
    vectors: Floats
    total: float
    bound: float

    def above_rounding(self, dtype: Any) -> Spectrum:
        """Return a copy without eigenvalues that are rounding errors, and with fixed signs of eigenvectors.

        The entry of largest magnitude in each eigenvector becomes positive.

        Args:
            dtype: dtype of the returned vectors.
        """
        d = self.vectors.shape[1]
        noise = d * np.finfo(np.float64).eps * (self.squares[0] if len(self.squares) else 0.0)
        kept = int(np.count_nonzero(self.squares > noise))
        vectors = self.vectors[:kept]
        signs = np.sign(vectors[np.arange(kept), np.abs(vectors).argmax(axis=1)])
        vectors = (vectors * signs[:, None]).astype(dtype)
        return Spectrum(self.squares[:kept], vectors, self.total, self.bound)

    def explaining(self, share: float) -> Spectrum:
        """Return a copy with the fewest eigenvalues that sum to more than a share of the trace, or all."""
        enough = int(np.searchsorted(np.cumsum(self.squares), share * self.total, side="right")) + 1
        return Spectrum(self.squares[:enough], self.vectors[:enough], self.total, self.bound)
