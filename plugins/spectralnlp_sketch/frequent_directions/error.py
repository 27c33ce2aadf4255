"""How far a sketch is from what it stands for, measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from spectralnlp.corpus import Corpus
from spectralnlp.engine import accumulate
from spectralnlp_sketch.frequent_directions.gram import GramMoments
from spectralnlp_sketch.rows import Matrix
from spectralnlp_sketch.stream import MatrixCorpus

BATCH_ROWS = 8192
#: Up to so many columns XᵀX fits; above, X is read again for each product.
SMALL = 2048


def covariance_error(rows: Matrix | Corpus[Any], sketch: Matrix, iterations: int = 60) -> float:
    """‖XᵀX − BᵀB‖₂.

    Args:
        rows: X (n, d), dense or sparse, or a corpus of its rows.
        sketch: B (m, d).
        iterations: at most so many restarts of the Lanczos method, where X is wide.
    """
    corpus = rows if isinstance(rows, Corpus) else MatrixCorpus(rows)
    small = np.asarray(sketch, dtype=np.float64)
    d = small.shape[1]
    if d <= SMALL:
        gram = accumulate(GramMoments(d), corpus, batch_size=BATCH_ROWS).gram
        return float(np.abs(np.linalg.eigvalsh(gram - small.T @ small)).max())

    def times(v: NDArray[np.float64]) -> NDArray[np.float64]:
        result = -(small.T @ (small @ v))
        for batch in corpus.batches(BATCH_ROWS):
            block = batch.examples.matrix.astype(np.float64, copy=False)  # type: ignore[attr-defined]
            result += block.T @ (block @ v)
        return result

    difference = LinearOperator((d, d), matvec=times, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(d)
    # The eigenvalue is right to about the square of what its vector is.
    (largest,) = eigsh(difference, k=1, v0=start, tol=1e-2, maxiter=iterations, return_eigenvectors=False)
    return abs(float(largest))
