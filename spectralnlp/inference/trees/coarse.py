"""Run the inside pass of the coarse grammar, which has one state per symbol, over a sentence's chart.

The chart has two layers for each span: a *bottom* (a tag over its word, or a binary rule) and a *top*,
top[a] = bottom[a] + sum over unary rules a → b of p · bottom[b]. The values of a span are mantissas with one
common power of two, so that sentences of hundreds of tokens do not underflow, and no logarithms are needed
(Goodman 1999 describes the passes; the scaling is Rabiner's).

Only open cells (see ``cells.py``) are filled, and only non-zero values are kept, so the chart of a sentence
of thousands of tokens is small if most of its spans are closed.

The outside pass (``construction.py``) visits only nodes with high enough posteriors, and writes those of
their hyperedges that have high enough posteriors directly into the arrays of the packed forest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.cells import Cells, all_cells, find_splits
from spectralnlp.inference.trees.limits import FREE, CellLimits, limits_of
from spectralnlp.inference.trees.rule_index import Bits, RuleIndex
from spectralnlp.jit import count_bits, exponent_of, kernel, kernel_part, lowest_bit, power_of_two
from spectralnlp.parameters import Floats, Ints, Offsets

# A split is skipped if its values are this many powers of two below those of the span's best split.
NEGLIGIBLE_SHIFT = -300.0

# The exponent of a span without a derivation.
_NOTHING = -1e9

# The least exponent by which values are scaled: its inverse, 2 ** 1000, is still a finite float.
_MIN_EXPONENT = -1000.0

# Smoothing of how probable a symbol is beside a neighbour, as a share of the most probable symbol's value.
_MIN_SHARE = 1e-2


class Splits(NamedTuple):
    """The ways to split one cell (span) into a left and a right cell.

    Attributes:
        number: number of splits.
        left, right: int32 (n_tokens,); the first ``number`` entries are the cells of the splits.
        exponent: exponent (of two) to which the values of all splits are scaled: the largest sum of the
            exponents of a left and a right cell.
    """

    number: int
    left: Ints
    right: Ints
    exponent: float


class Chart(NamedTuple):
    """The inside values of one sentence, stored sparsely for each open cell (span that the parser considers).

    A cell has two layers of symbols: its bottom layer holds the values of tags or binary rules over the span,
    its top layer the values after at most one unary rule above them.

    Attributes:
        cells: the open cells.
        limits: the symbols and unary rules allowed in the cells.
        top: int64 (n_cells + 1,); offsets of the cells' top layers in ``top_symbol`` and ``top_value``.
        top_symbol: uint16 (n_tops,); ascending within a cell.
        top_value: float64 (n_tops,); mantissas.
        top_bits: uint64 (n_cells, n_symbols / 64, rounded up); a bit is set for each symbol of the cell's
            top layer.
        most: float64 (n_cells,); the largest value of the top layer.
        bottom: int64 (n_cells + 1,); offsets of the bottom layers in ``bottom_symbol`` and ``bottom_value``.
        bottom_symbol: uint16 (n_bottoms,); ascending within a cell.
        bottom_value: float64 (n_bottoms,); mantissas.
        exponent: float64 (n_cells,); an inside value is mantissa · 2 ** exponent.
        total: mantissa of the sentence's probability; 0 if the grammar cannot derive the sentence.
    """

    cells: Cells
    limits: CellLimits
    top: Offsets
    top_symbol: NDArray[np.uint16]
    top_value: Floats
    top_bits: Bits
    most: Floats
    bottom: Offsets
    bottom_symbol: NDArray[np.uint16]
    bottom_value: Floats
    exponent: Floats
    total: float


def inside(
    rules: RuleIndex,
    lexical: Floats,
    *,
    beam: float = 0.0,
    cells: Cells | None = None,
    limits: CellLimits | None = None,
) -> Chart:
    """Compute the inside values of a sentence.

    Args:
        rules: the coarse grammar's rules.
        lexical: float64 (n_tokens, n_symbols); value of each tag for each token.
        beam: pruning threshold. The figure of merit of a symbol over a span is its inside value times its
            probability next to the neighbouring tokens (Caraballo and Charniak 1998). A symbol is dropped if
            its figure of merit is less than ``beam`` times the largest one over the span; 0 keeps all.
        cells: the open cells; None for all.
        limits: the symbols and unary rules allowed in the cells; None for all. Cells that cross a required
            bracket must be closed (`SpanLimits.open`).
    """
    cells = all_cells(len(lexical)) if cells is None else cells
    limits = limits_of(None, cells.start, cells.end) if limits is None else limits
    chart: Chart = _inside(rules, lexical, beam, cells, limits)
    whole = np.zeros(len(rules.root))
    whole[chart.top_symbol[chart.top[-2] :]] = chart.top_value[chart.top[-2] :]
    total = float(rules.root @ whole)
    return chart._replace(total=total if np.isfinite(total) else 0.0)


@kernel_part
def grown(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array with twice its length; the second half is uninitialised."""
    larger = np.empty(2 * len(array), array.dtype)
    for place in range(len(array)):  # a slice takes numba two more seconds to compile
        larger[place] = array[place]
    return larger


@kernel_part
def grown_rows(table: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of a table with twice its rows; the second half is uninitialised."""
    n_rows, n_columns = table.shape
    larger = np.empty((2 * n_rows, n_columns), table.dtype)
    for row in range(n_rows):
        for column in range(n_columns):
            larger[row, column] = table[row, column]
    return larger


@kernel
def _inside(rules, lexical, beam, cells, limits):
    """Return the chart with the inside values of all open cells; `inside` then sets its field ``total``."""
    n, n_symbols = lexical.shape
    n_cells, n_words = len(cells.start), rules.partners.shape[1]
    top, bottom = np.zeros(n_cells + 1, np.int64), np.zeros(n_cells + 1, np.int64)
    top_symbol, bottom_symbol = np.empty(n_symbols + 8 * n_cells, np.uint16), np.empty(1024, np.uint16)
    top_value, bottom_value = np.empty(n_symbols + 8 * n_cells), np.empty(1024)
    top_bits = np.zeros((n_cells, n_words), np.uint64)
    most, exponent = np.zeros(n_cells), np.zeros(n_cells)
    left_cells, right_cells = np.empty(n, np.int32), np.empty(n, np.int32)
    values, upper, merit = np.empty(n_symbols), np.empty(n_symbols), np.empty(n_symbols)
    before, after = _of_neighbours(rules.before, lexical, -1), _of_neighbours(rules.after, lexical, 1)
    prior = rules.prior
    n_tops, n_bottoms = 0, 0
    for cell in range(n_cells):
        common = 0.0
        if cell < n:
            for symbol in range(n_symbols):
                values[symbol] = lexical[cell, symbol]
        else:
            values[:] = 0.0
            n_splits = find_splits(cells, cell, left_cells, right_cells)
            common = -np.inf  # the largest exponent among the splits; all are scaled to it
            for split in range(n_splits):
                common = max(common, exponent[left_cells[split]] + exponent[right_cells[split]])
            splits = Splits(n_splits, left_cells, right_cells, common)
            _add_splits(rules, splits, exponent, top, top_symbol, top_value, top_bits, values)
        row = limits.row[cell]
        if row != FREE:
            for symbol in range(n_symbols):
                if not limits.bottom[row, symbol]:
                    values[symbol] = 0.0
        exponent[cell] = common + _normalise(values) if common > -np.inf else _NOTHING
        while n_bottoms + n_symbols > len(bottom_symbol):
            bottom_symbol, bottom_value = grown(bottom_symbol), grown(bottom_value)
        while n_tops + n_symbols > len(top_symbol):
            top_symbol, top_value = grown(top_symbol), grown(top_value)
        _add_unary(rules, limits, row, values, upper)
        i, j, largest = cells.start[cell], cells.end[cell] - 1, 0.0
        for a in range(n_symbols):
            merit[a] = upper[a] * prior[a] * before[i, a] * after[j, a]
        for a in range(n_symbols):
            largest = max(largest, merit[a])
        for a in range(n_symbols):
            if values[a] != 0.0:
                bottom_symbol[n_bottoms], bottom_value[n_bottoms] = a, values[a]
                n_bottoms += 1
            if upper[a] > 0.0 and merit[a] >= beam * largest:
                top_symbol[n_tops], top_value[n_tops] = a, upper[a]
                top_bits[cell, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
                most[cell] = max(most[cell], upper[a])
                n_tops += 1
        top[cell + 1], bottom[cell + 1] = n_tops, n_bottoms
    return Chart(
        cells=cells,
        limits=limits,
        top=top,
        top_symbol=top_symbol[:n_tops],
        top_value=top_value[:n_tops],
        top_bits=top_bits,
        most=most,
        bottom=bottom,
        bottom_symbol=bottom_symbol[:n_bottoms],
        bottom_value=bottom_value[:n_bottoms],
        exponent=exponent,
        total=0.0,
    )


@kernel_part
def _add_splits(rules, splits, exponent, top, top_symbol, top_value, top_bits, values):
    """Add to the values of a cell's symbols the values of all binary rules over all splits of the cell.

    One call handles all splits, because passing this many arrays to a call is slow.

    Args:
        rules: `RuleIndex`.
        splits: `Splits` of the cell.
        exponent, top, top_symbol, top_value, top_bits: see `Chart`; filled for all narrower cells.
        values: float64 (n_symbols,); updated.
    """
    pair_rules, parent, weight = rules.pair_rules, rules.parent, rules.weight
    partners_of, first_pair = rules.partners, rules.first_pair
    left_cells, right_cells, n_words = splits.left, splits.right, partners_of.shape[1]
    for split in range(splits.number):
        left, right = left_cells[split], right_cells[split]
        shift = exponent[left] + exponent[right] - splits.exponent
        if shift < NEGLIGIBLE_SHIFT:
            continue
        factor, first_right = power_of_two(shift), top[right]
        for place in range(top[left], top[left + 1]):
            b, scaled = top_symbol[place], top_value[place] * factor
            rank, first = first_right, first_pair[b]  # the first right symbol and pair of the current word
            for word in range(n_words):
                present, partners = top_bits[right, word], partners_of[b, word]
                bits = present & partners
                while bits != np.uint64(0):
                    below = (np.uint64(1) << np.uint64(lowest_bit(bits))) - np.uint64(1)
                    value = scaled * top_value[rank + count_bits(present & below)]
                    bc = first + count_bits(partners & below)
                    for rule in range(pair_rules[bc], pair_rules[bc + 1]):
                        values[parent[rule]] += weight[rule] * value
                    bits &= bits - np.uint64(1)
                rank += count_bits(present)
                first += count_bits(partners)


@kernel_part
def _add_unary(rules, limits, row, cell, upper):
    """Compute the top layer of a cell (its values after at most one unary rule) from its bottom layer.

    Args:
        rules: `RuleIndex`.
        limits: `CellLimits`.
        row: the cell's row in ``limits``, or FREE.
        cell: float64 (n_symbols,); values before unary rules (bottom layer).
        upper: float64 (n_symbols,); output.
    """
    unary_by_parent = rules.unary_by_parent
    for a in range(len(cell)):
        value = cell[a] if row == FREE or limits.alone[row, a] else 0.0
        for rule in range(unary_by_parent[a], unary_by_parent[a + 1]):
            if row != FREE and not limits.under[row, rule]:
                continue
            value += rules.unary_weight[rule] * cell[rules.unary_child[rule]]
        upper[a] = value


@kernel_part
def _of_neighbours(adjacent, lexical, step):
    """Return, for each token and symbol, how probable the next (or previous) token is beside the symbol.

    Args:
        adjacent: probabilities of tags next to symbols, `RuleIndex.after` (or `before`).
        lexical: float64 (n, n_symbols); value of each tag for each token.
        step: 1 for the token after, -1 for the token before.

    Returns:
        float64 (n, n_symbols), not normalised.
    """
    n, n_symbols = lexical.shape
    found = np.zeros((n, n_symbols))
    for token in range(n):
        other, most = token + step, 0.0
        for tag in range(n_symbols + 1):
            value = lexical[other, tag] if 0 <= other < n and tag < n_symbols else 0.0
            if tag == n_symbols and not 0 <= other < n:
                value = 1.0
            if value > 0.0:
                for a in range(n_symbols):
                    found[token, a] += value * adjacent[tag, a]
        for a in range(n_symbols):
            most = max(most, found[token, a])
        for a in range(n_symbols):  # smoothing: unseen neighbours stay possible
            found[token, a] += _MIN_SHARE * most if most > 0.0 else 1.0
    return found


@kernel_part
def _normalise(cell):
    """Divide the values of a span by a power of two so that the largest is in [1, 2); return the exponent."""
    largest = 0.0
    for a in range(len(cell)):
        largest = max(largest, cell[a])
    if largest == 0.0:
        return _NOTHING
    exponent = max(exponent_of(largest), _MIN_EXPONENT)
    scale = power_of_two(-exponent)
    for a in range(len(cell)):
        cell[a] *= scale
    return exponent
