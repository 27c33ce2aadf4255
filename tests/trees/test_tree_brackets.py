from __future__ import annotations

import time

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import plain_labels, plain_words, trees

from spectralnlp.errors import InputError
from spectralnlp.trees import Tree, read_brackets

GOOD = "(S (NP (PRP I)) (VP (VBP see)))"


def read(*lines: str, **options) -> list[str]:
    return [str(tree) for tree in read_brackets(lines, **options)]


@pytest.mark.parametrize(
    "lines",
    [
        [GOOD],
        ["(S\r\n", "  (NP (PRP I))\r\n", "\r\n", "  (VP (VBP see)))\r\n"],
        ["(", "S", "(NP(PRP I))(VP(VBP", "see) ) )"],
        ["( S ( NP (\tPRP I ) ) (VP (VBP\fsee)))"],
        ["", "   ", GOOD, ""],
        ["(S", "(NP (PRP I))", "(VP (VBP see)))"],  # brackets in column 0 may be inside a tree
    ],
)
def test_layout_does_not_matter(lines):
    assert read(*lines) == [GOOD]


def test_several_trees_on_a_line_and_the_empty_outer_bracket():
    assert read(f"( {GOOD} ) (X x)(Y y)") == [f"( {GOOD})", "(X x)", "(Y y)"]


@pytest.mark.parametrize(
    "word", ["/", "*", "\U0001f600", "a\u00a0b", "\u2009x", "\x85", "\u2028", "a\\b", "[", "\x1c"]
)
def test_tokens_are_split_at_ascii_blanks_only(word):
    (tree,) = read_brackets([f"(X (Y {word}) (Z z))"])
    assert tree.words() == [word, "z"]


@given(st.lists(trees(plain_labels, plain_words), max_size=4), st.randoms())
def test_trees_survive_any_layout(sentences, random):
    text = " ".join(map(str, sentences))
    laid_out = "".join(random.choice([" ", "\n", "\r\n", "\n\n  "]) if c == " " else c for c in text)
    assert (
        list(read_brackets(laid_out.splitlines(keepends=True) if laid_out.isascii() else [text])) == sentences
    )


@pytest.mark.parametrize(
    ("lines", "line", "number", "what"),
    [
        ([GOOD, "(S (NP (PRP I))", "  (VP (VBP see))", GOOD], 2, 2, "unbalanced brackets: the tree that"),
        ([f"( {GOOD} ", f"( {GOOD} )"], 1, 1, "not closed before an outer bracket opens in line 2"),
        ([GOOD, "", ")"], 3, 1, "a ')' that closes nothing"),
        ([")"], 1, None, "a ')' that closes nothing"),
        ([GOOD, "I see"], 2, 1, "text outside brackets: 'I'"),
        (["(S (NP dog (NN cat)))"], 1, 1, "a leaf without a preterminal: 'dog' under 'NP'"),
        (["(S (NP (NN cat) dog))"], 1, 1, "a leaf without a preterminal: 'dog' under 'NP'"),
        (["(S", "(NP the dog))"], 2, 1, "a leaf without a preterminal: 'the' under 'NP'"),
        (["(S (NN ))"], 1, 1, "an empty bracket: (NN )"),
        (["(S ())"], 1, 1, "an empty bracket: ( )"),
        ([GOOD, "(S (NN a\0b))"], 2, 1, "a NUL byte"),
    ],
)
def test_errors_say_what_and_where(lines, line, number, what):
    with pytest.raises(InputError) as caught:
        read(*lines, path="bad.mrg")
    assert what in str(caught.value)
    assert (caught.value.path, caught.value.line, caught.value.sentence) == ("bad.mrg", line, number)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "bad_lines"),
    [
        ([GOOD, "(S (NP dog (NN cat)))", GOOD], [2]),
        ([GOOD, "(S (NP dog", "  (NN cat)) (X x))", "  (Y y)", GOOD], [3]),
        ([GOOD, "(S (NP (PRP I))", GOOD], [2]),  # found at the end of the file
        ([GOOD, "( (S (NP (PRP I))", f"( {GOOD} )"], [2]),
        ([f"{GOOD})", GOOD, GOOD], [1]),  # the tree with a bracket too many is not trusted
        ([GOOD, "words", "more words", GOOD], [2]),
        (["(A (B b)", "(A (B b)", GOOD, "(A (B b)", GOOD], [1, 2, 4]),
        ([GOOD, GOOD, ")", ")"], [3]),
    ],
)
def test_bad_trees_are_reported_and_skipped(lines, bad_lines):
    errors: list[InputError] = []
    found = read(*lines, on_bad=errors.append)
    assert [error.line for error in errors] == bad_lines
    assert {tree.strip("( )") for tree in found} <= {GOOD.strip("( )")}
    assert len(found) == sum(GOOD in line for line in lines) - (lines[0] == f"{GOOD})") - (lines[-1] == ")")


def test_reading_resumes_after_the_rest_of_a_bad_tree():
    errors: list[InputError] = []
    found = read(GOOD, "(S", "  (NP (X x) dog)", "(Fp .)))", "", GOOD, on_bad=errors.append)
    assert found == [GOOD, GOOD]
    assert [error.line for error in errors] == [3, 4]


def test_an_error_of_the_lines_is_reported_and_ends_the_reading():
    def lines():
        yield GOOD
        yield GOOD
        raise InputError("byte 0xf1 is not utf-8", line=3)

    errors: list[InputError] = []
    assert [str(tree) for tree in read_brackets(lines(), on_bad=errors.append)] == [GOOD]
    assert [error.line for error in errors] == [3]


@pytest.mark.slow
def test_unclosed_trees_by_the_thousand_take_linear_time():
    lines = ["(S (NP (PRP I)) (VP (VBP see))"] * 20_000
    errors: list[InputError] = []
    start = time.process_time()
    assert read(*lines, on_bad=errors.append) == []
    assert len(errors) == 20_000
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"(S (X :\)) (Y \() (Z a\)b) (V \(x\)))", [":)", "(", "a)b", "(x)"]),
        (r"(S (-RRB- \)) (-LRB- \())", [")", "("]),
        ("(S (X\n :\\))\n)", [":)"]),
        (r"(S (NN \) (NN \\))", ["\\", "\\\\"]),  # as in treebanks of Turkish and Dutch
        (r"(S (A and\/or) (B x\*))", [r"and\/or", r"x\*"]),
    ],
)
def test_escaped_brackets_of_nltk(text, words):
    (tree,) = read_brackets(text.split("\n"))
    assert tree.words() == words
    assert [again.words() for again in read_brackets([str(tree)])] == [
        [word.replace("(", "-LRB-").replace(")", "-RRB-") for word in words]
    ]
    nltk_tree = nltk.Tree.fromstring(text) if r"(NN \)" not in text else tree.to_nltk()
    assert Tree.from_nltk(nltk_tree).words() == words


def test_trees_come_before_the_input_ends():
    def lines():
        yield GOOD
        yield GOOD
        raise AssertionError("read too far")

    assert str(next(read_brackets(lines()))) == GOOD


def test_deep_and_wide_trees():
    chain = "(X " * 1000 + "(Y y)" + ")" * 1000
    wide = "(X " + " ".join(["(Y y)"] * 400) + ")"
    assert read(chain, wide) == [chain.replace("X  ", "X "), wide]


def test_leaves_of_several_parts_are_for_the_caller_to_join():
    (tree,) = read_brackets(["(S (NN ice cream) (NN x))"], leaf="_".join)
    assert tree == Tree("S", [Tree("NN", word="ice_cream"), Tree("NN", word="x")])
