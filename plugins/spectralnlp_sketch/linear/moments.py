"""Moments of linear sketches S X of rows X: sums over rows, which can be merged and subtracted.

Column i of S depends only on the seed, and on the document (file) and the number of row i of X. The sums are
unscaled, so they are exact for rows of integers, except in Gaussian sketches; `LinearSketch.sketch` applies
the scale.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.counters import normals, permuted_prefix
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.linear.kernels import (
    add_hashed,
    add_hashed_sparse,
    add_sampled_transformed,
    add_transformed,
)
from spectralnlp_sketch.rows import Matrix, RowMoments

Floats = NDArray[np.float64]


class LinearSketch(RowMoments):
    """Base class of linear sketches S X of a stream of rows X (n, d) with a random S (m, n).

    Args:
        sketch_size: number of rows of the sketch, m.
        n_columns: number of columns, d.
        seed: seed of S, from 0 to 2⁶³ − 1.
    """

    # Subtraction is exact for integers such as counts, and exact up to rounding for other numbers.
    subtractable = True
    method: ClassVar[str]

    def __init__(self, sketch_size: int, n_columns: int, seed: int = 0) -> None:
        check_size(sketch_size)
        super().__init__(n_columns)
        self.sketch_size, self.seed = sketch_size, seed
        self.sums: Floats = np.zeros((sketch_size, n_columns))

    @property
    def scale(self) -> float:
        """Factor for the unscaled sums S X, with which the sketch preserves squared norms in expectation."""
        return 1.0

    @property
    def sketch(self) -> Floats:
        """Sketch S X (m, d) of the rows X, with the scale applied to the sums."""
        return self.scale * self.sums

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of rows, dense or sparse; its document and row numbers determine the random signs.

        Raises:
            MatrixError: the width differs, or a row holds NaN or infinity.
        """
        matrix = self.checked_rows(batch)
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported when the sums are used
            self._add_rows(matrix.astype(np.float64, copy=False), batch.document_index, batch.start)
        self._n_rows += matrix.shape[0]

    @abstractmethod
    def _add_rows(self, matrix: Matrix, document: int, start: int) -> None: ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save: ``sums``, the unscaled S X, float64 (m, d), and ``n_rows``, int64 ()."""
        return {"sums": self.sums, "n_rows": self._n_rows}


class OSNAPMoments(LinearSketch):
    """OSNAP sketch: adds each row, with random signs, to one row in each of s bands of the sketch.

    Nelson and Nguyên 2013, *OSNAP*, section 1 (the block construction).

    Args:
        n_nonzeros: number of nonzero entries in a column of S, s.
    """

    method = "osnap"

    def __init__(self, sketch_size: int, n_columns: int, seed: int = 0, n_nonzeros: int = 4) -> None:
        super().__init__(sketch_size, n_columns, seed)
        if not 1 <= n_nonzeros <= sketch_size:
            what = f"n_nonzeros must be from 1 to sketch_size ({sketch_size}), not {n_nonzeros}"
            raise SizeError(what)
        self.n_nonzeros = n_nonzeros

    @property
    def scale(self) -> float:
        """Factor by which to multiply the unscaled sums S X, 1/√s for s bands."""
        return 1.0 / math.sqrt(self.n_nonzeros)

    def _add_rows(self, matrix: Matrix, document: int, start: int) -> None:
        if sp.issparse(matrix):
            rows = (_writable(matrix.indptr), _writable(matrix.indices), _writable(matrix.data))
            add_hashed_sparse(self.seed, document, start, self.n_nonzeros, *rows, self.sums)
        else:
            add_hashed(self.seed, document, start, self.n_nonzeros, _writable(matrix), self.sums)


class CountSketchMoments(OSNAPMoments):
    """CountSketch: adds each row, with a random sign, to one row of the sketch.

    Clarkson and Woodruff 2017, section 2.3.
    """

    method = "countsketch"

    def __init__(self, sketch_size: int, n_columns: int, seed: int = 0) -> None:
        super().__init__(sketch_size, n_columns, seed, n_nonzeros=1)


class GaussianMoments(LinearSketch):
    """Gaussian sketch S X: entries of S (m, n) are independent normals of variance 1/m.

    Woodruff 2014, theorem 2.3.
    """

    method = "gaussian"
    subtractable = False

    @property
    def scale(self) -> float:
        """Factor by which to multiply the unscaled sums S X, 1/√m for m rows of the sketch."""
        return 1.0 / math.sqrt(self.sketch_size)

    def _add_rows(self, matrix: Matrix, document: int, start: int) -> None:
        for low in range(0, matrix.shape[0], 1024):
            part = matrix[low : low + 1024]
            columns = normals(self.seed, document, start + low, part.shape[0], self.sketch_size)
            self.sums += (part.T @ columns).T


class SRHTMoments(LinearSketch):
    """Sketch by the subsampled randomised Hadamard transform (SRHT), applied to blocks of rows.

    The rows of a block get random signs and are multiplied by a Hadamard matrix; some rows of the product are
    sampled and get random signs again. The sketch is the sum over all blocks, so rows can be streamed, and
    sketches merged. The last block is padded with zeros. Balabanov, Beaupère, Grigori and Lederer 2023,
    *Block subsampled randomized Hadamard transform*, definition 2.1; with a single block, this is the
    transform of Tropp 2011.

    Args:
        block_size: number of rows of a block, a power of two that is at least ``sketch_size``; None for the
            smallest one that is also at least 1,024.
    """

    method = "srht"

    def __init__(
        self, sketch_size: int, n_columns: int, seed: int = 0, block_size: int | None = None
    ) -> None:
        super().__init__(sketch_size, n_columns, seed)
        self.block_size = block_size or max(1024, 1 << (sketch_size - 1).bit_length())
        if self.block_size & (self.block_size - 1) or self.block_size < sketch_size:
            what = f"block_size must be a power of two, {sketch_size} or more, not {self.block_size}"
            raise SizeError(what)
        self._sampled = permuted_prefix(seed, self.block_size, sketch_size)

    @property
    def scale(self) -> float:
        """Factor by which to multiply the unscaled sums S X, 1/√m, since entries of S are ±1/√m."""
        return 1.0 / math.sqrt(self.sketch_size)

    def _add_rows(self, matrix: Matrix, document: int, start: int) -> None:
        end = start + matrix.shape[0]
        full_cost = self.block_size * max(1, self.block_size.bit_length() - 1)
        for block in range(start // self.block_size, -(-end // self.block_size)):
            low = max(start, block * self.block_size)
            high = min(end, (block + 1) * self.block_size)
            part = matrix[low - start : high - start]
            rows = part.toarray() if sp.issparse(part) else _writable(part)
            add = add_transformed if (high - low) * self.sketch_size > full_cost else add_sampled_transformed
            add(self.seed, document, low, self.block_size, self._sampled, rows, self.sums)


def check_size(sketch_size: int) -> None:
    """Check that a sketch has at least one row.

    Raises:
        SizeError: ``sketch_size`` is less than 1.
    """
    if sketch_size < 1:
        raise SizeError(f"sketch_size must be 1 or more, not {sketch_size}")


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """Return a writable array in C order, copied if necessary, as the compiled kernels require."""
    return np.require(array, requirements=["C", "W"])


MOMENTS: dict[str, type[LinearSketch]] = {
    each.method: each for each in (GaussianMoments, CountSketchMoments, OSNAPMoments, SRHTMoments)
}
