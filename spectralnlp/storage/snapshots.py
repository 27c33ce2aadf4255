"""Consistent reading of a folder, even if another folder replaces it while it is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from spectralnlp.errors import ModelError

T = TypeVar("T")

# Whether files can be opened relative to an open folder; otherwise they are opened by their path.
_BY_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")

# Times that a folder is read before giving up because it keeps being replaced.
_ATTEMPTS = 20


class Snapshot:
    """An open folder, whose files can be read even after another folder has taken its path.

    Args:
        path: path of the folder.
        descriptor: file descriptor of the open folder; None if the system cannot open folders.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self._descriptor = path, descriptor

    def has(self, name: str) -> bool:
        """Return whether the folder holds a file of this name.

        Raises:
            ModelError: there is no such file, and another folder now has the path of this folder.
        """
        if self._descriptor is None:
            return (self.path / name).exists()
        found = name in os.listdir(self._descriptor)
        if not found and not self.is_there:
            raise ModelError("was replaced while it was read", path=self.path, hint="read it again")
        return found

    def open(self, name: str) -> BufferedReader:
        """Open a file for reading.

        Raises:
            ModelError: the file cannot be opened, or is not a regular file.
        """
        try:
            if self._descriptor is None:
                file = open(self.path / name, "rb")  # noqa: SIM115
            else:  # O_NONBLOCK: opening a pipe without a writer would block
                flags = os.O_RDONLY | os.O_NONBLOCK
                file = os.fdopen(os.open(name, flags, dir_fd=self._descriptor), "rb")
        except OSError as error:
            raise unreadable(self.path / name, error) from error
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise ModelError("is no file, but a pipe or a device", path=self.path / name)
        return file

    def read(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            ModelError: the file cannot be read.
        """
        with self.open(name) as file:
            try:
                return file.read()
            except OSError as error:
                raise unreadable(self.path / name, error) from error

    @property
    def is_there(self) -> bool:
        """Whether the path still leads to this folder."""
        if self._descriptor is None:
            return True
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._descriptor))
        except OSError:
            return False


def read_folder(path: Path, read: Callable[[Snapshot], T]) -> T:
    """Return the value of a function that reads files of a folder.

    If reading fails because another folder took the path meanwhile, it is tried again with the new folder.

    Args:
        path: the folder.
        read: the function, called with the open folder.

    Raises:
        ModelError: there is no such folder; or what ``read`` raises.
    """
    for _ in range(_ATTEMPTS - 1):
        with _opened(path) as snapshot:
            try:
                return read(snapshot)
            except ModelError:
                if snapshot.is_there:
                    raise
    with _opened(path) as snapshot:
        return read(snapshot)


def unreadable(path: Path, error: OSError) -> ModelError:
    """Return the error for a model file that the operating system cannot read."""
    return ModelError(f"cannot be read: {error.strerror or error}", path=path)


@contextmanager
def _opened(path: Path) -> Iterator[Snapshot]:
    if not _BY_FOLDER:
        yield Snapshot(path, None)
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise ModelError("no such model", path=path, hint="a model is a folder") from None
    except NotADirectoryError:
        raise ModelError("no model here", path=path, hint="a model is a folder") from None
    except ValueError as error:  # characters that are invalid in a path
        raise ModelError(f"no such model: {error}", path=ascii(str(path))) from None
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        yield Snapshot(path, descriptor)
    finally:
        os.close(descriptor)
