"""From trees to measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spectralnlp.measures.shape import Shapes, shapes_of
from spectralnlp.measures.structures import ROOT, STRUCTURES, count_structures
from spectralnlp.measures.values import Measures
from spectralnlp.search.index import TreeIndex
from spectralnlp.trees import Tree, cleaned, strip_root

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

# Trees are indexed so many at a time.
TREES_AT_A_TIME = 20_000


def measure(trees: Iterable[Tree | Parse]) -> Measures:
    """Measure a text: syntactic complexity, depth, branching, lengths of constituents.

    Traces and function tags are left out first, and so are trees without a word. The fourteen ratios are for
    English trees in the style of the Penn treebank; the rest is for any.

    Args:
        trees: trees, or parses, which stand for their trees.

    Examples:
        >>> from spectralnlp.measures import measure
        >>> from spectralnlp.trees import read_brackets
        >>> text = measure(read_brackets(["(S (NP (PRP He)) (VP (VBZ sleeps) (ADVP (RB well))))"]))
        >>> text.structures["W"], text.structures["C"], text.right_branching
        (3, 1, 0.25)
    """
    return Measures.total(
        _values(index, counts.sum(axis=0), shapes) for index, counts, shapes in _columns(trees)
    )


def measure_each(trees: Iterable[Tree | Parse]) -> Iterator[Measures]:
    """Measure trees one by one; those without a word are left out.

    Args:
        trees: see `measure`.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.measures import measure_each
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> [each.structures["W"] for each in measure_each(trees)][:3]
        [7, 8, 10]
    """
    for index, counts, shapes in _columns(trees):
        first = np.searchsorted(shapes.tree, np.arange(len(counts) + 1))
        for tree, row in enumerate(counts):
            yield _values(index, row, shapes.of_tree(tree, first[tree], first[tree + 1]))


def _columns(
    trees: Iterable[Tree | Parse],
) -> Iterator[tuple[TreeIndex, npt.NDArray[np.intp], Shapes]]:
    """Some trees at a time: their index, the structures of each, their shapes."""
    ready = cleaned(each if isinstance(each, Tree) else each.tree for each in trees)
    while some := [_rooted(tree) for tree in islice(ready, TREES_AT_A_TIME)]:
        index = TreeIndex(some)
        yield index, count_structures(index), shapes_of(index)


def _rooted(tree: Tree) -> Tree:
    tree = strip_root(tree)
    return Tree(ROOT, tree.children if tree.label == "TOP" and tree.children else [tree])


def _values(index: TreeIndex, counts: npt.NDArray[np.intp], shapes: Shapes) -> Measures:
    names = index.vocabulary
    lengths: dict[str, Counter[int]] = {}
    pairs, times = np.unique(np.stack([shapes.label, shapes.length]), axis=1, return_counts=True)
    for (label, length), n in zip(pairs.T.tolist(), times.tolist(), strict=True):
        lengths.setdefault(names[label], Counter())[length] = n
    return Measures(
        structures=dict(zip(STRUCTURES, counts.tolist(), strict=True)),
        depths=Counter(shapes.depth.tolist()),
        arities=Counter(shapes.arity.tolist()),
        branching={"left": int(shapes.left.sum()), "right": int(shapes.right.sum())},
        length_counts=lengths,
    )
