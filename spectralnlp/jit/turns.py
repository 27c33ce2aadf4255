"""Locks for compiling: one process compiles a function (kernel), and the others wait and load the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from zlib import crc32

_LOCK = "kernels.lock"


class Turn:
    """Lock that a process holds while it compiles a kernel, so that others wait and load the result.

    The lock is on one byte of a file in the folder where the kernel will be stored; the operating system
    releases it when the process ends. If no file can be locked, as on Windows, each process compiles for
    itself.

    Args:
        folders: folders in which the kernel may be stored, in the order in which they are tried.
        name: name of the kernel.
    """

    def __init__(self, folders: Iterable[str], name: str) -> None:
        self._folders = folders
        self._byte = crc32(name.encode())
        self._file: int | None = None

    def take(self) -> None:
        """Take the lock, waiting until no other process holds it."""
        if sys.platform == "win32":  # on Windows each process compiles for itself
            return
        import fcntl

        for folder in self._folders:
            try:
                file = _lock_file(folder)
                fcntl.lockf(file, fcntl.LOCK_EX, 1, self._byte)
            except OSError:  # the folder is not writable, or waiting would be a deadlock
                continue
            self._file = file
            return

    def end(self) -> None:
        """Release the lock, so that another process may compile."""
        if self._file is not None and sys.platform != "win32":
            import fcntl

            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._byte)
            self._file = None


@cache  # closing the file would release all locks of the process
def _lock_file(folder: str) -> int:
    os.makedirs(folder, exist_ok=True)
    return os.open(Path(folder) / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
