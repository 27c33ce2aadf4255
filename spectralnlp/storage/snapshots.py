"""Folders read as they were when they were opened, though another may take their place meanwhile."""

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

# Whether files can be opened relative to a folder that is open; where not, they are opened by their path.
_BY_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")

# So often may a folder be replaced while it is read.
_ATTEMPTS = 20


class Snapshot:
    """An open folder: its files are those that were in it, wherever it is now.

    Args:
        path: of the folder.
        descriptor: of the open folder; None where the system has none.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self._descriptor = path, descriptor

    def has(self, name: str) -> bool:
        """Whether there is such a file.

        Raises:
            ModelError: it is not there, and may have been removed because another folder took the place.
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
            ModelError: it cannot be opened.
        """
        try:
            if self._descriptor is None:
                file = open(self.path / name, "rb")  # noqa: SIM115
            else:  # a pipe that nobody writes to would be waited for
                flags = os.O_RDONLY | os.O_NONBLOCK
                file = os.fdopen(os.open(name, flags, dir_fd=self._descriptor), "rb")
        except OSError as error:
            raise unreadable(self.path / name, error) from error
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise ModelError("is no file, but a pipe or a device", path=self.path / name)
        return file

    def read(self, name: str) -> bytes:
        """The bytes of a file.

        Raises:
            ModelError: it cannot be read.
        """
        with self.open(name) as file:
            try:
                return file.read()
            except OSError as error:
                raise unreadable(self.path / name, error) from error

    @property
    def is_there(self) -> bool:
        """Whether the folder still stands at its place."""
        if self._descriptor is None:
            return True
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._descriptor))
        except OSError:
            return False


def read_folder(path: Path, read: Callable[[Snapshot], T]) -> T:
    """Read from one folder; again, if another folder took its place meanwhile.

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
    """The error of a file of a model that the system does not give."""
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
    except ValueError as error:  # characters that no path has
        raise ModelError(f"no such model: {error}", path=ascii(str(path))) from None
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        yield Snapshot(path, descriptor)
    finally:
        os.close(descriptor)
