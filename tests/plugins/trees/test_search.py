"""What a search gives, the errors of patterns, and large inputs."""

from __future__ import annotations

import pickle
from pathlib import Path
from time import process_time

import pytest
from spectralnlp_trees import PatternError, TreeIndex, count, search
from spectralnlp_trees.tregex.labels import basic_category
from spectralnlp_trees.tregex.macros import expand_macros, read_macros

import spectralnlp
from spectralnlp.errors import ConfigError, InputError
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


# (S (NP-SBJ (-NONE- *)) (VP …)); nodes by number: NP-SBJ 2, -NONE- 3, * 4, VP 5, VBZ 6, NP 8, its children 9,
# 11, 13, 15, 17, 19, 21.
SIGNS = """(S (NP-SBJ (-NONE- *)) (VP (VBZ 's) (NP (POS 's) (-LRB- -LRB-) (`` ``) ('' '') (NN a_b) (NN 2)
(SYM *T*-1))))"""


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        # Labels, which Tregex's grammar calls identifiers.
        ("-NONE-", [3]),
        ("NP-SBJ < (-NONE- < *)", [2]),
        ("__ < 's", [6, 9]),
        ("-LRB-", [11, 12]),
        ("``", [13, 14]),
        ("NP < ``", [8]),
        ("''|``", [13, 14, 15, 16]),
        ("NN < a_b", [17]),
        ("*T*-1", [22]),
        ("a_b|2", [18, 20]),
        ("NP< NN", [8, 8]),
        ("NP\u00a0< NN", [8, 8]),
        ("NP<-SYM", [8]),
        ("@-NONE-|POS", [3, 9]),
        ("!-NONE- > NP-SBJ", []),
        # Signs of relations.
        ("NP < 2 -LRB-", [8]),
        ("NP < -2 NN", [8]),
        ("NP <- 2 NN", [8]),
        ("NN > -2 NP", [19]),
        ("S <<< -1 *T*-1", [1]),
        ("NP <` SYM", [8]),
        ("NP <<` SYM", [8]),
        ("*T*-1 >>` S", [22]),
        ("VP : (NP < NN)", [5, 5]),
        ("VP : NP < VBZ", [5]),
        ("S : VBZ : SYM < VP", [1]),
        ("S !: PP", [1]),
        ("S !: VP", []),
        ("* <... { }", [4]),
        ("NP <... { }", []),
        ("S <+/P/ NN", [1, 1]),
        ("S <+!/^NP/ NP", [1]),
        ("S <+[VP] NP", [1]),
        ("S <+( @VP ) NP", [1]),
        # Names, links and variables.
        ("S=s-1 < (VP > =s-1)", [1]),
        ("NP-SBJ=a .. ~a", []),
        ("NP-SBJ=a .. @~a", [2]),
        ("NP-SBJ=a .. @~a=b : (=b < SYM)", [2]),
        ("-LRB-#1%x < __#1%x", [11]),
        ("@NP#1%x .. @NP#1%x", [2]),
        ("i@np#1%x : NP#1%x", [2, 8]),
        ("/^(.)/ # 1 % x < (/^(.)/#1%x < *)", []),
        ("/^(N)/ # 1 % x-y .. /^(N)/#1%x-y", [2, 2, 2, 17]),
        # Roots.
        ("_ROOT_", [1]),
        ("!_ROOT_ < NP", [5]),
        ("NP >> @_ROOT_", [8]),
        ("_ROOT_=r < VP : (=r < NP-SBJ)", [1]),
        ("_ROOT_#1%x", [1]),
    ],
)
def test_what_the_grammar_of_tregex_accepts(pattern: str, expected: list[int]) -> None:
    assert numbers(pattern, SIGNS) == expected


def test_a_link_of_categories_and_whole_labels_of_variables() -> None:
    (match,) = search(read_brackets([SIGNS]), "@NP#1%category=a .. @~a=b")
    assert (match.variables, match.named["b"].label) == ({"category": "NP"}, "NP")


def test_macros(tmp_path: Path) -> None:
    file = tmp_path / "macros"
    file.write_text("# sisters\n\nLEFT\\((\\w+)\\)\t\\$-- $1\nVERB\t/^VB/\n")
    macros = read_macros(file)
    assert expand_macros("VP < (NP LEFT(VERB))", macros) == "VP < (NP $-- /^VB/)"
    for row, message in [
        ("VERB /^VB/", ":2: not a row"),
        ("\t/^VB/", ":2: not a row"),
        ("V(\tX", ":2: invalid regular"),
        ("V\t$1 X", ":2: the expression has no group 1"),
    ]:
        file.write_text(f"N\tNN\n{row}\n")
        with pytest.raises(InputError, match=message):
            read_macros(file)


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
        ("NP < PRP$", 10, "labels with '\\$' between slashes"),
        ("NP < .", 6, "labels with '.' between slashes"),
        ("NP < 2000", 10, "ends where a node"),
        ("NP < -1", 8, "ends where a node"),
        ("NP <- -1", 7, "labels with '-' between slashes"),
        ("NP << 2 VP", 7, "a node is expected"),
        ("NP < a;b", 7, "a relation is expected"),
        ("NP <+ VP", 7, "description are expected"),
        ("NP <+[VP) NN", 9, "] or a relation"),
        ("NP <+(_ROOT_) NN", 7, "a node is expected"),
        ("NP !!< VP", 4, "a relation is expected"),
        ("NP=x < !=x", 9, "a node is expected"),
        ("NP < !/V(P)/#1%x", 6, "negated description"),
        ("NP < /[A-Z&&[^N]]/", 7, "set intersection"),
        ("NP < /[[A]B]/", 7, "nested set"),
        ("NP < /V{9999999999999}/", 7, "invalid regular expression"),
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
