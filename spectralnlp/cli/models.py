"""Load models for commands, with an error if a model does not support the command."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spectralnlp.errors import ConfigError

# Value of --tagger for no tagger at all, not even the model's own.
NO_TAGGER = "none"


def load_for(name: str, method: str, verb: str) -> Any:
    """Load a model and check that it has a method.

    Args:
        name: name or folder of the model.
        method: name of the method that the model must have.
        verb: what the command does with the model, for the error message.

    Raises:
        ModelError: there is no such model.
        ConfigError: the model lacks the method.
    """
    from spectralnlp import load

    model = load(name)
    if not hasattr(model, method):
        raise ConfigError(f"{name} is a model for {model.task}, which cannot {verb}")
    return model


def without_tagger(model: Any, name: str) -> Any:
    """Return a copy of a parser that uses no tagger, even if the model has a default tagger.

    Args:
        model: the parser.
        name: name of the model, for the error message.

    Raises:
        ConfigError: the model is not a parser.
    """
    if not hasattr(model, "with_tagger"):
        raise ConfigError(f"{name} is a model for {model.task}, which listens to no tagger")
    return replace(model, tagger=None)


def load_parser(name: str, tagger: str | None = None, *, fixed_tags: bool = False) -> Any:
    """Load a parser that uses the given tagger, or by default the tagger that the model names.

    Args:
        name: name or folder of the parser.
        tagger: name or folder of the tagger; ``none`` for no tagger at all.
        fixed_tags: use the tagger's best tags as they are, instead of weighting the parser's tags by them.

    Raises:
        ModelError: there is no such model.
        ConfigError: a model is of the wrong kind, or the tags of tagger and parser differ.
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


def installed_tagger(name: str) -> str | None:
    """Return the name of a parser's default tagger if it is installed, without loading the parser.

    Raises:
        ModelError: there is no such model.
    """
    from spectralnlp import registry
    from spectralnlp.models import folder_of
    from spectralnlp.storage import read_header

    tagger: str | None = read_header(folder_of(name))["metadata"].get("tagger")
    return tagger if tagger in registry.models else None
