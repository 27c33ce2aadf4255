"""Append-only journal of JSON lines; `append` returns when an entry is on the disk.

A process that is killed while it writes leaves an incomplete last line, which is removed when the journal is
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
    """Append-only file with one JSON object per line.

    Args:
        path: path of the file, which is created if necessary.

    Attributes:
        entries: object of each line that the file had when it was opened; None for an invalid line.

    Raises:
        ConfigError: the file cannot be read or written, or is a pipe or a device.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                os.close(self._file)
                raise ConfigError("the journal is a pipe or a device, not a file", path=path)
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
            ConfigError: the entry cannot be written completely; the file is then unchanged.
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
        """Close the file."""
        os.close(self._file)


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
