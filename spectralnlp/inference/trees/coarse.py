"""The coarse pass: inside and outside over plain symbols, pruned into a packed forest.

The chart has two layers a span: a *bottom* (a tag over its word, or a binary rule) and a
*top*, top[a] = bottom[a] + sum over unary rules a → b of p · bottom[b]. Values of a span are
kept as a mantissa with a common power of two, so that sentences of hundreds of tokens neither
underflow nor need logarithms (Goodman 1999 describes the passes; the scaling is Rabiner's).

The outside pass visits only nodes whose posterior passes the threshold, and writes the hyperedges
that do straight into the forest's arrays: there is no pass that searches the chart again.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import jitable, kernel
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets

# In `RuleIndex.pair`: no rule has these two children.
NO_RULE = -1

# A split whose values are this many powers of two below those of the span's best split is passed over.
NEGLIGIBLE_SHIFT = -300.0

# The exponent of a span that nothing derives.
_NOTHING = -1e9

# The least exponent that a mantissa is divided by: 2 ** 1000 is still a float.
_LEAST_EXPONENT = -1000.0

# The least expected number of nodes of a symbol, so that a beam never forgets one.
_LEAST_PRIOR = 1e-9

Index = TypeVar("Index", int, NDArray[np.int32])


@jitable
def span_row(start: Index, end: Index) -> Index:
    """Row of the tokens from ``start`` to before ``end`` in tables of all spans of a sentence."""
    return end * (end - 1) // 2 + start


@jitable
def n_tokens_of(n_spans: int) -> int:
    """Length of the sentence that has so many spans, n (n + 1) / 2."""
    return int((np.sqrt(8.0 * n_spans + 1.0) - 1.0) // 2)


class RuleIndex(NamedTuple):
    """A one-state grammar's rules in the orders in which the passes ask for them.

    Attributes:
        pair: int32 (n_symbols, n_symbols); number of each pair of children (b, c), or NO_RULE.
        pair_rules: int64 (n_pairs + 1,); the rules of a pair are a range of the next three.
        parent: int32 (n_binary,); a of each rule.
        weight: float64 (n_binary,); its probability.
        rule: int32 (n_binary,); its index in the grammar.
        unary_by_parent: int64 (n_symbols + 1,); rows of ``unary_child`` with parent a.
        unary_child: int32 (n_unary,).
        unary_weight: float64 (n_unary,).
        root: float64 (n_symbols,).
        prior: float64 (n_symbols,); expected number of nodes of each symbol in a tree.
    """

    pair: Ints
    pair_rules: Offsets
    parent: Ints
    weight: Floats
    rule: Ints
    unary_by_parent: Offsets
    unary_child: Ints
    unary_weight: Floats
    root: Floats
    prior: Floats

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
        return cls(
            pair=pair,
            pair_rules=np.append(firsts, len(ordered)).astype(np.int64),
            parent=ordered[:, 0].copy(),
            weight=grammar.binary.values[order],
            rule=order.astype(np.int32),
            unary_by_parent=_ranges(grammar.unary_rules[:, 0], n_symbols),
            unary_child=grammar.unary_rules[:, 1].copy(),
            unary_weight=grammar.unary.values,
            root=grammar.root,
            prior=_expected_nodes(grammar, grammar.binary.values, grammar.unary.values),
        )


def _expected_nodes(grammar: LatentGrammar, binary: Floats, unary: Floats) -> Floats:
    """Solve e = root + Mᵀe, M[a, b] being the expected number of children b of a node a."""
    n_symbols = len(grammar.symbols)
    children = np.zeros((n_symbols, n_symbols))
    for child in (1, 2):
        np.add.at(children, (grammar.binary_rules[:, 0], grammar.binary_rules[:, child]), binary)
    np.add.at(children, (grammar.unary_rules[:, 0], grammar.unary_rules[:, 1]), unary)
    expected = np.linalg.lstsq(np.eye(n_symbols) - children.T, grammar.root, rcond=None)[0]
    return np.maximum(expected, _LEAST_PRIOR)


def _ranges(sorted_keys: Ints, n_keys: int) -> Offsets:
    return np.searchsorted(sorted_keys, np.arange(n_keys + 1)).astype(np.int64)


class Chart(NamedTuple):
    """Inside values of one sentence of n tokens; span (i, j) is row :func:`span_row`.

    Attributes:
        bottom, top: float64 (n (n + 1) / 2, n_symbols); mantissas.
        active: int16 (n (n + 1) / 2, n_symbols); the symbols of each span's top, first ``n_active`` of them.
        n_active: int32 (n (n + 1) / 2,).
        exponent: float64 (n (n + 1) / 2,); values are mantissa · 2 ** exponent.
        total: the sentence's mantissa, 0 when the grammar cannot derive it.
    """

    bottom: Floats
    top: Floats
    active: NDArray[np.int16]
    n_active: Ints
    exponent: Floats
    total: float

    @property
    def root(self) -> int:
        """Row of the span of the whole sentence."""
        return span_row(0, n_tokens_of(len(self.exponent)))

    @property
    def log_scale(self) -> float:
        """Natural logarithm of the factor of the sentence's mantissa."""
        return float(self.exponent[self.root] * np.log(2.0))


def inside(rules: RuleIndex, lexical: Floats, *, beam: float = 0.0) -> Chart:
    """Inside values of a sentence.

    Args:
        rules: the coarse grammar's rules.
        lexical: float64 (n_tokens, n_symbols); value of each tag for each token.
        beam: symbols whose inside value times their prior is below this share of their span's largest are
            dropped; 0 keeps all.
    """
    n, n_symbols = lexical.shape
    n_spans = n * (n + 1) // 2
    chart = Chart(
        bottom=np.zeros((n_spans, n_symbols)),
        top=np.zeros((n_spans, n_symbols)),
        active=np.empty((n_spans, n_symbols), np.int16),
        n_active=np.zeros(n_spans, np.int32),
        exponent=np.zeros(n_spans),
        total=0.0,
    )
    _inside(rules, lexical, beam, chart)
    total = float(rules.root @ chart.top[chart.root])
    return chart._replace(total=total if np.isfinite(total) else 0.0)


@kernel
def _inside(rules, lexical, beam, chart):
    """Fill in a chart."""
    pair, pair_rules, parent, weight = rules.pair, rules.pair_rules, rules.parent, rules.weight
    top, active, n_active, exponent = chart.top, chart.active, chart.n_active, chart.exponent
    n = len(lexical)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            span = span_row(i, j)
            cell = chart.bottom[span]
            common = 0.0
            if width == 1:
                cell[:] = lexical[i]
            else:
                common = -np.inf  # the largest exponent among the splits; all are brought to it
                for k in range(i + 1, j):
                    common = max(common, exponent[span_row(i, k)] + exponent[span_row(k, j)])
                for k in range(i + 1, j):
                    left_span, right_span = span_row(i, k), span_row(k, j)
                    shift = exponent[left_span] + exponent[right_span] - common
                    if shift < NEGLIGIBLE_SHIFT:
                        continue
                    factor = 2.0**shift
                    left, right = top[left_span], top[right_span]
                    for slot in range(n_active[left_span]):
                        b = active[left_span, slot]
                        scaled = left[b] * factor
                        for other in range(n_active[right_span]):
                            c = active[right_span, other]
                            bc = pair[b, c]
                            if bc != NO_RULE:
                                value = scaled * right[c]
                                for rule in range(pair_rules[bc], pair_rules[bc + 1]):
                                    cell[parent[rule]] += weight[rule] * value
            exponent[span] = common + _normalise(cell)
            n_active[span] = _add_unary(rules, cell, beam, top[span], active[span])


@kernel
def _add_unary(rules, cell, beam, upper, active):
    """Fill in a span's top layer from its bottom one; list its symbols, and return their number."""
    unary_by_parent, prior = rules.unary_by_parent, rules.prior
    largest = 0.0
    for a in range(len(cell)):
        value = cell[a]
        for rule in range(unary_by_parent[a], unary_by_parent[a + 1]):
            value += rules.unary_weight[rule] * cell[rules.unary_child[rule]]
        upper[a] = value
        largest = max(largest, value * prior[a])
    count = 0
    for a in range(len(cell)):
        if upper[a] * prior[a] < beam * largest:
            upper[a] = 0.0
        elif upper[a] > 0.0:
            active[count] = a
            count += 1
    return count


@kernel
def _normalise(cell):
    """Divide by a power of two so that the largest value is in [1, 2); return its exponent."""
    largest = 0.0
    for a in range(len(cell)):
        largest = max(largest, cell[a])
    if largest == 0.0:
        return _NOTHING
    exponent = max(np.floor(np.log2(largest)), _LEAST_EXPONENT)
    scale = 2.0**-exponent
    for a in range(len(cell)):
        cell[a] *= scale
    return exponent
