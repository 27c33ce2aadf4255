"""spectralnlp: parsers, taggers and text representations learned by spectral methods."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp.models import load

__version__ = "0.1.0"
__all__ = ["__version__", "load"]

_MODULES = {"load": "spectralnlp.models"}


def __getattr__(name: str) -> Any:
    # Lazily: ``import spectralnlp`` is cheap, and the command line's --help with it.
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
