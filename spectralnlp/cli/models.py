"""Loading a model for what a command wants to do with it."""

from __future__ import annotations

from typing import Any

from spectralnlp.errors import ConfigError


def load_for(name: str, method: str, verb: str) -> Any:
    """A model that can do something.

    Args:
        name: of the model, or its folder.
        method: that it must have.
        verb: what the command does with it, for the error.

    Raises:
        ModelError: there is no such model.
        ConfigError: it is of another kind.
    """
    from spectralnlp import load

    model = load(name)
    if not hasattr(model, method):
        raise ConfigError(f"{name} is a model for {model.task}, which cannot {verb}")
    return model
