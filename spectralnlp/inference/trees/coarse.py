"""The coarse pass: inside and outside over plain symbols, pruned into a packed forest.

The chart has two layers a span: a *bottom* (a tag over its word, or a binary rule) and a
*top*, top[a] = bottom[a] + sum over unary rules a → b of p · bottom[b]. Values of a span are
kept as a mantissa with a common power of two, so that sentences of hundreds of tokens neither
underflow nor need logarithms (Goodman 1999 describes the passes; the scaling is Rabiner's).

Only open cells (``cells.py``) are filled, and only values that are not zero are kept, so the chart of a
sentence of thousands of tokens is small where most of its cells are closed.

The outside pass (``construction.py``) visits only nodes whose posterior passes the threshold, and writes the
hyperedges that do straight into the forest's arrays: there is no pass that searches the chart again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.cells import Cells, all_cells, find_splits
from spectralnlp.inference.trees.limits import FREE, CellLimits, limits_of
from spectralnlp.jit import count_bits, exponent_of, kernel, kernel_part, lowest_bit, power_of_two
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets

# In `RuleIndex.pair`: no rule has these two children.
NO_RULE = -1

# A split whose values are this many powers of two below those of the span's best split is passed over.
NEGLIGIBLE_SHIFT = -300.0

# The exponent of a span that nothing derives.
_NOTHING = -1e9

# The least exponent that a mantissa is divided by: 2 ** 1000 is still a float.
_LEAST_EXPONENT = -1000.0

# What a symbol that does not go with a neighbour counts, as a share of the one that goes best with it.
_LEAST_SHARE = 1e-3

# The least expected number of nodes of a symbol, so that a beam never forgets one.
_LEAST_PRIOR = 1e-9

Bits = NDArray[np.uint64]


class RuleIndex(NamedTuple):
    """A one-state grammar's rules in the orders in which the passes ask for them.

    Attributes:
        pair: int32 (n_symbols, n_symbols); number of each pair of children (b, c), or NO_RULE.
        partners: uint64 (n_symbols, n_words); a bit is set for each right child c that b has a pair with.
        first_pair: int64 (n_symbols,); number of the first pair with b; its others follow, by c.
        pair_rules: int64 (n_pairs + 1,); the rules of a pair are a range of the next three.
        parent: uint32 (n_binary,); a of each rule.
        weight: float64 (n_binary,); its probability.
        rule: int32 (n_binary,); its index in the grammar.
        unary_by_parent: int64 (n_symbols + 1,); rows of ``unary_child`` with parent a.
        unary_child: int32 (n_unary,).
        unary_weight: float64 (n_unary,).
        root: float64 (n_symbols,).
        prior: float64 (n_symbols,); expected number of nodes of each symbol in a tree.
        before, after: float64 (n_symbols + 1, n_symbols); of each tag, and of the sentence's end in the last row,
            how probable it is next to a node of each symbol, to the left and to the right.
    """

    pair: Ints
    partners: Bits
    first_pair: Offsets
    pair_rules: Offsets
    parent: NDArray[np.uint32]
    weight: Floats
    rule: Ints
    unary_by_parent: Offsets
    unary_child: Ints
    unary_weight: Floats
    root: Floats
    prior: Floats
    before: Floats
    after: Floats

    @classmethod
    def of(cls, grammar: LatentGrammar) -> RuleIndex:
        """Index a grammar whose symbols have one state each."""
        if not (isinstance(grammar.binary, DenseTensors) and isinstance(grammar.unary, DenseTensors)):
            raise TypeError("the coarse grammar must have one state a symbol, stored densely")
        n_symbols, rules = len(grammar.symbols), grammar.binary_rules
        order = np.lexsort((rules[:, 0], rules[:, 2], rules[:, 1]))
        ordered = rules[order]
        is_first = np.ones(len(ordered), bool)
        is_first[1:] = (ordered[1:, 1:] != ordered[:-1, 1:]).any(axis=1)
        firsts = np.flatnonzero(is_first)
        pair = np.full((n_symbols, n_symbols), NO_RULE, np.int32)
        pair[ordered[firsts, 1], ordered[firsts, 2]] = np.arange(len(firsts))
        prior = _expected_nodes(grammar)
        return cls(
            pair=pair,
            partners=_bits_of(pair != NO_RULE),
            first_pair=np.searchsorted(ordered[firsts, 1], np.arange(n_symbols)).astype(np.int64),
            pair_rules=np.append(firsts, len(ordered)).astype(np.int64),
            parent=ordered[:, 0].astype(np.uint32),
            weight=grammar.binary.values[order],
            rule=order.astype(np.int32),
            unary_by_parent=_ranges(grammar.unary_rules[:, 0], n_symbols),
            unary_child=grammar.unary_rules[:, 1].copy(),
            unary_weight=grammar.unary.values,
            root=grammar.root,
            prior=prior,
            before=_neighbours(grammar, prior, near=2, far=1),
            after=_neighbours(grammar, prior, near=1, far=2),
        )


def _expected_nodes(grammar: LatentGrammar) -> Floats:
    """Solve e = root + Mᵀe, M[a, b] being the expected number of children b of a node a."""
    children = _children(grammar, 1, 2)
    return np.maximum(_solve(np.eye(len(children)) - children.T, grammar.root), _LEAST_PRIOR)


def _neighbours(grammar: LatentGrammar, prior: Floats, *, near: int, far: int) -> Floats:
    """How probable each tag, and the sentence's end, is next to a node of each symbol, on one side.

    The tag beyond a near child is a corner of the far one, and beyond a far child it is that beyond the parent.

    Args:
        grammar: of one state a symbol.
        prior: float64 (n_symbols,); expected number of nodes of each symbol.
        near, far: which child is away from that side, and which is next to it: 1 is left, 2 is right.

    Returns:
        float64 (n_symbols + 1, n_symbols).
    """
    n_symbols, rules = len(grammar.symbols), grammar.binary_rules
    (binary, _), ends = _weights(grammar), _children(grammar, near)
    # The tag at the near end of each symbol: its own if it is a tag, else that of its near child.
    stops = np.diag(np.where(grammar.is_tag, 1.0, 0.0))
    corner = np.clip(_solve(np.eye(n_symbols) - ends, stops), 0.0, 1.0)
    beyond = np.zeros((n_symbols, n_symbols + 1))
    np.add.at(beyond[:, :n_symbols], rules[:, near], (prior[rules[:, 0]] * binary)[:, None] * corner[rules[:, far]])
    beyond[:, n_symbols] = grammar.root
    beyond = _solve(np.eye(n_symbols) - _children(grammar, far).T, beyond)
    return np.ascontiguousarray(np.maximum(beyond / prior[:, None], 0.0).T)


def _weights(grammar: LatentGrammar) -> tuple[Floats, Floats]:
    """Probabilities of binary and unary rules, float64."""
    assert isinstance(grammar.binary, DenseTensors) and isinstance(grammar.unary, DenseTensors)
    return grammar.binary.values.astype(float), grammar.unary.values.astype(float)


def _children(grammar: LatentGrammar, *children: int) -> Floats:
    """Expected numbers of children b of a node a, under binary rules the left (1), the right (2) or both."""
    n_symbols, (binary, unary) = len(grammar.symbols), _weights(grammar)
    expected = np.zeros((n_symbols, n_symbols))
    for child in children:
        np.add.at(expected, (grammar.binary_rules[:, 0], grammar.binary_rules[:, child]), binary)
    np.add.at(expected, (grammar.unary_rules[:, 0], grammar.unary_rules[:, 1]), unary)
    return expected


def _solve(system: Floats, values: Floats) -> Floats:
    """Solve linear equations, by least squares where they have not one solution."""
    try:
        return np.linalg.solve(system, values)
    except np.linalg.LinAlgError:  # a symbol that only begets itself; least squares take twenty times as long
        return np.asarray(np.linalg.lstsq(system, values, rcond=None)[0])


def _ranges(sorted_keys: Ints, n_keys: int) -> Offsets:
    return np.searchsorted(sorted_keys, np.arange(n_keys + 1)).astype(np.int64)


def _bits_of(table: NDArray[np.bool_]) -> Bits:
    """Rows of truth values as bits, 64 to a number, the first one lowest."""
    n_words = (table.shape[1] + 63) // 64
    padded = np.zeros((len(table), 64 * n_words), bool)
    padded[:, : table.shape[1]] = table
    places = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return (padded.reshape(len(table), n_words, 64) * places).sum(axis=2, dtype=np.uint64)


class Chart(NamedTuple):
    """Inside values of one sentence: for each open cell the symbols that have one.

    Attributes:
        cells: the open cells.
        limits: what may stand in them.
        top: int64 (n_cells + 1,); the top layer of a cell is a range of the next two.
        top_symbol: uint16 (n_tops,); ascending in a cell.
        top_value: float64 (n_tops,); mantissas.
        top_bits: uint64 (n_cells, n_words); a bit is set for each symbol of the cell's top layer.
        most: float64 (n_cells,); the largest value of the top layer.
        bottom: int64 (n_cells + 1,); the bottom layer of a cell is a range of the next two.
        bottom_symbol: uint16 (n_bottoms,); ascending in a cell.
        bottom_value: float64 (n_bottoms,); mantissas.
        exponent: float64 (n_cells,); values are mantissa · 2 ** exponent.
        total: the sentence's mantissa, 0 when the grammar cannot derive it.
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
    """Inside values of a sentence.

    Args:
        rules: the coarse grammar's rules.
        lexical: float64 (n_tokens, n_symbols); value of each tag for each token.
        beam: symbols whose inside value, times how probable they are beside the neighbouring tokens, is below
            this share of their span's largest are dropped (Caraballo and Charniak 1998); 0 keeps all.
        cells: the open cells; None for all.
        limits: what may stand in them, and for constraints' sake those that cross a required bracket must be
            closed (`SpanLimits.open`); None for anything.
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
    """A longer array that begins with this one."""
    larger = np.empty(2 * len(array), array.dtype)
    for place in range(len(array)):  # a slice compiles for two seconds, for numba writes its error messages
        larger[place] = array[place]
    return larger


@kernel_part
def grown_rows(table: NDArray[Any]) -> NDArray[Any]:
    """A table with more rows that begins with this one."""
    n_rows, n_columns = table.shape
    larger = np.empty((2 * n_rows, n_columns), table.dtype)
    for row in range(n_rows):
        for column in range(n_columns):
            larger[row, column] = table[row, column]
    return larger


@kernel
def _inside(rules, lexical, beam, cells, limits):
    """The chart of these cells."""
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
            common = -np.inf  # the largest exponent among the splits; all are brought to it
            for split in range(n_splits):
                common = max(common, exponent[left_cells[split]] + exponent[right_cells[split]])
            for split in range(n_splits):
                left, right = left_cells[split], right_cells[split]
                shift = exponent[left] + exponent[right] - common
                if shift < NEGLIGIBLE_SHIFT:
                    continue
                first, last = top[left], top[left + 1]
                factor, right_values = power_of_two(shift), top_value[top[right] : top[right + 1]]
                _add_pairs(
                    rules,
                    top_symbol[first:last],
                    top_value[first:last],
                    factor,
                    top_bits[right],
                    right_values,
                    values,
                )
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
def _add_pairs(rules, left_symbol, left_value, factor, right_bits, right_value, values):
    """Add the rules over each pair of a left and a right symbol to the values of a cell."""
    pair_rules, parent, weight = rules.pair_rules, rules.parent, rules.weight
    partners_of, first_pair = rules.partners, rules.first_pair
    for slot in range(len(left_symbol)):
        b, scaled = left_symbol[slot], left_value[slot] * factor
        rank, first = 0, first_pair[b]  # of the first right symbol and pair in the word at hand
        for word in range(len(right_bits)):
            present, partners = right_bits[word], partners_of[b, word]
            bits = present & partners
            while bits != np.uint64(0):
                c = lowest_bit(bits)
                below = (np.uint64(1) << np.uint64(c)) - np.uint64(1)
                value = scaled * right_value[rank + count_bits(present & below)]
                bc = first + count_bits(partners & below)
                for rule in range(pair_rules[bc], pair_rules[bc + 1]):
                    values[parent[rule]] += weight[rule] * value
                bits &= bits - np.uint64(1)
            rank += count_bits(present)
            first += count_bits(partners)


@kernel_part
def _add_unary(rules, limits, row, cell, upper):
    """Fill in a cell's top layer from its bottom one."""
    unary_by_parent = rules.unary_by_parent
    for a in range(len(cell)):
        value = cell[a] if row == FREE or limits.alone[row, a] else 0.0
        for rule in range(unary_by_parent[a], unary_by_parent[a + 1]):
            if row != FREE and not limits.under[row, rule]:
                continue
            value += rules.unary_weight[rule] * cell[rules.unary_child[rule]]
        upper[a] = value


@kernel_part
def _of_neighbours(beside, lexical, step):
    """How well each symbol goes with the token that follows (or precedes) each token, float64 (n, n_symbols).

    Args:
        beside: `RuleIndex.after`, or `before`.
        lexical: float64 (n, n_symbols); value of each tag for each token.
        step: 1, or -1.
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
                    found[token, a] += value * beside[tag, a]
        for a in range(n_symbols):
            most = max(most, found[token, a])
        for a in range(n_symbols):  # what was never seen is not impossible
            found[token, a] += _LEAST_SHARE * most if most > 0.0 else 1.0
    return found


@kernel_part
def _normalise(cell):
    """Divide by a power of two so that the largest value is in [1, 2); return its exponent."""
    largest = 0.0
    for a in range(len(cell)):
        largest = max(largest, cell[a])
    if largest == 0.0:
        return _NOTHING
    exponent = max(exponent_of(largest), _LEAST_EXPONENT)
    scale = power_of_two(-exponent)
    for a in range(len(cell)):
        cell[a] *= scale
    return exponent
