"""Entry point of the command line.

It imports the commands only when ``main`` runs them, and handles interrupts even during these imports.
"""

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
    2.0  # seconds after an interrupt during which another is ignored, so that it cannot stop the clean-up
)


def main() -> int:
    """Run the command line on ``sys.argv`` and return the exit status (entry point ``spectralnlp``)."""
    signals = _Signals()
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signals.interrupt)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signals.terminate)
        sys.excepthook, sys.unraisablehook = signals.print_error, signals.raise_again
        from spectralnlp.cli.app import run
        from spectralnlp.cli.streams import repair_streams

        repair_streams()
        status = run(interrupted=lambda: signals.interrupted)
    except KeyboardInterrupt:  # raised outside of run(), which handles it otherwise
        status = _INTERRUPTED
    except Exception:
        if not signals.interrupted:
            raise
        status = _INTERRUPTED  # an import that was interrupted may fail in any way
    finally:
        # Python waits for threads that still run; another interrupt ends the process at once.
        signal.signal(signal.SIGINT, signals.leave)
        for number in (signal.SIGINT, signal.SIGTERM):  # Python puts back the defaults at the very end
            atexit.register(signal.signal, number, signal.SIG_IGN)
    return _TERMINATED if status == _INTERRUPTED and signals.terminated else status


class _Signals:
    """Signal handlers that record interrupts (Ctrl-C), and treat SIGTERM in the same way.

    After either signal a KeyboardInterrupt is raised, so that commands can remove partial files.
    """

    interrupted = terminated = False
    _last = float("-inf")  # time of the last interrupt that was raised

    def interrupt(self, number: int, frame: object) -> None:
        self.interrupted = True
        if time.monotonic() - self._last > _AGAIN:
            self._last = time.monotonic()
            raise KeyboardInterrupt

    def print_error(self, kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        """Print an exception, but no KeyboardInterrupt, which ``main`` handles.

        Functions of Cython print what they discard, before it reaches ``sys.unraisablehook``.

        Args:
            kind: type of the exception; this and the others are as Python passes them to ``sys.excepthook``.
            error: the exception.
            traceback: its traceback.
        """
        if not isinstance(error, KeyboardInterrupt):
            sys.__excepthook__(kind, error, traceback)

    def raise_again(self, unraisable: Any) -> None:
        """Raise a discarded KeyboardInterrupt again: Python ignores exceptions that some callbacks raise.

        Args:
            unraisable: the discarded exception, as Python passes it to ``sys.unraisablehook``.
        """
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
            return
        from _thread import interrupt_main
        from threading import Timer

        def interrupt() -> None:
            if os.name == "nt":
                interrupt_main()
            else:
                os.kill(os.getpid(), signal.SIGINT)  # ends a wait of the main thread, too

        self._last = float("-inf")
        Timer(0.01, interrupt).start()  # after the callback has returned

    def leave(self, number: int, frame: object) -> None:
        if time.monotonic() - self._last > _AGAIN:
            os._exit(_INTERRUPTED)

    def terminate(self, number: int, frame: object) -> None:
        self.terminated = True
        if not callable(signal.getsignal(signal.SIGINT)):  # SIGINT is ignored, as in a background job
            signal.signal(signal.SIGINT, self.interrupt)
        signal.raise_signal(signal.SIGINT)
