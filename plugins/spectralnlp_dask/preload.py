"""Start of local workers."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C, which reaches the whole process group, to the parent alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
