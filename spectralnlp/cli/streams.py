"""Replace standard streams that are closed when the program starts."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any


class ClosedOutput(io.TextIOBase):
    """Replacement for a closed standard output; every write raises an error with a clear message."""

    encoding = "utf-8"

    @property
    def buffer(self) -> ClosedOutput:
        """The stream itself, which also accepts bytes."""
        return self

    def writable(self) -> bool:
        """Return True, although `write` raises an error."""
        return True

    def write(self, text: Any) -> int:
        """Raise an error, because standard output is closed.

        Raises:
            OSError: always.
        """
        raise OSError(errno.EBADF, "cannot write the result: standard output is closed")


def repair_streams() -> None:
    """Replace closed standard streams, so that files opened later do not take their descriptors.

    Output to a closed standard error is discarded; output to a closed standard output raises an error
    (`ClosedOutput`). A closed `sys.stdin` stays None, and commands that read it report this.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
