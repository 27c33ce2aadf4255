"""Functions that remove traces, function tags and other annotation from trees, leaving plain constituents."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from spectralnlp.trees.tree import Tree, category

ROOT_LABELS = frozenset(["", "ROOT", "TOP"])


def is_empty(preterminal: Tree) -> bool:
    """Return whether a preterminal is an empty element, such as a trace; see `strip_traces`."""
    return preterminal.label == "-NONE-" or preterminal.word == "*0*"


def strip_traces(tree: Tree) -> Tree | None:
    """Remove empty elements and the phrases that contain nothing else; returns None if no word is left.

    Empty elements have the tag ``-NONE-`` in Penn-style treebanks; in CESS they are the word ``*0*``, under
    any tag.

    Examples:
        >>> from spectralnlp.trees import read_brackets, strip_traces
        >>> (tree,) = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP fly) (NP (-NONE- *T*))))"])
        >>> print(strip_traces(tree))
        (S (NP (NNS Gulls)) (VP (VBP fly)))
    """

    def keep(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.word is not None:
            return None if is_empty(node) else node
        kept = tuple(child for child in children if child is not None)
        if len(kept) == len(children) and all(map(operator.is_, kept, node.children)):
            return node  # unchanged, so that a HeadedTree keeps its head
        return Tree(node.label, kept) if kept else None

    return tree.fold(keep)


def strip_functions(tree: Tree) -> Tree:
    """Remove function tags and indices from phrase labels: ``NP-SBJ-1`` and (gapping) ``NP=2`` become ``NP``.

    A label that begins with a hyphen (``-LRB-``), ``ADVP|PRT`` and all tags of words stay as they are.

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
    """Remove uninformative root nodes: an empty label, ``TOP`` or ``ROOT`` over one child.

    A root with one of these labels over several children is relabelled ``TOP``.

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
    """Merge each phrase with its only child if that is a phrase with the same label.

    Most such phrases result from removed traces. The Berkeley parser merges them too.

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
    """Return a tree without traces, function tags, empty roots and repeated nodes; None if no word is left.

    See `strip_traces`, `strip_functions`, `strip_root` and `strip_repeats`.

    Examples:
        >>> from spectralnlp.trees import clean, read_brackets
        >>> (tree,) = read_brackets(["(S (NP-SBJ-1 (NNS Gulls)) (VP (VBP fly) (NP (-NONE- *T*))))"])
        >>> print(clean(tree))
        (S (NP (NNS Gulls)) (VP (VBP fly)))
    """
    spoken = strip_traces(tree)
    return None if spoken is None else strip_repeats(strip_functions(strip_root(spoken)))


def cleaned(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield each tree as `clean` returns it; trees without words are skipped.

    Examples:
        >>> from spectralnlp.trees import cleaned, read_brackets
        >>> (tree,) = read_brackets(["(S (NP-SBJ (NNS Gulls)) (VP (VBP fly)))"])
        >>> [str(each) for each in cleaned([tree])]
        ['(S (NP (NNS Gulls)) (VP (VBP fly)))']
    """
    for tree in trees:
        kept = clean(tree)
        if kept is not None:
            yield kept


def add_root(tree: Tree, label: str = "TOP") -> Tree:
    """Return the tree under a root with this label, unless it already has one.

    Examples:
        >>> from spectralnlp.trees import add_root, read_brackets
        >>> (tree,) = read_brackets(["(NP (NN bread))"])
        >>> print(add_root(tree))
        (TOP (NP (NN bread)))
    """
    return tree if tree.label == label and not tree.is_preterminal else Tree(label, [tree])
