"""Messages of the library in the command line's words: a parameter in backticks becomes an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from spectralnlp.errors import replace_parameters

_options: ContextVar[Callable[[], Mapping[str, str]]] = ContextVar("spectralnlp.cli.options", default=dict)


def know_options(commands: Callable[[], Sequence[Any]]) -> None:
    """Note how parameters are called on the command line, for `with_options`.

    Args:
        commands: gives click's, once there is a parameter to write; names of earlier ones count.
    """

    @cache
    def options() -> Mapping[str, str]:
        known: dict[str, str] = {}
        for command in commands():
            known = _options_of(command) | known
        return known

    _options.set(options)


def with_options(message: str) -> str:
    """Write ``memory`` in backticks as ``--memory``; a parameter that is no option loses its backticks.

    Args:
        message: the library's, such as `SpectralError.message`.
    """
    return replace_parameters(message, lambda name: _options.get()().get(name, name))


def _options_of(command: Any) -> dict[str, str]:
    """The long options of a command and its subcommands, by the name of the parameter."""
    found: dict[str, str] = {}
    for below in getattr(command, "commands", {}).values():
        found |= _options_of(below)
    texts = (text for parameter in command.params for text in parameter.opts)
    return found | {text[2:].replace("-", "_"): text for text in texts if text.startswith("--")}
