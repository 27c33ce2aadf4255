"""From counts to vectors: the matrix, its transform, its singular vectors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.estimators.eigenwords.moments import PairCounts
from spectralnlp.estimators.eigenwords.matrix_kernels import count_entries, fill_entries
from spectralnlp.estimators.eigenwords.spilled_pairs import entry_runs, merged_entries
from spectralnlp.estimators.eigenwords.stored_matrix import StoredMatrix
from spectralnlp.estimators.shared.spill_segments import most_frequent, take_census
from spectralnlp.linalg.svd import sparse_svd

Longs = NDArray[np.int64]
Array32 = NDArray[np.float32]
Variant = Literal["cca", "svd"]
Transform = Literal["none", "sqrt", "log"]
Positions = Literal["apart", "pooled"]
Blocks = tuple[tuple[int, ...], ...]

Matrix: TypeAlias = Any  # a scipy.sparse.csr_array or a StoredMatrix

_NEGLIGIBLE = 1e-5  # of the largest singular value: float32 has no more to say


@dataclass(frozen=True)
class Tabulated:
    """What counts come to: which words are rows, and the matrix of words × contexts.

    Attributes:
        words: of the rows, the most frequent first.
        counts: int64; theirs.
        contexts: the sentence's end (empty), and the words that are contexts.
        matrix: transformed counts, float32 (n_words, n_blocks · n_contexts).
        numbers: int64; what the counts call the words; None where they have no common numbers.
        n_types: different words counted.
        is_whole: whether memory had room for all the words that were wanted.
    """

    words: list[str]
    counts: Longs
    contexts: list[str]
    matrix: Matrix
    numbers: Longs | None
    n_types: int
    is_whole: bool = True


def tabulate(
    counts: PairCounts, *, min_count: int, max_words: int | None, n_contexts: int, blocks: Blocks,
    transform: Transform, width: int,
) -> Tabulated:  # fmt: skip
    """The vocabulary and the matrix of counts, be they in memory or on disk.

    Args:
        counts: of words and pairs.
        min_count, max_words, n_contexts: see `choose_vocabulary`.
        blocks: groups of positions.
        transform: of the counts.
        width: columns of the dense matrices to come, which must fit beside it.
    """
    if counts.is_spilled:
        return _tabulate_spilled(counts, min_count, max_words, n_contexts, blocks, transform, width)
    vocabulary = choose_vocabulary(counts, min_count=min_count, max_words=max_words, n_contexts=n_contexts)
    matrix = transformed(context_matrix(counts, vocabulary, blocks), transform)
    words, contexts = counts.names(vocabulary.rows), counts.names(vocabulary.contexts)
    word_counts = counts.words.counts[vocabulary.rows]
    return Tabulated(words, word_counts, contexts, matrix, vocabulary.rows, len(counts.words.used()) - 1)


def _tabulate_spilled(
    counts: PairCounts, min_count: int, max_words: int | None, n_contexts: int, blocks: Blocks,
    transform: Transform, width: int,
) -> Tabulated:  # fmt: skip
    counts.close_epoch()
    memory, epochs = counts.memory, counts.epochs
    assert memory is not None
    census = take_census(epochs, min_count)
    if len(census.counts) < 2:
        raise _too_few(len(census.counts), min_count, census.most)
    room = memory.size * 5 // 8 // (_DENSE * 4 * width)
    wanted = min(max_words or len(census.counts), len(census.counts))
    places, names = most_frequent(census, epochs, min(wanted, room))
    words = [name.decode() for name in names]
    contexts = ["", *words[:n_contexts]]
    shape = (len(words), len(blocks) * len(contexts))
    before, after = _block_numbers(blocks, counts.window)
    runs = list(entry_runs(epochs, census.hashes[places], len(contexts), before, after, memory))
    matrix = StoredMatrix.write(memory, shape, merged_entries(runs, memory))
    for run in runs:
        run.path.unlink()
    matrix = transformed(matrix, transform)
    return Tabulated(
        words, census.counts[places], contexts, matrix, None, census.n_types, len(words) == wanted
    )


_DENSE = 5  # matrices of so many rows as there are words, while orthonormal bases are made


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
        raise _too_few(len(order), min_count, int(words.counts[1:].max()))
    rows = np.array(order[:max_words], np.int64)
    return Vocabulary(rows, np.append(0, rows[:n_contexts]))


def _too_few(n_words: int, min_count: int, most: int) -> InputError:
    what = f"{n_words} words occur {min_count} times or more; two are needed, the commonest occurs {most}"
    return InputError(what, hint="give more text or lower min_count")


def blocks_of(window: int, positions: Positions) -> Blocks:
    """Groups of positions whose contexts share columns: each its own, or all one."""
    offsets = [*range(-window, 0), *range(1, window + 1)]
    return tuple((each,) for each in offsets) if positions == "apart" else (tuple(offsets),)


def context_matrix(counts: PairCounts, vocabulary: Vocabulary, blocks: Blocks) -> scipy.sparse.csr_array:
    """Counts of words × contexts, float32 (n_words, n_blocks · n_contexts)."""
    row_of = _places(vocabulary.rows, len(counts.words.counts))
    column_of = _places(vocabulary.contexts, len(counts.words.counts))
    before, after = _block_numbers(blocks, counts.window)
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


def _block_numbers(blocks: Blocks, window: int) -> tuple[Longs, Longs]:
    """The blocks of contexts so many words before and after, int64 (window + 1,); none is at 0."""
    block_of = {offset: block for block, offsets in enumerate(blocks) for offset in offsets}
    before = np.array([0] + [block_of[-d] for d in range(1, window + 1)])
    after = np.array([0] + [block_of[d] for d in range(1, window + 1)])
    return before, after


def _places(numbers: Longs, size: int) -> NDArray[np.int32]:
    places = np.full(size, -1, np.int32)
    places[numbers] = np.arange(len(numbers))
    return places


def transformed(matrix: Matrix, transform: Transform) -> Matrix:
    """The matrix with each count c replaced by √c (``sqrt``), by log(1 + c) (``log``), or kept (``none``)."""
    changes: dict[str, Callable[[Array32], Array32]] = {"none": np.copy, "sqrt": np.sqrt, "log": np.log1p}
    return _changed(matrix, lambda _, block: changes[transform](block.data))


def _changed(matrix: Matrix, change: Callable[[int, scipy.sparse.csr_array], Array32]) -> Matrix:
    """The matrix with other values, which a function gives of blocks and their first rows."""
    if isinstance(matrix, StoredMatrix):
        return matrix.mapped(change)
    return scipy.sparse.csr_array((change(0, matrix), matrix.indices, matrix.indptr), shape=matrix.shape)


def _scaled(matrix: Matrix, rows: Array32, columns: Array32) -> Matrix:
    """The matrix with each row and each column multiplied by a number."""

    def scaled(first: int, block: scipy.sparse.csr_array) -> Array32:
        lengths = np.diff(block.indptr)
        data: Array32 = np.repeat(rows[first : first + len(lengths)], lengths)
        data *= block.data
        data *= columns[block.indices]
        return data

    return _changed(matrix, scaled)


def solve_vectors(
    matrix: Matrix, variant: Variant, dimensions: int, *,
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
        matrix = _scaled(matrix, _inverse_root(rows), scale)
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
