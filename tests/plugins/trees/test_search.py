"""What a search gives, the errors of patterns, and large inputs."""

from __future__ import annotations

import pickle
from time import process_time

import pytest
from spectralnlp_trees import PatternError, TreeIndex, count, search
from spectralnlp_trees.tregex.labels import basic_category

import spectralnlp
from spectralnlp.errors import ConfigError
from spectralnlp.trees import Tree, read_brackets

SENTENCE = "(S (NP (NP (DT the) (NN light)) (PP (IN of) (NP (NNS lamps)))) (VP (VBZ fades)))"


def numbers(pattern: str, *trees: str) -> list[int]:
    return [match.node.number for match in search(read_brackets(trees), pattern)]


# What the manual of Tregex says of counts and names, on trees made for it.
@pytest.mark.parametrize(
    ("pattern", "tree", "expected"),
    [
        ("A < B", "(A (B 1) (B 2))", [1, 1]),
        ("A << __ << B", "(A (B 1) (C 2))", [1] * 4),
        ("A < B | < C", "(A (B 1) (C 2))", [1, 1]),
        ("A < B | B < C", "(A (B (C 1)) (C 2))", [1, 2]),
        ("A | B", "(A (B 1))", [1, 2]),
        ("A|B", "(A (B 1))", [1, 2]),
        ("A ?< B", "(A (C 1))", [1]),
        ("A ?< B", "(A (B 1) (B 2))", [1, 1]),
        ("A !< B", "(A (B 1) (B 2))", []),
        ("A <= A", "(A (A 1) (B 2))", [1, 1, 2]),
        ("A : B", "(A (B 1) (B 2))", [1, 1]),
        ("(A << __=a << __=b) : (=a !== =b)", "(A (B 1))", [1, 1]),
        ("A < B=b < =b", "(A (B 1) (B 2))", [1, 1]),
        ("A < B=b < ~b", "(A (B 1) (B 2))", [1] * 4),
        ("A [< B=x | < C=x] << (D > =x)", "(A (B (E 1)) (C (D 2)))", [1]),
        ("A ?< B=x < =x", "(A (C 1))", []),
        ("A <... { B ; C }", "(Z (A (B 1) (C 2)) (A (B 1) (C 2) (D 3)))", [2]),
        ("A !<... { B ; C }", "(Z (A (B 1) (C 2)) (A (B 1) (C 2) (D 3)))", [7]),
        ("@NP", "(NP-SBJ-1 (NNS gulls))", [1]),
        ("!@NP|NNS", "(NP-SBJ-1 (NNS gulls))", [3]),
        ("/N/i", "(NP (nn gull))", [1, 2]),
        (r"/^\/$/", "(NP (SYM /))", [3]),
        ("S < (NP $+ VP) & !< PP", SENTENCE, [1]),
        ("keeper", "(NP (NN keeper))", [3]),
    ],
)
def test_counts_and_names(pattern: str, tree: str, expected: list[int]) -> None:
    assert numbers(pattern, tree) == expected


def test_a_match() -> None:
    (match,) = search(read_brackets(["(X (Y y))", SENTENCE]), "NP=all <, NP=first < (PP=pp < (IN < of=word))")
    assert (match.tree, match.label, match.span, match.text) == (1, "NP", (0, 4), "the light of lamps")
    assert {name: node.text for name, node in match.named.items()} == {
        "all": "the light of lamps",
        "first": "the light",
        "pp": "of lamps",
        "word": "of",
    }
    word = match.named["word"]
    assert (word.label, word.is_word, str(word.subtree)) == ("of", True, "(IN of)")
    assert match.node.to_json() == {
        "label": "NP",
        "start": 0,
        "end": 4,
        "node": 2,
        "text": "the light of lamps",
    }


def test_variables_of_a_match() -> None:
    tree = "(SBAR (WHNP-11 (WP who)) (S (NP-SBJ (-NONE- *T*-11)) (VP (VBD left))))"
    pattern = r"@SBAR < /^WH.*-([0-9]+)$/#1%index << (__=empty < (/^-NONE-/ < /^\*T\*-([0-9]+)$/#1%index))"
    (match,) = search(read_brackets([tree]), pattern)
    assert match.variables == {"index": "11"}
    assert match.named["empty"].label == "NP-SBJ"


def test_parses_are_searched() -> None:
    parse = spectralnlp.load("en").parse_tokens(["Gulls", "are", "noisy", "."])
    assert count([parse], "S < (NP $+ VP)") == 1


def test_an_index_serves_many_searches() -> None:
    index = TreeIndex.of(read_brackets([SENTENCE] * 3))
    assert TreeIndex.of(index) is index
    assert (index.count("NP"), index.count("NP < NP"), index.count("NP <# NN")) == (9, 3, 3)


def test_head_rules() -> None:
    trees = list(read_brackets(["(NP (NP (N a)) (NN b))"]))
    assert count(trees, "NP <# NN") == 1
    assert count(trees, "NP <# NN", head_rules="neutral") == 0
    with pytest.raises(ConfigError, match="none"):
        count(trees, "NP <# NN", head_rules="none")


@pytest.mark.parametrize(
    ("pattern", "column", "message"),
    [
        ("", 1, "ends where a node"),
        ("NP <", 5, "ends where a node"),
        ("NP < (VP", 9, r"closing \)"),
        ("NP < VP)", 8, "no bracket is open"),
        ("NP VP", 4, "a relation is expected"),
        ("NP <0 VP", 5, "counted from 1"),
        ("NP < [< VP]", 6, "a node is expected"),
        ("NP [< VP", 9, "closing ]"),
        ("NP < /V(P/", 8, "invalid regular expression"),
        ("NP < /VP", 6, "closing /"),
        ("NP < /V(P)/#2%x", 6, "no group 2"),
        ("NP < =x", 7, "no node before"),
        ("NP !< VP=x", 10, "cannot have a name"),
        ("NP=x < VP=x", 11, "two nodes"),
        ("NP < VP=x | < =x", 16, "no node before"),
        ("NP < -NONE-", 6, "sign or digit as /"),
        ("NP <... VP", 9, "{ is expected"),
        ("NP <+(VP < NP) NN", 10, r"\) or a relation"),
        ("(" * 51, 51, "more than 50"),
    ],
)
def test_a_bad_pattern_is_one_line_with_a_column(pattern: str, column: int, message: str) -> None:
    with pytest.raises(PatternError, match=message) as caught:
        count([], pattern)
    assert caught.value.column == column
    assert str(caught.value).startswith(f"pattern, column {column}: ")
    assert "\n" not in str(caught.value)
    assert caught.value.drawing.splitlines()[-1] == " " * (column - 1) + "^"
    again = pickle.loads(pickle.dumps(caught.value.with_traceback(None)))
    assert (str(again), again.drawing) == (str(caught.value), caught.value.drawing)


def test_a_caret_stands_under_its_line() -> None:
    with pytest.raises(PatternError) as caught:
        count([], "NP\n\t< )")
    assert caught.value.drawing == "\t< )\n\t  ^"


def test_more_matches_than_integers_are_refused() -> None:
    trees = [Tree("A", [Tree("B", word="b")] * 2000)]
    with pytest.raises(ConfigError, match="too many"):
        count(trees, " ".join(["A", *["< B"] * 6]))
    assert count(trees, "A < B < B < B") == 2000**3


def test_deep_trees() -> None:
    tree = Tree("B", word="b")
    for _ in range(20_000):
        tree = Tree("A", [tree])
    index = TreeIndex.of([tree])
    assert index.count("A << B") == 20_000
    assert index.count("A << A") == 20_000 * 19_999 / 2
    assert index.count("B >+(A) A") == index.count("A <+(A) B") == index.count("A <<: B") == 20_000
    assert index.count("A=a <<# (B >> =a)") == 20_000
    assert next(index.search("A=a < (A=b < B)")).named["b"].number == 20_000


def test_all_pairs_of_a_long_sentence_take_no_memory() -> None:
    tree = Tree("S", [Tree("A", word="a")] * 20_000)
    started = process_time()
    assert count([tree], "A .. A") == 20_000 * 19_999 / 2
    assert count([tree], "A .. A", once=True) == 19_999
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("--", "--"),
        ("", ""),
        ("S|VP", "S"),
    ],
)
def test_basic_categories(label: str, expected: str) -> None:
    assert basic_category(label) == expected
