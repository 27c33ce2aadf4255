"""Searches find what a plain walk over the trees finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patterns import ALL
from plain_search import plain_search
from spectralnlp_trees import TreeIndex, search

from spectralnlp.trees import Tree, read_trees

TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"


@pytest.fixture(scope="module")
def treebank() -> TreeIndex:
    trees = [*read_trees(TREEBANK / "dev.mrg"), *list(read_trees(TREEBANK / "train.mrg"))[::7]]
    return TreeIndex.of(tree for tree in trees if len(tree.words()) < 12)


def quick_search(index: TreeIndex, pattern: str) -> list[tuple[object, ...]]:
    return [
        (
            match.tree,
            match.node.number,
            tuple(
                sorted(
                    [
                        *((name, node.number) for name, node in match.named.items()),
                        *((f"%{name}", text) for name, text in match.variables.items()),
                    ]
                )
            ),
        )
        for match in index.search(pattern)
    ]


def check(index: TreeIndex, pattern: str) -> list[tuple[object, ...]]:
    expected = plain_search(index.trees, pattern)
    found = quick_search(index, pattern)
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    assert sorted(found) == sorted(expected)
    assert index.count(pattern) == len(expected)
    nodes = list(dict.fromkeys(each[:2] for each in expected))
    assert index.count(pattern, once=True) == len(nodes)
    assert [(each.tree, each.node.number) for each in index.search(pattern, once=True)] == nodes
    return expected


@pytest.mark.parametrize("pattern", ALL)
def test_a_treebank(treebank: TreeIndex, pattern: str) -> None:
    check(treebank, pattern)


def test_most_patterns_match_something(treebank: TreeIndex) -> None:
    assert sum(treebank.count(pattern) > 0 for pattern in ALL) >= 0.85 * len(ALL)


labels = st.sampled_from(["A", "B", "C", "A-B"])
trees = st.recursive(
    st.builds(lambda tag, word: Tree(tag, word=word), labels, st.sampled_from(["a", "b", "A"])),
    lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=3)),
    max_leaves=7,
)
SIGNS = [
    "<<",
    ">>",
    "<",
    ">",
    "<<<",
    "<<<1",
    "<<<-2",
    "$",
    "..",
    ".",
    ",,",
    ",",
    "<<,",
    "<<-",
    ">>,",
    ">>-",
    "<,",
    ">,",
    "<-",
    ">-",
    "<2",
    ">2",
    "<-2",
    ">-2",
    "<:",
    ">:",
    "<<:",
    ">>:",
    "$++",
    "$--",
    "$+",
    "$-",
    "<+(A)",
    ">+(!B)",
    ".+(A|B)",
    ",+(__)",
    "<<#",
    ">>#",
    "<#",
    ">#",
    "==",
    "<=",
]


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2) -> str:
    """A pattern without names."""
    start = draw(st.sampled_from(["A", "B|C", "__", "!A", "@A", "/^[ab]/", "/a/i", "i@b"]))
    parts = []
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        modifier = draw(st.sampled_from(["", "", "", "!", "?"]))
        partner = draw(patterns(depth=depth - 1))
        parts.append(f"{modifier}{draw(st.sampled_from(SIGNS))} ({partner})")
        if len(parts) > 1:
            parts.insert(-1, draw(st.sampled_from(["&", "|"])))
    return " ".join([start, *parts])


@settings(max_examples=150, deadline=None)
@given(st.lists(trees, min_size=1, max_size=3), patterns())
def test_random_trees_and_patterns(treebank: list[Tree], pattern: str) -> None:
    check(TreeIndex.of(treebank), pattern)


@settings(max_examples=75, deadline=None)
@given(
    st.lists(trees, min_size=1, max_size=2),
    st.lists(st.tuples(st.sampled_from(["", "!"]), st.sampled_from(SIGNS)), min_size=3, max_size=3),
    st.sampled_from(["=x", "~x", "(=y < __)", "/^(.)/#1%v"]),
)
def test_random_references(treebank: list[Tree], signs: list[tuple[str, str]], reference: str) -> None:
    (_, one), (_, two), (modifier, three) = signs
    check(TreeIndex.of(treebank), f"/^(.)/#1%v {one} __=x ?{two} A=y {modifier}{three} {reference}")


def test_trees_do_not_touch() -> None:
    index = TreeIndex.of([Tree("A", [Tree("B", word="b")])] * 3)
    for sign in ("..", ".", ",,", ",", ".+(__)", ",+(__)", "$", "$+", "$-"):
        assert index.count(f"__ {sign} __") == 0


def test_no_trees() -> None:
    assert list(search([], "__ <<# __ .+(__) __ >> __")) == []
