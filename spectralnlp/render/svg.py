"""Scalable vector graphics, one document a line, drawn by svgling."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from spectralnlp.errors import InputError
from spectralnlp.render.posteriors import node_posteriors

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse

# Characters that no XML document may hold, and line ends, which svgling reads as rows of a label.
_NOT_XML = re.compile("[^\t -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(parse: Parse, scores: bool = False) -> str:
    """The drawing as one self-contained ``<svg>`` element on one line.

    Raises:
        InputError: the tree is too deep for svgling (several hundred levels).
    """
    import svgling

    posteriors = iter(node_posteriors(parse) if scores else ())
    labels = {}
    for node in parse.tree.nodes():
        posterior = next(posteriors, None) if node.word is None else None
        labels[id(node)] = _clean(node.label) + ("" if posterior is None else f"\n{posterior:.2f}")
    built: list[Any] = []
    for node in parse.tree.postorder():
        first = len(built) - len(node.children)
        below, built[first:] = built[first:] or [_clean(node.word or "")], []
        built.append((labels[id(node)], *below))
    try:
        document: str = svgling.tree2svg(built[0])
    except RecursionError:
        raise InputError("a tree too deep to draw", hint="use `format` pretty") from None
    return document.replace("\n", "")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
