"""Ctrl-C that waits: where an interrupt must not be raised, it is raised at the end.

Numba takes named tuples apart and puts them together in functions of Python, in which a KeyboardInterrupt may
be raised, and does not ask whether they failed: the process crashes. So each call of a kernel holds
interrupts back (`spectralnlp.jit`).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # the wrappers of `signal` take ten times as long
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGINT
from threading import get_ident, main_thread
from types import FrameType


class _HeldInterrupts:
    """See `held_interrupts`; there is one, for only the main thread handles signals."""

    def __init__(self) -> None:
        self._main, self._depth, self._came = main_thread().ident, 0, False
        self._outer: object = None
        self._handler = self._note  # one object, for the sake of `is`

    def __enter__(self) -> None:
        if get_ident() != self._main:
            return
        if self._depth == 0:
            outer = _signal.getsignal(SIGINT)
            if outer is not self._handler:
                self._outer, self._came = outer, False
                if callable(outer):  # not ignored, nor left to the system
                    _signal.signal(SIGINT, self._handler)  # an interrupt that is on its way is raised here
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        if get_ident() != self._main:
            return
        self._depth -= 1
        if self._depth == 0 and callable(self._outer):
            _signal.signal(SIGINT, self._outer)
            if self._came:
                self._outer(SIGINT, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True


#: In ``with held_interrupts:``, Ctrl-C waits for the end of the block, and of all blocks around it. There the
#: handler is called that was in use before, which usually raises KeyboardInterrupt. Other threads than the
#: main one handle no signals, and nothing happens there.
held_interrupts = _HeldInterrupts()


@contextmanager
def deaf_children() -> Iterator[None]:
    """Start processes inside that Ctrl-C does not reach: a terminal sends it to all, the parent answers."""
    with held_interrupts:
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        outer = signal.pthread_sigmask(signal.SIG_BLOCK, {SIGINT})  # processes inherit what is blocked
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, outer)
