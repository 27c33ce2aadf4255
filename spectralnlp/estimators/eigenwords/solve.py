"""Compute word vectors from counts: build the word × context matrix, transform it, and decompose it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.estimators.eigenwords.matrix import Block, ContextMatrix, MatrixInMemory, StoredMatrix
from spectralnlp.estimators.eigenwords.matrix_kernels import ContextBlocks, count_entries, fill_entries
from spectralnlp.estimators.eigenwords.moments import PairCounts
from spectralnlp.estimators.eigenwords.spilled_pairs import SpilledPairs, entry_runs, merged_entries
from spectralnlp.estimators.shared.spill_segments import most_frequent, take_census
from spectralnlp.linalg.svd import sparse_svd
from spectralnlp.runtime import offsets_of

Longs = NDArray[np.int64]
Array32 = NDArray[np.float32]
Variant = Literal["cca", "svd"]
Transform = Literal["none", "sqrt", "log"]
Positions = Literal["apart", "pooled"]
Blocks = tuple[tuple[int, ...], ...]

# Singular values below this share of the largest are float32 rounding errors.
_NEGLIGIBLE = 1e-5

# Oversampling and power iterations of the randomised SVD: singular values of English text are then within
# 0.7% of the exact ones, in less than half the time of an exact SVD.
_OVERSAMPLING = 20
_ITERATIONS = 4

# Number of dense matrices with one row per word that the orthonormalisation of the SVD holds in memory.
_DENSE = 5


@dataclass(frozen=True, kw_only=True)
class MatrixShape:
    """Settings that determine the rows and columns of the word × context matrix.

    Attributes:
        min_count: least frequency of a word with a row.
        max_words: maximum number of rows, or None for no limit.
        n_contexts: number of context words, the most frequent first, or None for all words with rows.
        blocks: for each block of columns, the relative positions of the context words that it counts, such as
            -1 for the word directly before; see `blocks_of`.
        with_ends: whether the end of a sentence is a context; if not, its columns are empty.
    """

    min_count: int
    max_words: int | None
    n_contexts: int | None
    blocks: Blocks
    with_ends: bool = True


@dataclass(frozen=True, kw_only=True)
class Tabulated:
    """The word × context matrix, with its vocabularies, as `tabulate` returns it.

    Attributes:
        words: word of each row, the most frequent first.
        counts: int64 (n_words,); frequency of each word.
        contexts: context vocabulary; the end of a sentence (an empty string) comes first.
        matrix: transformed counts, float32 (n_words, n_blocks · n_contexts).
        n_types: number of distinct words counted.
        is_whole: False if words had to be left out because the vectors of all words exceed the memory limit.
    """

    words: list[str]
    counts: Longs
    contexts: list[str]
    matrix: ContextMatrix
    n_types: int
    is_whole: bool = True


def tabulate(counts: PairCounts, shape: MatrixShape, *, transform: Transform, dimensions: int) -> Tabulated:
    """Choose the vocabulary and build the word × context matrix from counts in memory or on disk.

    Args:
        counts: counts of words and pairs.
        shape: settings of rows and columns.
        transform: transform of the counts, ``sqrt``, ``log`` or ``none``; see `transformed`.
        dimensions: length of the word vectors, which determines how many words fit into limited memory.

    Raises:
        InputError: fewer than two words occur often enough.
    """
    spilled = counts.spilled()
    if spilled is not None:
        return _tabulate_spilled(spilled, shape, transform, dimensions)
    vocabulary = choose_vocabulary(
        counts, min_count=shape.min_count, max_words=shape.max_words, n_contexts=shape.n_contexts
    )
    whole = context_matrix(counts, vocabulary, shape.blocks, with_ends=shape.with_ends)
    matrix = MatrixInMemory(whole)
    return Tabulated(
        words=counts.names(vocabulary.rows),
        counts=counts.words.counts[vocabulary.rows],
        contexts=counts.names(vocabulary.contexts),
        matrix=transformed(matrix, transform),
        n_types=counts.words.n_words - 1,
    )


def _tabulate_spilled(
    counts: SpilledPairs, shape: MatrixShape, transform: Transform, dimensions: int
) -> Tabulated:
    memory, segments = counts.memory, counts.segments
    census = take_census(segments, shape.min_count)
    n_words = len(census.words.counts)
    if n_words < 2:
        raise _too_few_words(n_words, shape.min_count, census.most)
    n_fitting = memory.size * 5 // 8 // (_DENSE * 4 * (dimensions + _OVERSAMPLING))
    wanted = min(shape.max_words or n_words, n_words)
    places, names = most_frequent(census, segments, min(wanted, n_fitting))
    words = [name.decode() for name in names]
    contexts = ["", *words[: shape.n_contexts]]
    blocks = _context_blocks(shape.blocks, counts.window, len(contexts))
    n_columns = len(shape.blocks) * len(contexts)
    hashes = census.words.hashes[places]
    runs = list(entry_runs(counts, hashes, blocks, n_columns, with_ends=shape.with_ends))
    matrix = StoredMatrix.write(memory, (len(words), n_columns), merged_entries(runs, memory))
    for run in runs:
        run.path.unlink()
    return Tabulated(
        words=words,
        counts=census.words.counts[places],
        contexts=contexts,
        matrix=transformed(matrix, transform),
        n_types=census.n_types,
        is_whole=len(words) == wanted,
    )


@dataclass(frozen=True)
class Vocabulary:
    """Row and column vocabularies of the word × context matrix, as word ids.

    Attributes:
        rows: int64 (n_words,); word id of each row, the most frequent word first.
        contexts: int64 (n_contexts,); word id of each context; the end of a sentence (0) comes first.
    """

    rows: Longs
    contexts: Longs


def choose_vocabulary(
    counts: PairCounts, *, min_count: int, max_words: int | None, n_contexts: int | None
) -> Vocabulary:
    """Choose the words with rows and columns in the matrix: the most frequent words.

    Words are sorted by descending frequency; words of equal frequency are in alphabetical order.

    Args:
        counts: counts of words and pairs.
        min_count: least frequency of a word with a row.
        max_words: maximum number of rows, or None for no limit.
        n_contexts: number of context words, or None for all words with rows.

    Raises:
        InputError: fewer than two words occur often enough.
    """
    words = counts.words
    if not words.counts[1:].any():
        raise InputError("no words to learn from", hint="give a text with words in it")
    numbers = 1 + np.flatnonzero(words.counts[1:] >= min_count)
    order = sorted(numbers.tolist(), key=lambda number: (-words.counts[number], words.name(number)))
    if len(order) < 2:
        raise _too_few_words(len(order), min_count, int(words.counts[1:].max()))
    rows = np.array(order[:max_words], np.int64)
    return Vocabulary(rows, np.append(0, rows[:n_contexts]))


def _too_few_words(n_words: int, min_count: int, most: int) -> InputError:
    what = f"{n_words} words occur {min_count} times or more, but two are needed; the largest count is {most}"
    return InputError(what, hint="give more text or lower min_count")


def blocks_of(window: int, positions: Positions, *, before: bool = True) -> Blocks:
    """Return the blocks of columns of the matrix: for each block, the relative positions that it counts.

    A position is -1 for the word directly before, 1 for the word directly after, and so on.

    Args:
        window: largest distance of a context word.
        positions: ``apart`` for one block per position, ``pooled`` for a single block of all positions.
        before: whether preceding words are contexts too; following words always are.
    """
    offsets = [*(range(-window, 0) if before else ()), *range(1, window + 1)]
    return tuple((each,) for each in offsets) if positions == "apart" else (tuple(offsets),)


def context_matrix(
    counts: PairCounts, vocabulary: Vocabulary, blocks: Blocks, *, with_ends: bool = True
) -> scipy.sparse.csr_array:
    """Return the word × context matrix of counts, float32 (n_words, n_blocks · n_contexts).

    Args:
        counts: counts of words and pairs, in memory.
        vocabulary: words of the rows, and contexts of each block of columns.
        blocks: relative positions that each block counts; see `blocks_of`.
        with_ends: whether to count the sentence end as a context; if not, its columns are empty.
    """
    row_of = _places(vocabulary.rows, len(counts.words.counts))
    column_of = _places(vocabulary.contexts, len(counts.words.counts))
    if not with_ends:
        column_of[0] = -1
    entries = np.zeros(len(vocabulary.rows), np.int64)
    count_entries(counts.pairs.keys, row_of, column_of, entries)
    starts = offsets_of(entries)
    columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    numbered = _context_blocks(blocks, counts.window, len(vocabulary.contexts))
    keys, pair_counts, free = counts.pairs.keys, counts.pairs.counts, starts[:-1].copy()
    fill_entries(keys, pair_counts, row_of, column_of, numbered, free, columns, values)
    shape = (len(vocabulary.rows), (len(blocks) + 1) * len(vocabulary.contexts))
    matrix = scipy.sparse.csr_array((values, columns, starts), shape=shape)
    # Sort the entries: the order of the hash table depends on the order of the text; the result must not.
    matrix.sum_duplicates()
    return matrix[:, : len(blocks) * len(vocabulary.contexts)]


def _context_blocks(blocks: Blocks, window: int, n_contexts: int) -> ContextBlocks:
    """Return the layout of the matrix columns: for each relative position, the block that counts it.

    Positions that no block counts get an additional block, whose columns the caller removes from the matrix.

    Args:
        blocks: relative positions of each block, as from `blocks_of`.
        window: largest distance of a context word.
        n_contexts: number of columns in a block.
    """
    block_of = {offset: block for block, offsets in enumerate(blocks) for offset in offsets}
    before = np.array([0] + [block_of.get(-d, len(blocks)) for d in range(1, window + 1)])
    after = np.array([0] + [block_of.get(d, len(blocks)) for d in range(1, window + 1)])
    return ContextBlocks(before=before, after=after, n_contexts=n_contexts)


def _places(numbers: Longs, size: int) -> NDArray[np.int32]:
    places = np.full(size, -1, np.int32)
    places[numbers] = np.arange(len(numbers))
    return places


def transformed(matrix: ContextMatrix, transform: Transform) -> ContextMatrix:
    """Return a matrix with √c (``sqrt``), log(1 + c) (``log``) or c (``none``) in place of each count c."""
    changes: dict[str, Callable[[Array32], Array32]] = {"none": np.copy, "sqrt": np.sqrt, "log": np.log1p}
    return matrix.mapped(lambda _, block: changes[transform](block.data))


def _scaled(matrix: ContextMatrix, rows: Array32, columns: Array32) -> ContextMatrix:
    """Multiply each row of a matrix by its factor in ``rows``, and each column by that in ``columns``."""

    def scaled(first: int, block: Block) -> Array32:
        lengths = np.diff(block.indptr)
        data: Array32 = np.repeat(rows[first : first + len(lengths)], lengths)
        data *= block.data
        data *= columns[block.indices]
        return data

    return matrix.mapped(scaled)


def solve_vectors(
    matrix: ContextMatrix,
    variant: Variant,
    dimensions: int,
    *,
    random_state: int,
) -> tuple[Array32, Array32, Array32]:
    """Compute vectors of words and contexts.

    ``svd``: A = UΣVᵀ; words have the vectors U, contexts VΣ. ``cca``: one-step CCA between a word and its
    context (Dhillon et al. 2015, *Eigenwords: spectral word embeddings*, section 3.3). Both views are
    one-hot, so their covariances are the diagonal matrices R and C of row and column sums. UΣVᵀ is then the
    SVD of R^-½ A C^-½ without the first singular component, which centring would remove (its singular vectors
    are proportional to R^½1 and C^½1). Words have the vectors U, contexts C^-½ V Σ.

    Args:
        matrix: A, transformed counts.
        variant: ``cca`` or ``svd``.
        dimensions: length k of the vectors; lowered with a warning if A has a lower rank.
        random_state: seed of the decomposition.

    Returns:
        Word vectors, float32 (n_rows, k), singular values, (k,), and context vectors, (n_columns, k).

    Raises:
        InputError: all words have the same contexts.
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
        matrix,
        dimensions,
        less=trivial,
        oversampling=_OVERSAMPLING,
        iterations=_ITERATIONS,
        random_state=random_state,
    )
    scale_of_all = 1.0 if variant == "cca" else float(sigma[:1].sum())
    rank = int((sigma > _NEGLIGIBLE * scale_of_all).sum())
    if rank == 0:
        raise InputError("all words have the same contexts", hint="give more text")
    if rank < dimensions:
        last = ", ".join(f"{value:.2g}" for value in sigma[max(rank - 3, 0) : rank + 1])
        warnings.warn(
            f"dimensions lowered from {dimensions} to {rank}: the counts have no higher rank "
            f"(singular values end in {last})",
            stacklevel=2,
        )
    return u[:, :rank], sigma[:rank], scale[:, None] * v[:, :rank] * sigma[:rank]


def _inverse_root(sums: NDArray[np.float64]) -> Array32:
    return np.where(sums > 0, 1 / np.sqrt(np.maximum(sums, 1e-30)), 0).astype(np.float32)
