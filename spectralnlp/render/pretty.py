"""Drawings of trees in plain text, compact enough for sentences of forty words.

    TOP → S
    ├─ NP  The/DT cat/NN
    ├─ VP
    │  ├─ sat/VBD
    │  └─ PP
    │     ├─ on/IN
    │     └─ NP  the/DT mat/NN
    └─ ./.

A unary chain shares a line (``TOP → S``), and so do the words of a phrase that contains only words. With
scores, each label is followed by its posterior, and the first line is the log-probability of the sentence.
"""

from __future__ import annotations

from spectralnlp.render.parsed import DrawnTree, ParsedSentence, node_posteriors

_FLAT_WIDTH = 72  # a phrase of words wider than this many characters gets one line per word


def render(parse: ParsedSentence, scores: bool = False) -> str:
    """Return a drawing of the tree as several lines, of which the last is empty to separate drawings."""
    lines = [*_notes(parse, scores), *_draw(parse.tree, _names(parse, scores)), ""]
    return "\n".join(lines)


def _notes(parse: ParsedSentence, scores: bool) -> list[str]:
    notes = []
    if parse.fallback is not None:
        notes.append(f"# fallback: {parse.fallback}")
    if scores and parse.log_probability is not None:
        notes.append(f"# log-probability {parse.log_probability:.4f}")
    return notes


def _names(parse: ParsedSentence, scores: bool) -> dict[int, str]:
    """Return the text to draw for each node: a label with its posterior, or a word with its tag.

    The key of a node is ``id(node)``.
    """
    phrases = (node for node in parse.tree.nodes() if node.word is None)
    names = {id(node): f"{node.word}/{node.label}" for node in parse.tree.preterminals()}
    for node, posterior in zip(phrases, node_posteriors(parse), strict=True):
        names[id(node)] = f"{node.label} {posterior:.2f}" if scores and posterior is not None else node.label
    return names


def _draw(tree: DrawnTree, names: dict[int, str]) -> list[str]:
    lines = []
    stack = [(tree, "", "")]  # node, prefix of its line, prefix of the lines below it
    while stack:
        node, here, below = stack.pop()
        chain = [names[id(node)]]
        while len(node.children) == 1 and node.children[0].word is None:
            node = node.children[0]
            chain.append(names[id(node)])
        line = here + " → ".join(chain)
        if node.children and (words := _flat(node, names)):
            lines.append(f"{line}  {words}")
            continue
        lines.append(line)
        if node.children:
            *others, last = node.children
            stack.append((last, below + "└─ ", below + "   "))
            stack.extend((child, below + "├─ ", below + "│  ") for child in reversed(others))
    return lines


def _flat(node: DrawnTree, names: dict[int, str]) -> str | None:
    """Return the words of a phrase as one text, or None if it contains phrases or is too wide."""
    if any(child.word is None for child in node.children):
        return None
    words = " ".join(names[id(child)] for child in node.children)
    return words if len(words) <= _FLAT_WIDTH or len(node.children) == 1 else None
