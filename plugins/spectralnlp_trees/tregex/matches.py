"""What a search gives: matches as values, one after the other, or their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.trees import Tree
from spectralnlp_trees.tregex.columns import Integers, TreeColumns
from spectralnlp_trees.tregex.pattern import read_pattern
from spectralnlp_trees.tregex.plan import Expression, Rows, Run

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

# Rows of matches are made so many at a time, or for one node.
ROWS_AT_A_TIME = 100_000


@dataclass(frozen=True)
class MatchedNode:
    """A node of a tree that has part in a match.

    Attributes:
        label: its label; of a word the word.
        start, end: tokens, ``end`` exclusive.
        number: from 1 in a depth-first walk through the tree, words included, as tgrep2 numbers nodes.
        subtree: the tree below it; of a word that of its part of speech.
        is_word: whether it is a word.

    Examples:
        >>> from spectralnlp_trees import MatchedNode, search
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"])
        >>> node: MatchedNode = next(search(trees, "NP")).node
        >>> node.label, node.start, node.end, node.number, node.text
        ('NP', 0, 2, 2, 'The keeper')
    """

    label: str
    start: int
    end: int
    number: int
    subtree: Tree
    is_word: bool

    __repr__ = one_line

    @property
    def text(self) -> str:
        """Its words, one blank apart."""
        return " ".join(self.subtree.words())

    def to_json(self) -> dict[str, Any]:
        """JSON values: label, start, end, node (the number) and text."""
        return {
            "label": self.label,
            "start": self.start,
            "end": self.end,
            "node": self.number,
            "text": self.text,
        }


@dataclass(frozen=True)
class Match:
    """One way in which a pattern matches at a node.

    Attributes:
        tree: the number of the tree among those that were searched, from 0.
        node: the node.
        named: the nodes that names of the pattern stand for; an optional one may be missing.
        variables: the texts of variable groups.

    Examples:
        >>> from spectralnlp_trees import Match, search
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"])
        >>> match: Match = next(search(trees, "S < (NP=subject $+ VP)"))
        >>> match.tree, match.label, match.span, match.named["subject"].text
        (0, 'S', (0, 3), 'The keeper')
    """

    tree: int
    node: MatchedNode
    named: dict[str, MatchedNode] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    __repr__ = one_line

    @property
    def label(self) -> str:
        """The node's label."""
        return self.node.label

    @property
    def span(self) -> tuple[int, int]:
        """The node's tokens, the end exclusive."""
        return self.node.start, self.node.end

    @property
    def text(self) -> str:
        """The node's words, one blank apart."""
        return self.node.text


class TreeIndex(TreeColumns):
    """Trees prepared for any number of searches; memory is linear in their nodes.

    Nodes are numbered from 0 over all trees, parents before their children, from left to right; a word is a
    node of its own, the only child of its part of speech. All columns are integers of shape (n_nodes,).

    Args:
        trees: trees, or parses, which stand for their trees.

    Attributes:
        trees: them, as a list.
        vocabulary: labels and words, each once; ``label`` has places in it.
        label, parent, end: -1 is the parent of a root; the nodes below node i are those from i + 1 to
            ``end[i]``, exclusive.
        tree, position, arity: number of the tree; place among the siblings, from 0; number of children.
        left, right: tokens, ``right`` exclusive, counted over all trees with one token's gap between two.
        tree_start: the first node of each tree and, last, the number of nodes; shape (n_trees + 1,).

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import TreeIndex
        >>> index = TreeIndex(spectralnlp.read_treebank("corpora/treebank/dev.mrg"))
        >>> index.count("NP < PP"), index.count("NP < PP", once=True)
        (5, 5)
        >>> print(next(index.search("NP < (NN=noun $- DT)")).named["noun"].text)
        keeper
    """

    @classmethod
    def of(cls, trees: TreeIndex | Iterable[Tree | Parse]) -> TreeIndex:
        """An index of trees; an index stays as it is."""
        return trees if isinstance(trees, TreeIndex) else cls(trees)

    def search(self, pattern: str, *, once: bool = False, head_rules: str = "english") -> Iterator[Match]:
        """The matches of a pattern; see `spectralnlp_trees.search`."""
        return search(self, pattern, once=once, head_rules=head_rules)

    def count(self, pattern: str, *, once: bool = False, head_rules: str = "english") -> int:
        """The number of matches of a pattern; see `spectralnlp_trees.count`."""
        return count(self, pattern, once=once, head_rules=head_rules)


def search(
    trees: TreeIndex | Iterable[Tree | Parse],
    pattern: str,
    *,
    once: bool = False,
    head_rules: str = "english",
) -> Iterator[Match]:
    """Find the matches of a pattern in Tregex's language.

    Args:
        trees: trees or parses; or an index of them, which is worth making for several searches.
        pattern: such as ``NP < (PP=phrase <, IN)``.
        once: give each node once; by default it comes once for each way in which the pattern matches
            there, as in Tregex.
        head_rules: by which ``<#`` and the like find heads: ``english`` or ``neutral``.

    Returns:
        An iterator, in the order of the trees and, in a tree, parents first.

    Raises:
        PatternError: the pattern cannot be understood.
        ConfigError: no head rules have this name.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import search
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> for match in search(trees, "VP < (NP=object <, (DT < /^[Aa]$/))"):
        ...     print(match.tree, match.text, "|", match.named["object"].text)
        ...
        24 share a kitchen | a kitchen
    """
    read = read_pattern(pattern)
    run = Run(TreeIndex.of(trees), head_rules)
    return _matches(run, read.expression, once)


def count(
    trees: TreeIndex | Iterable[Tree | Parse],
    pattern: str,
    *,
    once: bool = False,
    head_rules: str = "english",
) -> int:
    """Count the matches of a pattern in Tregex's language.

    Args:
        trees: see `search`.
        pattern: see `search`.
        once: count nodes, not the ways in which the pattern matches there.
        head_rules: see `search`.

    Raises:
        PatternError: the pattern cannot be understood.
        ConfigError: no head rules have this name; or there are more than 2^62 matches.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import count
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> count(trees, "S << NN"), count(trees, "S << NN", once=True)
        (59, 37)
    """
    index = TreeIndex.of(trees)
    if once:
        return len(matching_nodes(index, pattern, head_rules=head_rules))
    read = read_pattern(pattern)
    run = Run(index, head_rules)
    if not read.expression.constrained:
        return int(run.solutions(read.expression)[1].sum())
    return sum(int(rows.ways.sum()) for _, rows in _tables(run, read.expression))


def matching_nodes(index: TreeColumns, pattern: str, *, head_rules: str = "english") -> Integers:
    """Find the nodes at which a pattern matches.

    Args:
        index: of the trees.
        pattern: see `search`.
        head_rules: see `search`.

    Returns:
        Numbers of nodes in the index, ascending; shape (n_nodes,).

    Raises:
        PatternError: the pattern cannot be understood.
        ConfigError: no head rules have this name.
    """
    read = read_pattern(pattern)
    run = Run(index, head_rules)
    if not read.expression.constrained:
        return run.solutions(read.expression)[0]
    found = [np.unique(nodes) for nodes, _ in _tables(run, read.expression)]
    return np.unique(np.concatenate([*found, np.empty(0, np.intp)]))


def _tables(run: Run, expression: Expression) -> Iterator[tuple[Integers, Rows]]:
    """The matches as rows, ascending, some nodes at a time; with the node of each."""
    nodes, ways = run.solutions(expression)
    # Rows come from ways that names tell apart, of which there are at most so many.
    block = np.cumsum(np.minimum(ways, ROWS_AT_A_TIME)) // ROWS_AT_A_TIME
    for some in np.split(nodes, 1 + np.flatnonzero(np.diff(block))):
        places, rows = expression.extend(run, Rows(some, {}, {}, np.ones(len(some), np.intp)))
        yield some[places], rows


def _matches(run: Run, expression: Expression, once: bool) -> Iterator[Match]:
    index, last = run.index, -1
    for nodes, rows in _tables(run, expression):
        texts = list(run.texts)
        named = [(name, column.tolist()) for name, column in rows.names.items()]
        held = [(name, column.tolist()) for name, column in rows.texts.items()]
        for row, (node, ways) in enumerate(zip(nodes.tolist(), rows.ways.tolist(), strict=True)):
            if once and node == last:
                continue
            last = node
            match = Match(
                tree=int(index.tree[node]),
                node=_matched(index, node),
                named={name: _matched(index, column[row]) for name, column in named if column[row] >= 0},
                variables={name: texts[column[row]] for name, column in held if column[row] >= 0},
            )
            for _ in range(1 if once else ways):
                yield match


def _matched(index: TreeColumns, node: int) -> MatchedNode:
    first = int(index.tree_start[index.tree[node]])
    origin = int(index.left[first])
    return MatchedNode(
        label=index.vocabulary[index.label[node]],
        start=int(index.left[node]) - origin,
        end=int(index.right[node]) - origin,
        number=node - first + 1,
        subtree=index.subtree(node),
        is_word=index.is_word(node),
    )
