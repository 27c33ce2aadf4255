"""Write matches as an HTML page: every tree with matches is drawn, with the matched nodes highlighted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spectralnlp.render.svg import draw_tree
from spectralnlp.trees import Tree
from spectralnlp_trees.page import html_text, panel, whole_page
from spectralnlp_trees.tregex.matches import Match, MatchedNode
from spectralnlp_trees.tregex.show import Place

_KEY = '<p class="note"><span class="key missing">Matched</span>, <span class="key extra">named</span>.</p>'
_BODY = "<!-- sections -->"


def page_ends(pattern: str) -> tuple[str, str]:
    """Return the beginning and the end of an HTML page of matches, between which sections are written."""
    before, _, after = whole_page(f"Matches of {pattern}", f"{_KEY}\n{_BODY}").partition(_BODY)
    return before.rstrip("\n"), after.strip("\n")


def as_section(matches: Sequence[Match], place: Place) -> str:
    """Return the HTML section of a tree with its matches.

    Args:
        matches: all matches in the tree.
        place: the tree with its file and number.
    """
    named = [node for match in matches for node in match.named.values()]
    matched = [match.node for match in matches]
    texts = "".join(f"<li>{_in_words(match)}</li>" for match in matches)
    picture = panel("", _drawn(place.tree, [(named, "extra"), (matched, "missing")]))
    head = f"<h3>{html_text(place.file)}, tree {place.number}</h3><ul>{texts}</ul>"
    return f'<section class="sentence">{head}<div class="trees">{picture}</div></section>'


def _in_words(match: Match) -> str:
    named = "".join(
        f' <span class="faint">{html_text(name)} = {html_text(node.text)}</span>'
        for name, node in match.named.items()
    )
    return f"<b>{html_text(match.label)}</b> {html_text(match.text)}{named}"


def _drawn(tree: Tree, marked: Sequence[tuple[Sequence[MatchedNode], str]]) -> str:
    """Draw a tree with highlighted nodes, and return the SVG.

    Args:
        tree: the tree.
        marked: pairs (nodes, CSS class of their highlighting); for a node in several pairs, the last counts.
    """
    numbers, marks, words = list(_numbers(tree)), dict[int, str](), dict[int, str]()
    for nodes, mark in marked:
        for node in nodes:
            if node.is_word or node.subtree.word is not None:
                words[node.start] = mark
            else:
                marks[numbers.index(node.number)] = mark
    picture = draw_tree(tree, marks=marks)
    for place, mark in words.items():
        picture = picture.replace(
            f'class="word" data-word="{place}"', f'class="word {mark}" data-word="{place}"'
        )
    return picture


def _numbers(tree: Tree) -> Iterator[int]:
    """Yield the number of each phrase in depth-first order of all nodes and words (`MatchedNode.number`)."""
    number, stack = 0, [tree]
    while stack:
        node = stack.pop()
        number += 1
        if node.word is not None:
            number += 1
        else:
            yield number
            stack.extend(reversed(node.children))
