"""Matches as lines: words in their context, JSON, columns, brackets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spectralnlp.errors import ConfigError
from spectralnlp.trees import Tree
from spectralnlp_trees.tregex.matches import Match, MatchedNode

_MATCH, _NAMED, _END = "\x1b[1;31m", "\x1b[36m", "\x1b[0m"
_COLUMNS = ("file", "tree", "node", "label", "start", "end", "text")


@dataclass(frozen=True)
class Place:
    """Where a match is.

    Attributes:
        file: the file's name.
        number: of the tree in the file, from 1.
        tree: the tree.
    """

    file: str
    number: int
    tree: Tree


@dataclass(frozen=True)
class Style:
    """How matches are shown.

    Attributes:
        context: words on either side in lines of text; None for all.
        colour: whether the terminal shows colours: the match bold, named nodes in another colour.
        names: of the pattern, columns of ``tsv``.
    """

    context: int | None = 8
    colour: bool = False
    names: Sequence[str] = ()


def as_text(match: Match, place: Place, style: Style) -> str:
    """The match in brackets, or bold, among the words around it."""
    words = place.tree.words()
    start, end = match.span
    first, last = 0, len(words)
    if style.context is not None:
        first, last = max(0, start - style.context), end + style.context
    opening, closing = (_MATCH, _END) if style.colour else ("[", "]")
    inside = f"{opening}{match.label}{'' if match.node.is_word else ' ' + match.text}{closing}"
    line = " ".join([*words[first:start], inside, *words[end:last]])
    named = "".join(f"\t{name}={node.text}" for name, node in match.named.items())
    return f"{place.file}:{place.number}:\t{line}{named}"


def as_json(match: Match, place: Place, style: Style) -> str:
    """One object: the node, where it is, its brackets, named nodes and variables."""
    values = {
        "file": place.file,
        "tree": place.number,
        **match.node.to_json(),
        "named": {name: node.to_json() for name, node in match.named.items()},
        "variables": match.variables,
        "brackets": brackets(match.node),
    }
    return json.dumps(values, ensure_ascii=False)


def as_columns(match: Match, place: Place, style: Style) -> str:
    """Columns after tabs, for `header`; blanks stand in for tabs in words."""
    named = [match.named[name].text if name in match.named else "" for name in style.names]
    node = match.node
    cells = [place.file, place.number, node.number, node.label, node.start, node.end, node.text, *named]
    return "\t".join(" ".join(str(cell).split("\t")) for cell in cells)


def as_brackets(match: Match, place: Place, style: Style) -> str:
    """The matched tree on one line; with colours, named nodes stand out."""
    if not style.colour:
        return brackets(match.node)
    coloured = {id(node.subtree): _NAMED for node in match.named.values()}
    return _coloured(match.node.subtree, {**coloured, id(match.node.subtree): _MATCH})


def header(names: Sequence[str]) -> str:
    """The first line of ``tsv``."""
    return "\t".join([*_COLUMNS, *names])


def brackets(node: MatchedNode) -> str:
    """A node as one line of brackets; a word as it is."""
    return node.label if node.is_word else str(node.subtree)


def formatter(name: str) -> Callable[[Match, Place, Style], str]:
    """The function that makes a line of a match, by the name of its format.

    Raises:
        ConfigError: no such format.
    """
    if name not in _FORMATTERS:
        raise ConfigError(f"no output format {name!r}", hint=f"choose from {', '.join(_FORMATTERS)}")
    return _FORMATTERS[name]


_FORMATTERS: dict[str, Callable[[Match, Place, Style], str]] = {
    "text": as_text,
    "json": as_json,
    "tsv": as_columns,
    "brackets": as_brackets,
}


def _coloured(tree: Tree, colours: dict[int, str]) -> str:
    """Brackets, with the labels of some nodes in colours."""
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
