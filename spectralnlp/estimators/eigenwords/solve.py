"""From counts to vectors: the matrix, its transform, its singular vectors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.estimators.eigenwords.counts import PairCounts
from spectralnlp.estimators.eigenwords.kernels import count_entries, fill_entries
from spectralnlp.linalg.svd import sparse_svd

Longs = NDArray[np.int64]
Array32 = NDArray[np.float32]
Variant = Literal["cca", "svd"]
Transform = Literal["none", "sqrt", "log"]
Positions = Literal["apart", "pooled"]
Blocks = tuple[tuple[int, ...], ...]

_NEGLIGIBLE = 1e-5  # of the largest singular value: float32 has no more to say


@dataclass(frozen=True)
class Vocabulary:
    """Which words are rows and which are contexts.

    Attributes:
        rows: int64; numbers of the words, the most frequent first.
        contexts: int64; numbers of the contexts, the sentence's end (0) first.
    """

    rows: Longs
    contexts: Longs


def choose_vocabulary(
    counts: PairCounts, *, min_count: int, max_words: int | None, n_contexts: int
) -> Vocabulary:
    """The words that occur often enough, ties in the order of their letters.

    Raises:
        InputError: there are not two.
    """
    words = counts.words
    if not words.counts[1:].any():
        raise InputError("no words to learn from", hint="give a text with words in it")
    numbers = 1 + np.flatnonzero(words.counts[1:] >= min_count)
    order = sorted(numbers.tolist(), key=lambda number: (-words.counts[number], words.name(number)))
    if len(order) < 2:
        most = int(words.counts[1:].max())
        what = (
            f"{len(order)} words occur {min_count} times or more; two are needed, the commonest occurs {most}"
        )
        raise InputError(what, hint="give more text or lower min_count")
    rows = np.array(order[:max_words], np.int64)
    return Vocabulary(rows, np.append(0, rows[:n_contexts]))


def blocks_of(window: int, positions: Positions) -> Blocks:
    """Groups of positions whose contexts share columns: each its own, or all one."""
    offsets = [*range(-window, 0), *range(1, window + 1)]
    return tuple((each,) for each in offsets) if positions == "apart" else (tuple(offsets),)


def context_matrix(counts: PairCounts, vocabulary: Vocabulary, blocks: Blocks) -> scipy.sparse.csr_array:
    """Counts of words × contexts, float32 (n_words, n_blocks · n_contexts)."""
    row_of = _places(vocabulary.rows, len(counts.words.counts))
    column_of = _places(vocabulary.contexts, len(counts.words.counts))
    block_of = {offset: block for block, offsets in enumerate(blocks) for offset in offsets}
    window = counts.window
    before = np.array([0] + [block_of[-d] for d in range(1, window + 1)])
    after = np.array([0] + [block_of[d] for d in range(1, window + 1)])

    entries = np.zeros(len(vocabulary.rows), np.int64)
    count_entries(counts.pairs.keys, row_of, column_of, entries)
    starts = np.append(0, np.cumsum(entries))
    columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    n_contexts = len(vocabulary.contexts)
    fill_entries(
        counts.pairs.keys, counts.pairs.counts, row_of, column_of, before, after, n_contexts,
        starts[:-1].copy(), columns, values,
    )  # fmt: skip
    shape = (len(vocabulary.rows), len(blocks) * n_contexts)
    matrix = scipy.sparse.csr_array((values, columns, starts), shape=shape)
    # Where pairs lay in their table depends on the order of the text; sums of floats must not.
    matrix.sum_duplicates()
    return matrix


def _places(numbers: Longs, size: int) -> NDArray[np.int32]:
    places = np.full(size, -1, np.int32)
    places[numbers] = np.arange(len(numbers))
    return places


def transformed(matrix: scipy.sparse.csr_array, transform: Transform) -> scipy.sparse.csr_array:
    """The matrix with each count c replaced by √c (``sqrt``), by log(1 + c) (``log``), or kept (``none``)."""
    changes: dict[str, Callable[[Array32], Array32]] = {"none": np.copy, "sqrt": np.sqrt, "log": np.log1p}
    data = changes[transform](matrix.data)
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def solve_vectors(
    matrix: scipy.sparse.csr_array, variant: Variant, dimensions: int, *,
    oversampling: int, iterations: int, random_state: int,
) -> tuple[Array32, Array32, Array32]:  # fmt: skip
    """Vectors of rows and columns.

    ``svd``: U of A = UΣVᵀ. ``cca``, one-step CCA of a word and its context, both one-hot, so that their
    covariances are the diagonals of row and column sums (Dhillon et al. 2015, *Eigenwords: spectral word
    embeddings*, section 3.3): U of R^-½ A C^-½, less its trivial pair of singular vectors, √R1 and √C1, which
    is what centring takes away. Columns' vectors are C^-½ V Σ, for ``svd`` VΣ.

    Args:
        matrix: A, transformed counts.
        variant: ``cca`` or ``svd``.
        dimensions: wanted; fewer come back where A has a lower rank, with a warning.
        oversampling, iterations, random_state: of the decomposition.

    Returns:
        float32 (n_rows, k), (k,) and (n_columns, k).
    """
    scale = np.ones(matrix.shape[1], np.float32)
    trivial: tuple[Array32, Array32] | None = None
    if variant == "cca":
        rows, columns = (np.asarray(matrix.sum(axis=axis), np.float64).ravel() for axis in (1, 0))
        total = max(float(rows.sum()), 1e-30)
        trivial = np.sqrt(rows / total).astype(np.float32), np.sqrt(columns / total).astype(np.float32)
        scale = _inverse_root(columns)
        matrix = scipy.sparse.diags_array(_inverse_root(rows)) @ matrix
        matrix = (matrix @ scipy.sparse.diags_array(scale)).tocsr()
    u, sigma, v = sparse_svd(
        matrix, dimensions, less=trivial, oversampling=oversampling, iterations=iterations,
        random_state=random_state,
    )  # fmt: skip
    scale_of_all = 1.0 if variant == "cca" else float(sigma[:1].sum())
    rank = int((sigma > _NEGLIGIBLE * scale_of_all).sum())
    if rank == 0:
        raise InputError("the words all have the same contexts", hint="give more text")
    if rank < dimensions:
        found = ", ".join(f"{value:.2g}" for value in sigma[max(rank - 3, 0) : rank + 1])
        warnings.warn(
            f"dimensions lowered from {dimensions} to {rank}: the counts have no higher rank "
            f"(singular values end in {found})",
            stacklevel=2,
        )
    return u[:, :rank], sigma[:rank], scale[:, None] * v[:, :rank] * sigma[:rank]


def _inverse_root(sums: NDArray[np.float64]) -> Array32:
    return np.where(sums > 0, 1 / np.sqrt(np.maximum(sums, 1e-30)), 0).astype(np.float32)
