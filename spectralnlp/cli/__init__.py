"""The command line. Only ``main`` is here, so that ``spectralnlp --help`` imports almost nothing."""

from __future__ import annotations

import atexit
import os
import signal

__all__ = ["main"]

_INTERRUPTED, _TERMINATED = 130, 143


def main() -> int:
    """Run the command line on ``sys.argv`` and return its exit status (entry point ``spectralnlp``)."""
    termination = _Termination()
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, termination.interrupt)
        from spectralnlp.cli.app import run
        from spectralnlp.cli.streams import repair_streams

        repair_streams()
        status = run()
    except KeyboardInterrupt:  # before run() could take care of it
        status = _INTERRUPTED
    finally:
        # Threads that are still at work are waited for, unless there is another interrupt; then nothing is.
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(_INTERRUPTED))
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    return _TERMINATED if status == _INTERRUPTED and termination.came else status


class _Termination:
    """Takes SIGTERM for an interrupt, so that nothing half-written is left behind."""

    came = False

    def interrupt(self, number: int, frame: object) -> None:
        self.came = True
        if not callable(
            signal.getsignal(signal.SIGINT)
        ):  # interrupts are ignored, as in a script's background
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)
