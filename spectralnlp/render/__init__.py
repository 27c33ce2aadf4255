"""Output formats of a parse: one function from ``Parse`` to text for each name.

A renderer is called as ``render(parse, scores=False)`` and returns text without a final newline.
``ptb``, ``json`` and ``svg`` are one line a sentence; ``pretty`` and ``conllu`` are blocks
of lines. `svg.stacked` makes one
document of several drawings.

>>> from spectralnlp.render import FORMATS
>>> FORMATS
('ptb', 'pretty', 'json', 'svg', 'conllu')
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from spectralnlp import registry
from spectralnlp.errors import ConfigError
from spectralnlp.render.parsed import ParsedSentence

__all__ = ["FORMATS", "Renderer", "renderer"]

FORMATS = ("ptb", "pretty", "json", "svg", "conllu")


class Renderer(Protocol):
    """A function of a parse that returns text; with ``scores``, the model's numbers too.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.render import Renderer, renderer
        >>> pretty: Renderer = renderer("pretty")
        >>> parse = spectralnlp.load("en").parse_tokens(["It", "is", "cold", "."])
        >>> print(pretty(parse, scores=False).splitlines()[0])
        TOP → S
    """

    def __call__(self, parse: ParsedSentence, scores: bool = False) -> str:
        """Write the parse as text, without a final newline."""
        ...


def renderer(name: str) -> Renderer:
    """Return the renderer of a format; its module is imported here and not before.

    Raises:
        ConfigError: no such format.
        RegistryError: what writes CoNLL-U is not installed.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.render import renderer
        >>> parse = spectralnlp.load("en").parse_tokens(["It", "is", "cold", "."])
        >>> print(renderer("ptb")(parse, scores=False))
        (TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ cold))) (. .)))
    """
    if name not in FORMATS:
        raise ConfigError(f"no output format {name!r}", hint=f"choose from {', '.join(FORMATS)}")
    render: Renderer
    if name == "conllu":
        render = registry.tree_tools.get("dependencies").parse_to_conllu
        return render
    # "json" would hide the standard library's module from its own importers' readers.
    module = import_module(f"spectralnlp.render.{name if name != 'json' else 'jsonl'}")
    render = module.render
    return render
