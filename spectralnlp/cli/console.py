"""Output of commands: results on stdout or in a file, notes and progress on stderr."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from spectralnlp.cli.wording import with_options
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.cli.texts import Meter

PATIENCE = 1.0  # seconds of work before progress is shown


def say(line: str) -> None:
    """Print a line on stdout in a single write, so that lines from several threads do not mix."""
    print(f"{with_options(line)}\n", end="", flush=True)


def note(line: str) -> None:
    """Print a message that is not a result, as one line on stderr."""
    print(f"spectralnlp: {with_options(line)}", file=sys.stderr)


@contextmanager
def results(output: Path | None) -> Iterator[Callable[..., None]]:
    """Yield a function that writes and flushes lines of results, to stdout or to a file (`whole_file`).

    Raises:
        ConfigError: the file cannot be written.
    """
    if output is None:
        yield _line_writer(sys.stdout, None)
        return
    with whole_file(output) as partial:
        try:
            file = partial.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigError(f"cannot write the output: {error.strerror}", path=output) from error
        with file:
            yield _line_writer(file, output)


@contextmanager
def whole_file(output: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it is renamed to ``output`` on success and deleted on an error.

    Special files, such as pipes, are written directly.

    Raises:
        ConfigError: the output is a folder.
    """
    if output.is_dir():
        raise ConfigError("cannot write the output: this is a folder", path=output)
    special = output.exists() and not output.is_file()  # /dev/null, a pipe
    partial = output if special else output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        yield partial
        if not special:
            partial.replace(output)
    except BaseException:
        if not special:
            partial.unlink(missing_ok=True)
        raise


def _line_writer(stream: TextIO, path: Path | None) -> Callable[..., None]:
    def write(*lines: str) -> None:
        try:
            stream.write("".join(f"{line}\n" for line in lines))
            stream.flush()
        except BrokenPipeError:  # the reader stopped reading, which is handled elsewhere
            raise
        except OSError as error:
            if path is None and error.errno == errno.EBADF:  # from `ClosedOutput`, whose message says it
                raise
            if path is not None:
                with suppress(OSError):  # closing flushes again
                    stream.close()
            raise ConfigError(f"cannot write the output: {error.strerror}", path=path) from error

    return write


class Shown:
    """Progress line on a terminal for a running command.

    Args:
        what: what the command is doing, such as ``parsing``.
        update: changes the displayed line; takes ``description`` and ``completed`` (bytes read).
        meter: counter of the bytes that are read, if any.
        size: number of bytes of all files, if known.
    """

    def __init__(
        self, what: str, update: Callable[..., None], meter: Meter | None = None, size: int | None = None
    ) -> None:
        self.what, self.update, self.meter, self.size = what, update, meter, size
        self._n_steps, self._started = 0, perf_counter()

    def __call__(self) -> None:
        """Count a finished step and show the number of steps."""
        self._n_steps += 1
        read = None if self.meter is None else min(self.meter.n_bytes, self.size or 0)
        self.update(description=f"{self.what} {self._n_steps:,}", completed=read)

    def show_share(self, share: float) -> None:
        """Show the fraction of the work that is done, and the estimated time until the end.

        Args:
            share: fraction of the work that is done, in [0, 1].
        """
        if share > 0:
            left = round((perf_counter() - self._started) * (1 - share) / share)
            text = f"{self.what} {share:.0%}, about {left // 60}:{left % 60:02} left"
            self.update(description=text)


@contextmanager
def progress(what: str, *, meter: Meter | None = None, silent: bool = False) -> Iterator[Shown]:
    """Show progress on stderr after one second of work, if stderr is a terminal.

    Args:
        what: what the command is doing, such as ``parsing``.
        meter: counter of the bytes that are read; if their total is known, the time left is shown.
        silent: whether to show nothing.

    Yields:
        The progress line. Call it after each step, or call its method ``show_share`` with the fraction of the
        work that is done.
    """
    if silent or not sys.stderr.isatty():
        yield Shown(what, lambda **news: None)
        return
    from rich.console import Console
    from rich.progress import (
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    size = None if meter is None else meter.size()
    columns = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
    if size:
        columns += [TaskProgressColumn(), TextColumn("about"), TimeRemainingColumn(), TextColumn("left")]
    # Printed lines go above the spinner, unless stdout is not a terminal: then they are results.
    redirect = sys.stdout.isatty()
    bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=redirect)
    task = bar.add_task(what, total=size)

    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield Shown(what, partial(bar.update, task), meter, size)
    finally:
        timer.cancel()
        timer.join()  # it may be starting the spinner right now
        bar.stop()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain-text table of rows under a header; columns are as wide as their longest cells."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def fields(values: Mapping[str, object], indent: str = "") -> str:
    """Return a text with a name and its value per line; nested mappings become indented lines."""
    width = max((len(name) for name in values), default=0)
    lines = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}", fields(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name:<{width}}  {value}".rstrip())
    return "\n".join(lines)
