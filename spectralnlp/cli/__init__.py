"""The command line. Only ``main`` is here, so that ``spectralnlp --help`` imports almost nothing."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from typing import Any

__all__ = ["main"]

_INTERRUPTED, _TERMINATED = 130, 143
_AGAIN = (
    2.0  # seconds after an interrupt in which another is not raised, so that it cannot stop the tidying up
)


def main() -> int:
    """Run the command line on ``sys.argv`` and return its exit status (entry point ``spectralnlp``)."""
    signals = _Signals()
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signals.interrupt)
            sys.unraisablehook = signals.raise_again
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signals.terminate)
        from spectralnlp.cli.app import run
        from spectralnlp.cli.streams import repair_streams

        repair_streams()
        status = run()
    except KeyboardInterrupt:  # before run() could take care of it
        status = _INTERRUPTED
    except Exception:
        if not signals.interrupted:
            raise
        status = _INTERRUPTED  # an import that was interrupted may fail in any way
    finally:
        # Threads that are still at work are waited for, unless there is another interrupt; then nothing is.
        signal.signal(signal.SIGINT, signals.leave)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    return _TERMINATED if status == _INTERRUPTED and signals.terminated else status


class _Signals:
    """Notes interrupts, and takes SIGTERM for one, so that nothing half-written is left behind."""

    interrupted = terminated = False
    _last = float("-inf")  # when an interrupt was raised

    def interrupt(self, number: int, frame: object) -> None:
        self.interrupted = True
        if time.monotonic() - self._last > _AGAIN:
            self._last = time.monotonic()
            raise KeyboardInterrupt

    def raise_again(self, unraisable: Any) -> None:
        """Repeat an interrupt that Python discarded, as it does in callbacks, such as those of imports."""
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
            return
        from _thread import interrupt_main
        from threading import Timer

        self._last = float("-inf")
        Timer(0.01, interrupt_main).start()  # when the callback is over

    def leave(self, number: int, frame: object) -> None:
        if time.monotonic() - self._last > _AGAIN:
            os._exit(_INTERRUPTED)

    def terminate(self, number: int, frame: object) -> None:
        self.terminated = True
        if not callable(signal.getsignal(signal.SIGINT)):  # ignored, as in a script's background
            signal.signal(signal.SIGINT, self.interrupt)
        signal.raise_signal(signal.SIGINT)
