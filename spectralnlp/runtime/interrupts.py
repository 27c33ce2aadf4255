"""Deferred interrupts: Ctrl-C takes effect only at the end of a block.

Numba packs and unpacks named tuples in Python functions without checking whether they failed, so that a
KeyboardInterrupt there crashes the process. Therefore interrupts are deferred during each call of a kernel
(`spectralnlp.jit`).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # the wrappers of `signal` take ten times as long
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIGINT
from threading import get_ident, main_thread
from types import FrameType


class _DeferredInterrupts:
    """Context manager that defers Ctrl-C; `deferred_interrupts` is its only instance."""

    def __init__(self) -> None:
        self._main, self._depth, self._came = main_thread().ident, 0, False
        self._outer: object = None
        self._handler = self._note  # stored, because `is` needs the same object each time

    def __enter__(self) -> None:
        if get_ident() != self._main:
            return
        if self._depth == 0:
            outer = _signal.getsignal(SIGINT)
            if outer is not self._handler:
                self._outer, self._came = outer, False
                if callable(outer):  # neither SIG_IGN nor SIG_DFL
                    _signal.signal(SIGINT, self._handler)  # a pending interrupt is raised here
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


#: Inside ``with deferred_interrupts:``, Ctrl-C is deferred to the end of the outermost such block. Then the
#: previous handler is called, which usually raises KeyboardInterrupt. In other threads than the main one this
#: does nothing, as they handle no signals.
deferred_interrupts = _DeferredInterrupts()


@contextmanager
def children_ignoring_interrupts() -> Iterator[None]:
    """Make processes that are started inside a ``with`` block ignore Ctrl-C; only their parent handles it."""
    with deferred_interrupts:
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        outer = signal.pthread_sigmask(signal.SIG_BLOCK, {SIGINT})  # child processes inherit the mask
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, outer)
