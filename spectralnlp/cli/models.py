"""Loading of models that support what a command needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spectralnlp.errors import ConfigError

# In place of a tagger's name: not even the model's own.
NO_TAGGER = "none"


def load_for(name: str, method: str, verb: str) -> Any:
    """Load a model that has a method.

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


def without_tagger(model: Any, name: str) -> Any:
    """Return a parser that does not listen to the tagger that its model names.

    Raises:
        ConfigError: the model is of another kind.
    """
    if not hasattr(model, "with_tagger"):
        raise ConfigError(f"{name} is a model for {model.task}, which listens to no tagger")
    return replace(model, tagger=None)


def load_parser(name: str, tagger: str | None = None, *, fixed_tags: bool = False) -> Any:
    """Load a parser, which listens to the tagger that is named, or to the model's own.

    Args:
        name: of the parser, or its folder.
        tagger: of the tagger, or its folder; ``none`` for no tagger at all.
        fixed_tags: take the tagger's tags as given.

    Raises:
        ModelError: there is no such model.
        ConfigError: one is of another kind, or the tagger's tags are not the parser's.
    """
    parser = load_for(name, "parse_many", "parse")
    if tagger is None and fixed_tags:
        tagger = parser.tagger
        if tagger is None:
            raise ConfigError(f"--fixed-tags: {name} has no tagger of its own", hint="add --tagger NAME")
    if tagger is None:
        return parser
    if tagger == NO_TAGGER:
        return without_tagger(parser, name)
    return parser.with_tagger(load_for(tagger, "tag", "tag"), fixed=fixed_tags)


def own_tagger(name: str) -> str | None:
    """Return the installed tagger that a parser listens to unless told otherwise; the parser is not loaded.

    Raises:
        ModelError: there is no such model.
    """
    from spectralnlp import registry
    from spectralnlp.models import folder_of
    from spectralnlp.storage import read_header

    tagger: str | None = read_header(folder_of(name))["metadata"].get("tagger")
    return tagger if tagger in registry.models else None
