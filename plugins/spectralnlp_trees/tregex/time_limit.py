"""Limit the CPU time of code that cannot be interrupted otherwise, such as regular expressions."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def limited_time(seconds: float) -> Iterator[Callable[[], None]]:
    """Limit the CPU time of a ``with`` block: TimeoutError is raised in the block at the limit.

    The limit works only in the main thread on POSIX systems; elsewhere there is no limit.

    Args:
        seconds: limit of CPU time, counted from the last start of the timer.

    Yields:
        A function that starts or restarts the timer; call it in the block.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield lambda: None
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    def begin() -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)

    outer = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield begin
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, outer)
