"""Compiled functions (kernels) that add rows to a sketch S X, without storing the random matrix S."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import fast_kernel, kernel
from spectralnlp_sketch.counters import below, draw, sign, stream_key


@kernel
def add_hashed(seed, document, start, n_nonzeros, rows, sketch):
    """Add each dense row, with random signs, to one row in each of ``n_nonzeros`` bands of the sketch.

    Signs and target rows depend only on the seed, the document and the number of the row.

    Args:
        seed: seed of the sketch.
        document: number of the document (file) that has the rows.
        start: number of the first of these rows in the document.
        n_nonzeros: number of bands, ranges of rows of the sketch.
        rows: (n, d).
        sketch: updated in place (m, d).
    """
    key = stream_key(seed, document)
    size = sketch.shape[0]
    for i in range(rows.shape[0]):
        for band in range(n_nonzeros):
            low, high = band * size // n_nonzeros, (band + 1) * size // n_nonzeros
            bits = draw(key, start + i, band)
            target, flip = low + below(bits, high - low), sign(bits)
            for j in range(rows.shape[1]):
                sketch[target, j] += flip * rows[i, j]


@kernel
def add_hashed_sparse(seed, document, start, n_nonzeros, indptr, indices, data, sketch):
    """Add sparse rows to a sketch, with the same random signs and target rows as `add_hashed`.

    Args:
        seed, document, start, n_nonzeros, sketch: as for `add_hashed`.
        indptr, indices, data: the rows in CSR.
    """
    key = stream_key(seed, document)
    size = sketch.shape[0]
    for i in range(indptr.size - 1):
        for band in range(n_nonzeros):
            low, high = band * size // n_nonzeros, (band + 1) * size // n_nonzeros
            bits = draw(key, start + i, band)
            target, flip = low + below(bits, high - low), sign(bits)
            for p in range(indptr[i], indptr[i + 1]):
                sketch[target, indices[p]] += flip * data[p]


@fast_kernel
def hadamard(block):
    """Multiply each column of a block by the unnormalised Walsh–Hadamard matrix, in place.

    Args:
        block: (n, d), where n is a power of two.
    """
    step = 1
    while step < block.shape[0]:
        for low in range(0, block.shape[0], 2 * step):
            for i in range(low, low + step):
                for j in range(block.shape[1]):
                    upper, lower = block[i, j], block[i + step, j]
                    block[i, j] = upper + lower
                    block[i + step, j] = upper - lower
        step *= 2


@kernel
def add_transformed(seed, document, start, block_size, sampled, rows, sketch):
    """Add the subsampled randomised Hadamard transform (SRHT) of consecutive rows of a block to a sketch.

    The rows get random signs and are multiplied by a Hadamard matrix; sampled rows of the result get random
    signs and are added. Columns are processed 16 at a time, so that the transformed block stays in the cache.

    Args:
        seed: seed of the sketch.
        document: number of the document (file) that has the rows.
        start: number of the first of these rows in the document.
        block_size: number of rows of a block, to which the rows are padded with zeros.
        sampled: numbers of the rows of the transformed block to keep (m,).
        rows: (n, d).
        sketch: updated in place (m, d).
    """
    key = stream_key(seed, document)
    offset = start % block_size
    number = np.uint64(start // block_size)
    outer = stream_key(np.uint64(seed) ^ np.uint64(0xD1B54A32D192ED03), document)
    for low in range(0, rows.shape[1], 16):
        width = min(16, rows.shape[1] - low)
        work = np.zeros((block_size, width))
        for i in range(rows.shape[0]):
            flip = sign(draw(key, start + i, 0))
            for j in range(width):
                work[offset + i, j] = flip * rows[i, low + j]
        hadamard(work)
        for k in range(sampled.size):
            flip = sign(draw(outer, number, k))
            for j in range(width):
                sketch[k, low + j] += flip * work[sampled[k], j]


@kernel
def add_sampled_transformed(seed, document, start, block_size, sampled, rows, sketch):
    """Compute the same as `add_transformed`, with the same arguments, but faster for few rows.

    Only the required entries of the Hadamard matrix are computed, instead of a full transform.
    """
    key = stream_key(seed, document)
    number = np.uint64(start // block_size)
    outer = stream_key(np.uint64(seed) ^ np.uint64(0xD1B54A32D192ED03), document)
    for i in range(rows.shape[0]):
        inner = sign(draw(key, start + i, 0))
        place = (start + i) % block_size
        for k in range(sampled.size):
            bits = place & sampled[k]
            parity = 0
            while bits:
                parity ^= 1
                bits &= bits - 1
            flip = inner * sign(draw(outer, number, k)) * (1.0 - 2.0 * parity)
            for j in range(rows.shape[1]):
                sketch[k, j] += flip * rows[i, j]
