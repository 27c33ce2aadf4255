"""The command line. Only ``main`` is here, so that ``spectralnlp --help`` imports almost nothing."""

from __future__ import annotations

__all__ = ["main"]


def main() -> int:
    """Run the command line on ``sys.argv`` and return its exit status (entry point ``spectralnlp``)."""
    try:
        from spectralnlp.cli.app import run
        from spectralnlp.cli.streams import repair_streams

        repair_streams()
        return run()
    except KeyboardInterrupt:  # before run() could take care of it
        return 130
