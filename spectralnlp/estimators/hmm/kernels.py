"""A kernel of the regression: sums of products of rows, a matrix for each group."""

from __future__ import annotations

from spectralnlp.jit import kernel


@kernel
def add_products(bounds, places, left, right, matrices):
    """Add Lᵀ R to matrices, L and R being the rows of a group; a row after the other, in any number of calls.

    Args:
        bounds: int64 (n_groups + 1,); where the rows of each group begin.
        places: int32 (n_groups,); which matrix each adds to; -1 for none.
        left, right: float64 (n_rows, k).
        matrices: float64 (n, k, k); changed.
    """
    k = left.shape[1]
    for group in range(len(places)):
        if places[group] >= 0:
            matrix = matrices[places[group]]
            for i in range(k):
                for row in range(bounds[group], bounds[group + 1]):
                    factor = left[row, i]
                    for j in range(k):
                        matrix[i, j] += factor * right[row, j]
