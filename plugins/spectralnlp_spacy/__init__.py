"""spaCy components: a constituency parser, a tagger and a text classifier that train in seconds.

>>> import spacy
>>> nlp = spacy.blank("en")
>>> parser = nlp.add_pipe("spectral_parser")

spaCy finds the components by their entry points, so this package need not be imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp_spacy.drawing import render
    from spectralnlp_spacy.extensions import (
        NonConstituentException,
        NotAConstituentError,
        install_extensions,
    )
    from spectralnlp_spacy.searching import SpanMatch, count, search

__all__ = [
    "NonConstituentException",
    "NotAConstituentError",
    "SpanMatch",
    "count",
    "install_extensions",
    "render",
    "search",
]

_MODULES = {
    "NonConstituentException": "extensions",
    "NotAConstituentError": "extensions",
    "SpanMatch": "searching",
    "count": "searching",
    "install_extensions": "extensions",
    "render": "drawing",
    "search": "searching",
}


def __getattr__(name: str) -> Any:
    # spaCy imports this package whenever a pipeline is created, so modules are imported on first use.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
