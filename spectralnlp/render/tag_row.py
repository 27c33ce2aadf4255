"""Drawings of tagged sentences as SVG: words in a row, with tags below or spans above."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from spectralnlp.render.svg import OPENING, clean, text_width
from spectralnlp.text.spans import Span

_GAP, _MARGIN, _SPACE_ABOVE, _WORDS_AT, _TAGS_BELOW = 18.0, 14.0, 30.0, 29.0, 22.0


def draw_tags(words: Sequence[str], tags: Sequence[str], spans: Sequence[Span] | None = None) -> str:
    """Draw a tagged sentence as one self-contained ``<svg>`` element on one line.

    Args:
        words: the tokens.
        tags: one tag per word; not drawn if there are spans.
        spans: (first token, token after the last, label) of each span; None if the tags encode no spans.
    """
    below = list(map(str, tags)) if spans is None else [""] * len(words)
    words = [clean(word) for word in words]
    widths = [max(text_width(word), text_width(tag)) for word, tag in zip(words, below, strict=True)]
    for first, end, label in spans or ():  # a label may be wider than its words
        missing = text_width(label) - sum(widths[first:end]) - _GAP * (end - first - 1)
        widths[first:end] = [width + max(missing, 0.0) / (end - first) for width in widths[first:end]]
    lefts = [_MARGIN + sum(widths[:n]) + _GAP * n for n in range(len(words))]
    top = _WORDS_AT + (0.0 if spans is None else _SPACE_ABOVE)
    pieces = []
    for left, width, word, tag in zip(lefts, widths, words, below, strict=True):
        x = left + width / 2
        pieces.append(f'<text x="{x:.1f}" y="{top:.1f}" class="w">{escape(word)}</text>')
        if tag:
            look = 'class="t" fill-opacity="0.65"'
            pieces.append(f'<text x="{x:.1f}" y="{top + _TAGS_BELOW:.1f}" {look}>{escape(clean(tag))}</text>')
    for first, end, label in spans or ():
        left, right, y = lefts[first], lefts[end - 1] + widths[end - 1], top - 20
        line = f"M{left:.1f} {y + 6:.1f}V{y:.1f}H{right:.1f}V{y + 6:.1f}"
        pieces.append(f'<path d="{line}" fill="none" stroke="currentColor" stroke-opacity="0.45"/>')
        middle = (left + right) / 2
        pieces.append(
            f'<text x="{middle:.1f}" y="{y - 6:.1f}" font-weight="600">{escape(clean(label))}</text>'
        )
    width = (lefts[-1] + widths[-1] if words else 0.0) + _MARGIN
    height = top + (_TAGS_BELOW if spans is None else 0.0) + _MARGIN
    return f"{OPENING.format(width, height, escape(' '.join(words)))}{''.join(pieces)}</svg>"
