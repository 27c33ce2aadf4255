"""What stands beside a symbol, and what it is worth to a beam."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from numba import typeof

from spectralnlp.inference.trees.coarse import _of_neighbours, inside
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.words.lexical import coarse_values
from spectralnlp.jit import kernel
from spectralnlp.parameters import DenseTensors, LatentGrammar

Array = np.ndarray[Any, Any]


def values_of(tensors: object) -> Array:
    assert isinstance(tensors, DenseTensors)
    return tensors.values


def neighbours(grammar: LatentGrammar, is_after: bool) -> Array:
    """Expected numbers of (symbol, tag beyond it) in a tree, from the root down, a level at a time."""
    n, end = len(grammar.symbols), len(grammar.symbols)
    binary, unary = values_of(grammar.binary), values_of(grammar.unary)
    corner = np.where(np.eye(n, dtype=bool) & grammar.is_tag, 1.0, 0.0)
    for _ in range(200):
        new = np.where(np.eye(n, dtype=bool) & grammar.is_tag, 1.0, 0.0)
        for (a, b, c), weight in zip(grammar.binary_rules.tolist(), binary, strict=True):
            new[a] += weight * corner[b if is_after else c]
        for (a, b), weight in zip(grammar.unary_rules.tolist(), unary, strict=True):
            new[a] += weight * corner[b]
        corner = new
    found = np.zeros((n, n + 1))
    level = np.zeros((n, n + 1))
    level[:, end], nodes = grammar.root, grammar.root
    for _ in range(200):
        found += level
        below, children = np.zeros_like(level), np.zeros(n)
        for (a, b, c), weight in zip(grammar.binary_rules.tolist(), binary, strict=True):
            near, far = (b, c) if is_after else (c, b)
            below[far] += weight * level[a]
            below[near, :n] += weight * nodes[a] * corner[far]
            children[[near, far]] += weight * nodes[a] * (1 + (near == far))
        for (a, b), weight in zip(grammar.unary_rules.tolist(), unary, strict=True):
            below[b] += weight * level[a]
            children[b] += weight * nodes[a]
        level, nodes = below, children
    return found


def proper(seed: int) -> LatentGrammar:
    """A random grammar whose trees are finite."""
    grammar = reference.random_grammar(seed, (1, 1, 1, 1))
    values_of(grammar.binary)[:] *= 0.2
    values_of(grammar.unary)[:] *= 0.2
    return grammar


@pytest.mark.parametrize("seed", range(3))
def test_tags_beside_a_symbol_are_those_of_its_trees(seed: int) -> None:
    grammar = proper(seed)
    index = RuleIndex.of(grammar)
    for found, is_after in ((index.after, True), (index.before, False)):
        expected = neighbours(grammar, is_after) / index.prior[:, None]
        np.testing.assert_allclose(found.T, expected, rtol=1e-6, atol=1e-9)


@kernel
def of_neighbours(beside, lexical, step):
    """The kernel's part as a kernel."""
    return _of_neighbours(beside, lexical, step)


def test_a_symbol_goes_with_the_tags_of_the_next_token() -> None:
    grammar = proper(1)
    index, words = RuleIndex.of(grammar), reference.sentences(4)[-1]
    lexical = coarse_values(grammar, reference.found_in(grammar, words), None)
    ends = np.zeros((1, len(grammar.symbols) + 1))
    ends[0, -1] = 1.0
    inner = np.column_stack([lexical, np.zeros(len(words))])
    for beside, step, others in (
        (index.after, 1, np.concatenate([inner[1:], ends])),
        (index.before, -1, np.concatenate([ends, inner[:-1]])),
    ):
        expected = others @ beside
        expected += 1e-2 * expected.max(axis=1, keepdims=True)
        expected[~(others @ beside).any(axis=1)] = 1.0
        np.testing.assert_allclose(of_neighbours(beside, lexical, step), expected, rtol=1e-12)


def test_a_beam_keeps_the_symbols_that_are_worth_most() -> None:
    grammar = proper(2)
    index, words = RuleIndex.of(grammar), reference.sentences(4)[-1]
    lexical = coarse_values(grammar, reference.found_in(grammar, words), None)
    before, after = of_neighbours(index.before, lexical, -1), of_neighbours(index.after, lexical, 1)
    beam = 0.05
    every, some = inside(index, lexical), inside(index, lexical, beam=beam)
    for cell in range(len(words)):  # others have values of pruned parts
        first, last = every.top[cell], every.top[cell + 1]
        symbols = every.top_symbol[first:last]
        merit = every.top_value[first:last] * (index.prior * before[cell] * after[cell])[symbols]
        kept = some.top_symbol[some.top[cell] : some.top[cell + 1]]
        assert kept.tolist() == symbols[merit >= beam * merit.max()].tolist()


def test_kernels_are_compiled_once_for_learned_and_stored_grammars() -> None:
    learned = proper(0)
    stored = replace(
        learned,
        binary=DenseTensors(
            offsets=learned.binary.offsets, values=values_of(learned.binary).astype(np.float32)
        ),
        unary=DenseTensors(offsets=learned.unary.offsets, values=values_of(learned.unary).astype(np.float32)),
    )
    assert typeof(RuleIndex.of(stored)) == typeof(RuleIndex.of(learned))
