"""Options of spans, what is said about them, and the forests that come out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.inference.trees.cells import all_cells
from spectralnlp.inference.trees.forest import BINARY, LEXICAL, TOP
from spectralnlp.inference.trees.open_cells import WINDOW, CellMarginals
from spectralnlp.inference.trees.rescoring.options import SpanOptions, cell_odds, span_options
from spectralnlp.inference.trees.rescoring.rescorer import SpanRescorer, label_values
from spectralnlp.inference.trees.rescoring.scores import CELL_ODDS, N_NUMBERS
from spectralnlp.inference.trees.rescoring.span_values import (
    likely_brackets,
    set_option_values,
    set_span_values,
)
from spectralnlp.inference.trees.rescoring.templates import (
    DEPENDENCY_TEMPLATES,
    TEMPLATES,
    template_table,
)
from spectralnlp.inference.trees.rescoring.tokens import TokenReader, hash_name, kind_of, shape_of
from spectralnlp.inference.trees.rescoring.values import (
    COMMA,
    CONJUNCTION,
    N_VALUES,
    NOUN,
    QUOTE,
    VERB,
    LabelValues,
    TokenValues,
    Value,
)
from spectralnlp.inference.trees.sentence import Forests
from spectralnlp.jit import kernel
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import SpanScorer, WordClusters
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.tokens import Sentence

WORDS = ["The", "keeper", "saw", "boats", "and", "nets"]
NAMES = ("DT", "NN", "VBD", "CC", "S", "NP", "VP")
DT, NN, VBD, CC, S, NP, VP = range(7)
TAGS = [DT, NN, VBD, NN, CC, NN]


@pytest.fixture
def options() -> SpanOptions:
    """Those of (S (NP The keeper) (VP saw (NP boats and nets))), with a rival S over all but The."""
    spans = [(0, 2, NP, 0.9), (3, 6, NP, 0.8), (2, 6, VP, 0.7), (1, 6, S, 0.1), (0, 6, S, 1.0)]
    spans.sort(key=lambda span: (span[1], span[0]))
    start, end, label, posterior = zip(*spans, strict=True)
    return SpanOptions(
        start=np.array(start, np.int32),
        end=np.array(end, np.int32),
        first=np.arange(len(spans) + 1),
        label=np.array(label, np.int32),
        posterior=np.array(posterior)[:, None],
        tag=np.array(TAGS, np.int32),
        cell_odds=np.zeros(len(spans)),
    )


@pytest.fixture
def labels() -> LabelValues:
    """Nouns head NPs, verbs VPs and sentences."""
    score = np.full((7, 7), -9.0, np.float32)
    score[NP, NN] = score[VP, VBD] = score[S, VBD] = 0.0
    return LabelValues(
        name=np.array([hash_name("label", name) for name in NAMES], np.uint64),
        bottom=np.arange(7, dtype=np.int32),
        head_score=score,
        head_is_last=score == 0.0,
    )


@pytest.fixture
def tokens() -> TokenValues:
    reader = TokenReader(
        lambda word: word == "nets", NAMES, lambda word: (3, 14) if word == "boats" else (0, 0)
    )
    return reader.read(WORDS, np.array(TAGS, np.int32))


def values_of(
    span: tuple[int, int], label: int, options: SpanOptions, tokens: TokenValues, labels: LabelValues
) -> dict[str, int]:
    values = np.zeros(N_VALUES, np.uint64)
    brackets = kernel(likely_brackets)(options, 0, len(options.start), tokens, labels)
    kernel(set_span_values)(*span, tokens, labels, brackets, values)
    kernel(set_option_values)(*span, label, 0.8, 0.0, 0, tokens, labels, values)
    return {value.name.lower(): int(values[value]) for value in Value}


def test_values_of_a_span(options: SpanOptions, tokens: TokenValues, labels: LabelValues) -> None:
    found = values_of((3, 6), NP, options, tokens, labels)
    expected = {
        "word_before_2": hash_name("keeper"),
        "word_before": hash_name("saw"),
        "word_first": hash_name("boats"),
        "word_last_2": hash_name("and"),
        "word_last": hash_name("rare", shape_of("nets"), "ets"),
        "shape_last": hash_name("shape", shape_of("nets")),
        "tag_before_3": hash_name("tag", "DT"),
        "tag_first": hash_name("tag", "NN"),
        "tag_last_2": hash_name("tag", "CC"),
        "coarse_first": 3,
        "fine_first": 14,
        "coarse_last": 0,
        "length": 3,
        "place": 1 + 2,
        "last_verb": hash_name("saw"),
        "last_noun": hash_name("keeper"),
        "last_noun_tag": hash_name("tag", "NN"),
        "conjunction": hash_name("and"),
        "conjunction_before": hash_name("tag", "NN"),
        "parent": hash_name("label", "VP"),
        "left": hash_name("tag", "VBD"),
        "last_child": hash_name("tag", "NN"),
        "head": hash_name("rare", shape_of("nets"), "ets"),
        "head_tag": hash_name("tag", "NN"),
        "head_before": hash_name("tag", "CC"),
        "head_margins": 1 + 2,
    }
    assert {name: found[name] for name in expected} == expected


def test_values_of_children(options: SpanOptions, tokens: TokenValues, labels: LabelValues) -> None:
    found = values_of((0, 6), S, options, tokens, labels)
    assert found["first_child"] == hash_name("label", "NP")
    assert found["last_child"] == hash_name("label", "VP")
    assert found["last_child_head"] == found["head"] == hash_name("saw")
    assert found["last_child_word"] == hash_name("saw")
    assert found["parent"] == found["last_verb"] == 0
    assert found["word_before"] == found["tag_before"] == 1  # nothing but the sentence's beginning
    assert values_of((2, 6), VP, options, tokens, labels)["left"] == hash_name("label", "NP")


def annotated_values(
    span: tuple[int, int], label: int, options: SpanOptions, labels: LabelValues
) -> dict[str, int]:
    """Values of (The keeper) saw (boats and nets), where "and" and "nets" depend on "boats"."""
    annotations = Annotations(
        [1, 2, -1, 2, 3, 3],
        ["det", "nsubj", "ROOT", "dobj", "cc", "conj"],
        ["DT", "NN", "VBD", "NNS", "CC", "NNS"],
    )
    reader = TokenReader(lambda word: False, NAMES, lambda word: (0, 0))
    return values_of(span, label, options, reader.read(WORDS, options.tag, annotations), labels)


def test_values_of_a_subtree(options: SpanOptions, labels: LabelValues) -> None:
    found = annotated_values((3, 6), NP, options, labels)
    expected = {
        "outward": 1 + 1,
        "inward": 1,
        "top_relation": hash_name("relation", "dobj"),
        "top_tag": hash_name("annotated", "NNS"),
        "top_word": hash_name("boats"),
        "top_margins": 1 + 4 * 2,
        "top_is_head": 1,  # the last noun is the head of the NP
        "governor_place": 2 + 3,
        "governor_relation": hash_name("relation", "ROOT"),
        "governor_tag": hash_name("annotated", "VBD"),
        "dependent_left": 0,
        "dependent_right": 0,
        "annotated_before": hash_name("annotated", "VBD"),
        "annotated_first": hash_name("annotated", "NNS"),
        "annotated_last": hash_name("annotated", "NNS"),
        "annotated_after": 2,  # the end of the sentence
        "relation_before": hash_name("relation", "ROOT"),
        "relation_last": hash_name("relation", "conj"),
    }
    assert {name: found[name] for name in expected} == expected
    assert annotated_values((3, 4), NP, options, labels)["dependent_right"] == hash_name("relation", "cc")


def test_values_of_a_span_that_is_no_subtree(options: SpanOptions, labels: LabelValues) -> None:
    found = annotated_values((1, 3), S, options, labels)
    assert (found["outward"], found["inward"]) == (1 + 1, 1 + 2)
    assert found["top_is_head"] == 2  # the verb, a root
    assert found["governor_place"] == 1
    assert found["governor_tag"] == 0
    assert found["dependent_left"] == hash_name("relation", "det")
    assert found["dependent_right"] == hash_name("relation", "dobj")
    found = annotated_values((4, 6), NP, options, labels)
    assert (found["outward"], found["governor_place"]) == (1 + 2, 2 + 3)


def test_values_of_dependencies_are_absent_without_annotations(
    options: SpanOptions, tokens: TokenValues, labels: LabelValues
) -> None:
    found = values_of((3, 6), NP, options, tokens, labels)
    assert not any(found[value.name.lower()] for value in Value if value >= Value.OUTWARD)


def test_kinds_of_tokens() -> None:
    assert kind_of(",", ",") == COMMA
    assert kind_of("``", "``") == QUOTE
    assert kind_of("corre", "vmip3s0") == VERB
    assert kind_of("casa", "ncfs000") == kind_of("it", "PRP") == NOUN
    assert kind_of("e", "CONJ") == CONJUNCTION


def test_templates_name_values() -> None:
    table = template_table("# a comment\nword_first\n\nhead tag_before length\n")
    assert table.tolist() == [
        [Value.WORD_FIRST, -1, -1, -1, -1],
        [Value.HEAD, Value.TAG_BEFORE, Value.LENGTH, -1, -1],
    ]
    plain, both = template_table(), template_table(f"{TEMPLATES}\n{DEPENDENCY_TEMPLATES}")
    assert len(np.unique(both, axis=0)) == len(both)
    is_of_dependencies = (both >= Value.OUTWARD).any(axis=1)
    np.testing.assert_array_equal(is_of_dependencies, np.arange(len(both)) >= len(plain))


@pytest.fixture(scope="module")
def parser(own_treebank: Path) -> Parser:
    task = ParsingTask()
    return task.train(LPCFG(), task.read([own_treebank / "train.mrg"]))


def scorer_of(parser: Parser, weight: float, *, number: int = 1) -> SpanScorer:
    """One that multiplies the odds of brackets, by their bias alone."""
    numbers = np.zeros(N_NUMBERS)
    numbers[number] = weight
    return SpanScorer(
        templates=("word_first",),
        phrases=(),
        tags=(),
        features=np.empty(0, np.int32),
        weights=np.empty(0, np.float32),
        number_weights=numbers,
        head_score=np.empty((0, 0), np.float32),
        head_is_last=np.empty((0, 0), np.int8),
    )


def rescorer_of(parser: Parser, weight: float) -> SpanRescorer:
    scorer = scorer_of(parser, weight)
    return SpanRescorer(scorer, parser.forest_parser.pool.shared, parser.coarse.lexicon, WordClusters.none())


def inferred(parser: Parser, words: list[str]) -> Forests:
    return parser.forest_parser.infer(parser.look_up(Sentence.from_words(words), pooled=False))


def test_options_are_what_the_forest_holds(parser: Parser) -> None:
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    _, before = inferred(parser, words).first
    scored, shared = before, parser.forest_parser.pool.shared
    options, (place,) = span_options([scored], shared.maps, shared.labels, len(words))
    order = list(zip(options.end.tolist(), options.start.tolist(), strict=True))
    assert order == sorted(set(order))
    node, edge = np.mean(scored.node_shares, axis=0), np.mean(scored.edge_shares, axis=0)
    assert (options.posterior.mean(axis=1) >= 0.005).all()
    for e in np.flatnonzero(place.of_edge >= 0).tolist():
        kind_below = scored.forest.kind[scored.forest.left[e]]
        assert scored.forest.kind[scored.edge_owners[e]] == TOP
        mean = options.posterior[place.of_edge[e]].mean()
        assert mean >= edge[e] - 1e-12 if kind_below == LEXICAL else mean == pytest.approx(edge[e])
    for v in np.flatnonzero(place.of_node >= 0).tolist():
        is_unary = (scored.forest.kind[scored.edge_owners] == TOP) & (scored.forest.rule >= 0)
        above = edge[is_unary & (scored.forest.left == v)].sum()
        assert options.posterior[place.of_node[v]].mean() == pytest.approx(node[v] - above, abs=1e-9)


def test_a_scorer_that_knows_nothing_changes_little(parser: Parser) -> None:
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    _, before = inferred(parser, words).first
    rescorer = rescorer_of(parser, 0.0)
    after = rescorer.rescore({0: before}, words)[0]
    for name in ("node_shares", "edge_shares"):
        old, new = getattr(before, name), getattr(after, name)
        np.testing.assert_allclose(np.mean(new, axis=0), np.mean(old, axis=0), atol=0.02)


def test_brackets_become_rarer_and_commoner(parser: Parser) -> None:
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    _, before = inferred(parser, words).first
    sums = []
    for weight in (-3.0, 0.0, 3.0):
        rescorer = rescorer_of(parser, weight)
        after = rescorer.rescore({0: before}, words)[0]
        is_bracket = (after.forest.kind != TOP) & (after.n_brackets[after.forest.symbol] > 0)
        sums.append(float(np.mean(after.node_shares, axis=0)[is_bracket].sum()))
        tops = np.mean(after.node_shares, axis=0)[: after.forest.n_roots]
        assert tops.sum() <= 1.0 + 1e-6
    assert sums[0] < sums[1] < sums[2]


def cell_marginals_of(n_tokens: int, marginal_of: dict[tuple[int, int], float]) -> CellMarginals:
    """All cells of a sentence; those without a marginal have a thousandth."""
    cells = all_cells(n_tokens)
    spans = zip(cells.start.tolist(), cells.end.tolist(), strict=True)
    return CellMarginals(cells, np.array([marginal_of.get(span, 0.001) for span in spans]), threshold=0.0)


def test_odds_of_spans_are_those_of_their_cells() -> None:
    cell_marginals = cell_marginals_of(
        5, {(0, 1): 1.0, (1, 3): 0.5, (0, 4): 0.8, (2, 4): 0.2, (3, 4): 0.0, (0, 5): 1.0}
    )
    start, end = np.array([0, 1, 0, 2, 3, 1], np.int32), np.array([1, 3, 4, 4, 4, 5], np.int32)
    found = cell_odds(cell_marginals, start, end)
    marginals = np.array([0.999, 0.5, 0.8, 0.2, 1e-4, 0.001])
    np.testing.assert_allclose(found, np.log(marginals / (1.0 - marginals)))
    narrow = replace(cell_marginals, cells=cell_marginals.cells.subset(cell_marginals.cells.start == 1))
    assert cell_odds(narrow, start[2:4], end[2:4])[0] == pytest.approx(np.log(1e-4 / (1.0 - 1e-4)))
    assert not cell_odds(cell_marginals_of(WINDOW + 1, {}), start, end).any()


def test_cells_that_bracketings_have_bring_brackets(parser: Parser) -> None:
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    _, before = inferred(parser, words).first
    scorer = scorer_of(parser, 1.0, number=CELL_ODDS)
    rescorer = SpanRescorer(
        scorer, parser.forest_parser.pool.shared, parser.coarse.lexicon, WordClusters.none()
    )
    forest = before.forest
    of_span = (forest.start == 3) & (forest.end == 6) & (forest.kind == BINARY)
    shares = []
    for marginal in (0.01, 0.5, 0.99):
        cell_marginals = cell_marginals_of(len(words), {(3, 6): marginal})
        after = rescorer.rescore({0: before}, words, cell_marginals=cell_marginals)[0]
        shares.append(float(np.mean(after.node_shares, axis=0)[of_span].sum()))
    assert shares[0] < shares[1] < shares[2]
    without = rescorer.rescore({0: before}, words)[0]
    assert float(np.mean(without.node_shares, axis=0)[of_span].sum()) == pytest.approx(shares[1])


def test_label_values_go_by_name(parser: Parser) -> None:
    scorer = scorer_of(parser, 0.0)
    heads = {"phrases": ("VP", "unheard of"), "tags": ("NN", "VBZ")}
    score = np.array([[-2.0, -1.0], [0.0, 0.0]], np.float32)
    scorer = replace(scorer, **heads, head_score=score, head_is_last=np.ones((2, 2), np.int8))
    shared = parser.forest_parser.pool.shared
    found = label_values(scorer, shared)
    vp, vbz = shared.names.index("VP"), shared.names.index("VBZ")
    assert found.head_score[vp, vbz] == -1.0
    assert found.head_is_last[vp, vbz]
    assert np.isinf(found.head_score[shared.names.index("NP")]).all()
