"""Plain text in blocks of whole lines: the fast way to read what only has to be counted."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedReader
from itertools import pairwise
from pathlib import Path

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import (
    Column,
    FileCorpus,
    OnBad,
    Partition,
    is_address,
    is_zipped,
    open_binary,
    text_cells,
    unzipped,
)

# Bytes of a block, about.
BLOCK = 1 << 15
# Bytes of a file that are read as one partition.
LARGE = 256 << 20
# Names of the readers of plain text.
READERS = ("auto", "text", "tokens")

_LINE_OR_WORD = re.compile(r"\n|\w+(?:[-.,'’/@:]\w+)*|[^\w\s]+")
_ATTACHED = re.compile(r"\w[.,;:!?](?=\s)")
_APART = re.compile(r"(?<=\s)[.,;:!?](?=\s)")


@dataclass(frozen=True)
class Span:
    """The lines of a file that begin at a byte from ``begin`` to before ``end``."""

    begin: int = 0
    end: int = sys.maxsize


WHOLE = Span()


def read_blocks(path: str | Path, span: Span = WHOLE) -> Iterator[str]:
    """Read the text of a file, plain or gzipped, in blocks that end at line ends.

    A line longer than a block is cut at a blank, so memory is bounded even where there are no line ends.

    Args:
        path: the file.
        span: a part of it; only of plain files.

    Raises:
        InputError: the file is missing or unreadable, or not UTF-8, or holds a NUL; with path and line.
    """
    line = 1
    for raw in _raw_blocks(path, span):
        if b"\0" in raw:
            at = _line_at(path, span) + line + raw[: raw.index(b"\0")].count(b"\n")
            hint = "this is a binary file or UTF-16; convert it to UTF-8"
            raise InputError("a NUL byte in text", path=path, line=at, hint=hint)
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            at = _line_at(path, span) + line + raw[: error.start].count(b"\n")
            column = error.start - raw.rfind(b"\n", 0, error.start)
            what = f"byte 0x{raw[error.start]:02x} at column {column} is not utf-8"
            hint = "convert the file to UTF-8"
            raise InputError(what, path=path, line=at, hint=hint) from error
        line += raw.count(b"\n")


def _line_at(path: str | Path, span: Span) -> int:
    """Count the lines that begin before a span."""
    before = _raw_blocks(path, Span(0, span.begin))
    return sum(raw.count(b"\n") for raw in before) if span.begin else 0


def _raw_blocks(path: str | Path, span: Span) -> Iterator[bytes]:
    try:
        with open_binary(path) as file:
            rest = b""
            for chunk in _chunks(file, path, span, zipped=is_zipped(path, file)):
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


def _chunks(file: BufferedReader, path: str | Path, span: Span, *, zipped: bool) -> Iterator[bytes]:
    """Yield a span's bytes without a byte order mark, to the end of the line that its last byte is in."""
    if span.begin:
        file.seek(span.begin - 1)
        while (piece := file.readline(BLOCK)) and not piece.endswith(b"\n"):
            pass  # of a line that begins before
    at = file.tell()
    stream = unzipped(file, path) if zipped else file
    while at < span.end and (chunk := stream.read(min(BLOCK, span.end - at))):
        at += len(chunk)
        yield chunk if at > len(chunk) else chunk.removeprefix(codecs.BOM_UTF8)
        if at == span.end:
            while not chunk.endswith(b"\n") and (chunk := stream.readline(BLOCK)):
                yield chunk


def column_blocks(path: str | Path, column: Column, on_bad: OnBad | None = None) -> Iterator[str]:
    """Read one column of a table, in blocks of lines.

    Args:
        path: the file.
        column: see `text_cells`.
        on_bad: called for each line without such a column, which is left out; None to stop at the first.

    Raises:
        InputError: as `text_cells`.
    """
    lines: list[str] = []
    size = 0
    for text in text_cells(path, column, on_bad):
        lines.append(text)
        size += len(text) + 1
        if size >= BLOCK:
            yield "\n".join(lines) + "\n"
            lines, size = [], 0
    if lines:
        yield "\n".join(lines) + "\n"


class TextFiles(FileCorpus[str]):
    """Plain text in blocks, as `read_words` gives them; a large file is several partitions.

    Args:
        paths: the files.
        reader: see `read_words`.
        column: see `read_words`.
        on_bad: see `read_words`.
        large: bytes of a partition at most. Zipped files, addresses and files of columns are not split.
    """

    read: Callable[..., Iterator[str]]

    def __init__(
        self,
        paths: Iterable[str | Path],
        reader: str = "auto",
        column: Column | None = None,
        on_bad: OnBad | None = None,
        large: int = LARGE,
    ) -> None:
        check_reader(reader)
        super().__init__(paths, partial(read_words, reader=reader, column=column, on_bad=on_bad))
        self.large = 0 if column else large

    def partitions(self) -> Sequence[Partition[str]]:
        """Return one for each file or span of a large file; rows are numbered from the first byte on."""
        return [
            replace(whole, start=span.begin, read=partial(self.read, path, span=span))
            for whole, path in zip(super().partitions(), self.paths, strict=True)
            for span in _spans(path, self.large)
        ]


def _spans(path: str | Path, large: int) -> list[Span]:
    """Cut a large file that can be read from any place into parts of equal size; leave others whole."""
    if not large or is_address(path):
        return [WHOLE]
    try:
        size = os.path.getsize(path)
        if size <= large or _is_zipped_file(path):
            return [WHOLE]
    except (OSError, InputError):  # what cannot be read is named when it is read
        return [WHOLE]
    n = -(-size // large)
    return [Span(*ends) for ends in pairwise(size * i // n for i in range(n + 1))]


def _is_zipped_file(path: str | Path) -> bool:
    with open_binary(path) as file:
        return is_zipped(path, file)


def read_words(
    path: str | Path,
    reader: str = "auto",
    column: Column | None = None,
    on_bad: OnBad | None = None,
    span: Span = WHOLE,
) -> Iterator[str]:
    """Read blocks of lines in which blanks stand between words and marks.

    Args:
        path: a text file.
        reader: ``tokens`` takes the text as it is; ``text`` sets marks apart from words; ``auto`` looks
            at the first block, whether marks stand apart already.
        column: the one that holds the text, see `text_cells`; None for whole lines.
        on_bad: see `column_blocks`.
        span: the part of a plain file to read; not with ``column``.

    Raises:
        ConfigError: there is no such reader.
        InputError: the file cannot be read.
    """
    check_reader(reader)
    if reader == "auto" and span.begin:
        reader = settled_reader(path)
    blocks = read_blocks(path, span) if column is None else column_blocks(path, column, on_bad)
    for block in blocks:
        if reader == "auto":
            reader = "tokens" if is_tokenised(block) else "text"
        yield block if reader == "tokens" else " ".join(_LINE_OR_WORD.findall(block))


def settled_reader(path: str | Path) -> str:
    """Return ``tokens`` or ``text``, by how a file begins."""
    return "tokens" if is_tokenised(next(read_blocks(path), "")) else "text"


def check_reader(reader: str) -> None:
    """Raise ConfigError for a name that is not in `READERS`."""
    if reader not in READERS:
        raise ConfigError(f"no reader of text is called {reader!r}", hint=f"there are {', '.join(READERS)}")


def is_tokenised(text: str) -> bool:
    """Whether marks in a text stand apart from words more often than not."""
    return len(_APART.findall(text)) >= len(_ATTACHED.findall(text))
