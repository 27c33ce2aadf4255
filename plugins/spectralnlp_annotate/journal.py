"""A journal: lines of JSON that are on the disk before anybody is told that they were taken.

A process that is killed while it writes leaves a last line without an end; it is cut off when the journal is
opened again.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spectralnlp.errors import ConfigError


class Journal:
    """An append-only file of JSON objects, a line each.

    Args:
        path: the file; it is made if it is not there.

    Attributes:
        entries: what it held when it was opened, by line; None for a line that is no JSON object.

    Raises:
        ConfigError: it cannot be read or written, or is a pipe or a device.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                os.close(self._file)
                raise ConfigError("the journal is no file, but a pipe or a device", path=path)
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.ftruncate(self._file, len(whole))
        except OSError as error:
            raise ConfigError(f"cannot open the journal: {error.strerror}", path=path) from error
        self.entries = [_read(line) for line in whole.splitlines()]

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write an entry, and wait until it is on the disk.

        Raises:
            ConfigError: it cannot be written, or not whole.
        """
        line = (json.dumps(entry, ensure_ascii=False) + "\n").encode()
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(28, "no space left on the device")
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise ConfigError(f"cannot write the journal: {error.strerror}", path=self.path) from error

    def close(self) -> None:
        """Close the file; for tests, for a process that ends needs not."""
        os.close(self._file)


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
