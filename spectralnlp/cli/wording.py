"""Adapt the library's messages to the command line: a parameter in backticks becomes an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from spectralnlp.errors import replace_parameters

# Returns the commands whose options messages name; if several have a parameter of the same name, the first
# counts. It is called when a parameter is first replaced.
commands: ContextVar[Callable[[], Sequence[Any]]] = ContextVar("spectralnlp.cli.commands", default=tuple)


def with_options(message: str) -> str:
    """Return a message in which parameters in backticks are replaced by options, such as ``--memory``.

    Parameters without an option lose their backticks.

    Args:
        message: message of the library, such as `SpectralError.message`.
    """
    return replace_parameters(message, lambda name: _known(commands.get()).get(name, name))


@lru_cache(1)
def _known(called: Callable[[], Sequence[Any]]) -> Mapping[str, str]:
    known: dict[str, str] = {}
    for command in called():
        known = _options_of(command) | known
    return known


def _options_of(command: Any) -> dict[str, str]:
    """Return the long options (such as ``--memory``) of a command and its subcommands, by parameter name."""
    found: dict[str, str] = {}
    for below in getattr(command, "commands", {}).values():
        found |= _options_of(below)
    texts = (text for parameter in command.params for text in parameter.opts)
    return found | {text[2:].replace("-", "_"): text for text in texts if text.startswith("--")}
