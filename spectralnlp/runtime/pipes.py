"""Copy inputs that can be read only once, such as pipes, to temporary files that can be read again."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

from spectralnlp.errors import InputError
from spectralnlp.runtime.files import Inputs, is_address, listed_inputs, open_binary

# Name of standard input.
STDIN = "-"


def rereadable(inputs: Inputs) -> list[str | Path]:
    """Return inputs that can be read repeatedly, as training needs them.

    A pipe (``<(zcat corpus.gz)``, ``/dev/stdin``, a FIFO) and ``-``, standard input, are copied to a
    temporary file, which is deleted when the process ends; other inputs are unchanged.

    Raises:
        InputError: an input cannot be read or copied.
    """
    return [_copied(item) if _is_read_once(item) else item for item in listed_inputs(inputs)]


def _is_read_once(item: str | Path) -> bool:
    if str(item) == STDIN:
        return not Path(STDIN).exists()
    if is_address(item):
        return False
    try:
        mode = os.stat(item).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _copied(item: str | Path) -> Path:
    """Copy a pipe to a temporary file with the pipe's name, and return its path."""
    is_stdin = str(item) == STDIN
    if is_stdin and sys.stdin is None:
        raise InputError("standard input is closed", hint="give a file")
    try:
        folder = Path(tempfile.mkdtemp(prefix="spectralnlp-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        copy = folder / ("stdin" if is_stdin else Path(item).name)
        if is_stdin:
            _copy(sys.stdin.buffer, copy)
        else:
            with open_binary(item) as source:
                _copy(source, copy)
    except OSError as error:
        raise InputError(f"cannot be copied to a file: {error.strerror or error}", path=item) from error
    return copy


def _copy(source: BinaryIO, copy: Path) -> None:
    with open(copy, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
