"""Progress of learning: each pass of a ``fit`` reports its time, a line each, to whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


@contextmanager
def fit_pass(name: str) -> Iterator[None]:
    """Time one pass of a ``fit``, for the progress callback of `timed_passes`."""
    started = perf_counter()
    yield
    report_progress(f"{name}: {perf_counter() - started:.1f} s")
