"""Kernels that compute the entries of the word × context matrix from counted pairs, and its products."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.eigenwords.kernels import ID_BITS, ID_MASK
from spectralnlp.jit import kernel


class ContextBlocks(NamedTuple):
    """Layout of the columns of the word × context matrix, in one or more blocks of columns.

    Each block has a column for each context word, and counts context words at certain positions relative to
    the word of the row, such as directly before it.

    Attributes:
        before: int64 (window + 1,); index of the block for a context word at each distance before the word;
            index 0 is unused.
        after: int64 (window + 1,); index of the block for a context word at each distance after the word;
            index 0 is unused.
        n_contexts: number of columns in a block.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    n_contexts: int


@kernel
def count_entries(keys, row_of, column_of, entries):
    """Count the entries in each row of the word × context matrix, to allocate the arrays of `fill_entries`.

    Args:
        keys, row_of, column_of: see `fill_entries`.
        entries: int64 (n_rows,); number of entries of each row; updated.
    """
    for key in keys:
        if key:
            left, right = (key >> ID_BITS) & ID_MASK, key & ID_MASK
            if row_of[left] >= 0 and column_of[right] >= 0:
                entries[row_of[left]] += 1
            if row_of[right] >= 0 and column_of[left] >= 0:
                entries[row_of[right]] += 1


@kernel
def fill_entries(keys, counts, row_of, column_of, blocks, free, columns, values):
    """Write columns and values of the entries of the word × context matrix, grouped by row (CSR format).

    Args:
        keys: int64; keys of pairs; 0 is ignored.
        counts: int64; count of each pair.
        row_of: int32 (n_words,); row of each word, or -1.
        column_of: int32 (n_words,); index of each word among the contexts, or -1.
        blocks: `ContextBlocks`.
        free: int64 (n_rows,); index of the next free entry of each row; updated.
        columns: int32 (n_entries,); column of each entry; output.
        values: float (n_entries,); value of each entry; output.
    """
    left_block, right_block, n_contexts = blocks
    for i in range(len(keys)):
        key = keys[i]
        if key == 0:
            continue
        distance, left, right = key >> 2 * ID_BITS, (key >> ID_BITS) & ID_MASK, key & ID_MASK
        row, context = row_of[left], column_of[right]
        if row >= 0 and context >= 0:
            columns[free[row]] = right_block[distance] * n_contexts + context
            values[free[row]] = counts[i]
            free[row] += 1
        row, context = row_of[right], column_of[left]
        if row >= 0 and context >= 0:
            columns[free[row]] = left_block[distance] * n_contexts + context
            values[free[row]] = counts[i]
            free[row] += 1


@kernel
def pair_entries(keys, counts, row_of, blocks, entries, values):
    """Convert n counted pairs of words to entries of the word × context matrix.

    Context 0 is the sentence end, and context i + 1 is the word of row i, so the row of a word also
    determines its index as a context. A pair gives at most two entries, because each word is a context of the
    other.

    Args:
        keys: int64 (n,); keys of pairs.
        counts: int64 (n,); count of each pair.
        row_of: int32 (n_words,); row of each word, or -1.
        blocks: `ContextBlocks`.
        entries: int64 (2 n,); key row · 2³² + column of each entry; output.
        values: int64 (2 n,); value of each entry; output.

    Returns:
        Number of entries.
    """
    left_block, right_block, n_contexts = blocks
    n = 0
    for i in range(len(keys)):
        key = keys[i]
        distance, left, right = key >> 2 * ID_BITS, (key >> ID_BITS) & ID_MASK, key & ID_MASK
        for side in range(2):
            word, other = (left, right) if side == 0 else (right, left)
            context = row_of[other] + 1 if other else 0
            if word and row_of[word] >= 0 and (other == 0 or context > 0) and context < n_contexts:
                block = right_block[distance] if side == 0 else left_block[distance]
                entries[n] = np.int64(row_of[word]) << 32 | (block * n_contexts + context)
                values[n] = counts[i]
                n += 1
    return n


@kernel
def add_transposed_product(starts, columns, values, x, y):
    """Add Aᵀ x to y for a sparse matrix A in CSR format.

    Args:
        starts: int64 (n_rows + 1,); index of the first entry of each row.
        columns, values: int32 and float32; column and value of each entry.
        x: float32 (n_rows, k); matrix to multiply.
        y: float32 (n_columns, k); updated.
    """
    for row in range(len(starts) - 1):
        for i in range(starts[row], starts[row + 1]):
            column, value = columns[i], values[i]
            for j in range(x.shape[1]):
                y[column, j] += value * x[row, j]
