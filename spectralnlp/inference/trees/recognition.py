"""Decide whether a sentence has any derivation, by a chart with one bit per symbol and span.

If no parse of a sentence with constraints is found, this tells whether the constraints exclude every tree or
pruning lost the tree. To save time, the set of symbols that any span of a given width can have is computed
first. A span that has all of these symbols after a few splits is not split further, and only rules whose
parent is still missing are tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.cells import Cells, find_splits
from spectralnlp.inference.trees.limits import FREE, SpanLimits, limits_of
from spectralnlp.jit import kernel, kernel_part, lowest_bit
from spectralnlp.parameters import Ints, LatentGrammar, Offsets


class ParentIndex(NamedTuple):
    """The rules of positive weight of a grammar with one state per symbol, sorted by parent.

    Attributes:
        first: int64 (n_symbols + 1,); offsets of each parent's binary rules in ``left`` and ``right``.
        left, right: int32 (n_binary,); the children of the binary rules.
        first_unary: int64 (n_symbols + 1,); offsets of each parent's unary rules in ``child`` and ``unary``.
        child: int32 (n_unary,); the child of each unary rule.
        unary: int32 (n_unary,); the index of each unary rule in the grammar.
        is_root: bool (n_symbols,); whether a symbol may be the root.
    """

    first: Offsets
    left: Ints
    right: Ints
    first_unary: Offsets
    child: Ints
    unary: Ints
    is_root: NDArray[np.bool_]

    @classmethod
    def of(cls, grammar: LatentGrammar) -> ParentIndex:
        """Return the index of the rules of a grammar that has one state per symbol and dense tensors."""
        weighed = grammar.binary_rules[np.asarray(grammar.binary.values) > 0]
        binary = weighed[np.argsort(weighed[:, 0], kind="stable")]
        unary = np.flatnonzero(np.asarray(grammar.unary.values) > 0).astype(np.int32)
        unary = unary[np.argsort(grammar.unary_rules[unary, 0], kind="stable")]
        symbols = np.arange(len(grammar.symbols) + 1)
        return cls(
            first=np.searchsorted(binary[:, 0], symbols).astype(np.int64),
            left=binary[:, 1].copy(),
            right=binary[:, 2].copy(),
            first_unary=np.searchsorted(grammar.unary_rules[unary, 0], symbols).astype(np.int64),
            child=grammar.unary_rules[unary, 1].copy(),
            unary=unary,
            is_root=grammar.root > 0,
        )


def recognise(
    rules: ParentIndex, tags: NDArray[np.bool_], cells: Cells, limits: SpanLimits | None = None
) -> bool:
    """Return whether a sentence has a derivation.

    Args:
        rules: the rules of a grammar.
        tags: bool (n_tokens, n_symbols); the allowed tags of each token.
        cells: the cells (spans) to consider; none may cross a span that ``limits`` require.
        limits: symbols and unary rules allowed over spans; None for all.
    """
    return bool(_recognise(rules, tags, cells, limits_of(limits, cells.start, cells.end)))


@kernel
def _recognise(rules, tags, cells, limits):
    """Return whether a sentence has a derivation: whether its widest cell can have a root symbol.

    The arguments are those of `recognise`.
    """
    n, n_symbols = tags.shape
    n_cells, n_words = len(cells.start), (n_symbols + 63) // 64
    most = _bounds(rules, tags)
    top = np.zeros((n_cells, n_words), np.uint64)
    bottom, bound = np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64)
    left, right = np.empty(n, np.int32), np.empty(n, np.int32)
    for cell in range(n_cells):
        row = limits.row[cell]
        for word in range(n_words):
            bottom[word] = np.uint64(0)
            bound[word] = most[cells.end[cell] - cells.start[cell], word]
        if row != FREE:
            for a in range(n_symbols):
                if not limits.bottom[row, a]:
                    bound[a >> 6] &= ~_bit(a)
        if cell < n:
            _set_tags(tags[cell], bottom)
            for word in range(n_words):
                bottom[word] &= bound[word]
        else:
            n_splits = find_splits(cells, cell, left, right)
            for number in range(n_splits):
                split = _from_both_ends(number, n_splits)
                if _add_missing(rules, top[left[split]], top[right[split]], bound, bottom) == 0:
                    break
        for a in range(n_symbols):
            if _has(bottom, a) and (row == FREE or limits.alone[row, a]):
                top[cell, a >> 6] |= _bit(a)
            for place in range(rules.first_unary[a], rules.first_unary[a + 1]):
                if _has(bottom, rules.child[place]) and (
                    row == FREE or limits.under[row, rules.unary[place]]
                ):
                    top[cell, a >> 6] |= _bit(a)
    is_derived = False
    for a in range(n_symbols):
        is_derived |= rules.is_root[a] and _has(top[n_cells - 1], a)
    return is_derived


@kernel_part
def _bounds(rules, tags):
    """Return an upper bound of the symbols that spans of each width can have, before unary rules.

    For the bound, every token is given the allowed tags of all tokens of the sentence.

    Args:
        rules: `ParentIndex`.
        tags: bool (n_tokens, n_symbols); the allowed tags of each token.

    Returns:
        uint64 (n_tokens + 1, ⌈n_symbols / 64⌉); a row for each width from 0 to n_tokens, with a bit for each
        symbol.
    """
    n, n_symbols = tags.shape
    n_words = (n_symbols + 63) // 64
    bottom, top = np.zeros((n + 1, n_words), np.uint64), np.zeros((n + 1, n_words), np.uint64)
    parents = np.zeros(n_words, np.uint64)
    for a in range(n_symbols):
        if rules.first[a + 1] > rules.first[a]:
            parents[a >> 6] |= _bit(a)
    for width in range(1, n + 1):
        if width == 1:
            for token in range(n):
                _set_tags(tags[token], bottom[1])
        for number in range(width - 1):
            middle = 1 + _from_both_ends(number, width - 1)
            if _add_missing(rules, top[middle], top[width - middle], parents, bottom[width]) == 0:
                break
        for a in range(n_symbols):
            if _has(bottom[width], a):
                top[width, a >> 6] |= _bit(a)
            for place in range(rules.first_unary[a], rules.first_unary[a + 1]):
                if _has(bottom[width], rules.child[place]):
                    top[width, a >> 6] |= _bit(a)
    return bottom


@kernel_part
def _set_tags(tags, bits):
    for a in range(len(tags)):
        if tags[a]:
            bits[a >> 6] |= _bit(a)


@kernel_part
def _add_missing(rules, left, right, bound, found):
    """Add to a span the symbols that binary rules build over one split; return how many are still missing.

    Sets of symbols are bit sets, uint64 (⌈n_symbols / 64⌉,).

    Args:
        rules: `ParentIndex`.
        left, right: symbols of the left and of the right part of the span.
        bound: symbols that a span of this width can have; other symbols are not tried.
        found: symbols of the span; updated. Symbols of ``bound`` that it lacks are missing.
    """
    n_missing = 0
    for word in range(len(bound)):
        missing = bound[word] & ~found[word]
        while missing != np.uint64(0):
            a = 64 * word + lowest_bit(missing)
            missing &= missing - np.uint64(1)
            n_missing += 1
            for rule in range(rules.first[a], rules.first[a + 1]):
                if _has(left, rules.left[rule]) and _has(right, rules.right[rule]):
                    found[word] |= _bit(a)
                    n_missing -= 1
                    break
    return n_missing


@kernel_part
def _from_both_ends(number, count):
    """Return which split of a span to try at a step: the first, the last, the second, and so on inwards.

    Splits at the ends of the span come first, because only they have a child that is a single token.

    Args:
        number: number of the step, from 0.
        count: number of splits of the span.
    """
    return number // 2 if number % 2 == 0 else count - 1 - number // 2


@kernel_part
def _has(bits, symbol):
    return (bits[symbol >> 6] >> np.uint64(symbol & 63)) & np.uint64(1) != np.uint64(0)


@kernel_part
def _bit(symbol):
    return np.uint64(1) << np.uint64(symbol & 63)
