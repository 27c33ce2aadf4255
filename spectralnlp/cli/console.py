"""Output of commands: results on stdout or in a file, notes and progress on stderr."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import TextIO

from spectralnlp.cli.wording import with_options
from spectralnlp.errors import ConfigError

PATIENCE = 1.0  # seconds of work before progress is shown


def say(line: str) -> None:
    """Print a line on stdout in a single write, so that lines from several threads do not mix."""
    print(f"{with_options(line)}\n", end="", flush=True)


def note(line: str) -> None:
    """Print something that is not a result, in one line on stderr."""
    print(f"spectralnlp: {with_options(line)}", file=sys.stderr)


@contextmanager
def announced_kernels(*, here: bool = True, parser: str | None = None) -> Iterator[None]:
    """Note on stderr when kernels have to be compiled, which happens once on a machine.

    Args:
        here: whether this process runs kernels; one that only waits for workers need not load the compiler.
        parser: what is used, if it is a parser: then a second process compiles, too.
    """
    if not here:
        yield
        return
    from spectralnlp.jit import announced_compilation

    if parser is None:
        with announced_compilation(note):
            yield
        return
    from spectralnlp.cli.ahead import PARTS, compiling_ahead

    with compiling_ahead(parser) as start:

        def report(line: str) -> None:
            note(line)
            start()

        with announced_compilation(report, PARTS):
            yield


@contextmanager
def results(output: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that writes a line of results and flushes it: to stdout, or to a file, see `whole_file`.

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
    """A path to write to: a file appears under its name when it is whole, and not at all after an error.

    Raises:
        ConfigError: it is a folder.
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


def _line_writer(stream: TextIO, path: Path | None) -> Callable[[str], None]:
    def write(line: str) -> None:
        try:
            stream.write(line + "\n")
            stream.flush()
        except BrokenPipeError:  # nobody reads on, which is no error
            raise
        except OSError as error:
            if path is None and error.errno == errno.EBADF:  # standard output is closed, and says so itself
                raise
            if path is not None:
                with suppress(OSError):  # closing tries to write once more
                    stream.close()
            raise ConfigError(f"cannot write the output: {error.strerror}", path=path) from error

    return write


class Meter:
    """Counts how much of its files a command has read.

    Args:
        files: all that it will read.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self.files, self.n_bytes = files, 0

    def size(self) -> int | None:
        """Bytes of all files; None where one is compressed, a pipe, or no file of this machine."""
        plain = all(Path(file).is_file() and not file.endswith(".gz") for file in self.files)
        return sum(Path(file).stat().st_size for file in self.files) or None if plain else None

    def counted(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines of a file, without their ends, counted as they are read."""
        for line in lines:
            self.n_bytes += 1 + (len(line) if line.isascii() else len(line.encode()))
            yield line


class Shown:
    """What a terminal shows of work that goes on.

    Args:
        what: the work.
        update: takes what is new to the line that is shown.
        meter: of what is read meanwhile, of which ``size`` bytes are known.
    """

    def __init__(
        self, what: str, update: Callable[..., None], meter: Meter | None = None, size: int | None = None
    ) -> None:
        self.what, self.update, self.meter, self.size = what, update, meter, size
        self._n_steps, self._started = 0, perf_counter()

    def __call__(self) -> None:
        """Count a step."""
        self._n_steps += 1
        read = None if self.meter is None else min(self.meter.n_bytes, self.size or 0)
        self.update(description=f"{self.what} {self._n_steps:,}", completed=read)

    def show_share(self, share: float) -> None:
        """Show which share of the work is done, in [0, 1], and about how long the rest takes."""
        if share > 0:
            left = round((perf_counter() - self._started) * (1 - share) / share)
            text = f"{self.what} {share:.0%}, about {left // 60}:{left % 60:02} left"
            self.update(description=text)


@contextmanager
def progress(what: str, *, meter: Meter | None = None, silent: bool = False) -> Iterator[Shown]:
    """Show that work goes on, once it has taken a second and if stderr is a terminal.

    Args:
        what: the work, ``parsing``.
        meter: of what is read meanwhile; where sizes are known, so is about when it ends.
        silent: show nothing all the same.

    Yields:
        What to call after each step, if there are steps to count, or with the share that is done.
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
    # What is printed meanwhile goes above the spinner, unless stdout is no terminal: then it is results.
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
    """Return a plain-text table; each column but the last is as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, *rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def fields(values: Mapping[str, object], indent: str = "") -> str:
    """Return names and values, one per line; nested mappings become indented lines."""
    width = max((len(name) for name in values), default=0)
    lines = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}", fields(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name:<{width}}  {value}".rstrip())
    return "\n".join(lines)
