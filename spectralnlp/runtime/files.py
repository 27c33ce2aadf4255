"""Text files as streams of lines: plain, gzipped or at an address, with errors that name the line.

A file is a path on this machine, or an address with a scheme, ``s3://bucket/name``: then a plugin's file
system opens it.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias, cast

from spectralnlp import registry
from spectralnlp.errors import InputError
from spectralnlp.runtime.encodings import likely_encoding

Location: TypeAlias = Path | str
# Called for each bad line or example, which is then left out.
OnBad: TypeAlias = Callable[[InputError], None]
Inputs: TypeAlias = str | Path | Sequence[str | Path]  # files, folders and globs: one, or several
GZIP_MAGIC = b"\x1f\x8b"
LONGEST_LINE = 64 << 20  # bytes; what is longer is no line, but a compressed file that swells
_MOST_SHORT = 1 << 20  # bytes of a file of settings and the like
# Text becomes a tenth of its size in a gzip file; from this many bytes on, a two-hundredth is a trap.
_SWOLLEN, _MOST_SWELLING = 4 << 20, 200
_PEEKED = 1024  # bytes in which a file may say its encoding
_SAMPLED = 200  # lines from which an encoding is guessed
_HINT = "it reads as {}; convert the file to UTF-8"


class FileSystem(Protocol):
    """Opens addresses: an entry point in ``spectralnlp.filesystems``, made without arguments."""

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
        InputError: it is missing or unreadable, or a device that never ends.
        RegistryError: it is an address, and what opens these is not installed.
    """
    try:
        if is_address(path):
            return BufferedReader(cast(Any, _file_system().open(str(path))))
        file = open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error
    if _is_endless(file):
        file.close()
        raise InputError("a device, not a file", path=path, hint="give a file or a pipe")
    return file


def _is_endless(file: BufferedReader) -> bool:
    """Whether a file is a device that gives bytes for ever, as /dev/zero; terminals and /dev/null do not."""
    status = os.fstat(file.fileno())
    is_null = os.path.exists(os.devnull) and os.path.samestat(status, os.stat(os.devnull))
    return stat.S_ISCHR(status.st_mode) and not file.isatty() and not is_null


def read_short_text(path: Path, noun: str) -> str:
    """Read a short text whole: settings, a model card.

    Args:
        path: the file, in UTF-8.
        noun: what it is, for errors.

    Raises:
        InputError: it cannot be read, is no UTF-8, or has more than a megabyte.
    """
    try:
        with open_binary(path) as file:
            content = file.read(_MOST_SHORT + 1)
    except OSError as error:
        raise InputError(f"cannot read {noun}: {error.strerror or error}", path=path) from error
    except InputError as error:
        raise InputError(error.what.replace("the file", noun), path=path, hint=error.hint) from error
    if len(content) > _MOST_SHORT:
        raise InputError(f"{noun} of more than {_MOST_SHORT:,} bytes", path=path, hint="name another file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{noun}: not UTF-8", path=path, hint="convert the file") from error


class _Counted:
    """A file that counts the bytes that were read of it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.n_bytes = file, 0

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self.n_bytes += len(content)
        return content


class _Unzipped(RawIOBase):
    """The bytes of a gzip file, as long as they are not far more than those of the file."""

    def __init__(self, file: BinaryIO, path: str | Path) -> None:
        self._zipped = _Counted(file)
        self._bytes = gzip.GzipFile(fileobj=cast(BinaryIO, self._zipped))
        self._path, self._size = path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._bytes.readinto(buffer)
        self._size += size
        if self._size > max(_SWOLLEN, _MOST_SWELLING * self._zipped.n_bytes):
            what = f"a gzip file that swells to more than {_MOST_SWELLING} times its size"
            raise InputError(what, path=self._path, hint="unpack it, and look at what it holds")
        return size


def unzipped(file: BufferedReader, path: str | Path) -> BufferedReader:
    """Return the unpacked bytes of a gzip file.

    Args:
        file: is at its beginning.
        path: for errors.

    Returns:
        A stream that raises an InputError where the file swells beyond what text does, and an EOFError,
        an OSError or a `zlib.error` where it is damaged.
    """
    return BufferedReader(_Unzipped(file, path), 1 << 17)


@contextmanager
def open_text(
    path: str | Path,
    encoding: str = "utf-8",
    *,
    hint: str = _HINT,
    declared: Callable[[str], str | None] | None = None,
) -> Iterator[Iterator[str]]:
    """Open a text file, plain or gzipped, as a stream of lines without their ends.

    Args:
        path: the file; gzip is recognised by its first bytes or by the suffix ``.gz``.
        encoding: any encoding in which a line feed is one byte; a UTF-8 byte order mark is dropped.
        hint: what to do about bytes that are not in this encoding; ``{}`` stands for one that would work.
        declared: called with the beginning of the file, decoded as ISO-8859-1; the encoding that it gives
            is taken in place of ``encoding``, unless it gives None.

    Yields:
        An iterator of lines; memory is bounded by the longest of them.

    Raises:
        InputError: the file is missing or unreadable, its bytes are not in this encoding, or it holds a
            NUL, or a line of more than `LONGEST_LINE` bytes; with path, line number and what to do.
    """
    with open_binary(path) as file:
        stream = unzipped(file, path) if is_zipped(path, file) else file
        named = None if declared is None else declared(_beginning(stream))
        yield decode_lines(stream, path, named or encoding, hint=hint)


def _beginning(stream: Any) -> str:
    """The first bytes of a buffered stream, which stay to be read; what is damaged is told on reading."""
    with suppress(OSError, EOFError, zlib.error):
        peeked: bytes = stream.peek(_PEEKED)[:_PEEKED]
        return peeked.decode("iso-8859-1")
    return ""


def decode_lines(
    stream: Iterable[bytes], path: str | Path, encoding: str = "utf-8", *, hint: str = _HINT
) -> Iterator[str]:
    """Decode a stream of byte lines (a binary file, ``sys.stdin.buffer``), as `open_text` does.

    Args:
        stream: lines of bytes with their ends; of a file, no more is read of a line than it may have.
        path: what the stream is called in errors.
        encoding: as in `open_text`.
        hint: as in `open_text`.
    """
    _check_encoding(encoding, path)
    lines = _bounded(stream)
    number = 0
    while True:
        try:
            raw = next(lines, None)
        except (OSError, EOFError, zlib.error) as error:
            cut = "the file may be cut short, or not be gzip at all"
            raise InputError(f"cannot be read: {error}", path=path, line=number + 1, hint=cut) from error
        if raw is None:
            return
        number += 1
        if raw == b"\n":
            yield ""
            continue
        if len(raw) > LONGEST_LINE:
            raise too_long_line(path, number)
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        if b"\0" in raw:
            binary = "this is a binary file or UTF-16; convert it to UTF-8"
            raise InputError("a NUL byte in text", path=path, line=number, hint=binary)
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            what = f"byte 0x{raw[error.start]:02x} at column {error.start + 1} is not {encoding}"
            sample = b"".join([raw, *islice(_readable(lines), _SAMPLED)])
            likely = likely_encoding(sample)
            raise InputError(what, path=path, line=number, hint=hint.format(likely)) from error
        yield line.removesuffix("\n").removesuffix("\r")


def too_long_line(path: str | Path, number: int | None) -> InputError:
    """Return the error for a line of more than `LONGEST_LINE` bytes."""
    return InputError(f"a line of more than {LONGEST_LINE >> 20} MB", path=path, line=number, hint="break it")


def _bounded(stream: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream; of a file's, one byte more than they may have at most."""
    readline = getattr(stream, "readline", None)
    return iter(stream) if readline is None else iter(partial(readline, LONGEST_LINE + 1), b"")


def _readable(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines up to the first that cannot be read."""
    with suppress(OSError, EOFError, zlib.error):
        yield from lines


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
    except (LookupError, ValueError):  # a name with a NUL
        raise InputError(f"no encoding is called {encoding!r}", path=path, hint="try utf-8") from None
    if not readable:
        raise InputError(f"{encoding} cannot be read line by line", path=path, hint="convert it to UTF-8")


def expand_inputs(inputs: Inputs) -> list[Location]:
    """The files that files, directories and globs stand for, each once.

    Args:
        inputs: one or several: files of any extension; directories, read recursively in sorted order without
            hidden files; glob patterns (``**`` crosses directories), for shells that leave them alone; and
            all these as addresses. A file becomes a path, an address remains text.

    Raises:
        InputError: an input that is missing, matches nothing or holds no files.
    """
    return list(dict.fromkeys(file for item in listed_inputs(inputs) for file in _expand(item)))


def listed_inputs(inputs: Inputs) -> Sequence[str | Path]:
    """Inputs as a list: one path is one input, not its characters."""
    return [inputs] if isinstance(inputs, str | Path) else inputs


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
