"""Functions and empty elements of annotated trees in plain trees that were made from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import trees

from spectralnlp.errors import InputError
from spectralnlp.trees import Tree, clean, read_brackets, with_annotation

ANNOTATED = (
    "( (S (NP-SBJ-1 (NNS Gulls)) (VP (VBP seem) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB fly))))) (. .)))"
)


def tree_of(brackets: str) -> Tree:
    (tree,) = read_brackets([brackets])
    return tree


@pytest.mark.parametrize(
    "annotated",
    [
        ANNOTATED,
        "(NP-HLN (NNS Gulls))",
        "(NP (NP-1 (NNS Gulls)) (SBAR (-NONE- *ICH*-2)))",
        "(S (NP (NP (NNS Gulls))) (VP (VBP fly) (NP (-NONE- *T*)) (NP (-NONE- *U*))))",
        "(TOP (S-1 (NN a)) (S=2 (NN b)))",
        "( (S (-NONE- *)) (S (NN a)))",
    ],
)
def test_what_was_cleaned_comes_back(annotated: str) -> None:
    plain = clean(tree_of(annotated))
    assert plain is not None
    assert str(with_annotation(plain, tree_of(annotated))) == annotated


@pytest.mark.parametrize(
    ("mended", "expected"),
    [
        # another label
        (
            "(SINV (NP (NNS Gulls)) (VP (VBP seem) (S (VP (TO to) (VP (VB fly))))) (. .))",
            "( (SINV (NP-SBJ-1 (NNS Gulls)) "
            "(VP (VBP seem) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB fly))))) (. .)))",
        ),
        # the phrase with the trace is no more
        (
            "(S (NP (NNS Gulls)) (VP (VBP seem) (TO to) (VP (VB fly))) (. .))",
            "( (S (NP-SBJ-1 (NNS Gulls)) (VP (VBP seem) (NP-SBJ (-NONE- *-1)) (TO to) (VP (VB fly))) (. .)))",
        ),
        # a new phrase, and another tag
        (
            "(S (X (NP (NNPS Gulls)) (VP (VBP seem) (S (VP (TO to) (VP (VB fly)))))) (. .))",
            "( (S (X (NP-SBJ-1 (NNPS Gulls)) "
            "(VP (VBP seem) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB fly)))))) (. .)))",
        ),
    ],
)
def test_mended_trees_keep_what_is_left(mended: str, expected: str) -> None:
    assert str(with_annotation(tree_of(mended), tree_of(ANNOTATED))) == expected


@given(
    trees(st.sampled_from(["NP", "NP-SBJ", "S=1", "TOP", "", "-NONE-"]), st.sampled_from(["a", "b", "*0*"]))
)
def test_any_tree_comes_back(annotated: Tree) -> None:
    plain = clean(annotated)
    if plain is not None:
        assert clean(with_annotation(plain, annotated)) == plain


def test_other_words_are_refused() -> None:
    with pytest.raises(InputError, match="the trees have other words"):
        with_annotation(tree_of("(NP (NN gull))"), tree_of("(NP (NNS gulls) (-NONE- *))"))
