"""Rewrite trees by operations as long as a pattern matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spectralnlp.display import one_line
from spectralnlp.errors import InputError
from spectralnlp.trees import Tree
from spectralnlp_trees.rewriting.nodes import Site, tree_of
from spectralnlp_trees.rewriting.operations import Operation
from spectralnlp_trees.rewriting.reading import read_operations
from spectralnlp_trees.tregex.matches import Match, TreeIndex, matches_by_tree
from spectralnlp_trees.tregex.pattern import read_pattern

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

# A tree may be rewritten this often, and grow to this many nodes, both plus ten times its nodes at first.
_MOST_TIMES, _MOST_NODES = 100, 1000


@dataclass(frozen=True)
class Rewriting:
    """Rewritten trees, and how often each was rewritten.

    Attributes:
        trees: the trees in their order; those in which nothing was changed are the same objects as before.
        times: for each tree, the number of matches at which it was changed.

    Examples:
        >>> from spectralnlp_trees import Rewriting, rewrite
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(S (NP-SBJ (NNS Gulls)) (VP (VBP fly)))"])
        >>> result: Rewriting = rewrite(trees, "/^NP-/=np", "relabel np NP")
        >>> print(result.trees[0], result.times)
        (S (NP (NNS Gulls)) (VP (VBP fly))) [1]
    """

    trees: list[Tree]
    times: list[int]

    __repr__ = one_line


def rewrite(
    trees: Iterable[Tree | Parse],
    pattern: str,
    operations: str | Iterable[str],
    *,
    head_rules: str = "english",
) -> Rewriting:
    """Rewrite trees by the operations of Tsurgeon.

    At the first match in a tree at which the operations change anything, all of them are run, one after
    another; then the pattern is searched for in the new tree, until no match leads to a change.

    Args:
        trees: trees or parses; they stay as they are.
        pattern: a pattern in Tregex's language that names nodes: ``NP=np < PP=pp``.
        operations: operations on named nodes, such as ``relabel np NP-X`` or ``move pp $- np``.
        head_rules: head rules for ``<#`` and similar relations: ``english`` or ``neutral``.

    Returns:
        All trees, rewritten or not, and how often each was rewritten.

    Raises:
        PatternError: the pattern is invalid.
        ConfigError: an operation is invalid, or on a node without a name; or the head rules are unknown.
        InputError: an operation cannot be run, would leave no tree, or the rewriting does not end; the
            message has the number of the tree, from 1.

    Examples:
        >>> from spectralnlp_trees import rewrite
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(S (NP (NP (NN light)) (PP (IN of) (NP (NNS lamps)))) (VP (VBZ fades)))"])
        >>> print(rewrite(trees, "NP=a < (NP=b $+ PP)", "excise b b").trees[0])
        (S (NP (NN light) (PP (IN of) (NP (NNS lamps)))) (VP (VBZ fades)))
    """
    run = read_operations(operations, read_pattern(pattern).names)
    before = [each if isinstance(each, Tree) else each.tree for each in trees]
    after, times = list(before), [0] * len(before)
    todo = [list(range(len(before)))]
    while todo:
        numbers = todo.pop()
        index = TreeIndex.of(after[number] for number in numbers)
        changed = list[int]()
        for place, matches in matches_by_tree(index, pattern, head_rules=head_rules):
            number = numbers[place]
            if changed and changed[-1] == number:  # more matches of the tree as it was before
                continue
            try:
                tree = _changed(after[number], matches, run)
                if tree is not None:
                    times[number] += 1
                    _check_end(before[number], tree, times[number])
            except InputError as error:
                raise InputError(error.what, sentence=number + 1, hint=error.hint) from error
            if tree is not None:
                after[number] = tree
                changed.append(number)
        # The first tree alone comes first, so that rewriting without end shows before all trees are in it.
        todo += [some for some in (changed[1:], changed[:1]) if some]
    return Rewriting(after, times)


def _changed(tree: Tree, matches: Iterable[Match], operations: Sequence[Operation]) -> Tree | None:
    """Return a tree after the operations at its first match that leads to a change; None without one."""
    for match in matches:
        site = Site(tree, match)
        for operation in operations:
            operation(site)
        after = tree_of(site.root)
        if after != tree:
            return after
    return None


def _check_end(before: Tree, after: Tree, times: int) -> None:
    """Check that a tree was not rewritten too often, and did not grow too large.

    Raises:
        InputError: it was.
    """
    size = 10 * sum(1 for _ in before.nodes())
    large = sum(1 for _ in after.nodes()) > _MOST_NODES + size
    if large or times > _MOST_TIMES + size:
        what = f"the rewriting does not end: the pattern still matches after {times} times"
        raise InputError(what, hint="let the pattern exclude what has been rewritten, such as !< X")
