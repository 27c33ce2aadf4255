"""Constraints against enumeration: the forest holds the trees that meet them, with their shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
import reference
from reference import Enumerated, enumerate_trees
from test_cells import random_attributes, random_model
from test_enumeration import GRAMMARS, mbr_gain, product_gain, recall_gain

from spectralnlp.inference.trees.bracketing import marginals_of
from spectralnlp.inference.trees.cells import all_cells, without_model
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.decoders import (
    Decoder,
    LabelledRecallDecoder,
    MaxRuleDecoder,
    MBRDecoder,
    ViterbiDecoder,
)
from spectralnlp.inference.trees.derivations import derivation_tree
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.limits import LabelTable, nested_cells
from spectralnlp.inference.trees.open_cells import WINDOW, CellMarginals, compute_cell_marginals
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.inference.trees.recognition import ParentIndex, recognise
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.span_features import place_scores, span_scores
from spectralnlp.inference.words.lexical import coarse_values
from spectralnlp.parameters import DenseTensors, LatentGrammar
from spectralnlp.text.constraints import ConstraintError, Constraints
from spectralnlp.trees import Tree, restore

Words = tuple[str, ...]


@dataclass(frozen=True)
class Notation:
    """What the symbols S, X, T and U of the random grammars are called, and what unary rules stand for."""

    symbols: tuple[str, str, str, str]
    chains: tuple[tuple[tuple[str, str], tuple[str, ...]], ...] = ()

    def of(self, grammar: LatentGrammar) -> LatentGrammar:
        return replace(grammar, symbols=self.symbols)

    def restored(self, tree: Tree) -> Tree:
        """The tree of the treebank that a binary tree of S, X, T and U stands for."""
        names = dict(zip(reference.SYMBOLS, self.symbols, strict=True))
        renamed = tree.fold(lambda node, below: Tree(names[node.label], below, node.word))
        return restore(renamed, dict(self.chains))

    def table(self, grammar: LatentGrammar) -> LabelTable:
        return LabelTable.of_grammar(self.of(grammar), dict(self.chains))


NOTATIONS = {
    "plain": Notation(("S", "X", "T", "U")),
    "intermediate": Notation(("S", "@S>", "T", "U")),
    "annotated": Notation(("S^S", "S^X", "T", "U^S")),
    "collapsed": Notation(("S", "S+X", "X+T", "U")),
    "phrase and tag": Notation(("U", "X", "T", "U@")),
    "chains": Notation(("S", "X", "T", "U"), ((("S", "X"), ("S", "M", "X")), (("S", "U"), ("S", "X", "U")))),
}
SENTENCES = [*reference.sentences(5), ("q", "p", "q", "q", "q", "q"), ("p", "q", "q", "r", "p", "q")]
every_notation = pytest.mark.parametrize("notation", NOTATIONS)


@cache
def enumerated(name: str, words: Words) -> Enumerated | None:
    return enumerate_trees(GRAMMARS[name], words)


@cache
def restored(name: str, notation: str, words: Words) -> list[Tree]:
    trees = enumerated(name, words)
    return [] if trees is None else [NOTATIONS[notation].restored(tree) for tree in trees.trees]


def meets(tree: Tree, constraints: Constraints) -> bool:
    """Whether a restored tree meets constraints, by their definition."""
    spans = tree.spans()

    def has(start: int, end: int, label: str | None) -> bool:
        return any((i, j) == (start, end) and label in (None, name) for name, i, j in spans)

    return all(has(*each) for each in constraints.brackets) and not any(
        has(*each) for each in constraints.forbidden
    )


def random_constraints(trees: list[Tree], n: int, rng: np.random.Generator) -> Constraints:
    """Some brackets of a random tree, and some from nowhere, required and forbidden."""
    labels = [None, "S", "X", "M", "U", "nowhere"]

    def anywhere(count: int) -> list[tuple[int, int, str | None]]:
        ends = [sorted(rng.choice(n + 1, 2, replace=False).tolist()) for _ in range(count)]
        return [(start, end, labels[rng.integers(len(labels))]) for start, end in ends]

    while True:
        spans = trees[rng.integers(len(trees))].spans()
        known = [spans[i] for i in rng.permutation(len(spans))[: rng.integers(3)]]
        brackets = [(start, end, label if rng.random() < 0.6 else None) for label, start, end in known]
        try:
            return Constraints.of(
                [*brackets, *anywhere(rng.choice([0, 0, 1]))], anywhere(int(rng.integers(3)))
            )
        except ConstraintError:
            continue  # they cross or contradict each other


@cache
def cases(name: str, notation: str) -> list[tuple[Words, Constraints, list[int]]]:
    """Sentences, constraints, and the numbers of the enumerated trees that meet them."""
    rng, found = np.random.default_rng(20), []
    for words in SENTENCES:
        trees = restored(name, notation, words)
        if trees:
            for _ in range(4):
                constraints = random_constraints(trees, len(words), rng)
                kept = [number for number, tree in enumerate(trees) if meets(tree, constraints)]
                found.append((words, constraints, kept))
    return found


def constrained_forest(notation: str, words: Words, constraints: Constraints) -> Forest | None:
    """The forest of all trees that meet the constraints; None where there is none."""
    coarse = GRAMMARS["one state"]
    limits, index = NOTATIONS[notation].table(coarse).limits(constraints), RuleIndex.of(coarse)
    values = coarse_values(coarse, reference.found_in(coarse, words), None)
    cells = limits.open(all_cells(len(words)))
    chart = inside(index, values, cells=cells, limits=limits.of_spans(cells.start, cells.end))
    if chart.total == 0:
        return None
    return build_forest(chart, index, node_threshold=0.0, edge_threshold=0.0)


def filtered(trees: Enumerated, kept: list[int]) -> Enumerated:
    return Enumerated(
        [trees.trees[i] for i in kept],
        [trees.edges[i] for i in kept],
        trees.values[kept],
        trees.best[kept],
        trees.log_weight,
    )


def constrained(name: str, notation: str) -> Iterator[tuple[Words, Forest, Enumerated]]:
    for words, constraints, kept in cases(name, notation):
        trees = enumerated(name, words)
        forest = constrained_forest(notation, words, constraints)
        if kept and trees is not None and forest is not None:
            yield words, forest, filtered(trees, kept)


@every_notation
def test_the_cases_are_worth_enumerating(notation: str) -> None:
    shares = [
        len(kept) / len(restored("one state", notation, w)) for w, _, kept in cases("one state", notation)
    ]
    assert len(shares) > 100
    assert sum(share == 0 for share in shares) > 10
    assert sum(0 < share < 1 for share in shares) > 30


@every_notation
def test_a_forest_has_the_trees_that_meet_the_constraints_and_no_others(notation: str) -> None:
    for words, constraints, kept in cases("one state", notation):
        trees = enumerated("one state", words)
        forest = constrained_forest(notation, words, constraints)
        assert trees is not None
        assert (forest is not None) == bool(kept)
        if forest is not None:
            assert reference.forest_trees(forest) == {trees.edges[i] for i in kept}


def test_a_label_of_unary_rules_is_not_that_of_their_ends() -> None:
    """Where S over X and X over S stand for chains with an M, a required M leaves neither S nor X alone."""
    plain = GRAMMARS["one state"]
    rules = np.array([(0, 1), (0, 3), (1, 0), (1, 3)], np.int32)
    weights = DenseTensors(offsets=np.arange(5, dtype=np.int64), values=np.array([0.5, 0.25, 0.375, 0.5]))
    coarse = replace(plain, unary_rules=rules, unary=weights)
    chains = {("S", "X"): ("S", "M", "X"), ("X", "S"): ("X", "M", "S")}
    table, index = LabelTable.of_grammar(coarse, chains), RuleIndex.of(coarse)
    n_between = 0
    for words in reference.sentences(4):
        trees = enumerate_trees(coarse, words)
        if trees is None:
            continue
        values = coarse_values(coarse, reference.found_in(coarse, words), None)
        for span in combinations(range(len(words) + 1), 2):
            for given in ({"brackets": [(*span, "M")]}, {"forbidden": [(*span, "M")]}):
                constraints = Constraints.of(**given)
                limits = table.limits(constraints)
                cells = limits.open(all_cells(len(words)))
                chart = inside(index, values, cells=cells, limits=limits.of_spans(cells.start, cells.end))
                kept = [meets(restore(tree, chains), constraints) for tree in trees.trees]
                expected = {edges for edges, is_kept in zip(trees.edges, kept, strict=True) if is_kept}
                assert (chart.total > 0) == bool(expected)
                if expected:
                    n_between += len(expected) < len(kept)
                    forest = build_forest(chart, index, node_threshold=0.0, edge_threshold=0.0)
                    assert reference.forest_trees(forest) == expected
                    assert chart.total * np.exp2(chart.exponent[-1]) == pytest.approx(
                        trees.values[kept].sum()
                    )
    assert n_between > 20


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize(
    "notation",
    [
        pytest.param("plain", marks=pytest.mark.slow),
        pytest.param("intermediate", marks=pytest.mark.slow),
        "collapsed",
    ],
)
def test_totals_and_posteriors_are_those_of_the_trees_that_meet_the_constraints(
    name: str, notation: str
) -> None:
    for words, forest, trees in constrained(name, notation):
        if abs(trees.total) < 1e-12 * np.abs(trees.values).sum():
            continue
        scores = reference.score(forest, GRAMMARS[name], words)
        assert scores.log_total == pytest.approx(np.log(abs(trees.total)), abs=trees.tolerance + 1e-10)
        of_edge, of_node = trees.edge_posteriors, trees.node_posteriors
        expected = [of_edge[edge] for edge in reference.edge_names(forest)]
        np.testing.assert_allclose(scores.edge, expected, atol=trees.tolerance)
        expected = [of_node[node] for node in reference.node_names(forest)]
        np.testing.assert_allclose(scores.node, expected, atol=trees.tolerance)


@pytest.mark.parametrize(
    ("decoder", "gain_from"),
    [
        (MBRDecoder(0.4, 0.3), mbr_gain(0.4, 0.3)),
        (LabelledRecallDecoder(), recall_gain),
        (MaxRuleDecoder(), product_gain),
    ],
    ids=["mbr", "labelled-recall", "max-rule"],
)
@pytest.mark.parametrize("notation", ["plain", "intermediate"])
def test_decoders_find_the_best_of_the_trees_that_meet_the_constraints(
    decoder: Decoder, gain_from: object, notation: str
) -> None:
    for words, forest, trees in constrained("dense", notation):
        gain = gain_from([trees.edge_posteriors], [trees.node_posteriors])  # type: ignore[operator]
        choice = decoder.decode(reference.scored_forest(forest, [GRAMMARS["dense"]], words))
        gains = trees.gains(gain)
        chosen = reference.chosen_edges(forest, choice)
        assert gains[trees.edges.index(chosen)] == pytest.approx(gains.max(), abs=1e-7, rel=1e-9)


@every_notation
def test_viterbi_finds_the_best_derivation_that_meets_the_constraints(notation: str) -> None:
    for words, forest, trees in constrained("dense", notation):
        choice = ViterbiDecoder().decode(reference.scored_forest(forest, [GRAMMARS["dense"]], words))
        assert reference.chosen_edges(forest, choice) == trees.edges[int(trees.best.argmax())]


# ---------------------------------------------------------------------------------------------------------
# The pipeline: pruning and closed cells are no reason to find no tree


def tight(coarse: LatentGrammar, fine: LatentGrammar, beam: float = 0.9) -> ForestParser:
    """A parser that prunes all it can."""
    pruning = Pruning(beam=beam, node_threshold=0.4, edge_threshold=0.3, pruner_threshold=0.3)
    return reference.parser_of(coarse, fine, pruning=pruning)


@pytest.mark.parametrize("notation", ["plain", "intermediate"])
def test_however_much_is_pruned_what_is_possible_is_found(notation: str) -> None:
    coarse, fine = GRAMMARS["one state"], GRAMMARS["dense"]
    parser = tight(coarse, fine)
    table = NOTATIONS[notation].table(coarse)
    for words, constraints, kept in cases("one state", notation):
        limits = table.limits(constraints)
        cells = limits.open(all_cells(len(words)))
        closed = CellMarginals(cells, np.zeros(len(cells.start)), threshold=0.5)
        for cell_marginals in (None, closed):
            found = reference.infer(parser, words, limits=limits, cell_marginals=cell_marginals)
            if kept:
                assert found is not None
                assert not found.any_tag
            values = coarse_values(coarse, reference.found_in(coarse, words), None, any_tag=True)
            allowed = limits.of_spans(cells.start, cells.end)
            chart = inside(parser.grammars[0].rules, values, cells=cells, limits=allowed)
            sentence = replace(parser.look_up(words), limits=(limits,))
            with_tags, with_any = parser.derives(sentence, 0)
            assert with_any == (found is not None) == (chart.total > 0)
            assert with_tags == bool(kept)
            if found is not None:
                _, scored = found.first
                tree = derivation_tree(scored, MBRDecoder().decode(scored), words)
                assert meets(NOTATIONS[notation].restored(tree), constraints)


def test_what_is_not_pruned_has_the_probability_of_the_trees_that_meet_the_constraints() -> None:
    coarse, fine = GRAMMARS["one state"], GRAMMARS["dense"]
    parser = reference.parser_of(coarse, fine)
    table = NOTATIONS["plain"].table(coarse)
    for words, constraints, kept in cases("dense", "plain"):
        trees = enumerated("dense", words)
        found = reference.infer(parser, words, limits=table.limits(constraints))
        if kept and trees is not None and found is not None:
            expected = np.log(trees.values[kept].sum()) + trees.log_weight
            assert found.log_probability == pytest.approx(expected)


def test_no_constraints_change_nothing() -> None:
    parser = tight(GRAMMARS["one state"], GRAMMARS["dense"], beam=0.0)  # which is wider under constraints
    limits = NOTATIONS["plain"].table(GRAMMARS["one state"]).limits(Constraints())
    for words in SENTENCES:
        free, found = reference.infer(parser, words), reference.infer(parser, words, limits=limits)
        assert (free is None) == (found is None)
        assert free is None or found is None or free.log_probability == found.log_probability


@every_notation
def test_what_is_recognised_has_a_derivation(notation: str) -> None:
    coarse = GRAMMARS["one state"]
    for words, constraints, kept in cases("one state", notation):
        limits = NOTATIONS[notation].table(coarse).limits(constraints)
        tags = coarse_values(coarse, reference.found_in(coarse, words), None) > 0
        cells = limits.open(all_cells(len(words)))
        assert recognise(ParentIndex.of(coarse), tags, cells, limits) == bool(kept)
    for words in SENTENCES:
        tags = coarse_values(coarse, reference.found_in(coarse, words), None) > 0
        there_is = enumerated("one state", words) is not None
        assert recognise(ParentIndex.of(coarse), tags, all_cells(len(words))) == there_is


# ---------------------------------------------------------------------------------------------------------
# Open cells


def brackets_that_nest(n: int) -> Iterator[list[tuple[int, int]]]:
    spans = [(start, end) for end in range(1, n + 1) for start in range(end)]
    for pair in combinations(spans, 2):
        try:
            Constraints.of(pair)
        except ConstraintError:
            continue
        yield list(pair)


def test_marginals_of_cells_are_those_of_bracketings_that_have_the_required_ones() -> None:
    n, model, attributes = 5, random_model(), random_attributes(5)
    everything = all_cells(n)
    scores = span_scores(
        model.weights, attributes, place_scores(model.weights, attributes), everything.start, everything.end
    )
    every = list(bracketings(0, n))
    number = {
        span: i for i, span in enumerate(zip(everything.start.tolist(), everything.end.tolist(), strict=True))
    }
    weights = [np.exp(sum(scores[number[s]] for s in each if s[1] - s[0] > 1)) for each in every]
    for required in brackets_that_nest(n):
        cell_marginals = compute_cell_marginals(model, attributes, np.array(required, np.int32))
        has = [float(set(required) <= each) * w for each, w in zip(every, weights, strict=True)]
        assert sum(has) > 0
        for start, end, marginal in zip(
            cell_marginals.cells.start.tolist(),
            cell_marginals.cells.end.tolist(),
            cell_marginals.marginals.tolist(),
            strict=True,
        ):
            share = sum(w for each, w in zip(every, has, strict=True) if (start, end) in each) / sum(has)
            assert marginal == pytest.approx(share, abs=1e-12)
        used = set().union(*(each for each, w in zip(every, has, strict=True) if w > 0))
        assert used == set(
            zip(cell_marginals.cells.start.tolist(), cell_marginals.cells.end.tolist(), strict=True)
        )


def bracketings(start: int, end: int) -> Iterator[frozenset[tuple[int, int]]]:
    """Every binary bracketing, as the set of its spans."""
    if end - start == 1:
        yield frozenset([(start, end)])
    for middle in range(start + 1, end):
        for left in bracketings(start, middle):
            for right in bracketings(middle, end):
                yield left | right | {(start, end)}


@pytest.mark.parametrize("n", [2 * WINDOW + 7, 450])
def test_required_brackets_open_in_long_sentences(n: int) -> None:
    required = np.array([(3, n - 40), (5, 260), (5, 9), (300, 301)], np.int32)
    model, attributes = random_model(), random_attributes(n)
    for cells in (
        compute_cell_marginals(model, attributes, required).cells,
        nested_cells(without_model(n, most=5_000), required),
    ):
        spans = set(zip(cells.start.tolist(), cells.end.tolist(), strict=True))
        assert len(spans) == len(cells.start)
        assert set(map(tuple, required.tolist())) <= spans
        assert not any(
            i < start < j < end or start < i < end < j for start, end in required.tolist() for i, j in spans
        )
        assert marginals_of(cells, np.zeros(len(cells.start)))[-1] == pytest.approx(
            1.0
        )  # there is a bracketing
