"""Matches as one page of HTML: each tree that has some, with the matched nodes in a colour."""

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
    """Return what stands before and behind the trees of a page of a pattern's matches."""
    before, _, after = whole_page(f"Matches of {pattern}", f"{_KEY}\n{_BODY}").partition(_BODY)
    return before.rstrip("\n"), after.strip("\n")


def as_section(matches: Sequence[Match], place: Place) -> str:
    """Draw a tree with its matches.

    Args:
        matches: all of this tree.
        place: the tree, and where it is.
    """
    named = [node for match in matches for node in match.named.values()]
    found = [match.node for match in matches]
    texts = "".join(f"<li>{_in_words(match)}</li>" for match in matches)
    picture = panel("", _drawn(place.tree, [(named, "extra"), (found, "missing")]))
    head = f"<h3>{html_text(place.file)}, tree {place.number}</h3><ul>{texts}</ul>"
    return f'<section class="sentence">{head}<div class="trees">{picture}</div></section>'


def _in_words(match: Match) -> str:
    named = "".join(
        f' <span class="faint">{html_text(name)} = {html_text(node.text)}</span>'
        for name, node in match.named.items()
    )
    return f"<b>{html_text(match.label)}</b> {html_text(match.text)}{named}"


def _drawn(tree: Tree, marked: Sequence[tuple[Sequence[MatchedNode], str]]) -> str:
    """The tree; of a node that is marked twice, the last mark counts."""
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
    """The numbers of the nodes that are no preterminals, as those of matches count, words included."""
    number, stack = 0, [tree]
    while stack:
        node = stack.pop()
        number += 1
        if node.word is not None:
            number += 1
        else:
            yield number
            stack.extend(reversed(node.children))
