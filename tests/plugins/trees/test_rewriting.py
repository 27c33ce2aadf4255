"""Rewriting of trees by the operations of Tsurgeon."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spectralnlp_trees import count, rewrite
from spectralnlp_trees.tregex import matches

from spectralnlp.errors import ConfigError, InputError, SpectralError
from spectralnlp.trees import Tree, read_brackets
from spectralnlp.trees.tree import HeadedTree


def rewritten(tree: str, pattern: str, *operations: str) -> str:
    return str(rewrite(read_brackets([tree]), pattern, operations).trees[0])


@pytest.mark.parametrize(
    ("tree", "pattern", "operations", "expected"),
    [
        # Labels.
        ("(S (NP (NN a)))", "NP=n", "relabel n NP-X", "(S (NP-X (NN a)))"),
        ("(S (NP (NN a)))", "NP=n", "relabel n /PRP$/", "(S (PRP$ (NN a)))"),
        ("(S (NP (NN a)))", "NP=n", r"relabel n |A\|B|", "(S (A|B (NN a)))"),
        ("(S (NP (NN a)))", "NN < __=w", "relabel w b", "(S (NP (NN b)))"),
        ("(S (VBD a))", "/^VB/=v", "relabel v /^VB(.*)$/verb\\/$1/", "(S (verb/D a))"),
        ("(S (X foofoo))", "X < /^foo/=w", "relabel w /foo/bar/", "(S (X barbar))"),
        ("(S (A a) (B b))", "A=a $ B=b", "relabel a /^.*$/={b}\\=={a}/", "(S (B=A a) (B b))"),
        ("(S (A-1 a))", "/^A-(.)$/#1%i=a", "relabel a /^.*$/B%{i}/", "(S (B1 a))"),
        # Cutting out.
        ("(S (A a) (B b) (B c))", "B=b", "delete b", "(S (A a))"),
        ("(S (A (X x)) (B b) (C c))", "A=a $ B=b", "delete a b", "(S (C c))"),
        ("(S (NP (X (-NONE- *))) (VP v))", "-NONE-=t", "prune t", "(S (VP v))"),
        ("(S (NP (X (-NONE- *)) (Y y)) (VP v))", "-NONE-=t", "prune t", "(S (NP (Y y)) (VP v))"),
        ("(S (X (Y y)) (PP (IN of) (NP (N a))))", "PP=p", "excise p p", "(S (X (Y y)) (IN of) (NP (N a)))"),
        ("(A (B (C (D d) (E e))))", "B=b < C=c", "excise b c", "(A (D d) (E e))"),
        ("(ROOT (S (A a)))", "ROOT=r", "excise r r", "(S (A a))"),
        # Putting in.
        ("(S (A a))", "A=a !$ X", "insert (X (Y y)) $+ a", "(S (X (Y y)) (A a))"),
        ("(S (A a))", "A=a !$ X", "insert (X (Y y) (Z z)) $- a", "(S (A a) (X (Y y) (Z z)))"),
        ("(S (A a) (B b))", "S=s !< X", "insert (X x) >2 s", "(S (A a) (X x) (B b))"),
        ("(S (A a) (B b))", "S=s !< X", "insert (X x) >-1 s", "(S (A a) (B b) (X x))"),
        ("(S (A a) (B b))", "S=s !< X", "insert (X x) >-2 s", "(S (A a) (X x) (B b))"),
        ("(S (A a) (B b))", "S=s < A=a !< (A $- B)", "insert a >-1 s", "(S (A a) (B b) (A a))"),
        ("(S (A a))", "S=s !< X", r"insert (X a\@b\=c) >1 s", "(S (X a@b=c) (A a))"),
        # Copies of nodes that are cut out, whose children are elsewhere since.
        ("(S (A (B b)))", "A=a < B=b > (S !<2 __)", "[excise a a] [insert a $- b]", "(S (B b) (A (B b)))"),
        ("(S (A (B b)))", "A=a < B=b > S", "[adjoin (C C@) a][insert a $- b]", "(S (C (C (B b) (A (B b)))))"),
        ("(S (A a))", "A=a !$ X", "[insert (Y=y z) $- a] [relabel y X] [move y $+ a]", "(S (X z) (A a))"),
        # Moving.
        ("(S (A a) (B b) (C c))", "A=a .. C=c", "move a $- c", "(S (B b) (C c) (A a))"),
        ("(S (A a) (B b) (C c))", "A=a .. C=c", "move c $+ a", "(S (C c) (A a) (B b))"),
        ("(S (A a) (B (C c) (D d)))", "C=c > B !. A", "relabel c E", "(S (A a) (B (E c) (D d)))"),
        ("(S (B (C c)) (A a))", "A=a !> B $ B=b", "move a >-1 b", "(S (B (C c) (A a)))"),
        ("(S (A a) (B (X (C c))))", "A=a $+ (B << C=c)", "moveprune c $+ a", "(S (C c) (A a))"),
        ("(S (A a) (B b))", "A=a $ B=b", "replace a b", "(S (B b) (B b))"),
        ("(S (A a) (B b))", "A=a", "replace a (X x) (Y (Z z))", "(S (X x) (Y (Z z)) (B b))"),
        ("(A a)", "A=a", "replace a (X x)", "(X x)"),
        # Putting above.
        ("(S (A a) (B b) (C c))", "A=a $ B=b !> X", "createSubtree X a b", "(S (X (A a) (B b)) (C c))"),
        ("(S (A a) (B b) (C c))", "A=a $ B=b !> X", "createSubtree X b a", "(S (X (A a) (B b)) (C c))"),
        ("(S (A a) (B b))", "A=a > S $ B=b", "createSubtree (Y (Z@)) a b", "(S (Y (Z (A a) (B b))))"),
        ("(S (A a))", "S=s !> ROOT", "createSubtree ROOT s", "(ROOT (S (A a)))"),
        ("(A (B (C c) (D d)))", "B=b", "adjoin (FOO (BAR@)) b", "(A (FOO (BAR (C c) (D d))))"),
        ("(A (B b))", "B=b", "adjoin (FOO (X x) BAR@) b", "(A (FOO (X x) (BAR b)))"),
        ("(A (B b))", "B=b !< BAR", "adjoinH (FOO (X x) (BAR@)) b", "(A (B (X x) (BAR b)))"),
        ("(A (B b))", "B=b !> FOO", "adjoinF (FOO (X x) (BAR@)) b", "(A (FOO (X x) (B b)))"),
        ("(B b)", "B=b !> FOO", "adjoinF (FOO (X x) (BAR@)) b", "(FOO (X x) (B b))"),
        # Indices.
        (
            "(S (NP-SBJ-3 (NN a)) (X (-NONE- *T*-4)) (CD 1999-2000) (A a) (B b))",
            "A=a $ B=b",
            "coindex a b",
            "(S (NP-SBJ-3 (NN a)) (X (-NONE- *T*-4)) (CD 1999-2000) (A-5 a) (B-5 b))",
        ),
        # Names that a match may lack.
        ("(S (A a) (B b))", "S ?< C=c < A=a", "[if exists c delete c] [relabel a X]", "(S (X a) (B b))"),
    ],
)  # fmt: skip
def test_an_operation(tree: str, pattern: str, operations: str, expected: str) -> None:
    assert rewritten(tree, pattern, operations) == expected


def test_all_matches_are_rewritten_and_counted() -> None:
    trees = list(read_brackets(["(S (NP-1 (NN a)) (NP-2 (NN b)))", "(S (VP v))", "(NP-1 (NN c))"]))
    result = rewrite(trees, "/^NP-/=np", ["relabel np NP"])
    assert [str(tree) for tree in result.trees] == [
        "(S (NP (NN a)) (NP (NN b)))",
        "(S (VP v))",
        "(NP (NN c))",
    ]
    assert result.times == [2, 0, 1]
    assert result.trees[1] is trees[1]
    assert str(trees[0]) == "(S (NP-1 (NN a)) (NP-2 (NN b)))"


def test_a_match_without_a_change_does_not_end_the_rewriting_nor_repeat_it() -> None:
    result = rewrite(read_brackets(["(S (NP a) (NP-X b) (NP c))"]), "@NP=np", "relabel np NP-X")
    assert (str(result.trees[0]), result.times) == ("(S (NP-X a) (NP-X b) (NP-X c))", [2])


def test_heads_that_a_treebank_marks_stay() -> None:
    tree = Tree("S", [HeadedTree("NP", [Tree("NN", word="a"), Tree("NN", word="b")], 0), Tree("X", word="x")])
    changed = rewrite([tree], "NN=n <# a !> YP", "createSubtree YP n").trees[0]
    assert str(changed) == "(S (NP (YP (NN a)) (NN b)) (X x))"
    changed = rewrite([tree], "X=x", "relabel x Y").trees[0]
    assert isinstance(changed.children[0], HeadedTree)
    assert count([changed], "NP <# (NN < a)") == 1


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([], "no operation is given"),
        ([""], "column 1: no such operation; choose from relabel, delete"),
        (["rename np X"], "column 1: no such operation"),
        (["relabel vp X"], "column 9: no node is called vp; name it in the pattern: NP=vp"),
        (["relabel np"], "column 11: a label is expected"),
        (["relabel np /a"], "column 12: a label is expected"),
        (["relabel np /(/x/"], "invalid regular expression"),
        (["relabel np /a/$1/"], "has no group 1"),
        (["relabel np /a/={x}/"], "no node is called x"),
        (["relabel np X Y"], "column 14: the operation ends before this"),
        (["delete"], "the name of a node is expected"),
        (["excise np"], "the name of a node is expected"),
        (["insert (NN x) np"], "a place is expected"),
        (["insert (NN x) >0 np"], "a place is expected"),
        (["insert (NN x) > np"], "a place is expected"),
        (["insert (NN x) $+ vp"], "column 18: no node is called vp"),
        (["insert (NN) $+ np"], "NN has no word"),
        (["insert (NN x $+ np"], r"column 19: a closing \) is missing"),
        (["insert (NN x@) $+ np"], "no leaf may be marked @"),
        (["insert (NN a@b) $+ np"], "'a@b' is no label"),
        (["insert (NN=np x) $+ np"], "two nodes are called np"),
        (["adjoin (X (Y y)) np"], "one leaf must be marked @"),
        (["adjoin X np"], "a tree is expected"),
        (["createSubtree X np np np"], "one node or two"),
        (["[delete np"], "] is expected"),
        (["if np delete np"], "exists is expected"),
    ],
)
def test_an_invalid_operation_is_one_line(operations: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        rewrite(read_brackets(["(S (XP x))"]), "NP=np", operations)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tree", "pattern", "operations", "message"),
    [
        ("(S (A a))", "S=s", "delete s", "nothing would be left"),
        ("(S (A a))", "A=a", "prune a", "nothing would be left"),
        ("(S (A a) (B b))", "S=s", "excise s s", "several roots"),
        ("(S (A a))", "S=s < A=a", "excise s a", "would be the word a alone"),
        ("(S (A a))", "A=a", "delete a", "S would have no children; use prune"),
        ("(S (A a) (B b))", "A=a", "excise a a", "S would have a word beside other children"),
        ("(S (A (B b)))", "B=b > A=a", "excise b a", "b is not above a"),
        ("(S (A (B b)))", "A=a < B=b", "move a >1 b", "a would be below itself"),
        ("(S (A a))", "S=s < A=a", "move s $+ a", "s would be below itself"),
        ("(S (A a))", "A=a", "move a $- a", "beside itself"),
        ("(S (A a))", "S=s", "insert (X x) $+ s", "s is the root of the tree"),
        ("(S (A a))", "S=s", "insert (X x) >3 s", "S has no place >3"),
        ("(S (A a))", "a=w", "insert (X x) >1 w", "a has no place >1"),
        ("(S (A a) (B b))", "A=a", "[delete a] [relabel a X]", "a is no longer in the tree"),
        ("(S (A a) (B b))", "S < A=a ?< C=c", "delete c", "binds no node to c; write: if exists c"),
        ("(S (A (B b)) (C c))", "B=b .. C=c", "createSubtree X b c", "b and c are not children of one node"),
        ("(S (A a))", "A=a", "relabel a |x y|", "cannot stand in brackets"),
        ("(S (A a))", "A=a", "relabel a /A//", "cannot stand in brackets"),
        ("(S (A a))", "A=a", "relabel a /A/%{v}/", "binds no variable v"),
        ("(S (A a))", "A=a", "adjoinF (X@) a", "the foot of a tree for adjoinF"),
        # Without end: growing by one, by twice its size, going round.
        ("(S (NP a))", "S=s << NP", "insert (NP foo) >-1 s", "does not end: the pattern still matches"),
        ("(S (NP (NN a)))", "S=s", "insert s >1 s", "does not end"),
        ("(S (A a) (B b))", "__=x $+ __=y", "move x $- y", "does not end"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(tree: str, pattern: str, operations: str, message: str) -> None:
    with pytest.raises(SpectralError, match=message) as caught:
        rewrite(read_brackets(["(Z z)", tree]), pattern, operations)
    if isinstance(caught.value, InputError):
        assert caught.value.sentence == 2
    assert "\n" not in str(caught.value)


def test_growth_without_end_in_many_trees_shows_at_the_first() -> None:
    trees = list(read_brackets(["(S (NP a))"] * 2000))
    with pytest.raises(InputError, match="does not end") as caught:
        rewrite(trees, "S=s", "insert (NP b) >1 s")
    assert caught.value.sentence == 1


labels = st.sampled_from(["A", "B", "C"])
trees = st.recursive(
    st.builds(lambda tag, word: Tree(tag, word=word), labels, st.sampled_from(["a", "b"])),
    lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=3)),
    max_leaves=4,
)
OPERATIONS = [
    "relabel x B",
    "delete x",
    "prune y",
    "excise x y",
    "insert x $- y",
    "insert (C (A a)) >1 y",
    "move x $+ y",
    "moveprune y >-1 x",
    "replace x y",
    "createSubtree C x y",
    "adjoin (C (A a) B@) x",
    "adjoinH (C (A a) B@) x",
    "adjoinF (C (A a) B@) y",
    "coindex x y",
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(trees, min_size=1, max_size=3),
    st.sampled_from(["A=x < B=y", "B=y > A=x", "A=x $ __=y", "A=x $+ B=y", "a=x . b=y"]),
    st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=2),
)
def test_what_comes_out_is_trees_or_one_line(
    treebank: list[Tree], pattern: str, operations: Sequence[str]
) -> None:
    before = [str(tree) for tree in treebank]
    try:
        result = rewrite(treebank, pattern, operations)
    except InputError:
        pass
    else:
        assert list(read_brackets(map(str, result.trees))) == result.trees
        changed = [str(tree) != old for tree, old in zip(result.trees, before, strict=True)]
        assert all(times > 0 for times, each in zip(result.times, changed, strict=True) if each)
    assert [str(tree) for tree in treebank] == before


def test_numbers_without_end_are_refused() -> None:
    with pytest.raises(ConfigError, match="a place is expected"):
        rewritten("(S (NP (NN a)))", "NP=n", f"insert (X b) >{'9' * 5000} n")
    label = "NP-" + "9" * 5000
    assert rewritten(f"(S ({label} (NN a)))", "S=s", "coindex s").startswith("(S-1 ")


def test_operations_are_unicode() -> None:
    with pytest.raises(ConfigError, match="not valid Unicode; give UTF-8"):
        rewritten("(S (NP (NN a)))", "NP=n", "relabel n \udcff")


def test_matches_that_are_not_needed_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    match_of = matches.Match
    monkeypatch.setattr(matches, "Match", lambda **parts: made.append(1) or match_of(**parts))
    tree = "(S " + "(NP (NN a)) " * 30 + ")"
    assert rewritten(tree, "NP=a $++ NP=b", "relabel b X").count("(X") == 29
    assert len(made) == 29  # of 435 at first
