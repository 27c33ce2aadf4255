"""Read plain text in blocks of whole lines, which is fast for text whose words are only counted."""

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

# Approximate size of a block in bytes.
BLOCK = 1 << 15
# Maximum size of a partition of a file in bytes.
LARGE = 256 << 20
# Names of the readers of plain text.
READERS = ("auto", "text", "tokens")

_LINE_OR_WORD = re.compile(r"\n|\w+(?:[-.,'’/@:]\w+)*|[^\w\s]+")
_ATTACHED = re.compile(r"\w[.,;:!?](?=\s)")
_APART = re.compile(r"(?<=\s)[.,;:!?](?=\s)")


@dataclass(frozen=True)
class Span:
    """Part of a file: all lines whose first byte has an offset in [``begin``, ``end``)."""

    begin: int = 0
    end: int = sys.maxsize


WHOLE = Span()


def read_blocks(path: str | Path, span: Span = WHOLE) -> Iterator[str]:
    """Read the text of a file, plain or gzipped, in blocks that end at line ends.

    A line longer than a block is cut at a blank, so memory is bounded even without line ends.

    Args:
        path: the file.
        span: the part to read; plain files only.

    Raises:
        InputError: the file is missing, unreadable, not UTF-8, or contains a NUL. The error has the path
            and, for invalid characters, the line.
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
    """Return the number of lines in a file before a span, to give line numbers in error messages."""
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
    """Yield the bytes of a span in chunks, without a byte order mark.

    Args:
        file: the opened file.
        path: path of the file, for error messages.
        span: the span to read; it consists of whole lines (see `Span`).
        zipped: whether the file is gzipped.
    """
    if span.begin:
        file.seek(span.begin - 1)
        while (piece := file.readline(BLOCK)) and not piece.endswith(b"\n"):
            pass  # skip the rest of a line that begins before the span
    at = file.tell()
    stream = unzipped(file, path) if zipped else file
    while at < span.end and (chunk := stream.read(min(BLOCK, span.end - at))):
        at += len(chunk)
        yield chunk if at > len(chunk) else chunk.removeprefix(codecs.BOM_UTF8)
        if at == span.end:
            while not chunk.endswith(b"\n") and (chunk := stream.readline(BLOCK)):
                yield chunk


def column_blocks(path: str | Path, column: Column, on_bad: OnBad | None = None) -> Iterator[str]:
    """Read the texts in one column of a table, as blocks with one text per line.

    Args:
        path: file of the table.
        column: name of the column, or its number from 1 in a table without a header.
        on_bad: called with the error of each row without a text in that column, which is skipped; None to
            raise the first error.

    Raises:
        InputError: the file cannot be read or has no such column; or, if ``on_bad`` is None, a row has no
            text in that column.
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
    """Corpus of text files, read in blocks of lines by `read_words`; a large file has several partitions.

    Args:
        paths: the files.
        reader: ``tokens`` for tokenised text, ``text`` for raw text, ``auto`` to recognise which it is.
        column: name or number of the column of a table that holds the text; None for plain text.
        on_bad: called with the error of each bad row of a table; None to raise the first error.
        large: maximum size of a partition in bytes. Gzipped files, URLs and tables are not split.
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
        """Return a partition for each file, or several, one for each span, for a large file.

        The ``start`` of a partition is the offset of its span in bytes.
        """
        return [
            replace(whole, start=span.begin, read=partial(self.read, path, span=span))
            for whole, path in zip(super().partitions(), self.paths, strict=True)
            for span in _spans(path, self.large)
        ]


def _spans(path: str | Path, large: int) -> list[Span]:
    """Return spans of equal size that cover a file of more than ``large`` bytes.

    A small, gzipped or remote file is covered by one span.
    """
    if not large or is_address(path):
        return [WHOLE]
    try:
        size = os.path.getsize(path)
        if size <= large or _is_zipped_file(path):
            return [WHOLE]
    except (OSError, InputError):  # reading the file will report the error
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
    """Read a text file in blocks of lines, with words and punctuation marks separated by blanks.

    Args:
        path: a text file.
        reader: ``tokens`` leaves the text as it is; ``text`` separates punctuation from words; ``auto``
            does so unless punctuation is already separated in the first block.
        column: name or number of the column of a table that holds the text; None for plain text.
        on_bad: called with the error of each bad row of a table; None to raise the first error.
        span: the part of a plain file to read; ignored with ``column``.

    Raises:
        ConfigError: there is no such reader.
        InputError: the file cannot be read.
    """
    check_reader(reader)
    if reader == "auto" and span.begin:
        reader = resolve_reader(path)
    blocks = read_blocks(path, span) if column is None else column_blocks(path, column, on_bad)
    for block in blocks:
        if reader == "auto":
            reader = "tokens" if is_tokenised(block) else "text"
        yield block if reader == "tokens" else " ".join(_LINE_OR_WORD.findall(block))


def resolve_reader(path: str | Path) -> str:
    """Return the reader for a file: ``tokens`` if its first block is tokenised text, else ``text``."""
    return "tokens" if is_tokenised(next(read_blocks(path), "")) else "text"


def check_reader(reader: str) -> None:
    """Raise ConfigError unless `READERS` contains a reader of this name."""
    if reader not in READERS:
        raise ConfigError(f"no reader of text is called {reader!r}", hint=f"there are {', '.join(READERS)}")


def is_tokenised(text: str) -> bool:
    """Return whether a text looks tokenised: blanks precede at least half of its punctuation marks."""
    return len(_APART.findall(text)) >= len(_ATTACHED.findall(text))
