"""Rename labels and tags by a table, so that treebanks with different conventions can be learned together.

A row of the table has three or four columns, separated by tabs: ``label`` (of phrases) or ``tag`` (of words),
the old name, the new name, and conditions separated by blanks::

    tag	TO	IN	parent=PP word=to

``parent`` is the label of the parent, ``child`` the label of an only child, and ``word`` the word of a tag,
ignoring case; all labels are those before renaming. The first row that matches a node renames it. Empty lines
and lines that begin with ``#`` are ignored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import open_text
from spectralnlp.trees.transforms import strip_repeats
from spectralnlp.trees.tree import Tree

_CONDITIONS = {"label": ("parent", "child"), "tag": ("parent", "word")}
_HINT = "a row is 'label' or 'tag', the old name, the new one and conditions such as parent=PP, tabs between"


@dataclass(frozen=True)
class Row:
    """A row of a table of renamings, which renames matching nodes.

    Attributes:
        kind: ``label`` or ``tag``.
        old, new: old and new name.
        conditions: required values of ``parent``, ``child`` or ``word``.
        line: line number in the table, from 1.
    """

    kind: str
    old: str
    new: str
    conditions: Mapping[str, str]
    line: int

    def fits(self, node: Tree, parent: str) -> bool:
        """Return whether a node meets the conditions of the row.

        Args:
            node: a node of the row's kind, with the row's old name.
            parent: label of the node's parent.
        """
        conditions = self.conditions
        if conditions.get("parent", parent) != parent:
            return False
        if node.word is not None:
            word = node.word.casefold()
            return conditions.get("word", word).casefold() == word
        child = node.children[0].label if len(node.children) == 1 else None
        return conditions.get("child", child) == child


class Renaming:
    r"""A table of renamings for the labels and tags of trees.

    Args:
        lines: lines of the table.
        path: file of the table, for messages.

    Attributes:
        rows: rows of the table, in order.

    Raises:
        InputError: a line is malformed, or the table is empty.

    Examples:
        >>> from spectralnlp.trees import read_brackets
        >>> from spectralnlp.trees.renaming import Renaming
        >>> (tree,) = read_brackets(["(VP (VB go) (PP (TO to) (NP (NN bed))))"])
        >>> print(Renaming(["tag\tTO\tIN\tparent=PP"]).rename(tree))
        (VP (VB go) (PP (IN to) (NP (NN bed))))
    """

    def __init__(self, lines: Iterable[str], path: Path | None = None) -> None:
        self.rows = [
            _row(line, number, path)
            for number, line in enumerate(lines, 1)
            if line.strip() and not line.startswith("#")
        ]
        if not self.rows:
            raise InputError("the table of renamings is empty", path=path, hint=_HINT)
        self._of: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            self._of[row.kind, row.old].append(row)

    def row_of(self, node: Tree, parent: str) -> Row | None:
        """Return the row that renames a node, given the label of its parent; None if no row matches."""
        kind = "label" if node.word is None else "tag"
        return next((row for row in self._of.get((kind, node.label), ()) if row.fits(node, parent)), None)

    def rename(self, tree: Tree) -> Tree:
        """Return a copy of a tree with labels and tags renamed.

        Args:
            tree: a tree without traces and function tags.

        Returns:
            The renamed tree; a phrase whose only child now has the same label is merged with the child.
        """

        def renamed(node: Tree, below: Sequence[Tree], parent: str) -> Tree:
            row = self.row_of(node, parent)
            return Tree(node.label if row is None else row.new, below, node.word)

        def rename_children(node: Tree, below: list[Tree]) -> Tree:
            pairs = zip(node.children, below, strict=True)
            return Tree(node.label, [renamed(old, new.children, node.label) for old, new in pairs], node.word)

        return strip_repeats(renamed(tree, tree.fold(rename_children).children, ""))

    def uses(self, tree: Tree) -> Counter[int]:
        """Return how many nodes of a tree each row renames; the keys are line numbers of the table."""
        counts: Counter[int] = Counter()
        for parent, node in [
            ("", tree),
            *((above.label, each) for above in tree.nodes() for each in above.children),
        ]:
            row = self.row_of(node, parent)
            if row is not None:
                counts[row.line] += 1
        return counts


def read_renaming(path: str | Path) -> list[str]:
    """Read and check a table of renamings; return its lines.

    Raises:
        InputError: the file cannot be read, or a line is malformed.
    """
    with open_text(path) as stream:
        lines = list(stream)
    Renaming(lines, Path(path))
    return lines


def _row(line: str, number: int, path: Path | None) -> Row:
    def error(what: str) -> InputError:
        return InputError(what, path=path, line=number, hint=_HINT)

    kind, old, new, rest = ([each.strip() for each in line.split("\t")] + [""] * 4)[:4]
    if line.count("\t") > 3 or not old or not new:
        raise error(f"no row of a table of renamings: {line.strip()!r}")
    if kind not in _CONDITIONS:
        raise error(f"names are those of a label or a tag, not of {kind!r}")
    if any(char.isspace() or char in "()" for char in new):
        raise error(f"no name of a {kind}: {new!r}")
    conditions = {}
    for condition in rest.split():
        name, equals, value = condition.partition("=")
        if not equals or not value or name not in _CONDITIONS[kind]:
            known = " and ".join(_CONDITIONS[kind])
            raise error(f"no condition on a {kind}: {condition!r}; there are {known}")
        conditions[name] = value
    return Row(kind, old, new, conditions, number)
