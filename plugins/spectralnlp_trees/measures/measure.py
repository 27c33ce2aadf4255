"""Measure the syntactic complexity and the shape of texts or of single trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from spectralnlp.trees import Tree, clean
from spectralnlp_trees.measures.shape import Shapes, shapes_of
from spectralnlp_trees.measures.structures import ROOT, Structures, count_structures
from spectralnlp_trees.measures.values import Measures
from spectralnlp_trees.tregex.columns import Integers
from spectralnlp_trees.tregex.matches import TreeIndex

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

# Number of trees that are indexed at a time.
TREES_AT_A_TIME = 20_000


def measure(trees: Iterable[Tree | Parse], *, structures: Structures | None = None) -> Measures:
    """Measure a text: syntactic complexity, depth, branching, lengths of constituents.

    Traces, function tags and trees without words are removed first.

    Args:
        trees: trees or parses.
        structures: search patterns (in the language of `search`) by structure name, such as ``{"C":
            ["fcl"]}``; the counts of all patterns of a name add up. None for the structures of Lu (2010),
            which are counted if at least 90% of the tokens have tags of the Penn treebank for English.

    Raises:
        PatternError: a pattern is invalid.

    Examples:
        >>> from spectralnlp_trees import measure
        >>> from spectralnlp.trees import read_brackets
        >>> text = measure(read_brackets(["(S (NP (PRP He)) (VP (VBZ sleeps) (ADVP (RB well))))"]))
        >>> text.structures["W"], text.structures["C"], text.right_branching
        (3, 1, 0.25)
    """
    return Measures.total(_Columns.of(some, structures).together() for some in _batches(trees))


def measure_each(
    trees: Iterable[Tree | Parse], *, structures: Structures | None = None
) -> Iterator[Measures]:
    """Measure each tree on its own; all measures of a tree without words are 0.

    Args:
        trees: trees or parses.
        structures: search patterns by structure name, or None for those of Lu (2010), as for `measure`.

    Raises:
        PatternError: a pattern is invalid.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import measure_each
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> [each.structures["W"] for each in measure_each(trees)][:3]
        [7, 9, 9]
    """
    all_trees = iter(trees)
    while some := list(islice(all_trees, TREES_AT_A_TIME)):
        ready = [_rooted(each) for each in some]
        columns = _Columns.of([each for each in ready if each is not None], structures)
        rows = iter(columns.each())
        for each in ready:
            yield Measures.total([]) if each is None else next(rows)


@dataclass(frozen=True)
class _Columns:
    """Measures of a batch of trees, as arrays with a row per tree or constituent.

    Attributes:
        index: index for pattern search that was built from the trees.
        counts: by structure name, number of occurrences in each tree; integers (n_trees,).
        shapes: depths of the trees, and lengths, labels and branching of their constituents.
    """

    index: TreeIndex
    counts: dict[str, Integers]
    shapes: Shapes

    @classmethod
    def of(cls, trees: list[Tree], structures: Structures | None) -> _Columns:
        index = TreeIndex(trees)
        return cls(index, count_structures(index, structures), shapes_of(index))

    def together(self) -> Measures:
        counts = {name: int(each.sum()) for name, each in self.counts.items()}
        return _values(self.index.vocabulary, counts, self.shapes)

    def each(self) -> Iterator[Measures]:
        n_trees = len(self.index.trees)
        first = np.searchsorted(self.shapes.tree, np.arange(n_trees + 1))
        rows = zip(*(each.tolist() for each in self.counts.values()), strict=True)
        for tree, row in enumerate(rows):
            shapes = self.shapes.of_tree(tree, first[tree], first[tree + 1])
            yield _values(self.index.vocabulary, dict(zip(self.counts, row, strict=True)), shapes)


def _batches(trees: Iterable[Tree | Parse]) -> Iterator[list[Tree]]:
    """Yield lists of cleaned trees, at most `TREES_AT_A_TIME` each; trees without words are left out."""
    ready = (tree for each in trees if (tree := _rooted(each)) is not None)
    while batch := list(islice(ready, TREES_AT_A_TIME)):
        yield batch


def _rooted(each: Tree | Parse) -> Tree | None:
    """Return a tree without traces and function tags under the root label ``ROOT``, which patterns expect.

    Returns None for a tree without words.
    """
    tree = clean(each if isinstance(each, Tree) else each.tree)
    if tree is None:
        return None
    return Tree(ROOT, tree.children if tree.label == "TOP" and tree.children else [tree])


def _values(names: list[str], structures: dict[str, int], shapes: Shapes) -> Measures:
    lengths: dict[str, Counter[int]] = {}
    pairs, times = np.unique(np.stack([shapes.label, shapes.length]), axis=1, return_counts=True)
    for (label, length), n in zip(pairs.T.tolist(), times.tolist(), strict=True):
        lengths.setdefault(names[label], Counter())[length] = n
    return Measures(
        structures=structures,
        depths=Counter(shapes.depth.tolist()),
        arities=Counter(shapes.arity.tolist()),
        branching={"left": int(shapes.left.sum()), "right": int(shapes.right.sum())},
        length_counts=lengths,
    )
