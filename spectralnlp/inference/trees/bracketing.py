"""A distribution over the binary bracketings of a sentence, without labels: a conditional random field.

The weight of a bracketing is the product of exp(score) of its spans (Finkel, Kleeman and Manning 2008, but
for labels). Marginals say which cells of a chart may have a constituent.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.trees.cells import Cells, find_splits
from spectralnlp.inference.trees.coarse import NEGLIGIBLE_SHIFT
from spectralnlp.jit import exponent_of, kernel, power_of_two
from spectralnlp.parameters import Floats

# The exponent of a cell that has no bracketing.
_NOTHING = -1e9

# Scores are kept this close to 0, so that their exponentials stay floats.
_MOST_SCORE = 100.0


def marginals_of(cells: Cells, scores: Floats) -> Floats:
    """The probability of each cell, float64 (n_cells,); all zero if there is no bracketing.

    Args:
        cells: the cells that bracketings are made of.
        scores: float64 (n_cells,).
    """
    marginals: Floats = bracketing_marginals(cells, scores)
    return marginals


@kernel
def bracketing_marginals(cells, scores):
    """The marginals, for kernels; see `marginals_of`."""
    n, n_cells = len(cells.by_start) - 1, len(cells.start)
    inside, exponent = np.ones(n_cells), np.zeros(n_cells)
    weight = np.ones(n_cells)
    left, right = np.empty(n, np.int32), np.empty(n, np.int32)
    for cell in range(n, n_cells):
        n_splits = find_splits(cells, cell, left, right)
        common = -np.inf  # the largest exponent among the splits; all are brought to it
        for split in range(n_splits):
            common = max(common, exponent[left[split]] + exponent[right[split]])
        total = 0.0
        for split in range(n_splits):
            shift = exponent[left[split]] + exponent[right[split]] - common
            if shift >= NEGLIGIBLE_SHIFT:
                total += inside[left[split]] * inside[right[split]] * power_of_two(shift)
        weight[cell] = np.exp(min(max(scores[cell], -_MOST_SCORE), _MOST_SCORE))
        total *= weight[cell]
        if total == 0.0 or common < _NOTHING / 2:
            inside[cell], exponent[cell] = 0.0, _NOTHING
            continue
        power = exponent_of(total)
        inside[cell], exponent[cell] = total * power_of_two(-power), common + power
    outside = np.zeros(n_cells)  # so that inside · outside is a probability
    if inside[n_cells - 1] == 0.0:
        return outside
    outside[n_cells - 1] = 1.0 / inside[n_cells - 1]
    for cell in range(n_cells - 1, n - 1, -1):
        if outside[cell] == 0.0:
            continue
        n_splits = find_splits(cells, cell, left, right)
        out = outside[cell] * weight[cell]
        for split in range(n_splits):
            a, b = left[split], right[split]
            shift = exponent[a] + exponent[b] - exponent[cell]
            if shift >= NEGLIGIBLE_SHIFT:
                flow = out * power_of_two(shift)
                outside[a] += flow * inside[b]
                outside[b] += flow * inside[a]
    return outside * inside
