"""Compute the probability of each span of a sentence, in a CRF over unlabelled binary bracketings.

The weight of a bracketing is the product of exp(score) over its spans (as in Finkel, Kleeman and Manning
2008, but without labels). The probabilities (marginals) decide which spans (cells of the chart) a parser
considers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralnlp.inference.trees.cells import Cells, find_splits
from spectralnlp.inference.trees.coarse import NEGLIGIBLE_SHIFT
from spectralnlp.jit import exponent_of, fast_kernel_part, kernel, kernel_part, power_of_two
from spectralnlp.parameters import Floats

# The exponent of a cell without a bracketing.
_NOTHING = -1e9

# Scores are clipped to this magnitude, so that their exponentials neither overflow nor vanish.
_MAX_SCORE = 100.0

# All values are rescaled if the largest value of a width is above this or below its inverse.
_LARGE = 1e100


@kernel_part
def cell_of(n: int, start: int, end: int) -> int:
    """Return the index of a span in the list of all spans of n tokens, sorted by width, then by start."""
    narrower = end - start - 1
    return narrower * n - narrower * (narrower - 1) // 2 + start


@kernel
def span_marginals(scores, n):
    """Return the probability of each span of n tokens in the distribution over binary bracketings.

    This is several times as fast as `marginals_of` with all spans as cells, because inside and outside values
    are stored as dense matrices. A constant factor per token prevents overflow and underflow.

    Args:
        scores: float64 (n * (n + 1) / 2,); score of each span, in the order of `cell_of`.
        n: number of tokens, one or more.

    Returns:
        Probabilities, float64 (n * (n + 1) / 2,), in the same order; all zero if the total weight of
        bracketings is zero or not finite.
    """
    weight = np.exp(np.minimum(np.maximum(scores, -_MAX_SCORE), _MAX_SCORE))
    inside, by_end = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))  # [start, end] and [end, start]
    for start in range(n):
        inside[start, start + 1] = by_end[start + 1, start] = 1.0
    factor = 1.0  # per token: the value of a span of w tokens has this factor w - 1 times
    for width in range(2, n + 1):
        most = 0.0
        for start in range(n + 1 - width):
            end = start + width
            value = _product(inside[start], by_end[end], start + 1, end)
            value *= factor * weight[cell_of(n, start, end)]
            inside[start, end] = by_end[end, start] = value
            most = max(most, value)
        if most > _LARGE or 0.0 < most < 1.0 / _LARGE:
            change = most ** (-1.0 / (width - 1))
            factor *= change
            _rescale(inside, by_end, width, change)
    outside = np.zeros(len(scores))
    if inside[0, n] == 0.0 or not np.isfinite(inside[0, n]):
        return outside
    flow, flow_by_end = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for width in range(n, 0, -1):
        for start in range(n + 1 - width):
            end = start + width
            value = _product(flow[start], inside[end], end + 1, n + 1)
            value += _product(flow_by_end[end], by_end[start], 0, start)
            if width == n:
                value = 1.0 / inside[0, n]
            cell = cell_of(n, start, end)
            outside[cell] = value * inside[start, end]
            flow[start, end] = flow_by_end[end, start] = value * factor * weight[cell]
    return outside


@fast_kernel_part
def _product(a: Any, b: Any, first: int, last: int) -> float:
    """Return the inner product of two rows from index ``first`` to ``last`` (exclusive)."""
    total = 0.0
    for place in range(first, last):
        total += a[place] * b[place]
    return total


@kernel_part
def _rescale(inside: Any, by_end: Any, widest: int, change: float) -> None:
    """Multiply the inside value of each span of w ≤ ``widest`` tokens by ``change`` to the power w - 1.

    Args:
        inside, by_end: inside values, indexed by (start, end) and by (end, start); updated.
        widest: width of the widest spans to rescale.
        change: factor for each token after the first.
    """
    power = 1.0
    for width in range(2, widest + 1):
        power *= change
        for start in range(len(inside) - width):
            inside[start, start + width] *= power
            by_end[start + width, start] *= power


def marginals_of(cells: Cells, scores: Floats) -> Floats:
    """Return the probability of each cell (span) in the distribution over bracketings, float64 (n_cells,).

    The probabilities are all zero if the cells do not allow any bracketing of the sentence.

    Args:
        cells: the cells that bracketings may have.
        scores: float64 (n_cells,); the score of each cell.
    """
    marginals: Floats = bracketing_marginals(cells, scores)
    return marginals


@kernel
def bracketing_marginals(cells, scores):
    """Return the probability of each cell (span): the kernel of `marginals_of`, with the same arguments."""
    n, n_cells = len(cells.by_start) - 1, len(cells.start)
    inside, exponent = np.ones(n_cells), np.zeros(n_cells)
    weight = np.ones(n_cells)
    left, right = np.empty(n, np.int32), np.empty(n, np.int32)
    for cell in range(n, n_cells):
        n_splits = find_splits(cells, cell, left, right)
        common = -np.inf  # the largest exponent among the splits; all are scaled to it
        for split in range(n_splits):
            common = max(common, exponent[left[split]] + exponent[right[split]])
        total = 0.0
        for split in range(n_splits):
            shift = exponent[left[split]] + exponent[right[split]] - common
            if shift >= NEGLIGIBLE_SHIFT:
                total += inside[left[split]] * inside[right[split]] * power_of_two(shift)
        weight[cell] = np.exp(min(max(scores[cell], -_MAX_SCORE), _MAX_SCORE))
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
