"""Kernel that sums products of rows by group, for the regression of observable operators."""

from __future__ import annotations

from spectralnlp.jit import kernel


@kernel
def add_products(bounds, places, left, right, matrices):
    """For each group of rows, add Lᵀ R to a matrix, where L and R are the left and right rows of the group.

    Rows are added one after the other, so that results do not depend on how rows are split into calls.

    Args:
        bounds: int64 (n_groups + 1,); index of the first row of each group.
        places: int32 (n_groups,); index of the matrix that each group is added to, or -1 for none.
        left, right: float64 (n_rows, k); rows of L and of R, group by group.
        matrices: float64 (n, k, k); updated.
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
