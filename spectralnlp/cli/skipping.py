"""``--skip-bad``: skip inputs that cannot be read, and report and count them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from spectralnlp.errors import InputError


class Skipped:
    """Names each bad input once and counts them.

    All are found before the work begins: its passes read the data again, perhaps in worker processes,
    and have nothing to add.

    Args:
        report: called with a line for each bad input, and one for the sum.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.seen: dict[str, None] = {}

    def __call__(self, error: InputError) -> None:
        """Record and report one bad input, once."""
        if error.message not in self.seen:
            self.seen[error.message] = None
            self.report(f"skipped {error.message}")

    def find(self, *corpora: Iterable[object]) -> None:
        """Read all inputs once, and report how many were skipped."""
        for corpus in corpora:
            for _ in corpus:
                pass
        self.say_how_many()

    def say_how_many(self) -> None:
        """Report the number of skipped inputs."""
        self.report(f"skipped {len(self.seen)} in all")

    def __reduce__(self) -> tuple[object, ...]:
        return _silent, ()  # what a worker process gets


def _silent() -> Callable[[InputError], None]:
    return _ignore


def _ignore(error: InputError) -> None:
    pass
