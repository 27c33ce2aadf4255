"""Corpora: re-iterable, lazy, partitioned streams of examples, and the text files under them.

A file is a path on this machine, or an address with a scheme, ``s3://bucket/name``: then a plugin's file
system opens it.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeAlias, TypeVar, cast

from spectralnlp import registry
from spectralnlp.errors import InputError

T = TypeVar("T")
Location: TypeAlias = Path | str
GZIP_MAGIC = b"\x1f\x8b"


# ---------------------------------------------------------------------------------------------------------
# Files


class FileSystem(Protocol):
    """What opens addresses: an entry point in ``spectralnlp.filesystems``, made without arguments."""

    def open(self, address: str) -> BinaryIO:
        """A stream of bytes; raises OSError or InputError."""

    def expand(self, address: str) -> list[str]:
        """The addresses of files that an address, a folder's or a pattern, stands for, sorted; none is []."""


def is_address(path: str | Path) -> bool:
    """Whether a file is named by an address with a scheme."""
    return isinstance(path, str) and "://" in path


def _file_system() -> FileSystem:
    found: FileSystem = registry.filesystems.get("fsspec")()
    return found


def open_binary(path: str | Path) -> BufferedReader:
    """Open a file to read bytes.

    Raises:
        InputError: it is missing or unreadable.
        RegistryError: it is an address, and what opens these is not installed.
    """
    try:
        if is_address(path):
            return BufferedReader(cast(Any, _file_system().open(str(path))))
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error


@contextmanager
def open_text(path: str | Path, encoding: str = "utf-8") -> Iterator[Iterator[str]]:
    """Open a text file, plain or gzipped, as a stream of lines without their ends.

    Args:
        path: the file; gzip is recognised by its first bytes or by the suffix ``.gz``.
        encoding: any encoding in which a line feed is one byte; a UTF-8 byte order mark is dropped.

    Yields:
        An iterator of lines; memory is bounded by the longest of them.

    Raises:
        InputError: the file is missing or unreadable, its bytes are not in this encoding, or it holds a
            NUL; with path, line number and what to do.
    """
    with open_binary(path) as file:
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_zipped(path, file) else file
        yield decode_lines(stream, path, encoding)


def decode_lines(stream: Iterable[bytes], path: str | Path, encoding: str = "utf-8") -> Iterator[str]:
    """Decode a stream of byte lines (a binary file, ``sys.stdin.buffer``), as `open_text` does.

    Args:
        stream: lines of bytes with their ends.
        path: what the stream is called in errors.
        encoding: as in `open_text`.
    """
    _check_encoding(encoding, path)
    lines = iter(stream)
    number = 0
    while True:
        try:
            raw = next(lines, None)
        except (OSError, EOFError, zlib.error) as error:
            hint = "the file may be cut short, or not be gzip at all"
            raise InputError(f"cannot be read: {error}", path=path, line=number + 1, hint=hint) from error
        if raw is None:
            return
        number += 1
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        if b"\0" in raw:
            hint = "this is a binary file or UTF-16; convert it to UTF-8"
            raise InputError("a NUL byte in text", path=path, line=number, hint=hint)
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            what = f"byte 0x{raw[error.start]:02x} at column {error.start + 1} is not {encoding}"
            raise InputError(
                what, path=path, line=number, hint="convert the file to UTF-8 or name its encoding"
            ) from error
        yield line.removesuffix("\n").removesuffix("\r")


def is_zipped(path: str | Path, file: BufferedReader) -> bool:
    """Whether a file, just opened, is gzipped: by its suffix or its first bytes.

    Raises:
        InputError: it is unreadable.
    """
    try:
        return str(path).endswith(".gz") or file.peek(2).startswith(GZIP_MAGIC)
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error


def _check_encoding(encoding: str, path: str | Path) -> None:
    try:
        readable = "\n".encode(encoding) == b"\n"
    except LookupError:
        raise InputError(f"no encoding is called {encoding!r}", path=path, hint="try utf-8") from None
    if not readable:
        raise InputError(f"{encoding} cannot be read line by line", path=path, hint="convert it to UTF-8")


def expand_inputs(inputs: Sequence[str | Path]) -> list[Location]:
    """The files that files, directories and globs stand for, each once.

    Args:
        inputs: files of any extension; directories, read recursively in sorted order without hidden
            files; glob patterns (``**`` crosses directories), for shells that leave them alone; and all
            these as addresses. A file becomes a path, an address remains text.

    Raises:
        InputError: an input that is missing, matches nothing or holds no files.
    """
    return list(dict.fromkeys(file for item in inputs for file in _expand(item)))


def _expand(item: str | Path) -> Iterator[Location]:
    if is_address(item):
        addresses = _file_system().expand(str(item))
        if not addresses:
            raise InputError("no such file, or nothing that matches", path=item)
        yield from addresses
        return
    path = Path(item)
    if path.is_dir():
        found = list(_files_below(path))
        if not found:
            raise InputError("the folder holds no files", path=path, hint="hidden files are not read")
        yield from found
    elif path.exists():
        yield path
    elif glob.has_magic(str(item)):
        matches = [Path(match) for match in sorted(glob.glob(str(item), recursive=True))]
        files = [file for match in matches for file in (_files_below(match) if match.is_dir() else [match])]
        if not files:
            raise InputError("the pattern matches no file", path=path)
        yield from sorted(files)
    else:
        raise InputError("no such file or folder", path=path)


def _files_below(folder: Path) -> Iterator[Path]:
    found = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in files if not name.startswith(".")]
    yield from sorted(found)


# ---------------------------------------------------------------------------------------------------------
# Examples


@dataclass(frozen=True)
class Batch(Generic[T]):
    """Consecutive examples of one document, and where they stand in the corpus.

    ``(document_index, start + i)`` is the global index of example ``i``. It does not depend on batch sizes
    or partitions, so a random sketch that draws from it gives the same result however the data was split.

    Args:
        examples: the examples, in order.
        document: identity of their document, stable over runs.
        document_index: position of the document in the corpus, from 0.
        start: row of the first example within its document, from 0.
    """

    examples: Sequence[T]
    document: str
    document_index: int
    start: int

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[T]:
        return iter(self.examples)


@dataclass(frozen=True)
class Partition(Generic[T]):
    """A run of consecutive examples of one document: what one worker reads, from recipe to rows.

    Picklable where ``read`` is: a function of a module, or a partial of one.

    Args:
        document: identity of the document, as in `Batch`.
        document_index: position of the document in the corpus.
        start: row of the partition's first example within the document.
        read: gives the examples afresh at every call.
    """

    document: str
    document_index: int
    start: int
    read: Callable[[], Iterator[T]]

    def __iter__(self) -> Iterator[T]:
        return self.read()

    def batches(self, size: int) -> Iterator[Batch[T]]:
        """The partition's examples, ``size`` at a time (the last batch may be shorter)."""
        examples, start = self.read(), self.start
        while batch := list(islice(examples, size)):
            yield Batch(batch, self.document, self.document_index, start)
            start += len(batch)


class Corpus(ABC, Generic[T]):
    """A stream of examples that can be read many times and never has to fit in memory."""

    @abstractmethod
    def partitions(self) -> Sequence[Partition[T]]:
        """The parts that workers may read apart, in corpus order; reads nothing yet."""

    def __iter__(self) -> Iterator[T]:
        for partition in self.partitions():
            yield from partition

    def batches(self, size: int) -> Iterator[Batch[T]]:
        """All examples in order, ``size`` at a time; a batch never crosses a partition."""
        for partition in self.partitions():
            yield from partition.batches(size)


class FileCorpus(Corpus[T]):
    """One document a file, read when needed.

    Args:
        paths: the files, in order; see `expand_inputs`.
        read: gives the examples of a file; a function of a module, so that workers can be sent it.
    """

    def __init__(self, paths: Iterable[str | Path], read: Callable[[Any], Iterator[T]]) -> None:
        self.paths = [path if is_address(path) else Path(path) for path in paths]
        self.read = read

    def partitions(self) -> Sequence[Partition[T]]:
        """One partition for each file."""
        return [
            Partition(_name_of(path), index, 0, partial(self.read, path))
            for index, path in enumerate(self.paths)
        ]


def _name_of(path: Location) -> str:
    return path if isinstance(path, str) else path.as_posix()


class InMemoryCorpus(Corpus[T]):
    """A list of examples as a corpus of one document.

    Args:
        examples: the examples; kept as a list.
        n_partitions: into how many row ranges of nearly equal length they are split.
        document: identity of the document.
    """

    def __init__(self, examples: Iterable[T], n_partitions: int = 1, document: str = "memory") -> None:
        self.examples = list(examples)
        self.n_partitions = n_partitions
        self.document = document

    def __len__(self) -> int:
        return len(self.examples)

    def partitions(self) -> Sequence[Partition[T]]:
        """Row ranges; empty ones are left out."""
        n, parts = len(self.examples), self.n_partitions
        bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
        return [
            Partition(self.document, 0, start, partial(iter, self.examples[start:end]))
            for start, end in bounds
            if start < end
        ]


class MappedCorpus(Corpus[T]):
    """Another corpus, each example passed through a function.

    Args:
        corpus: the other corpus.
        function: of an example; a function of a module, or a partial of one, so that workers can be sent it.
    """

    def __init__(self, corpus: Corpus[Any], function: Callable[[Any], T]) -> None:
        self.corpus = corpus
        self.function = function

    def partitions(self) -> Sequence[Partition[T]]:
        """Those of the other corpus."""
        return [
            Partition(each.document, each.document_index, each.start, partial(_mapped, self.function, each))
            for each in self.corpus.partitions()
        ]


def _mapped(function: Callable[[Any], T], partition: Partition[Any]) -> Iterator[T]:
    return map(function, partition)
