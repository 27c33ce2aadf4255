"""Open cells: the chart over some of them, bracketings without labels, and sentences of any length."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from reference import enumerate_trees

from spectralnlp.inference.trees.bracketing import marginals_of, span_marginals
from spectralnlp.inference.trees.cells import Cells, all_cells, cells_of, find_splits, without_model
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.open_cells import WINDOW, CellMarginals, compute_cell_marginals
from spectralnlp.inference.trees.parsing import ForestParser
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.span_features import TokenAttributes
from spectralnlp.inference.words.lexical import coarse_values
from spectralnlp.parameters import CellModel

Array = np.ndarray[Any, Any]
Spans = list[tuple[int, int]]

COARSE = reference.random_grammar(0, (1, 1, 1, 1))
FINE = reference.random_grammar(1, (2, 3, 1, 4))
RULES = RuleIndex.of(COARSE)


def spans(cells: Cells) -> Spans:
    return list(zip(cells.start.tolist(), cells.end.tolist(), strict=True))


def some_cells(n: int, seed: int, share: float = 0.6) -> Cells:
    everything = all_cells(n)
    return everything.subset(np.random.default_rng(seed).random(len(everything.start)) < share)


def values_of(words: Sequence[str]) -> Array:
    return coarse_values(COARSE, reference.found_in(COARSE, words), None)


def random_attributes(n: int, seed: int = 0) -> TokenAttributes:
    rng = np.random.default_rng(seed)
    word, tag, second, shape = (rng.integers(0, 30, n) for _ in range(4))
    return TokenAttributes(word, tag, second, shape, np.arange(n + 1, dtype=np.int32) // 7)


def random_model(seed: int = 0, threshold: float = 1e-3) -> CellModel:
    rng = np.random.default_rng(seed)
    return CellModel(weights=rng.normal(0, 0.5, 2**14).astype(np.float32), threshold=threshold)


# ---------------------------------------------------------------------------------------------------------
# Lists of cells


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_cells_are_listed_from_narrow_to_wide(n: int) -> None:
    every = [(start, start + width) for width in range(1, n + 1) for start in range(n - width + 1)]
    assert spans(all_cells(n)) == every
    assert spans(all_cells(n, widest=2)) == [
        (start, end) for start, end in every if end - start <= 2 or start == 0 or end == n
    ]
    shuffled = np.random.default_rng(n).permutation(len(every))
    start, end = (np.array(column, np.int32)[shuffled] for column in zip(*every, strict=True))
    cells, order = cells_of(n, start, end)
    assert spans(cells) == every
    np.testing.assert_array_equal(start[order], cells.start)


@pytest.mark.parametrize("seed", range(5))
def test_a_cell_is_split_into_open_cells(seed: int) -> None:
    n = 8
    cells = some_cells(n, seed)
    number = {span: cell for cell, span in enumerate(spans(cells))}
    assert all((token, token + 1) in number for token in range(n))
    assert (0, n) in number
    left, right = np.empty(n, np.int32), np.empty(n, np.int32)
    for (start, end), cell in number.items():
        count = find_splits(cells, cell, left, right)
        found = list(zip(left[:count].tolist(), right[:count].tolist(), strict=True))
        assert found == [
            (number[start, middle], number[middle, end])
            for middle in range(start + 1, end)
            if (start, middle) in number and (middle, end) in number
        ]


# ---------------------------------------------------------------------------------------------------------
# The chart


def dense_chart(words: Sequence[str]) -> dict[tuple[int, int], tuple[Array, Array, float]]:
    """Bottom values, top values and exponent of every span, by the textbook's loops over dense arrays."""
    lexical, n = values_of(words), len(words)
    chart: dict[tuple[int, int], tuple[Array, Array, float]] = {}
    for width, start in ((w, s) for w in range(1, n + 1) for s in range(n - w + 1)):
        end, cell, common = start + width, np.zeros(len(RULES.root)), 0.0
        if width == 1:
            cell = lexical[start].copy()
        else:
            splits = [(chart[start, k], chart[k, end]) for k in range(start + 1, end)]
            common = max(left[2] + right[2] for left, right in splits)
            for (_, left, left_exponent), (_, right, right_exponent) in splits:
                factor = 2.0 ** (left_exponent + right_exponent - common)
                for b, c in product(range(len(cell)), repeat=2):
                    pair = RULES.pair[b, c]
                    if pair >= 0:
                        value = left[b] * factor * right[c]
                        for rule in range(RULES.pair_rules[pair], RULES.pair_rules[pair + 1]):
                            cell[RULES.parent[rule]] += RULES.weight[rule] * value
        power = max(np.floor(np.log2(cell.max())), -1000.0) if cell.max() > 0 else -1e9
        if cell.max() > 0:
            cell *= 2.0**-power
        top = cell.copy()
        for a in range(len(cell)):
            for unary in range(RULES.unary_by_parent[a], RULES.unary_by_parent[a + 1]):
                top[a] += RULES.unary_weight[unary] * cell[RULES.unary_child[unary]]
        chart[start, end] = cell, top, common + power
    return chart


def test_with_everything_open_the_chart_is_the_dense_one_to_the_bit() -> None:
    for words in reference.sentences(5):
        chart, dense = inside(RULES, values_of(words)), dense_chart(words)
        for cell, span in enumerate(spans(chart.cells)):
            bottom, top, exponent = dense[span]
            for values, offsets, symbols, numbers in (
                (bottom, chart.bottom, chart.bottom_symbol, chart.bottom_value),
                (top, chart.top, chart.top_symbol, chart.top_value),
            ):
                part = slice(offsets[cell], offsets[cell + 1])
                np.testing.assert_array_equal(symbols[part], np.flatnonzero(values))
                np.testing.assert_array_equal(numbers[part], values[values != 0])
            assert chart.exponent[cell] == exponent or not bottom.any()


@cache
def derivable() -> list[tuple[tuple[str, ...], Any]]:
    found = [(words, enumerate_trees(COARSE, words)) for words in reference.sentences(5)]
    return [(words, trees) for words, trees in found if trees is not None]


@pytest.mark.parametrize("seed", range(4))
def test_the_forest_has_the_trees_whose_cells_are_open(seed: int) -> None:
    n_closed = 0
    for words, trees in derivable():
        cells = some_cells(len(words), seed)
        is_open = set(spans(cells))
        expected = {
            tree for tree in trees.edges if all((start, end) in is_open for _, _, start, end, *_ in tree)
        }
        chart = inside(RULES, values_of(words), cells=cells)
        n_closed += len(expected) < len(trees.edges)
        if not expected:
            assert chart.total == 0
            continue
        forest = build_forest(chart, RULES, node_threshold=0.0, edge_threshold=0.0)
        assert reference.forest_trees(forest) == expected
        total = sum(value for tree, value in zip(trees.edges, trees.values, strict=True) if tree in expected)
        assert chart.total * np.exp2(chart.exponent[-1]) == pytest.approx(total, rel=1e-12)
    assert n_closed > 5


# ---------------------------------------------------------------------------------------------------------
# Bracketings


def bracketings(start: int, end: int) -> Iterator[frozenset[tuple[int, int]]]:
    if end - start == 1:
        yield frozenset({(start, end)})
    for middle in range(start + 1, end):
        for left in bracketings(start, middle):
            for right in bracketings(middle, end):
                yield left | right | {(start, end)}


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_marginals_are_those_of_all_bracketings(n: int, size: float) -> None:
    cells = some_cells(n, n, share=0.8)
    scores = np.random.default_rng(n).normal(0, size, len(cells.start))
    scores[:n] = 0.0
    number = {span: cell for cell, span in enumerate(spans(cells))}
    allowed = [each for each in bracketings(0, n) if each <= number.keys()]
    totals = np.array([sum(scores[number[span]] for span in each) for each in allowed])
    shares = np.exp(totals - totals.max())
    shares /= shares.sum()
    expected = np.zeros(len(number))
    for each, share in zip(allowed, shares, strict=True):
        expected[[number[span] for span in each]] += share
    np.testing.assert_allclose(marginals_of(cells, scores), expected, atol=1e-12)


def test_marginals_of_no_bracketing_are_zero() -> None:
    everything = all_cells(4)
    cells = everything.subset(np.zeros(len(everything.start), bool))
    assert not marginals_of(cells, np.zeros(len(cells.start))).any()


@pytest.mark.parametrize("n", [WINDOW, WINDOW + 1, 3 * WINDOW + 17])
def test_marginals_of_windows(n: int) -> None:
    model, attributes = random_model(), random_attributes(n)
    cell_marginals, again = (
        compute_cell_marginals(model, attributes),
        compute_cell_marginals(model, attributes),
    )
    np.testing.assert_array_equal(cell_marginals.marginals, again.marginals)
    found = spans(cell_marginals.cells)
    assert len(set(found)) == len(found)
    assert {(token, token + 1) for token in range(n)} <= set(found)
    if n > WINDOW:
        assert {(0, end) for end in range(1, n + 1)} | {(start, n) for start in range(n)} <= set(found)
    assert cell_marginals.marginals.min() >= 0
    assert cell_marginals.marginals.max() <= 1 + 1e-9
    counts = [len(cell_marginals.above(least).start) for least in (cell_marginals.threshold, 1e-9, 0.0)]
    assert counts == sorted(counts)
    assert counts[0] < n * n / 4


# ---------------------------------------------------------------------------------------------------------
# Sentences


def parser() -> ForestParser:
    return reference.parser_of(COARSE, FINE)


def test_closing_cells_leaves_no_sentence_without_a_tree() -> None:
    for words in reference.sentences(5):
        cells = all_cells(len(words))
        closed = CellMarginals(cells, np.zeros(len(cells.start)), threshold=0.5)
        usual, found = (
            reference.infer(parser(), words),
            reference.infer(parser(), words, cell_marginals=closed),
        )
        assert (found is None) == (usual is None)
        if usual is not None and found is not None:
            assert found.any_tag == usual.any_tag
            assert len(words) < 3 or found.log_probability == usual.log_probability


def test_more_cells_open_until_there_is_a_tree() -> None:
    words, trees = next(each for each in derivable() if len(each[0]) == 5)
    cells = all_cells(5)
    used = {(start, end) for _, _, start, end, *_ in trees.edges[0]}
    marginals = np.array([1e-8 if span in used else 0.0 for span in spans(cells)])
    cell_marginals = CellMarginals(cells, marginals, threshold=1e-3)
    found = reference.infer(parser(), words, cell_marginals=cell_marginals)
    assert found is not None
    forest = found.first[1].forest
    assert set(zip(forest.start.tolist(), forest.end.tolist(), strict=True)) <= used


def test_without_a_model_long_sentences_have_fewer_cells() -> None:
    assert len(without_model(400).start) == 400 * 401 // 2
    for n in (401, 2_000, 20_000, 100_000):
        assert len(without_model(n).start) < 100_000 + 3 * n


def test_long_sentences_without_a_model_are_tried_again_with_fewer_cells() -> None:
    for n, fewer in ((150, False), (151, True), (401, True)):
        sentence = parser().open_cells(parser().look_up(["p"] * n))
        first, *others = [len(cells.start) for cells, _, _ in parser()._attempts(sentence)]
        assert others == [min(others)] * 2
        assert (others[0] < first) == fewer


NOISE = """
import re, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import test_cells as cells
words = list(np.random.default_rng(0).choice(["p", "q", "r"], int(sys.argv[2])))
parser = cells.reference.parser_of(cells.COARSE, cells.FINE, pruning=cells.reference.Pruning())
attributes = cells.random_attributes(len(words))
for cell_marginals in (None, cells.compute_cell_marginals(cells.random_model(), attributes)):
    found = cells.reference.infer(parser, words, cell_marginals=cell_marginals)
    assert found is not None and np.isfinite(found.log_probability)
# (getrusage would count the parent's memory, too: a process begins as a copy of it)
print(int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) >> 10)
"""


@pytest.mark.slow
def test_ten_thousand_words_of_noise_take_bounded_memory() -> None:
    here = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-c", NOISE, here, "10000"], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 1_500  # MiB


@pytest.mark.parametrize(("n", "size"), [(1, 1.0), (2, 1.0), (7, 1.0), (30, 8.0), (90, 60.0), (90, 0.0)])
def test_marginals_of_all_spans_are_those_of_open_cells(n: int, size: float) -> None:
    cells = all_cells(n)
    scores = np.random.default_rng(n).normal(0.0, size, len(cells.start))
    np.testing.assert_allclose(span_marginals(scores, n), marginals_of(cells, scores), atol=1e-9)
