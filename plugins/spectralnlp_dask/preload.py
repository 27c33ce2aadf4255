"""Dask preload script of local workers, which makes them ignore Ctrl-C."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C, which reaches the whole process group, so that only the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
