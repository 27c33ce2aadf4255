"""Replacements for standard streams that are closed when the program starts."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any


class ClosedOutput(io.TextIOBase):
    """Stands in for a standard output that is closed: whatever is written to it is refused in one line."""

    encoding = "utf-8"

    @property
    def buffer(self) -> ClosedOutput:
        """The stream itself, which also accepts bytes."""
        return self

    def writable(self) -> bool:
        """Return that it is asked to write."""
        return True

    def write(self, text: Any) -> int:
        """Raise an error, as nothing can be written.

        Raises:
            OSError: always.
        """
        raise OSError(errno.EBADF, "cannot write the result: standard output is closed")


def repair_streams() -> None:
    """Stand in for closed streams, so that no file that is opened later takes their numbers.

    What goes to standard error is lost, what goes to standard output refused (`ClosedOutput`); `sys.stdin`
    stays None, and commands that read it say so.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
