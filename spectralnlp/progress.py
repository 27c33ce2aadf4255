"""Progress of learning: each pass of a ``fit`` reports its time, a line each, to whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from spectralnlp.runtime import current_execution, executing


@contextmanager
def timed_passes(report: Callable[[str], None]) -> Iterator[None]:
    """Have the passes of every ``fit`` in this context reported, a line each."""
    with executing(report=report):
        yield


def report_progress(line: str) -> None:
    """Report a line to the progress callback of `timed_passes`, if there is one."""
    report = current_execution().report
    if report is not None:
        report(line)


class Stages:
    """Stages of a training that follow one another, and about how long each takes.

    Args:
        times: of each stage by name, in any unit.
    """

    def __init__(self, times: Mapping[str, float]) -> None:
        total, before = sum(times.values()), 0.0
        self._shares: dict[str, tuple[float, float]] = {}
        for name, time in times.items():
            self._shares[name] = before / total, time / total
            before += time

    def report_done(self, stage: str, part: float = 1.0) -> None:
        """Tell `current_execution` how much of the training is done.

        Args:
            stage: the one that is under way.
            part: of this stage, in [0, 1].
        """
        show = current_execution().show_share
        if show is not None:
            before, own = self._shares[stage]
            show(before + part * own)


@contextmanager
def fit_pass(name: str) -> Iterator[None]:
    """Time one pass of a ``fit``, for the progress callback of `timed_passes`."""
    started = perf_counter()
    yield
    report_progress(f"{name}: {perf_counter() - started:.1f} s")
