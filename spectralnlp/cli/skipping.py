"""``--skip-bad``: skip inputs that cannot be read, and report and count them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from spectralnlp.errors import InputError


class Skipped:
    """Callback that reports and counts inputs that cannot be read, each of them once.

    A command that reads its inputs several times, or in worker processes, calls `find` first, which reads all
    inputs once and reports the bad ones; worker processes skip them without a report.

    Args:
        report: called with a line for each bad input, and with a line for the number of bad inputs.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.seen: dict[str, None] = {}

    def __call__(self, error: InputError) -> None:
        """Record a bad input, and report it if it is new."""
        if error.message not in self.seen:
            self.seen[error.message] = None
            self.report(f"skipped {error.message}")

    def find(self, *corpora: Iterable[object]) -> None:
        """Read all inputs once, and report each bad input and the number of bad inputs."""
        for corpus in corpora:
            for _ in corpus:
                pass
        self.say_how_many()

    def say_how_many(self) -> None:
        """Report the number of inputs that were skipped."""
        self.report(f"skipped {len(self.seen)} in all")

    def __reduce__(self) -> tuple[object, ...]:
        return _silent, ()  # worker processes get a callback that reports nothing


def _silent() -> Callable[[InputError], None]:
    return _ignore


def _ignore(error: InputError) -> None:
    pass
