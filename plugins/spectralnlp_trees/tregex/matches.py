"""Search trees for a pattern, and yield or count the matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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

# Maximum number of match rows in memory at a time, unless one node has more.
ROWS_AT_A_TIME = 100_000


@dataclass(frozen=True)
class MatchedNode:
    """Node of a tree in a match.

    Attributes:
        label: label of the node; for a word, the word.
        start, end: range of its tokens, ``end`` exclusive.
        number: number of the node in a depth-first walk through tree nodes and words, from 1, as in tgrep2.
        subtree: tree of the node; for a word, the tree of its preterminal.
        is_word: whether the node is a word.

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
        """Words of the node, joined by spaces, without empty elements unless it has no others."""
        return " ".join(overt_words(self.subtree.preterminals()) or self.subtree.words())

    def to_json(self) -> dict[str, Any]:
        """Return values for JSON: label, start, end, node (the number) and text."""
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
        tree: number of the tree among the searched trees, from 0.
        node: the matched node.
        named: nodes bound to the names of the pattern; names in optional parts may be absent.
        variables: texts bound to the variables of the pattern.

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
        """Label of the matched node."""
        return self.node.label

    @property
    def span(self) -> tuple[int, int]:
        """Range of tokens of the matched node, the end exclusive."""
        return self.node.start, self.node.end

    @property
    def text(self) -> str:
        """Words of the matched node, joined by spaces."""
        return self.node.text


class TreeIndex(TreeColumns):
    """Index of trees for any number of searches; memory is linear in the number of nodes.

    Nodes are numbered from 0 over all trees, parents before their children, from left to right; a word is
    itself a node, the only child of its preterminal. All columns are integers of shape (n_nodes,).

    Args:
        trees: trees or parses.

    Attributes:
        trees: list of the trees.
        vocabulary: distinct labels and words; ``label`` holds indices into it.
        label: index into ``vocabulary``.
        parent: number of the parent node; -1 for roots.
        end: the nodes below node i are those from i + 1 to ``end[i]``, exclusive.
        tree: number of the tree.
        position: position among the siblings, from 0.
        arity: number of children; 0 for words.
        left, right: range of tokens, ``right`` exclusive, counted over all trees with a gap of one between
            trees.
        tree_start: number of the first node of each tree, followed by the number of nodes; shape
            (n_trees + 1,).

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
        """Build an index of trees; an index is returned unchanged."""
        return trees if isinstance(trees, TreeIndex) else cls(trees)

    def search(self, pattern: str, *, once: bool = False, head_rules: str = "english") -> Iterator[Match]:
        """Yield the matches of a pattern in the indexed trees.

        Args:
            pattern: pattern in Tregex's language.
            once: whether to yield each node once, not once for each way to match.
            head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.
        """
        return search(self, pattern, once=once, head_rules=head_rules)

    def count(self, pattern: str, *, once: bool = False, head_rules: str = "english") -> int:
        """Count the matches of a pattern in the indexed trees.

        Args:
            pattern: pattern in Tregex's language.
            once: whether to count each node once, not once for each way to match.
            head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.
        """
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
        trees: trees or parses; for several searches, pass an index of them.
        pattern: a pattern such as ``NP < (PP=phrase <, IN)``.
        once: whether to yield each node once. Otherwise, as in Tregex, a node is yielded once for each way in
            which the pattern matches there.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.

    Returns:
        An iterator over the matches, in the order of the trees; within a tree, parents first.

    Raises:
        PatternError: the pattern is invalid.
        ConfigError: the head rules are unknown.

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
        trees: trees or parses; for several searches, pass an index of them.
        pattern: a pattern such as ``NP < PP``.
        once: whether to count each node once, not once for each way in which the pattern matches there.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.

    Raises:
        PatternError: the pattern is invalid.
        ConfigError: the head rules are unknown, or there are more than 2^62 matches.

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
        index: index of the trees.
        pattern: a pattern such as ``NP < PP``.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.

    Returns:
        Ascending numbers of the matching nodes; shape (n_matching,).

    Raises:
        PatternError: the pattern is invalid.
        ConfigError: the head rules are unknown.
    """
    read = read_pattern(pattern)
    run = Run(index, head_rules)
    if not read.expression.constrained:
        return run.solutions(read.expression)[0]
    matching = [np.unique(nodes) for nodes, _ in _tables(run, read.expression)]
    return np.unique(np.concatenate([*matching, np.empty(0, np.intp)]))


def _tables(run: Run, expression: Expression) -> Iterator[tuple[Integers, Rows]]:
    """Yield the matches of a condition in the indexed trees, in batches, from left to right.

    Yields:
        The number of the matched node of each match, and a table with a row per match, which holds the nodes
        bound to names and the texts bound to variables.
    """
    nodes, ways = run.solutions(expression)
    # ``ways`` estimates the number of rows at a node.
    block = np.cumsum(np.minimum(ways, ROWS_AT_A_TIME)) // ROWS_AT_A_TIME
    for some in np.split(nodes, 1 + np.flatnonzero(np.diff(block))):
        places, rows = expression.extend(run, Rows(some, {}, {}, np.ones(len(some), np.intp)))
        yield some[places], rows


def matches_by_tree(
    index: TreeIndex, pattern: str, *, head_rules: str = "english"
) -> Iterator[tuple[int, Iterator[Match]]]:
    """Find the matches of a pattern tree by tree; matches that are not asked for are not made.

    Args:
        index: index of the trees.
        pattern: a pattern such as ``NP=np < PP``.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.

    Yields:
        The number of a tree, ascending, and some of its matches, parents first; a tree with very many matches
        may come several times.

    Raises:
        PatternError: the pattern is invalid.
        ConfigError: the head rules are unknown.
    """
    run = Run(index, head_rules)
    for nodes, rows in _tables(run, read_pattern(pattern).expression):
        trees, texts = index.tree[nodes], list(run.texts)
        for some in np.split(np.arange(len(nodes)), 1 + np.flatnonzero(np.diff(trees))):
            if len(some):
                yield int(trees[some[0]]), _made(index, nodes[some], rows.take(some), texts, once=False)


def _matches(run: Run, expression: Expression, once: bool) -> Iterator[Match]:
    for nodes, rows in _tables(run, expression):
        yield from _made(run.index, nodes, rows, list(run.texts), once)


def _made(
    index: TreeColumns, nodes: Integers, rows: Rows, texts: Sequence[str], once: bool
) -> Iterator[Match]:
    """Yield the match of each row of a table: its node, and the nodes and texts that have names."""
    last = -1
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


def overt_words(preterminals: Iterable[Tree]) -> list[str]:
    """Return the words of preterminals without empty elements such as traces."""
    return [each.word or "" for each in preterminals if each.label != "-NONE-"]
