"""A drawing of the tree in plain text, readable for sentences of forty words.

    TOP → S
    ├─ NP  The/DT cat/NN
    ├─ VP
    │  ├─ sat/VBD
    │  └─ PP
    │     ├─ on/IN
    │     └─ NP  the/DT mat/NN
    └─ ./.

Unary chains share a line (``TOP → S``), and so does a phrase of words only. With scores a label is
followed by its posterior, and the log-probability of the sentence comes first.
"""

from __future__ import annotations

from spectralnlp.render.parsed import DrawnTree, ParsedSentence
from spectralnlp.render.posteriors import node_posteriors

_FLAT_WIDTH = 72  # a phrase of words longer than this gets a line for each word


def render(parse: ParsedSentence, scores: bool = False) -> str:
    """The drawing as lines, the last of which is empty so that drawings stand apart."""
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
    """Return the text of each node in the drawing, by the identity of the node."""
    phrases = (node for node in parse.tree.nodes() if node.word is None)
    names = {id(node): f"{node.word}/{node.label}" for node in parse.tree.preterminals()}
    for node, posterior in zip(phrases, node_posteriors(parse), strict=True):
        names[id(node)] = f"{node.label} {posterior:.2f}" if scores and posterior is not None else node.label
    return names


def _draw(tree: DrawnTree, names: dict[int, str]) -> list[str]:
    lines = []
    stack = [(tree, "", "")]  # node, what is left of it on its own line, and on the lines below
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
    """The words of a phrase of words only, or None if it needs lines of its own."""
    if any(child.word is None for child in node.children):
        return None
    words = " ".join(names[id(child)] for child in node.children)
    return words if len(words) <= _FLAT_WIDTH or len(node.children) == 1 else None
