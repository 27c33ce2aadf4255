"""Compare two trees over the same words: brackets that only one of them has, moved nodes, different tags."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from spectralnlp.display import one_line
from spectralnlp.errors import InputError
from spectralnlp.scoring import COLLINS, with_gold_tags
from spectralnlp.trees import Tree
from spectralnlp_trees.comparison.errors import Repair, find_errors, shortened
from spectralnlp_trees.comparison.workspace import counted_label, counted_tree

Mark = Literal[" ", "-", "+"]
_COLOURS = {"-": "\x1b[31m", "+": "\x1b[32m", "~": "\x1b[36m", " ": "\x1b[2m"}
_END = "\x1b[0m"
_EITHER: tuple[Mark, Mark] = ("-", "+")
# Maximum depth of indentation.
_DEEPEST = 24


@dataclass(frozen=True)
class DiffLine:
    """Bracket or tag in the comparison of two trees.

    Attributes:
        mark: ``-`` for a bracket or tag of the first tree only, ``+`` for one of the second only, a space for
            one of both trees.
        label: label of the bracket, or tag of the word.
        start, end: range of its words, ``end`` exclusive; punctuation is not counted.
        depth: number of brackets above the bracket in its tree.

    Examples:
        >>> from spectralnlp_trees import DiffLine, diff
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> line: DiffLine = diff(*read_brackets(brackets)).lines[2]
        >>> line.mark, line.label, line.start, line.end, line.depth
        ('-', 'VP', 1, 2, 1)
    """

    mark: Mark
    label: str
    start: int
    end: int
    depth: int

    __repr__ = one_line


@dataclass(frozen=True)
class TreeDiff:
    """Differences between two trees; ``bool(difference)`` is false if there are none.

    Attributes:
        words: words of the sentence without punctuation.
        lines: brackets of both trees except roots, from left to right, wider brackets first; brackets that
            the trees share occur once.
        tags: two lines for each word whose tags differ.
        moves: nodes that have another parent in the second tree.

    Examples:
        >>> from spectralnlp_trees import TreeDiff, diff
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> difference: TreeDiff = diff(*read_brackets(brackets))
        >>> print(difference.to_text())
            NP Gulls
        -   VP fly
        +   NP fly
    """

    words: tuple[str, ...]
    lines: tuple[DiffLine, ...]
    tags: tuple[DiffLine, ...]
    moves: tuple[Repair, ...]

    __repr__ = one_line

    def __bool__(self) -> bool:
        return bool(self.tags) or any(line.mark != " " for line in self.lines)

    def to_text(self, *, colour: bool = False, context: int = 1) -> str:
        """Return text with a line for each differing bracket, differing tag and moved group of nodes.

        Args:
            colour: whether to add terminal colours.
            context: number of shared brackets shown before and after each differing bracket.
        """
        changed = [number for number, line in enumerate(self.lines) if line.mark != " "]
        near = {n for each in changed for n in range(each - context, each + context + 1)}
        shown = [line for number, line in enumerate(self.lines) if number in near]
        lines: list[tuple[str, str]] = [(line.mark, self._line(line)) for line in [*shown, *self.tags]]
        lines += [("~", self._move(move)) for move in self.moves]
        return "\n".join(_painted(f"{mark} {text}", mark if colour else "") for mark, text in lines)

    def to_json(self) -> dict[str, Any]:
        """Return values for JSON: the words, the brackets of one tree only, the moves and the tags."""

        def values(lines: tuple[DiffLine, ...]) -> list[dict[str, Any]]:
            return [
                {"mark": line.mark, "label": line.label, "start": line.start, "end": line.end}
                for line in lines
                if line.mark != " "
            ]

        moves = [
            {
                "labels": list(move.labels),
                "start": move.start,
                "end": move.end,
                "from": move.source,
                "to": move.target,
            }
            for move in self.moves
        ]
        return {
            "words": list(self.words),
            "brackets": values(self.lines),
            "tags": values(self.tags),
            "moves": moves,
        }

    def _line(self, line: DiffLine) -> str:
        indent = "  " * min(line.depth, _DEEPEST)
        return f"{indent}{line.label} {shortened(self.words[line.start : line.end])}"

    def _move(self, move: Repair) -> str:
        text = shortened(self.words[move.start : move.end])
        return f"{' '.join(move.labels)} {text}: from {move.source} to {move.target}"


def diff(first: Tree, second: Tree) -> TreeDiff:
    """Compare two trees over the same words, bracket by bracket.

    Punctuation and function tags are ignored, as in `find_errors`.

    Args:
        first: a tree, such as the gold tree.
        second: another tree of the same words.

    Raises:
        InputError: the trees do not have the same words, or have only punctuation.

    Examples:
        >>> from spectralnlp_trees import diff
        >>> from spectralnlp.trees import read_brackets
        >>> gold = "(S (NP (PRP I)) (VP (VBD saw) (NP (PRP him)) (ADVP (RB there))))"
        >>> tree = "(S (NP (PRP I)) (VP (VBD saw) (NP (PRP him))) (ADVP (RB there)))"
        >>> print(diff(*read_brackets([gold, tree])).to_text(context=0))
        -   VP saw him there
        +   VP saw him
        ~ ADVP there: from VP to S
    """
    errors = find_errors(second, first)
    if errors is None:
        raise InputError("the two trees are not over the same words", hint="compare trees of one sentence")
    a, b = counted_tree(with_gold_tags(second, first)), counted_tree(second)
    assert a is not None  # trees of punctuation only have been refused above
    assert b is not None
    moves = [repair for error in errors.errors for repair in error.repairs if repair.change == "move"]
    return TreeDiff(
        words=errors.words, lines=tuple(_lines(a, b)), tags=tuple(_tags(first, second)), moves=tuple(moves)
    )


def _lines(first: Tree, second: Tree) -> list[DiffLine]:
    """Return the brackets of both trees except roots, left to right; shared brackets occur once."""
    left = Counter((counted_label(label), start, end) for label, start, end in second.spans()[1:])
    lines = []
    for (label, start, end), depth in _with_depths(first):
        bracket = counted_label(label), start, end
        shared = left[bracket] > 0
        left[bracket] -= shared
        lines.append(DiffLine(" " if shared else "-", label, start, end, depth))
    for (label, start, end), depth in _with_depths(second):
        bracket = counted_label(label), start, end
        if left[bracket] > 0:
            left[bracket] -= 1
            lines.append(DiffLine("+", label, start, end, depth))
    return sorted(lines, key=lambda line: (line.start, -line.end))


def _with_depths(tree: Tree) -> list[tuple[tuple[str, int, int], int]]:
    """Return the brackets below the root, each with the number of brackets above it."""
    brackets: list[tuple[tuple[str, int, int], int]] = []
    above: list[int] = []
    for bracket in tree.spans()[1:]:
        while above and above[-1] < bracket[2]:
            above.pop()
        brackets.append((bracket, len(above)))
        above.append(bracket[2])
    return brackets


def _tags(first: Tree, second: Tree) -> list[DiffLine]:
    """Return two lines for each word whose tags differ; punctuation is ignored."""
    ours, theirs = _without_traces(first), _without_traces(second)
    if len(ours) != len(theirs):
        return []
    counted = [(a, b) for a, b in zip(ours, theirs, strict=True) if b.label not in COLLINS.delete_labels]
    return [
        DiffLine(mark, node.label, place, place + 1, 0)
        for place, both in enumerate(counted)
        if both[0].label != both[1].label
        for mark, node in zip(_EITHER, both, strict=True)
    ]


def _without_traces(tree: Tree) -> list[Tree]:
    """Return the preterminals of a tree, except traces."""
    return [node for node in tree.preterminals() if node.label != "-NONE-"]


def _painted(line: str, mark: str) -> str:
    return f"{_COLOURS[mark]}{line}{_END}" if mark else line
