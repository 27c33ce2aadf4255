"""Scalable vector graphics, one document a line: the drawing of trees in files, notebooks and pages.

Words stand in a row at the bottom, constituents above them; lines run straight down, so that none crosses a
label. Colours are those of the text around the drawing, light or dark. Nothing here recurses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from spectralnlp.render.parsed import DrawnTree, ParsedSentence
from spectralnlp.render.posteriors import node_posteriors

# Sizes in pixels: of letters, of those of posteriors; between words, lines and around it all.
_FONT, _SMALL = 15.0, 11.0
_GAP, _LEVEL, _SCORED_LEVEL, _MARGIN = 16.0, 46.0, 58.0, 14.0
# Widths of letters in ems, those of wide fonts, so that no font makes labels meet.
_NARROW, _WIDE = frozenset("iIjl.,:;'|!()[]{}ftr`-/ "), frozenset("mwMW@%&—")
_NARROW_EM, _WIDE_EM, _CAPITAL_EM, _LETTER_EM, _SQUARE_EM = 0.42, 1.0, 0.76, 0.64, 1.05
# A constituent that is less probable stands out.
_DOUBTFUL = 0.5
# Characters that no XML document may hold, and line ends.
# What XML cannot hold, and what turns the text around it: embeddings, overrides and isolates.
_NOT_SHOWN = re.compile("[^\t -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"')
OPENING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" '
    'role="img" font-family="system-ui, Helvetica, Arial, sans-serif" font-size="15" text-anchor="middle" '
    'fill="currentColor"><title>{2}</title>'
)


@dataclass
class _Node:
    """A node of the drawing.

    Attributes:
        label: its text.
        children: from left to right.
        posterior: below the label; None for none.
        word: of a preterminal.
        width: of all that stands below it, and of itself.
        x: its middle.
        start, end: its words, ``end`` exclusive.
        depth: of the root 0; of a preterminal, the deepest.
        mark: a class of its group; empty for none.
    """

    label: str
    children: list[_Node]
    posterior: float | None = None
    word: str | None = None
    width: float = 0.0
    x: float = 0.0
    depth: int = 0
    start: int = 0
    end: int = 0
    mark: str = ""

    @property
    def own_width(self) -> float:
        """How wide its texts are."""
        return max(text_width(self.label), text_width(self.word or ""))


def render(parse: ParsedSentence, scores: bool = False) -> str:
    """Draw the tree as one ``<svg>`` element on one line; with scores, posteriors stand below labels."""
    return draw_tree(parse.tree, node_posteriors(parse) if scores else ())


def draw_tree(
    tree: DrawnTree, posteriors: Sequence[float | None] = (), *, marks: Mapping[int, str] | None = None
) -> str:
    """Draw a tree as one self-contained ``<svg>`` element on one line.

    There is a group for each node, parents first: of class ``phrase`` with ``data-key="NP:0:2"``, label and
    words; or of class ``word`` with ``data-word="0"``, its number.

    Args:
        tree: any tree.
        posteriors: of its nodes that are no preterminals, parents first; none are drawn without them.
        marks: another class for some of these nodes, by their number.
    """
    root, nodes = _built(tree, posteriors)
    for number, node in enumerate([node for node in nodes if node.word is None] if marks else ()):
        node.mark = marks.get(number, "") if marks else ""
    level = _SCORED_LEVEL if posteriors else _LEVEL
    deepest = max(node.depth for node in nodes)
    for node in nodes:
        if node.word is not None:
            node.depth = deepest
    _place(root)
    width = root.width + 2 * _MARGIN
    height = deepest * level + 2 * _FONT + _LEVEL / 2 + 2 * _MARGIN
    title = " ".join(clean(word) for word in tree.words())
    groups = (_group(node, _MARGIN + _FONT + node.depth * level, level) for node in nodes)
    return f"{OPENING.format(width, height, escape(title))}{''.join(groups)}</svg>"


def in_page(document: str) -> str:
    """A drawing as HTML for a notebook: in the colours of the page, to be scrolled where it is wide.

    Args:
        document: what `render` gave. As an image of its own it would be black in a dark notebook, too.
    """
    return f'<div style="overflow-x: auto">{document}</div>'


def stacked(documents: Sequence[str]) -> str:
    """Several drawings one below the other, as one document on one line.

    Args:
        documents: what `render` gave.
    """
    sizes = [match.groups() for match in map(_SIZE.match, documents) if match is not None]
    height, placed = 0.0, []
    for document, (_, own) in zip(documents, sizes, strict=True):
        placed.append(document.replace("<svg ", f'<svg y="{height:.0f}" ', 1))
        height += float(own)
    width = max((float(own) for own, _ in sizes), default=0.0)
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">'
    return f"{opening}{''.join(placed)}</svg>"


def _built(tree: DrawnTree, posteriors: Sequence[float | None]) -> tuple[_Node, list[_Node]]:
    """The nodes of a drawing, parents first, with depths and widths."""
    given = iter(posteriors)
    nodes: list[_Node] = []
    opened: list[tuple[DrawnTree, _Node | None, int]] = [(tree, None, 0)]
    while opened:
        node, parent, depth = opened.pop()
        posterior = next(given, None) if node.word is None else None
        word = None if node.word is None else clean(node.word)
        drawn = _Node(clean(node.label), [], posterior, word, depth=depth)
        nodes.append(drawn)
        if parent is not None:
            parent.children.append(drawn)
        opened.extend((child, drawn, depth + 1) for child in reversed(node.children))
    for number, leaf in enumerate(node for node in nodes if node.word is not None):
        leaf.start, leaf.end = number, number + 1
    for drawn in reversed(nodes):
        drawn.width = max(drawn.own_width + _GAP, sum(child.width for child in drawn.children))
        if drawn.children:
            drawn.start, drawn.end = drawn.children[0].start, drawn.children[-1].end
    return nodes[0], nodes


def _place(root: _Node) -> None:
    """Set the middle of each node: over the middles of its outer children, where there is space for it."""
    opened = [(root, _MARGIN)]
    order: list[tuple[_Node, float]] = []
    while opened:
        node, left = opened.pop()
        order.append((node, left))
        node.x = left + node.width / 2
        spare = node.width - sum(child.width for child in node.children)
        left += spare / 2
        for child in node.children:
            opened.append((child, left))
            left += child.width
    for node, left in reversed(order):
        if node.children:
            middle, half = (node.children[0].x + node.children[-1].x) / 2, (node.own_width + _GAP) / 2
            node.x = min(max(middle, left + half), left + node.width - half)


def _group(node: _Node, y: float, level: float) -> str:
    """A node and the lines below it: to its word, or to its children, down, across and down."""
    if node.word is not None:
        lines = f"M{node.x:.1f} {y + 5:.1f}V{y + _LEVEL / 2 - 1:.1f}"
        texts = _text(node, y, node.label, 'class="t" fill-opacity="0.65"')
        texts += _text(node, y + _LEVEL / 2 + _FONT, node.word, 'class="w"')
        what = f'class="word" data-word="{node.start}"'
    else:
        start, bar = y + (5 if node.posterior is None else 5 + _SMALL), y + level - _FONT - 9
        tops = ((child.x, y + (child.depth - node.depth) * level - _FONT + 1) for child in node.children)
        lines = "".join(f"M{node.x:.1f} {start:.1f}V{bar:.1f}H{x:.1f}V{top:.1f}" for x, top in tops)
        texts = _text(node, y, node.label, 'font-weight="600"')
        if node.posterior is not None:
            look = 'fill="#d1495b"' if node.posterior < _DOUBTFUL else 'fill-opacity="0.65"'
            texts += _text(node, y + _SMALL + 2, f"{node.posterior:.2f}", f'class="p" font-size="11" {look}')
        mark = f" {node.mark}" if node.mark else ""
        what = f'class="phrase{mark}" data-key="{escape(node.label)}:{node.start}:{node.end}"'
    path = f'<path d="{lines}" fill="none" stroke="currentColor" stroke-opacity="0.45"/>'
    return f"<g {what}>{path}{texts}</g>"


def _text(node: _Node, y: float, text: str, look: str) -> str:
    return f'<text x="{node.x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'


def text_width(text: str) -> float:
    """The width of a text in wide fonts, in pixels."""
    return _FONT * sum(map(_em, text))


def _em(character: str) -> float:
    if character in _NARROW:
        return _NARROW_EM
    if character in _WIDE:
        return _WIDE_EM
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _SQUARE_EM
    return _CAPITAL_EM if character.isupper() else _LETTER_EM


def clean(text: str) -> str:
    """A text as XML can hold it, and that leaves the order of other characters alone."""
    return _NOT_SHOWN.sub("\ufffd", text)
