"""Output formats of parses: for each format name, a function from ``Parse`` to text.

A renderer is called as ``render(parse, scores=False)`` and returns text. The caller ends the text with a
newline. ``ptb``, ``json`` and ``svg`` give one line per sentence; ``pretty`` and ``conllu`` give blocks of
lines, of which the last is empty to separate sentences.
`svg.stacked` combines several drawings into one document.

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
    """A function that writes a parse as text; with ``scores``, it includes probabilities and posteriors.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.render import Renderer, renderer
        >>> pretty: Renderer = renderer("pretty")
        >>> parse = spectralnlp.load("en").parse_tokens(["It", "is", "cold", "."])
        >>> print(pretty(parse, scores=False).splitlines()[0])
        TOP → S
    """

    def __call__(self, parse: ParsedSentence, scores: bool = False) -> str:
        """Return the parse as text; the caller ends the last line with a newline."""
        ...


def renderer(name: str) -> Renderer:
    """Return the renderer of a format; its module is imported on demand.

    Raises:
        ConfigError: the format does not exist.
        RegistryError: the plugin that writes CoNLL-U is not installed.

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
    # The module is not called "json", to avoid confusion with the standard library's.
    module = import_module(f"spectralnlp.render.{name if name != 'json' else 'jsonl'}")
    render = module.render
    return render
