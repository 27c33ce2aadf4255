"""Read text files (plain, gzipped or remote) as streams of lines, with errors that name the line.

A file is a local path, or an address with a scheme, such as ``s3://bucket/name``, which a plugin's file
system opens.
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
from typing import Any, BinaryIO, Protocol, TypeAlias, TypeVar, cast

from spectralnlp import registry
from spectralnlp.errors import InputError
from spectralnlp.runtime.encodings import likely_encoding

T = TypeVar("T")

Location: TypeAlias = Path | str
# Callback for a bad line or example, which is then skipped.
OnBad: TypeAlias = Callable[[InputError], None]
Inputs: TypeAlias = str | Path | Sequence[str | Path]  # files, folders and globs: one, or several
GZIP_MAGIC = b"\x1f\x8b"
LONGEST_LINE = 64 << 20  # bytes; longer lines come from decompression bombs, not from text
_MAX_SHORT = 1 << 20  # maximum bytes of a file of settings and the like
# gzip compresses text about tenfold; beyond this many bytes, more than 200-fold is a decompression bomb.
_SWOLLEN, _MAX_SWELLING = 4 << 20, 200
_PEEKED = 1024  # bytes at the beginning of a file that may declare its encoding
_SAMPLED = 200  # lines from which an encoding is guessed
_HINT = "it reads as {}; convert the file to UTF-8"


def report_bad(error: InputError, on_bad: OnBad | None) -> None:
    """Hand the error of a bad line or example to a callback; raise it if the callback is None."""
    if on_bad is None:
        raise error
    on_bad(error)


def reported(results: Iterable[T | InputError], on_bad: OnBad | None) -> Iterator[T]:
    """Yield results, and hand the errors among them to a callback.

    Args:
        results: what is read; an error stands for a line or example that is skipped, and an error that is
            raised ends the reading.
        on_bad: called with each error, also with the one that ends the reading; None to raise the first.

    Raises:
        InputError: ``on_bad`` is None, and a result is an error.
    """
    results = iter(results)
    while True:
        try:
            result = next(results)
        except StopIteration:
            return
        except InputError as error:
            result = error
        if isinstance(result, InputError):
            report_bad(result, on_bad)
        else:
            yield result


def read_ahead(items: Iterator[T], n: int) -> tuple[list[T], Iterator[T]]:
    """Return the first n items of what is read, and the rest, which raises an error that came before it."""
    head: list[T] = []
    try:
        head.extend(islice(items, n))
    except InputError as error:
        return head, _failing(error)
    return head, items


def _failing(error: InputError) -> Iterator[T]:
    yield from ()
    raise error


class FileSystem(Protocol):
    """Protocol of file systems that open remote files.

    Implementations are registered in ``spectralnlp.filesystems`` and created without arguments.
    """

    def open(self, address: str) -> BinaryIO:
        """Return a stream of bytes; raises OSError or InputError."""

    def expand(self, address: str) -> list[str]:
        """Return the sorted addresses of files in a folder or matching a pattern; [] if there are none."""


def is_address(path: str | Path) -> bool:
    """Whether a path is an address with a scheme, such as ``s3://bucket/name``."""
    return isinstance(path, str) and "://" in path


def _file_system() -> FileSystem:
    system: FileSystem = registry.filesystems.get("fsspec")()
    return system


def open_binary(path: str | Path) -> BufferedReader:
    """Open a file to read bytes.

    Raises:
        InputError: the file is missing, unreadable, or a device that never ends.
        RegistryError: the path is an address, and no installed package opens such addresses.
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
    """Whether a file is an endless device such as /dev/zero; terminals and /dev/null are not."""
    status = os.fstat(file.fileno())
    is_null = os.path.exists(os.devnull) and os.path.samestat(status, os.stat(os.devnull))
    return stat.S_ISCHR(status.st_mode) and not file.isatty() and not is_null


def read_short_text(path: Path, noun: str) -> str:
    """Return the content of a short text file, such as settings or a model card.

    Args:
        path: the file, in UTF-8.
        noun: what to call the file in errors.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has more than a megabyte.
    """
    try:
        with open_binary(path) as file:
            content = file.read(_MAX_SHORT + 1)
    except OSError as error:
        raise InputError(f"cannot read {noun}: {error.strerror or error}", path=path) from error
    except InputError as error:
        raise InputError(error.what.replace("the file", noun), path=path, hint=error.hint) from error
    if len(content) > _MAX_SHORT:
        raise InputError(f"{noun} of more than {_MAX_SHORT:,} bytes", path=path, hint="name another file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{noun}: not UTF-8", path=path, hint="convert the file") from error


class _Counted:
    """A file that counts the bytes read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.n_bytes = file, 0

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self.n_bytes += len(content)
        return content


class _Unzipped(RawIOBase):
    """Stream of the decompressed bytes of a gzip file; raises InputError for a decompression bomb."""

    def __init__(self, file: BinaryIO, path: str | Path) -> None:
        self._zipped = _Counted(file)
        self._bytes = gzip.GzipFile(fileobj=cast(BinaryIO, self._zipped))
        self._path, self._size = path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._bytes.readinto(buffer)
        self._size += size
        if self._size > max(_SWOLLEN, _MAX_SWELLING * self._zipped.n_bytes):
            what = f"a gzip file that swells to more than {_MAX_SWELLING} times its size"
            raise InputError(what, path=self._path, hint="unpack it, and look at what it holds")
        return size


def unzipped(file: BufferedReader, path: str | Path) -> BufferedReader:
    """Return the decompressed bytes of a gzip file.

    Args:
        file: the file, at its beginning.
        path: name of the file, for errors.

    Returns:
        A stream that raises an InputError if the file is a decompression bomb, and an EOFError, an OSError or
        a `zlib.error` if it is damaged.
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
        hint: hint of the error for bytes that are not in this encoding; ``{}`` in it is replaced by the name
            of an encoding that would work.
        declared: function that looks for a declaration of the encoding in the beginning of the file, which it
            gets as ISO-8859-1 text; returns the encoding to use, or None for ``encoding``.

    Yields:
        An iterator over lines; memory is bounded by the longest line.

    Raises:
        InputError: the file is missing or unreadable, its bytes are not in this encoding, or it contains a
            NUL or a line of more than `LONGEST_LINE` bytes. The error has the path, the line number and a
            hint.
    """
    with open_binary(path) as file:
        stream = unzipped(file, path) if is_zipped(path, file) else file
        named = None if declared is None else declared(_beginning(stream))
        yield decode_lines(stream, path, named or encoding, hint=hint)


def _beginning(stream: Any) -> str:
    """Return the first bytes of a buffered stream, decoded as ISO-8859-1, without consuming them.

    Returns "" if the stream cannot be read.
    """
    with suppress(OSError, EOFError, zlib.error):
        peeked: bytes = stream.peek(_PEEKED)[:_PEEKED]
        return peeked.decode("iso-8859-1")
    return ""


def decode_lines(
    stream: Iterable[bytes], path: str | Path, encoding: str = "utf-8", *, hint: str = _HINT
) -> Iterator[str]:
    """Decode the lines of a binary stream, such as ``sys.stdin.buffer``, to text without line ends.

    Args:
        stream: a binary file, or an iterable of lines as bytes with their ends.
        path: name of the stream, for errors.
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
    """Return an iterator over the lines of a stream.

    Lines of files are cut after `LONGEST_LINE` + 1 bytes, so that a longer line cannot fill the memory.
    """
    readline = getattr(stream, "readline", None)
    return iter(stream) if readline is None else iter(partial(readline, LONGEST_LINE + 1), b"")


def _readable(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield lines up to the first that cannot be read; then stop without an error."""
    with suppress(OSError, EOFError, zlib.error):
        yield from lines


def is_zipped(path: str | Path, file: BufferedReader) -> bool:
    """Whether a newly opened file is gzipped, judged by its suffix or its first bytes.

    Raises:
        InputError: the file is unreadable.
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


# Files of every folder that `save_model` writes.
_OF_A_MODEL = {"model.json", "arrays.safetensors"}


def expand_inputs(inputs: Inputs) -> list[Location]:
    """Return the input files that a user named by paths, folders, glob patterns or addresses.

    Each file is returned once: local files as paths, remote files as addresses (text).

    Args:
        inputs: one input or a list of inputs. An input is a file with any suffix; a folder, whose files are
            found recursively, sorted, without hidden ones; a glob pattern (``**`` crosses folders), for
            shells that do not expand patterns; or the address of a file, a folder or a pattern.

    Raises:
        InputError: an input is missing, matches nothing, contains no files or is a model.
    """
    return list(dict.fromkeys(file for item in listed_inputs(inputs) for file in _expand(item)))


def listed_inputs(inputs: Inputs) -> Sequence[str | Path]:
    """Return inputs as a list; a single path becomes a list of one."""
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
        inside = list(_files_below(path))
        if {file.name for file in inside if file.parent == path} >= _OF_A_MODEL:
            raise InputError("this is a model, not data", path=path, hint="give the data here")
        if not inside:
            raise InputError("the folder holds no files", path=path, hint="hidden files are not read")
        yield from inside
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
    paths = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(parent, name) for name in files if not name.startswith(".")]
    yield from sorted(paths)
