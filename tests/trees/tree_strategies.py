"""Hypothesis strategies for trees."""

from __future__ import annotations

from hypothesis import strategies as st

from spectralnlp.trees import Tree

NASTY_LABELS = [
    "NP",
    "S",
    "S+VP",
    "+",
    "^",
    "@",
    "@NP>",
    "\\",
    "\\p",
    "NP^S",
    "A|B",
    "ADVP|PRT",
    "-LRB-",
    ".",
]

nasty_labels = st.one_of(st.sampled_from(NASTY_LABELS), st.text(st.sampled_from("NP+^@\\|<>pca"), max_size=4))
nasty_words = st.one_of(
    st.sampled_from(["(", ")", ":(", "/", "\U0001f600", "a\u00a0b", "*"]), st.text(min_size=1)
)
plain_labels = st.text(st.sampled_from("NPSVX-|.$`'"), min_size=1, max_size=5)
plain_words = st.text(
    st.characters(exclude_characters="()\0 \t\n\r\f\v", exclude_categories=["Cs"]), min_size=1, max_size=6
)


def trees(labels: st.SearchStrategy[str], words: st.SearchStrategy[str]) -> st.SearchStrategy[Tree]:
    leaves = st.builds(lambda tag, word: Tree(tag, word=word), labels, words)
    return st.recursive(
        leaves,
        lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=5)),
        max_leaves=25,
    )
