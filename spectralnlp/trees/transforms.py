"""Small pure functions from tree to tree: what treebanks annotate beyond plain constituents goes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from spectralnlp.trees.tree import Tree, category

ROOT_LABELS = frozenset(["", "ROOT", "TOP"])


def strip_traces(tree: Tree) -> Tree | None:
    """Remove empty elements and the phrases that hold nothing else; None if no word is left.

    Empty elements are the ``-NONE-`` of Penn-style treebanks and the elided ``*0*`` of CESS, which has no tag
    of its own.

    Examples:
        >>> from spectralnlp.trees import read_brackets, strip_traces
        >>> (tree,) = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP fly) (NP (-NONE- *T*))))"])
        >>> print(strip_traces(tree))
        (S (NP (NNS Gulls)) (VP (VBP fly)))
    """

    def keep(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.word is not None:
            return None if node.label == "-NONE-" or node.word == "*0*" else node
        kept = tuple(child for child in children if child is not None)
        if len(kept) == len(children) and all(map(operator.is_, kept, node.children)):
            return node  # with the head that the treebank marks
        return Tree(node.label, kept) if kept else None

    return tree.fold(keep)


def strip_functions(tree: Tree) -> Tree:
    """Cut function tags, indices and gaps from phrase labels: ``NP-SBJ-1`` and ``NP=2`` become ``NP``.

    A label that begins with the sign survives (``-LRB-``), and so do ``ADVP|PRT`` and all tags of words.

    Examples:
        >>> from spectralnlp.trees import read_brackets, strip_functions
        >>> (tree,) = read_brackets(["(NP-SBJ-1 (NNS Gulls))"])
        >>> print(strip_functions(tree))
        (NP (NNS Gulls))
    """

    def rename(node: Tree, children: list[Tree]) -> Tree:
        return node if node.word is not None else Tree(category(node.label), children)

    return tree.fold(rename)


def strip_root(tree: Tree) -> Tree:
    """Remove root nodes that say nothing: an empty label, ``TOP`` or ``ROOT`` over one child.

    Over several children such a root becomes ``TOP``.

    Examples:
        >>> from spectralnlp.trees import read_brackets, strip_root
        >>> (tree,) = read_brackets(["(TOP (NP (NN bread)))"])
        >>> print(strip_root(tree))
        (NP (NN bread))
    """
    while tree.label in ROOT_LABELS and len(tree.children) == 1:
        tree = tree.children[0]
    if tree.label in ROOT_LABELS and tree.children:
        return Tree("TOP", tree.children)
    return tree


def strip_repeats(tree: Tree) -> Tree:
    """Remove a phrase whose only child is a phrase of its label: an NP over nothing but an NP says nothing.

    Most come from stripped traces. The Berkeley parser removes them too.

    Examples:
        >>> from spectralnlp.trees import read_brackets, strip_repeats
        >>> (tree,) = read_brackets(["(NP (NP (NNS Gulls)))"])
        >>> print(strip_repeats(tree))
        (NP (NNS Gulls))
    """

    def merge(node: Tree, children: list[Tree]) -> Tree:
        if len(children) == 1 and children[0].label == node.label and children[0].word is None:
            return children[0]
        return node if node.word is not None else Tree(node.label, children)

    return tree.fold(merge)


def clean(tree: Tree) -> Tree | None:
    """The constituents over the words that are there; None if there are none.

    No traces, function tags, empty roots or nodes that repeat their only child.

    Examples:
        >>> from spectralnlp.trees import clean, read_brackets
        >>> (tree,) = read_brackets(["(S (NP-SBJ-1 (NNS Gulls)) (VP (VBP fly) (NP (-NONE- *T*))))"])
        >>> print(clean(tree))
        (S (NP (NNS Gulls)) (VP (VBP fly)))
    """
    spoken = strip_traces(tree)
    return None if spoken is None else strip_repeats(strip_functions(strip_root(spoken)))


def cleaned(trees: Iterable[Tree]) -> Iterator[Tree]:
    """The trees after `clean`, without those of which nothing is left.

    Examples:
        >>> from spectralnlp.trees import cleaned, read_brackets
        >>> (tree,) = read_brackets(["(S (NP-SBJ (NNS Gulls)) (VP (VBP fly)))"])
        >>> [str(each) for each in cleaned([tree])]
        ['(S (NP (NNS Gulls)) (VP (VBP fly)))']
    """
    for tree in trees:
        found = clean(tree)
        if found is not None:
            yield found


def add_root(tree: Tree, label: str = "TOP") -> Tree:
    """The tree under a root of that label, unless it has it already.

    Examples:
        >>> from spectralnlp.trees import add_root, read_brackets
        >>> (tree,) = read_brackets(["(NP (NN bread))"])
        >>> print(add_root(tree))
        (TOP (NP (NN bread)))
    """
    return tree if tree.label == label and not tree.is_preterminal else Tree(label, [tree])
