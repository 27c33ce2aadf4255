"""Format likely annotation errors as an HTML page, with drawings before and after each correction."""

from __future__ import annotations

from collections.abc import Sequence

from spectralnlp.render.svg import draw_tree
from spectralnlp.trees import Tree
from spectralnlp_trees.auditing.doubts import Change, Doubt, Kind, Occurrence
from spectralnlp_trees.auditing.mending import mended, part_around, part_over
from spectralnlp_trees.comparison.workspace import Bracket
from spectralnlp_trees.page import html_text, panel, whole_page
from spectralnlp_trees.tregex.show import Place

_AROUND = 8  # number of words shown on either side of another occurrence


def as_audit_page(doubts: Sequence[Doubt], places: Sequence[Place], *, title: str) -> str:
    """Return an HTML page that shows doubtful nodes, each with the tree before and after the change.

    Args:
        doubts: doubtful nodes, in the order of the page.
        places: all trees, without traces and function tags, with their files and numbers.
        title: title of the page, plain text.
    """
    key = (
        '<p class="note"><span class="key extra">Doubtful</span> in the treebank; '
        '<span class="key missing">proposed</span>. Posteriors are over the trees that cross none of the '
        "treebank’s brackets, by a parser that was not trained on the document.</p>"
    )
    sections = [_section(number, each, places) for number, each in enumerate(doubts, 1)]
    return whole_page(title, "\n".join([key, *sections]))


def in_words(doubt: Doubt) -> str:
    """Return the proposed change of a doubtful node in a few words: ``VP 12–14 → SINV``."""
    node, proposed = doubt.change.node, doubt.change.proposed
    if node is None and proposed is not None:
        return f"{_named(proposed)} is missing"
    if node is not None and proposed is None:
        return f"{_named(node)} is extra"
    assert node is not None  # at least one is not None
    assert proposed is not None
    return f"{_named(node)} → {proposed.label if node[1:] == proposed[1:] else _named(proposed)}"


def _named(bracket: Bracket) -> str:
    first, last = bracket.start + 1, bracket.end
    return f"{bracket.label} {first}" if first == last else f"{bracket.label} {first}–{last}"


def _section(number: int, doubt: Doubt, places: Sequence[Place]) -> str:
    place, change = places[doubt.tree], doubt.change
    words, marked = place.tree.words(), change.proposed or change.place
    around = f"doubt {doubt.doubt:.1f}; posterior {doubt.posterior:.3f} → {doubt.proposed_posterior:.3f}"
    if doubt.as_proposed:
        around += f"; with the same neighbours {doubt.as_is} × as here, {doubt.as_proposed} × as proposed"
    ends = [each for each in (change.node, change.proposed) if each is not None]
    part, first = part_around(place.tree, min(each.start for each in ends), max(each.end for each in ends))
    drawings = [_drawing("in the treebank", part, first, change, change.node, "extra")]
    better = mended(place.tree, change)
    if better is not None:
        part = part_over(better, first, first + len(part.words()))
        drawings.append(_drawing("proposed", part, first, change, change.proposed, "missing"))
    return (
        f'<section class="sentence"><h3>{number} · {html_text(place.file)}, tree {place.number} · '
        f"{change.kind.value}: {html_text(in_words(doubt))}</h3>"
        f"<p>{_marked(words, marked.start, marked.end)}</p>"
        f'<p class="note">{around}</p><div class="trees">{"".join(drawings)}</div>'
        f"{_others(doubt.others, places)}</section>"
    )


def _drawing(name: str, part: Tree, first: int, change: Change, marked: Bracket | None, mark: str) -> str:
    """Draw a part of a tree with one node highlighted, and return the HTML.

    Args:
        name: title of the drawing.
        part: the part of the tree.
        first: index in the sentence of the first token of ``part``.
        change: the change that the drawing illustrates.
        marked: the node to highlight; None for none.
        mark: CSS class of the highlighting.
    """
    if change.kind == Kind.TAG:
        word = f'"word" data-word="{change.place.start - first}"'
        picture = draw_tree(part).replace(f"class={word}", f'class="word {mark}"{word[6:]}')
    else:
        spans = [Bracket(label, start + first, end + first) for label, start, end in part.spans()]
        picture = draw_tree(part, marks={spans.index(marked): mark} if marked in spans else None)
    return panel(name, picture)


def _others(others: Sequence[Occurrence], places: Sequence[Place]) -> str:
    if not others:
        return '<p class="faint">The same words occur nowhere else.</p>'
    items = []
    for each in others:
        place = places[each.tree]
        labels = " over ".join(each.labels) or "no bracket"
        text = _marked(place.tree.words(), each.start, each.end, around=_AROUND)
        items.append(
            f"<li><b>{html_text(labels)}</b> {text} "
            f'<span class="faint">{html_text(place.file)}, tree {place.number}</span></li>'
        )
    return f"<p>The same words elsewhere:</p><ul>{''.join(items)}</ul>"


def _marked(words: Sequence[str], start: int, end: int, *, around: int | None = None) -> str:
    """Return a sentence, or a part of it, as HTML with some words in bold.

    Args:
        words: words of the sentence.
        start, end: range of the words in bold, ``end`` exclusive.
        around: maximum number of words shown before and after the words in bold; None for all.
    """
    first = 0 if around is None else max(start - around, 0)
    last = len(words) if around is None else end + around
    before, part, after = (
        html_text(" ".join(some)) for some in (words[first:start], words[start:end], words[end:last])
    )
    return f"{'… ' if first else ''}{before} <b>{part}</b> {after}{' …' if last < len(words) else ''}"
