"""Plain text in blocks of whole lines: the fast way to read what only has to be counted."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from spectralnlp.corpus import GZIP_MAGIC, open_binary, open_text
from spectralnlp.errors import ConfigError, InputError

OnBad = Callable[[InputError], None]

BLOCK = 1 << 15  # bytes, about
READERS = ("auto", "text", "tokens")

_LINE_OR_WORD = re.compile(r"\n|\w+(?:[-.,'’/@:]\w+)*|[^\w\s]+")
_ATTACHED = re.compile(r"\w[.,;:!?](?=\s)")
_APART = re.compile(r"(?<=\s)[.,;:!?](?=\s)")


def read_blocks(path: str | Path) -> Iterator[str]:
    """The text of a file, plain or gzipped, in blocks that end at line ends.

    A line longer than a block is cut at a blank, so memory is bounded even where there are no line ends.

    Raises:
        InputError: the file is missing or unreadable, or not UTF-8, or holds a NUL; with path and line.
    """
    line = 1
    for raw in _raw_blocks(path):
        if b"\0" in raw:
            at = line + raw[: raw.index(b"\0")].count(b"\n")
            hint = "this is a binary file or UTF-16; convert it to UTF-8"
            raise InputError("a NUL byte in text", path=path, line=at, hint=hint)
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            at = line + raw[: error.start].count(b"\n")
            column = error.start - raw.rfind(b"\n", 0, error.start)
            what = f"byte 0x{raw[error.start]:02x} at column {column} is not utf-8"
            hint = "convert the file to UTF-8"
            raise InputError(what, path=path, line=at, hint=hint) from error
        line += raw.count(b"\n")


def _raw_blocks(path: str | Path) -> Iterator[bytes]:
    try:
        with open_binary(path) as file:
            zipped = str(path).endswith(".gz") or file.peek(2).startswith(GZIP_MAGIC)
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if zipped else file
            rest = b""
            first = True
            while chunk := stream.read(BLOCK):
                if first:
                    chunk, first = chunk.removeprefix(codecs.BOM_UTF8), False
                rest += chunk
                cut = rest.rfind(b"\n") + 1 or (rest.rfind(b" ") + 1 if len(rest) >= BLOCK else 0)
                if cut:
                    yield rest[:cut]
                    rest = rest[cut:]
            if rest:
                yield rest
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "the file may be cut short, or not be gzip at all"
        raise InputError(f"cannot be read: {error}", path=path, hint=hint) from error
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error


def column_blocks(path: str | Path, column: int, on_bad: OnBad | None = None) -> Iterator[str]:
    """One column of a file of lines with tabs, in blocks of lines.

    Args:
        path: the file.
        column: from 1.
        on_bad: called for each line without such a column, which is left out; None to stop at the first.

    Raises:
        InputError: as `read_blocks`; a line has no such column.
    """
    lines: list[str] = []
    size = 0
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            fields = line.split("\t")
            if len(fields) >= column:
                lines.append(fields[column - 1])
                size += len(line)
            elif line.strip():
                what = f"{len(fields)} columns, so there is no column {column}"
                error = InputError(what, path=path, line=number, hint="columns stand between tabs")
                if on_bad is None:
                    raise error
                on_bad(error)
            if size >= BLOCK:
                yield "\n".join(lines) + "\n"
                lines, size = [], 0
    if lines:
        yield "\n".join(lines) + "\n"


def read_words(
    path: str | Path, reader: str = "auto", column: int | None = None, on_bad: OnBad | None = None
) -> Iterator[str]:
    """Blocks of lines in which blanks stand between words and marks.

    Args:
        path: a text file.
        reader: ``tokens`` takes the text as it is; ``text`` sets marks apart from words; ``auto`` looks
            at the first block, whether marks stand apart already.
        column: of lines with tabs, the column that holds the text; None for whole lines.
        on_bad: see `column_blocks`.

    Raises:
        ConfigError: there is no such reader.
        InputError: the file cannot be read.
    """
    check_reader(reader)
    blocks = read_blocks(path) if column is None else column_blocks(path, column, on_bad)
    for block in blocks:
        if reader == "auto":
            reader = "tokens" if is_tokenised(block) else "text"
        yield block if reader == "tokens" else " ".join(_LINE_OR_WORD.findall(block))


def check_reader(reader: str) -> None:
    """Raise ConfigError for a name that is not in `READERS`."""
    if reader not in READERS:
        raise ConfigError(f"no reader of text is called {reader!r}", hint=f"there are {', '.join(READERS)}")


def is_tokenised(text: str) -> bool:
    """Whether marks in a text stand apart from words more often than not."""
    return len(_APART.findall(text)) >= len(_ATTACHED.findall(text))
