"""The open cells of a chart: the spans that may have constituents, binarised ones among them.

Cells are listed from narrow to wide, so that all parts of a cell come before it, and nothing here has the
size of a square of the sentence's length unless that many cells are open.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Ints, Offsets

# Open cells up to which nothing is closed where no model says which may be, those of 400 tokens.
MOST_CELLS = 80_200

# Cells that begin or end at one token from which a search skips those that are far from a split: all those at
# the ends of a sentence of thousands of tokens.
_MANY = 256


class Cells(NamedTuple):
    """Open spans of a sentence; token t alone is cell t, the whole sentence is the last cell.

    Attributes:
        start, end: int32 (n_cells,); tokens start (inclusive) to end (exclusive), by width, then by start.
        by_start: int64 (n_tokens + 1,); the cells that begin at i are a range of the next two.
        starting: int32 (n_cells,); cells by start, then by end.
        starting_end: int32 (n_cells,); where each of them ends.
        by_end: int64 (n_tokens + 2,); the cells that end at j are a range of the next two.
        ending: int32 (n_cells,); cells by end, then by start.
        ending_start: int32 (n_cells,); where each of them begins.
    """

    start: Ints
    end: Ints
    by_start: Offsets
    starting: Ints
    starting_end: Ints
    by_end: Offsets
    ending: Ints
    ending_start: Ints

    @property
    def n_tokens(self) -> int:
        """Length of the sentence."""
        return len(self.by_start) - 1

    def subset(self, keep: NDArray[np.bool_]) -> Cells:
        """Some of the cells; single tokens and the whole sentence stay open.

        Args:
            keep: bool (n_cells,).
        """
        keep = keep.copy()
        keep[: self.n_tokens] = keep[-1] = True
        cells: Cells = _indexed(self.n_tokens, self.start[keep], self.end[keep])
        return cells


def all_cells(n_tokens: int, *, widest: int | None = None) -> Cells:
    """Every span of a sentence, or those up to a width and those at the sentence's beginning or end.

    The latter are a right-branching and a left-branching way to reach the whole sentence from narrow cells.

    Args:
        n_tokens: one or more.
        widest: tokens; None for no such limit.
    """
    cells: Cells = all_span_cells(n_tokens, n_tokens if widest is None else widest)
    return cells


def cells_of(n_tokens: int, start: Ints, end: Ints) -> tuple[Cells, NDArray[np.int64]]:
    """Open cells in any order, and the order in which they are listed, int64 (n_cells,).

    Args:
        n_tokens: of the sentence.
        start, end: int32 (n_cells,); every single token and the whole sentence among them, none twice.
    """
    order = np.lexsort((start, end - start))
    cells: Cells = _indexed(n_tokens, start[order], end[order])
    return cells, order


def without_model(n_tokens: int, *, most: int = MOST_CELLS) -> Cells:
    """Every span, or if these are too many the narrow ones and those at either end of the sentence.

    Args:
        n_tokens: one or more.
        most: spans, those at either end not counted.
    """
    too_many = n_tokens * (n_tokens + 1) // 2 > most
    return all_cells(n_tokens, widest=max(most // n_tokens, 2) if too_many else None)


@kernel
def all_span_cells(n, widest):
    """Every span up to a width, for kernels; see `all_cells`."""
    start, end = _listed(n, widest)
    return _indexed(n, start, end)


@kernel_part
def _listed(n, widest):
    """Starts and ends of all spans that are narrow, or at either end of the sentence."""
    size = 0
    for width in range(1, n + 1):
        size += n - width + 1 if width <= widest else min(2, n - width + 1)
    start, end = np.empty(size, np.int32), np.empty(size, np.int32)
    size = 0
    for width in range(1, n + 1):
        step = 1 if width <= widest else max(n - width, 1)
        for i in range(0, n - width + 1, step):
            start[size], end[size] = i, i + width
            size += 1
    return start, end


@kernel
def _indexed(n, start, end):
    """Cells of these spans, which are in order."""
    by_start, by_end = np.zeros(n + 1, np.int64), np.zeros(n + 2, np.int64)
    n_cells = len(start)
    for cell in range(n_cells):
        by_start[start[cell] + 1] += 1
        by_end[end[cell] + 1] += 1
    for i in range(n):
        by_start[i + 1] += by_start[i]
        by_end[i + 2] += by_end[i + 1]
    starting, starting_end = np.empty(n_cells, np.int32), np.empty(n_cells, np.int32)
    ending, ending_start = np.empty(n_cells, np.int32), np.empty(n_cells, np.int32)
    next_starting, next_ending = by_start.copy(), by_end.copy()
    for cell in range(n_cells):  # from narrow to wide: ends rise
        place = next_starting[start[cell]]
        starting[place], starting_end[place] = cell, end[cell]
        next_starting[start[cell]] += 1
    for cell in range(n_cells - 1, -1, -1):  # from wide to narrow: starts rise
        place = next_ending[end[cell]]
        ending[place], ending_start[place] = cell, start[cell]
        next_ending[end[cell]] += 1
    return Cells(
        start=start,
        end=end,
        by_start=by_start,
        starting=starting,
        starting_end=starting_end,
        by_end=by_end,
        ending=ending,
        ending_start=ending_start,
    )


@kernel_part
def _first_from(values: Any, first: int, last: int, least: int) -> int:
    """The place of the first value of an ascending range that is not below a bound; the end if all are."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < least:
            first = middle + 1
        else:
            last = middle
    return first


@kernel_part
def find_splits(cells: Any, cell: int, left: Ints, right: Ints) -> int:
    """Write the pairs of open cells that make up a cell, by where they meet, and return their number.

    Args:
        cells: a Cells.
        cell: one of them.
        left, right: int32 (n_tokens,) or more; written.
    """
    # Local names of arrays: those of a named tuple are counted at every use.
    starting, starting_end, by_start = cells.starting, cells.starting_end, cells.by_start
    ending, ending_start, by_end = cells.ending, cells.ending_start, cells.by_end
    i, j = cells.start[cell], cells.end[cell]
    first, last = by_start[i], by_start[i + 1]
    other, others = by_end[j], by_end[j + 1]
    count = 0
    if others - other > _MANY:
        other = _first_from(ending_start, other, others, i + 1)
    if last - first > _MANY and other < others:
        first = _first_from(starting_end, first, last, ending_start[other])
    while first < last and other < others:
        k = starting_end[first]
        if k >= j:
            break
        begin = ending_start[other]
        if begin == k:
            left[count], right[count] = starting[first], ending[other]
            count += 1
            first += 1
            other += 1
        elif begin < k:
            other += 1
        else:
            first += 1
    return count
