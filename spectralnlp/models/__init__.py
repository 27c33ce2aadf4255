"""Trained models with their text conventions, loaded by name or path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spectralnlp import registry
from spectralnlp.errors import ModelError
from spectralnlp.storage import META, load_model

__all__ = ["load"]


def load(name: str | Path) -> Any:
    """Load a trained model.

    Args:
        name: a model folder, or the name of a model that is installed, such as ``en``.

    Returns:
        A `Parser`, a `Tagger`, or what else the task of the model makes of the folder.

    Raises:
        ModelError: there is no such model, or it is truncated or of another version.

    Examples:
        >>> import spectralnlp
        >>> print(spectralnlp.load("en").parse("It is cold.")[0].tree)
        (TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ cold))) (. .)))
    """
    stored = load_model(folder_of(name))
    if stored.kind not in registry.tasks:
        raise ModelError(f"a model for {stored.kind!r}, which nothing installed knows", path=stored.path)
    return registry.tasks.get(stored.kind)().load(stored)


def folder_of(name: str | Path) -> Path:
    """Return the folder of a model.

    Args:
        name: as for `load`.

    Raises:
        ModelError: there is no such model.
    """
    path = Path(name)
    if not (path / META).exists() and str(name) in registry.models:
        path = Path(registry.models.get(str(name)))
    elif not path.exists():
        installed = ", ".join(registry.models.names()) or "none"
        raise ModelError(
            f"no model {str(name)!r}", hint=f"give a model folder, or an installed model: {installed}"
        )
    return path
