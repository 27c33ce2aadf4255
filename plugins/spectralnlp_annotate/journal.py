"""A journal: lines of JSON that are on the disk before anybody is told that they were taken.

A process that is killed while it writes leaves a last line without an end; it is cut off when the journal is
opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spectralnlp.errors import ConfigError, InputError


class Journal:
    """An append-only file of JSON objects, a line each.

    Args:
        path: the file; it is made if it is not there.

    Attributes:
        entries: what it held when it was opened.

    Raises:
        ConfigError: it cannot be read or written.
        InputError: a line before the last is no JSON object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.ftruncate(self._file, len(whole))
        except OSError as error:
            raise ConfigError(f"cannot open the journal: {error.strerror}", path=path) from error
        self.entries = [self._read(line, number) for number, line in enumerate(whole.splitlines(), 1)]

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write an entry, and wait until it is on the disk.

        Raises:
            ConfigError: it cannot be written, or not whole.
        """
        line = (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
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

    def _read(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            hint = "restore the file from a backup, or take the line out"
            raise InputError("no entry of a journal", path=self.path, line=number, hint=hint)
        return entry
