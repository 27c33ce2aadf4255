"""Compiled functions (kernels) for products of sparse matrices (CSR) with dense ones, faster than scipy's."""

from __future__ import annotations

from spectralnlp.jit import fast_kernel, load_lanes, multiply_add, repeat, store_lanes


@fast_kernel
def times(indptr, indices, data, right, result):
    """Compute the product of a sparse matrix X (n, d) with a dense one.

    Args:
        indptr, indices, data: X in CSR.
        right: the dense matrix (d, k).
        result: output (n, k).
    """
    width = right.shape[1]
    for i in range(indptr.size - 1):
        target = result[i]
        for c in range(width):
            target[c] = 0
        for p in range(indptr[i], indptr[i + 1]):
            source, value = right[indices[p]], data[p]
            for c in range(width):
                target[c] += value * source[c]


@fast_kernel
def add_transposed_times(indptr, indices, data, right, result):
    """Add the product of a transposed sparse matrix Xᵀ (d, n) with a dense one to ``result``.

    Args:
        indptr, indices, data: X in CSR.
        right: the dense matrix (n, k).
        result: (d, k), updated in place.
    """
    width = right.shape[1]
    for i in range(indptr.size - 1):
        source = right[i]
        for p in range(indptr[i], indptr[i + 1]):
            target, value = result[indices[p]], data[p]
            for c in range(width):
                target[c] += value * source[c]


@fast_kernel
def add_gram_times_lanes(indptr, indices, data, right, result):
    """Add XᵀX R to ``result``, in one pass over the rows of a sparse matrix X (n, d).

    R has eight columns, the number of values that one vector instruction (SIMD) processes.

    Args:
        indptr, indices, data: X in CSR.
        right: R (d, 8), flattened.
        result: (d, 8), flattened, updated in place.
    """
    for i in range(indptr.size - 1):
        product = repeat(data.dtype.type(0))
        for p in range(indptr[i], indptr[i + 1]):
            product = multiply_add(repeat(data[p]), load_lanes(right, 8 * indices[p]), product)
        for p in range(indptr[i], indptr[i + 1]):
            at = 8 * indices[p]
            store_lanes(result, at, multiply_add(repeat(data[p]), product, load_lanes(result, at)))


@fast_kernel
def add_gram(indptr, indices, data, gram):
    """Add the Gram matrix XᵀX of a sparse matrix X to ``gram``.

    Args:
        indptr, indices, data: X in CSR.
        gram: (d, d), updated in place.
    """
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1]):
            row, value = gram[indices[p]], data[p]
            for q in range(indptr[i], indptr[i + 1]):
                row[indices[q]] += value * data[q]
