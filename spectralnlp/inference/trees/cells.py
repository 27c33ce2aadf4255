"""The spans of a sentence in which a parser looks for constituents (the open cells of its chart).

All other spans are ignored (closed), which saves time. Open cells include spans that binarisation needs.
Cells are listed from narrow to wide, so that all parts of a cell come before it. Memory is proportional to
the number of open cells, not to the square of the sentence's length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Ints, Offsets

# Without a cell model, all cells are open in sentences with at most this many of them (400 tokens).
MAX_CELLS = 80_200

# If more cells than this begin or end at one token, a binary search skips those that cannot be in a split.
# This helps at the two ends of a sentence of thousands of tokens.
_MANY = 256


class Cells(NamedTuple):
    """The open cells (spans) of a sentence; token t alone is cell t, and the whole sentence is the last.

    Attributes:
        start, end: int32 (n_cells,); tokens start (inclusive) to end (exclusive), by width, then by start.
        by_start: int64 (n_tokens + 1,); cells that begin at i are ``starting[by_start[i]:by_start[i + 1]]``.
        starting: int32 (n_cells,); cells by start, then by end.
        starting_end: int32 (n_cells,); the end of each cell in ``starting``.
        by_end: int64 (n_tokens + 2,); cells that end at j are ``ending[by_end[j]:by_end[j + 1]]``.
        ending: int32 (n_cells,); cells by end, then by start.
        ending_start: int32 (n_cells,); the start of each cell in ``ending``.
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
        """Number of tokens of the sentence."""
        return len(self.by_start) - 1

    def subset(self, keep: NDArray[np.bool_]) -> Cells:
        """Return a subset of the cells; single tokens and the whole sentence always stay open.

        Args:
            keep: bool (n_cells,); the cells to keep.
        """
        keep = keep.copy()
        keep[: self.n_tokens] = keep[-1] = True
        cells: Cells = _indexed(self.n_tokens, self.start[keep], self.end[keep])
        return cells


def all_cells(n_tokens: int, *, widest: int | None = None) -> Cells:
    """Return the spans of a sentence, up to a width, as cells.

    Spans that begin or end with the sentence are included whatever their width, so that narrow cells can be
    joined to a tree of the whole sentence.

    Args:
        n_tokens: length of the sentence, one or more.
        widest: maximum width in tokens of spans that neither begin nor end with the sentence; None for no
            limit.
    """
    cells: Cells = all_span_cells(n_tokens, n_tokens if widest is None else widest)
    return cells


def cells_of(n_tokens: int, start: Ints, end: Ints) -> tuple[Cells, NDArray[np.int64]]:
    """Return the cells of given spans, and the order into which the spans were sorted, int64 (n_cells,).

    Args:
        n_tokens: length of the sentence.
        start, end: int32 (n_cells,); distinct spans in any order, including every single token and the whole
            sentence.
    """
    order = np.lexsort((start, end - start))
    cells: Cells = _indexed(n_tokens, start[order], end[order])
    return cells, order


def without_model(n_tokens: int, *, most: int = MAX_CELLS) -> Cells:
    """Return the cells that a parser without a model of cells considers: all or, in long sentences, fewer.

    In a long sentence, these are the narrow spans, and all spans that begin or end with the sentence.

    Args:
        n_tokens: length of the sentence, one or more.
        most: maximum number of spans, not counting those that begin or end with the sentence.
    """
    too_many = n_tokens * (n_tokens + 1) // 2 > most
    return all_cells(n_tokens, widest=max(most // n_tokens, 2) if too_many else None)


@kernel
def all_span_cells(n, widest):
    """Return all cells up to a width, and wider ones that begin or end with the sentence; see `all_cells`."""
    start, end = _listed(n, widest)
    return _indexed(n, start, end)


@kernel_part
def _listed(n, widest):
    """Return the starts and ends of all spans up to a width, and of wider ones as in `all_cells`."""
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
    """Return the `Cells` of given spans, with indices of the spans by start and by end.

    Args:
        n: number of tokens of the sentence.
        start, end: int32 (n_cells,); the spans, which must be sorted by width, then by start.
    """
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
    for cell in range(n_cells):  # from narrow to wide, so that the ends ascend
        place = next_starting[start[cell]]
        starting[place], starting_end[place] = cell, end[cell]
        next_starting[start[cell]] += 1
    for cell in range(n_cells - 1, -1, -1):  # from wide to narrow, so that the starts ascend
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
    """Return the index of the first value ≥ ``least`` in an ascending range; ``last`` if there is none."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < least:
            first = middle + 1
        else:
            last = middle
    return first


@kernel_part
def find_splits(cells: Any, cell: int, left: Ints, right: Ints) -> int:
    """Write the splits of a cell into two open cells, in the order of split points; return their number.

    Args:
        cells: `Cells`.
        cell: the cell to split.
        left, right: int32 (n_tokens,) or longer; the cells of each split are written here.
    """
    # Local names, because numba updates reference counts at each use of a named tuple's array.
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
