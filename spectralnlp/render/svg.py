"""Drawings of trees as SVG, one document per line, for files, notebooks and web pages.

Words stand in a row at the bottom, with constituents above them. Edges are vertical and horizontal lines, so
that none crosses a label. The drawing takes its colour from the surrounding text, light or dark. The code
does not recurse, so deep trees are safe.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from spectralnlp.render.parsed import DrawnTree, ParsedSentence, node_posteriors

# Sizes in pixels: fonts of labels and of posteriors; gap between words, height of a level, outer margin.
_FONT, _SMALL = 15.0, 11.0
_GAP, _LEVEL, _SCORED_LEVEL, _MARGIN = 16.0, 46.0, 58.0, 14.0
# Widths of characters in em, as in wide fonts, so that labels do not touch in any font.
_NARROW, _WIDE = frozenset("iIjl.,:;'|!()[]{}ftr`-/ "), frozenset("mwMW@%&—")
_NARROW_EM, _WIDE_EM, _CAPITAL_EM, _LETTER_EM, _SQUARE_EM = 0.42, 1.0, 0.76, 0.64, 1.05
# Constituents less probable than this are highlighted.
_DOUBTFUL = 0.5
# Characters that XML does not allow, line ends, and bidirectional controls (embeddings, overrides, isolates),
# which would reorder the surrounding text.
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
        label: text of the label.
        children: child nodes from left to right.
        posterior: probability to draw below the label; None to draw nothing.
        word: word of a preterminal; None for other nodes.
        width: width of the subtree, in pixels.
        x: horizontal centre, in pixels.
        start, end: range of the node's words, ``end`` exclusive.
        depth: distance from the root; preterminals are all moved to the largest depth.
        mark: additional CSS class of the node's group; empty for none.
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
    def label_width(self) -> float:
        """Width of the label or the word, whichever is wider, in pixels."""
        return max(text_width(self.label), text_width(self.word or ""))


def render(parse: ParsedSentence, scores: bool = False) -> str:
    """Draw the tree as one ``<svg>`` element on one line; with scores, posteriors stand below labels."""
    return draw_tree(parse.tree, node_posteriors(parse) if scores else ())


def draw_tree(
    tree: DrawnTree, posteriors: Sequence[float | None] = (), *, marks: Mapping[int, str] | None = None
) -> str:
    """Draw a tree as one self-contained ``<svg>`` element on one line.

    Each node is a ``<g>`` element, parents first. Phrases have the class ``phrase`` and an attribute such as
    ``data-key="NP:0:2"`` (label, start, end); preterminals have the class ``word`` and ``data-word="0"``, the
    index of the word.

    Args:
        tree: the tree to draw.
        posteriors: posterior of each node that is not a preterminal, parents first; empty to draw none.
        marks: additional CSS class for some nodes, by index of the node among the nodes that are not
            preterminals, parents first.
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
    """Return a drawing as HTML for a notebook, where a wide drawing can be scrolled.

    As part of the page, the drawing takes the colour of the page's text. As a separate image, it would be
    black even on a dark page.

    Args:
        document: a drawing, as `render` returns it.
    """
    return f'<div style="overflow-x: auto">{document}</div>'


def stacked(documents: Sequence[str]) -> str:
    """Return an SVG document, without line breaks, in which drawings stand one below the other.

    Args:
        documents: results of `render`.
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
    """Return the root and all nodes of a drawing, parents first, with their depths and widths."""
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
        drawn.width = max(drawn.label_width + _GAP, sum(child.width for child in drawn.children))
        if drawn.children:
            drawn.start, drawn.end = drawn.children[0].start, drawn.children[-1].end
    return nodes[0], nodes


def _place(root: _Node) -> None:
    """Set the horizontal centre of each node.

    A node is midway between its first and its last child, unless its label would then extend beyond the
    subtree.
    """
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
            middle, half = (node.children[0].x + node.children[-1].x) / 2, (node.label_width + _GAP) / 2
            node.x = min(max(middle, left + half), left + node.width - half)


def _group(node: _Node, y: float, level: float) -> str:
    """Return the SVG group of a node: its texts, and the lines down to its word or its children.

    Args:
        node: the node.
        y: vertical position of its label, in pixels.
        level: vertical distance between the labels of a node and its child, in pixels.
    """
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
    """Return the width of a text in a wide font, in pixels."""
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
    """Return a text with characters that XML forbids, and bidirectional controls, replaced by U+FFFD."""
    return _NOT_SHOWN.sub("\ufffd", text)
