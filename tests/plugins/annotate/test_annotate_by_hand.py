"""Trees by hand: any constraints on any tree are met, and nothing else is changed without need."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from spectralnlp_annotate.by_hand import BY_HAND, forced, parse_under

import spectralnlp
from spectralnlp.text.constraints import ConstraintError, Constraints
from spectralnlp.trees import Tree, read_brackets


@st.composite
def trees(draw: st.DrawFn, n: int) -> Tree:
    def grow(start: int, end: int, depth: int) -> Tree:
        if end - start == 1 and (depth > 3 or draw(st.booleans())):
            return Tree("t", word=f"w{start}")
        cuts = sorted(draw(st.sets(st.integers(start + 1, end - 1)))) if end - start > 1 and depth < 4 else []
        edges = [start, *(cuts or (range(start + 1, end) if depth >= 4 else [])), end]
        parts = [grow(a, b, depth + 1) for a, b in itertools.pairwise(edges)]
        return Tree(draw(st.sampled_from("ABC")), parts)

    inner = grow(0, n, 0)
    return Tree("TOP", [inner])


@st.composite
def constraints(draw: st.DrawFn, n: int) -> Constraints:
    spans = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda span: span[0] < span[1])
    brackets = st.tuples(spans, st.sampled_from(["A", "B", "D", None]))
    wanted: list[tuple[int, int, str | None]] = []
    for (start, end), label in draw(st.lists(brackets, max_size=4)):
        if not any(a < start < b < end or start < a < end < b for a, b, _ in wanted):
            wanted.append((start, end, label))
    unwanted = [
        ((start, end), label)
        for (start, end), label in draw(st.lists(brackets, max_size=4))
        if not any(
            (start, end) == (a, b) and (label is None or label == own or own is None) for a, b, own in wanted
        )
    ]
    tags = draw(st.dictionaries(st.integers(0, n - 1), st.sampled_from("tuv"), max_size=3))
    return Constraints.of(wanted, [(*span, label) for span, label in unwanted], tags)


@settings(max_examples=400, deadline=None)
@given(st.data(), st.integers(1, 6))
def test_constraints_are_met(data: st.DataObject, n: int) -> None:
    tree, wanted = data.draw(trees(n)), data.draw(constraints(n))
    result = forced(tree, wanted)
    assert wanted.broken_by(result.spans()[1:], result.tags()) is None
    assert result.words() == tree.words()
    before, after = tree.spans()[1:], result.spans()[1:]
    asked = {each.span for each in wanted.brackets}
    assert all(span in before or span[1:] in asked for span in after)
    named = asked | {each.span for each in wanted.forbidden}
    untouched = [
        (label, a, b)
        for label, a, b in before
        if (a, b) not in named and not any(a < x < b < y or x < a < y < b for x, y in asked)
    ]
    assert [span for span in untouched if span not in after] == []


def test_a_tree_that_needs_nothing_stays_as_it_is() -> None:
    (tree,) = read_brackets(["(TOP (S (S (VP (VB Go))) (VP (VP (VBZ is) (NP (NN it))))))"])
    assert str(forced(tree, Constraints())) == str(tree)


def test_what_the_grammar_lacks_is_put_in(parser_folder: Path) -> None:
    parser = spectralnlp.load(parser_folder)
    words = ["The", "keeper", "climbs", "the", "stairs", "every", "evening", "."]
    asked = Constraints.of([(0, 2, "ADVP"), (3, 7, "NP")], tags={0: "RB"})
    parse = parse_under(parser, words, asked)
    assert parse.fallback == BY_HAND
    assert asked.broken_by(parse.tree.spans()[1:], parse.tree.tags()) is None
    assert "(VP (VBZ climbs)" in str(parse.tree)
    assert parse_under(parser, words, Constraints.of([(3, 7, "NP")])).fallback is None
    with pytest.raises(ConstraintError, match="reaches beyond"):
        parse_under(parser, words, Constraints.of([(3, 9, "NP")]))


def test_labels_that_the_model_does_not_know_take_the_place_of_others(parser_folder: Path) -> None:
    parser = spectralnlp.load(parser_folder)
    words = ["The", "keeper", "climbs", "the", "stairs", "every", "evening", "."]
    assert "(NP (DT the) (NNS stairs))" in str(parser.parse_tokens(words).tree)
    renamed = Constraints.of([(3, 5, "QQ")], [(3, 5, "NP")], tags={4: "ZZ"})
    parse = parse_under(parser, words, renamed)
    assert "(QQ (DT the) (ZZ stairs))" in str(parse.tree)
    assert renamed.broken_by(parse.tree.spans()[1:], parse.tree.tags()) is None
    both = Constraints.of([(3, 5, "QQ"), (3, 5, "NP"), (1, 3, "RR")])
    found = parse_under(parser, words, both).tree
    assert both.broken_by(found.spans()[1:], found.tags()) is None
    assert parse_under(parser, words, Constraints.of(forbidden=[(3, 5, "QQ")])).fallback is None
