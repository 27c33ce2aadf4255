"""Command-line application: registers the commands; reports errors on one line and by the exit status.

The module of a command declares its options; heavy imports are made when the command runs.
Exit status: 0 success, 2 invalid input or usage (one line on stderr), 130 interrupted, 141 broken pipe
(the reader of our output stopped reading).
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup

from spectralnlp import __version__
from spectralnlp.cli import wording
from spectralnlp.cli.adapt import adapt
from spectralnlp.cli.convert import convert
from spectralnlp.cli.evaluate import evaluate
from spectralnlp.cli.explain import explain
from spectralnlp.cli.forget import forget
from spectralnlp.cli.info import info
from spectralnlp.cli.inspect import inspect
from spectralnlp.cli.merge import merge
from spectralnlp.cli.neighbours import neighbours
from spectralnlp.cli.package import package
from spectralnlp.cli.parse import parse
from spectralnlp.cli.plot import plot
from spectralnlp.cli.plugins import plugins
from spectralnlp.cli.score import score
from spectralnlp.cli.tag import tag
from spectralnlp.cli.topics import topics
from spectralnlp.cli.train import train
from spectralnlp.cli.train_help import TrainCommand
from spectralnlp.cli.transform import transform
from spectralnlp.cli.update import update
from spectralnlp.cli.warm_up import warm_up
from spectralnlp.errors import SpectralError, is_out_of_memory, shortened

USER_ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer does not export its base


class Commands(TyperGroup):
    """Group of all commands, including those of plugins; a plugin is imported when its command is called."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command called ``cmd_name``, from this package or a plugin; None if there is none."""
        registered = super().get_command(ctx, cmd_name)
        return registered if registered is not None else _load_plugin_command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called, and register its options, so that error messages can name them."""
        name, command, rest = super().resolve_command(ctx, args)
        wording.commands.set(lambda: (command, _group_with(None)))
        return name, command, rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands in ``--help``.

        Commands of plugins are described from their source, without importing them.
        """
        from spectralnlp import registry
        from spectralnlp.cli.plugin_help import summary

        super().format_commands(ctx, formatter)
        entries = {re.sub(r"\.v\d+$", "", entry.name): entry for entry in registry.commands.describe()}
        registered = self.list_commands(ctx)
        rows = [(name, summary(entry)) for name, entry in entries.items() if name not in registered]
        if rows:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; if the reader of our output stops reading (``| head``), exit without a message."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # The interpreter flushes stdout again when it exits: redirect that to the null device.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None


app = typer.Typer(
    cls=Commands,
    help="Parsers, taggers and text representations learned by spectral methods.",
    rich_markup_mode=None,  # plain help, because importing rich takes longer than the rest of --help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(parse)
app.command()(tag)
app.command(cls=TrainCommand)(train)
for command in (
    update,
    forget,
    merge,
    adapt,
    evaluate,
    explain,
    score,
    convert,
    info,
    plugins,
    inspect,
    neighbours,
    package,
    plot,
    topics,
    transform,
):
    app.command()(command)
app.command("warm-up")(warm_up)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spectralnlp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_version, is_eager=True
    ),
) -> None: ...


def run(arguments: Sequence[str] | None = None, *, interrupted: Callable[[], bool] = lambda: False) -> int:
    """Run the command line and return the exit status; user errors are reported, not raised.

    Args:
        arguments: command-line arguments without the program's name; ``sys.argv[1:]`` by default.
        interrupted: returns whether Ctrl-C has been pressed. After that, user errors are not reported,
            because the interrupt may have caused them, for example by stopping the import of a plugin.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("default", category=UserWarning)
            warnings.showwarning = _warn
            given = list(sys.argv[1:] if arguments is None else arguments)
            status = _group_of(given[0] if given else "").main(
                args=given, prog_name="spectralnlp", standalone_mode=False
            )
        return status if isinstance(status, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SpectralError as error:
        return INTERRUPTED if interrupted() else _complain(wording.with_options(error.message))
    except _UsageError as error:
        return _complain(_usage(error))
    except (MemoryError, SystemError, ImportError, RuntimeError, OSError) as error:
        if is_out_of_memory(error):
            what = str(error).rstrip(".") if isinstance(error, MemoryError) else ""
            return _complain(f"not enough memory: {what or 'the system gives no more'}")
        if not isinstance(error, OSError) or (error.filename is None and error.errno is None):
            raise
        return _complain(SpectralError(str(error.strerror), path=error.filename).message)


def _group_of(called: str) -> Any:
    """Return a click group with only the command that is called; building all commands takes long.

    Args:
        called: first argument of the command line; if it is not a command, the group has all commands.
    """
    is_own = any(_name_of(each) == called for each in app.registered_commands)
    return _group_with((called,) if is_own else () if _is_plugin(called) else None)


@cache
def _group_with(names: tuple[str, ...] | None) -> Any:
    """Return a click group of some commands of this package.

    Args:
        names: names of the commands; None for all commands.
    """
    some = copy(app)
    some.registered_commands = [
        each for each in app.registered_commands if names is None or _name_of(each) in names
    ]
    return typer.main.get_command(some)


def _name_of(command: typer.models.CommandInfo) -> str:
    return command.name or typer.main.get_command_name(command.callback.__name__ if command.callback else "")


def _warn(message: Warning | str, *where: object, **more: object) -> None:
    """Print a warning on one line, without the source line that raised it."""
    print(f"spectralnlp: {' '.join(str(message).split())}", file=sys.stderr)


def _complain(message: str) -> int:
    print(f"spectralnlp: {message}", file=sys.stderr)
    return USER_ERROR


def _usage(error: Any) -> str:
    """Return a usage error as one line that refers to ``--help``."""
    message = shortened(error.format_message()).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "spectralnlp"
    return f"{message}; try '{command} --help'"


def _is_plugin(name: str) -> bool:
    from spectralnlp import registry

    return name in registry.commands


def _load_plugin_command(name: str) -> Any:
    from spectralnlp import registry

    if name not in registry.commands:
        return None
    plugin: typer.Typer | Callable[..., Any] = registry.commands.get(name)
    if not isinstance(plugin, typer.Typer):
        callback, plugin = plugin, typer.Typer(rich_markup_mode=None, add_completion=False)
        plugin.command(name)(callback)
    return typer.main.get_command(plugin)
