"""The coarse pass: inside and outside over plain symbols, pruned into a packed forest.

The chart has two layers a span: a *bottom* (a tag over its word, or a binary rule) and a
*top*, top[a] = bottom[a] + sum over unary rules a → b of p · bottom[b]. Values of a span are
kept as a mantissa with a common power of two, so that sentences of hundreds of tokens neither
underflow nor need logarithms (Goodman 1999 describes the passes; the scaling is Rabiner's).

The outside pass visits only nodes whose posterior passes the threshold, and writes the hyperedges
that do straight into the forest's arrays: there is no pass that searches the chart again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets


@dataclass(frozen=True)
class RuleIndex:
    """A one-state grammar's rules in the orders in which the passes ask for them.

    Attributes:
        pair: int32 (n_symbols, n_symbols); number of the pair of children (b, c), -1 where no rule has it.
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
        pair = np.full((n_symbols, n_symbols), -1, np.int32)
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
    return np.maximum(expected, 1e-9)


def _ranges(sorted_keys: Ints, n_keys: int) -> Offsets:
    return np.searchsorted(sorted_keys, np.arange(n_keys + 1)).astype(np.int64)


@dataclass(frozen=True)
class Chart:
    """Inside values of one sentence of n tokens.

    Span (i, j) is row ``j * (j - 1) // 2 + i``.

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
        n_tokens = int((np.sqrt(8 * len(self.exponent) + 1) - 1) // 2)
        return n_tokens * (n_tokens - 1) // 2

    @property
    def log_scale(self) -> float:
        """Natural logarithm of what the sentence's mantissa is multiplied by."""
        return float(self.exponent[self.root] * np.log(2.0))


def inside(index: RuleIndex, lexical: Floats, *, beam: float = 0.0) -> Chart:
    """The inside pass.

    Args:
        index: the coarse grammar's rules.
        lexical: float64 (n_tokens, n_symbols); value of each tag for each token.
        beam: symbols whose inside value times their prior is below this share of their span's largest are
            dropped; 0 keeps all.
    """
    n, n_symbols = lexical.shape
    n_spans = n * (n + 1) // 2
    bottom, top = np.zeros((n_spans, n_symbols)), np.zeros((n_spans, n_symbols))
    active, n_active = np.empty((n_spans, n_symbols), np.int16), np.zeros(n_spans, np.int32)
    exponent = np.zeros(n_spans)
    _inside(
        lexical, index.pair, index.pair_rules, index.parent, index.weight, index.unary_by_parent,
        index.unary_child, index.unary_weight, index.prior, beam,
        bottom, top, active, n_active, exponent,
    )  # fmt: skip
    total = float(index.root @ top[n * (n - 1) // 2])
    return Chart(bottom, top, active, n_active, exponent, total if np.isfinite(total) else 0.0)


@kernel
def _inside(
    lexical, pair, pair_rules, parent, weight, unary_by_parent, unary_child, unary_weight,
    prior, beam, bottom, top, active, n_active, exponent,
):  # fmt: skip
    n, n_symbols = lexical.shape
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            span = j * (j - 1) // 2 + i
            cell, upper = bottom[span], top[span]
            common = 0.0
            if width == 1:
                cell[:] = lexical[i]
            else:
                common = -np.inf  # the largest exponent among the splits; all are brought to it
                for k in range(i + 1, j):
                    e = exponent[k * (k - 1) // 2 + i] + exponent[j * (j - 1) // 2 + k]
                    common = max(common, e)
                for k in range(i + 1, j):
                    left_span = k * (k - 1) // 2 + i
                    right_span = j * (j - 1) // 2 + k
                    shift = exponent[left_span] + exponent[right_span] - common
                    if shift < -300.0:
                        continue
                    factor = 2.0**shift
                    left, right = top[left_span], top[right_span]
                    for slot in range(n_active[left_span]):
                        b = active[left_span, slot]
                        scaled = left[b] * factor
                        for other in range(n_active[right_span]):
                            c = active[right_span, other]
                            bc = pair[b, c]
                            if bc >= 0:
                                value = scaled * right[c]
                                for rule in range(pair_rules[bc], pair_rules[bc + 1]):
                                    cell[parent[rule]] += weight[rule] * value
            exponent[span] = common + _normalise(cell)
            largest = 0.0
            for a in range(n_symbols):
                value = cell[a]
                for rule in range(unary_by_parent[a], unary_by_parent[a + 1]):
                    value += unary_weight[rule] * cell[unary_child[rule]]
                upper[a] = value
                largest = max(largest, value * prior[a])
            count = 0
            for a in range(n_symbols):
                if upper[a] * prior[a] < beam * largest:
                    upper[a] = 0.0
                elif upper[a] > 0.0:
                    active[span, count] = a
                    count += 1
            n_active[span] = count


@kernel
def _normalise(cell):
    """Divide by a power of two so that the largest value is in [1, 2); its exponent, or one for "nothing"."""
    largest = 0.0
    for a in range(len(cell)):
        largest = max(largest, cell[a])
    if largest == 0.0:
        return -1e9
    exponent = max(np.floor(np.log2(largest)), -1000.0)
    scale = 2.0**-exponent
    for a in range(len(cell)):
        cell[a] *= scale
    return exponent
