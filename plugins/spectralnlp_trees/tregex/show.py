"""Format matches of a search as lines of text, bracketed trees, table rows or JSON values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spectralnlp.trees import Tree
from spectralnlp_trees.tregex.matches import Match, MatchedNode, overt_words

_MATCH, _NAMED, _END = "\x1b[1;31m", "\x1b[36m", "\x1b[0m"
_COLUMNS = ("file", "tree", "node", "label", "start", "end", "left", "text", "right")


@dataclass(frozen=True)
class Place:
    """A tree, the file that it was read from, and its number in that file.

    Attributes:
        file: name of the file.
        number: number of the tree in the file, from 1.
        tree: the tree.
    """

    file: str
    number: int
    tree: Tree


@dataclass(frozen=True)
class Style:
    """Options for printing matches as text.

    Attributes:
        context: number of words shown on either side of a match; None for all.
        colour: whether to use terminal colours: the match in bold, named nodes in another colour.
    """

    context: int | None = 8
    colour: bool = False


def as_text(match: Match, place: Place, style: Style) -> str:
    """Return a line with the tree's file and number, the match among the words around it, and named nodes.

    The match is in square brackets, or in bold if ``style`` has colours.

    Args:
        match: the match.
        place: the tree with its file and number.
        style: number of words shown around the match, and whether to use colours.
    """
    left, right = _around(match, place, style)
    opening, closing = (_MATCH, _END) if style.colour else ("[", "]")
    inside = f"{opening}{match.label}{'' if match.node.is_word else ' ' + match.text}{closing}"
    line = " ".join(filter(None, [left, inside, right]))
    named = "".join(f"\t{name}={node.text}" for name, node in match.named.items())
    return f"{place.file}:{place.number}:\t{line}{named}"


def as_values(match: Match, place: Place) -> dict[str, Any]:
    """Return a match as values for JSON: file, tree, node, brackets, named nodes and variables."""
    return {
        "file": place.file,
        "tree": place.number,
        **match.node.to_json(),
        "named": {name: node.to_json() for name, node in match.named.items()},
        "variables": match.variables,
        "brackets": brackets(match.node),
    }


def as_row(match: Match, place: Place, names: Sequence[str], style: Style) -> dict[str, Any]:
    """Return a match as table cells by column name; tabs in words become spaces.

    Args:
        match: the match.
        place: the tree with its file and number.
        names: names in the pattern; each has a column with the words of its node.
        style: number of words on the left and the right of the match.
    """
    node = match.node
    left, right = _around(match, place, style)
    named = [match.named[name].text if name in match.named else "" for name in names]
    numbers = [node.number, node.label, node.start, node.end]
    cells = [place.file, place.number, *numbers, left, node.text, right, *named]
    clean = [" ".join(each.split("\t")) if isinstance(each, str) else each for each in cells]
    return dict(zip(column_names(names), clean, strict=True))


def as_brackets(match: Match, place: Place, style: Style) -> str:
    """Return the matched tree as one line of brackets; named nodes are in colour if ``style`` says so."""
    if not style.colour:
        return brackets(match.node)
    coloured = {id(node.subtree): _NAMED for node in match.named.values()}
    return _coloured(match.node.subtree, {**coloured, id(match.node.subtree): _MATCH})


def column_names(names: Sequence[str]) -> list[str]:
    """Return the columns of `as_row`; a name in the pattern that equals a column gets the suffix ``=``."""
    return [*_COLUMNS, *(f"{name}=" if name in _COLUMNS else name for name in names)]


def brackets(node: MatchedNode) -> str:
    """Return a node as one line of brackets; a word is returned unchanged."""
    return node.label if node.is_word else str(node.subtree)


LINES: dict[str, Callable[[Match, Place, Style], str]] = {"text": as_text, "brackets": as_brackets}


def _around(match: Match, place: Place, style: Style) -> tuple[str, str]:
    """Return the words on the left and on the right of a match, without empty elements."""
    leaves, (start, end) = place.tree.preterminals(), match.span
    left, right = overt_words(leaves[:start]), overt_words(leaves[end:])
    if style.context is not None:
        left, right = left[max(0, len(left) - style.context) :], right[: style.context]
    return " ".join(left), " ".join(right)


def _coloured(tree: Tree, colours: dict[int, str]) -> str:
    """Return a tree as brackets, with the labels of some nodes in terminal colours.

    Args:
        tree: the tree.
        colours: terminal codes of colours, by identity (``id``) of the node.
    """
    pieces: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            pieces.append(")")
            continue
        colour = colours.get(id(node), "")
        pieces.append(f" ({colour}{node.label}{_END if colour else ''}")
        if node.word is not None:
            pieces.append(f" {node.word})")
        else:
            stack.append(None)
            stack.extend(reversed(node.children))
    return "".join(pieces)[1:]
