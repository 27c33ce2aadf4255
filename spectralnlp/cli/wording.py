"""Adapt the library's messages to the command line: a parameter in backticks becomes an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from spectralnlp.errors import replace_parameters

_options: ContextVar[Callable[[], Mapping[str, str]]] = ContextVar("spectralnlp.cli.options", default=dict)


def know_options(commands: Callable[[], Sequence[Any]]) -> None:
    """Register the options of commands, so that `with_options` can write them into messages.

    Args:
        commands: returns click commands; called when a parameter is first replaced. If several commands have
            a parameter of the same name, the option of the first of them is used.
    """

    @cache
    def options() -> Mapping[str, str]:
        known: dict[str, str] = {}
        for command in commands():
            known = _options_of(command) | known
        return known

    _options.set(options)


def with_options(message: str) -> str:
    """Return a message in which parameters in backticks are replaced by options, such as ``--memory``.

    Parameters without an option lose their backticks.

    Args:
        message: message of the library, such as `SpectralError.message`.
    """
    return replace_parameters(message, lambda name: _options.get()().get(name, name))


def _options_of(command: Any) -> dict[str, str]:
    """Return the long options (such as ``--memory``) of a command and its subcommands, by parameter name."""
    found: dict[str, str] = {}
    for below in getattr(command, "commands", {}).values():
        found |= _options_of(below)
    texts = (text for parameter in command.params for text in parameter.opts)
    return found | {text[2:].replace("-", "_"): text for text in texts if text.startswith("--")}
