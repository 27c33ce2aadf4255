"""Products of small matrices and vectors, for kernels.

Each matrix or vector is passed as a flat array and the index at which it begins in this array. Rows and
vectors have ``n`` elements, a multiple of eight; shorter ones are padded with zeros.
"""

from __future__ import annotations

from typing import Any

from spectralnlp.jit import LANES, kernel_part, load_lanes, multiply_add, repeat, store_lanes, sum_of_lanes

# Rows of a matrix that are processed together, so that the vector is loaded once for all of them.
_ROWS = 4


@kernel_part
def dot(a: Any, i: int, b: Any, j: int, n: int) -> Any:
    """Return the inner product of ``a[i:i + n]`` and ``b[j:j + n]``; n is a multiple of eight."""
    total = repeat(a.dtype.type(0.0))
    for k in range(0, n, LANES):
        total = multiply_add(load_lanes(a, i + k), load_lanes(b, j + k), total)
    return sum_of_lanes(total)


@kernel_part
def add_scaled(out: Any, i: int, factor: Any, vector: Any, j: int, n: int) -> None:
    """Add ``factor * vector[j:j + n]`` to ``out[i:i + n]``; n is a multiple of eight."""
    factors = repeat(factor)
    for k in range(0, n, LANES):
        store_lanes(out, i + k, multiply_add(factors, load_lanes(vector, j + k), load_lanes(out, i + k)))


@kernel_part
def write_scaled(out: Any, i: int, factor: Any, vector: Any, j: int, n: int) -> None:
    """Write ``factor * vector[j:j + n]`` to ``out[i:i + n]``; n is a multiple of eight."""
    factors, nothing = repeat(factor), repeat(out.dtype.type(0.0))
    for k in range(0, n, LANES):
        store_lanes(out, i + k, multiply_add(factors, load_lanes(vector, j + k), nothing))


@kernel_part
def add_product(out: Any, i: int, matrix: Any, first: int, n_rows: int, vector: Any, n: int) -> None:
    """Add the product M v to ``out[i:i + n_rows]``.

    M (n_rows, n) begins at ``matrix[first]``, row-major; v is ``vector[:n]``; n is a multiple of eight.
    """
    h = 0
    while h + _ROWS <= n_rows:
        a = b = c = d = repeat(out.dtype.type(0.0))
        row = first + h * n
        for k in range(0, n, LANES):
            x = load_lanes(vector, k)
            a = multiply_add(load_lanes(matrix, row + k), x, a)
            b = multiply_add(load_lanes(matrix, row + n + k), x, b)
            c = multiply_add(load_lanes(matrix, row + 2 * n + k), x, c)
            d = multiply_add(load_lanes(matrix, row + 3 * n + k), x, d)
        out[i + h] += sum_of_lanes(a)
        out[i + h + 1] += sum_of_lanes(b)
        out[i + h + 2] += sum_of_lanes(c)
        out[i + h + 3] += sum_of_lanes(d)
        h += _ROWS
    while h < n_rows:
        out[i + h] += dot(matrix, first + h * n, vector, 0, n)
        h += 1


@kernel_part
def write_transposed_product(
    out: Any, matrix: Any, first: int, n_rows: int, vector: Any, i: int, n: int
) -> None:
    """Write the product Mᵀ v to ``out[:n]``.

    M (n_rows, n) begins at ``matrix[first]``, row-major; v is ``vector[i:i + n_rows]``; n is a multiple of
    eight.
    """
    write_scaled(out, 0, vector[i], matrix, first, n)
    h = 1
    while h + _ROWS <= n_rows:
        row = first + h * n
        a, b = repeat(vector[i + h]), repeat(vector[i + h + 1])
        c, d = repeat(vector[i + h + 2]), repeat(vector[i + h + 3])
        for k in range(0, n, LANES):
            total = multiply_add(a, load_lanes(matrix, row + k), load_lanes(out, k))
            total = multiply_add(b, load_lanes(matrix, row + n + k), total)
            total = multiply_add(c, load_lanes(matrix, row + 2 * n + k), total)
            store_lanes(out, k, multiply_add(d, load_lanes(matrix, row + 3 * n + k), total))
        h += _ROWS
    while h < n_rows:
        add_scaled(out, 0, vector[i + h], matrix, first + h * n, n)
        h += 1
