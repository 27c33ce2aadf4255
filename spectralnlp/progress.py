"""Progress reports of training: after each pass over the training data, a callback gets a line of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from spectralnlp.runtime import current_execution, executing


@contextmanager
def timed_passes(report: Callable[[str], None]) -> Iterator[None]:
    """Report each pass over training data inside a ``with`` block.

    Args:
        report: callback that takes a line of text. It is called after each pass, with the time that the pass
            took, and for other messages about training.
    """
    with executing(report=report):
        yield


def report_progress(line: str) -> None:
    """Pass a line to the progress callback of `timed_passes`, if there is one."""
    report = current_execution().report
    if report is not None:
        report(line)


class Stages:
    """Consecutive stages of a training run and their approximate durations, for progress reports.

    Args:
        times: duration of each stage by name, in any unit.
    """

    def __init__(self, times: Mapping[str, float]) -> None:
        total, before = sum(times.values()), 0.0
        self._shares: dict[str, tuple[float, float]] = {}
        for name, time in times.items():
            self._shares[name] = before / total, time / total
            before += time

    def report_done(self, stage: str, part: float = 1.0) -> None:
        """Pass the completed share of the training run to the callback ``Execution.show_share``, if set.

        Args:
            stage: name of the current stage.
            part: completed share of this stage, in [0, 1].
        """
        show = current_execution().show_share
        if show is not None:
            before, share = self._shares[stage]
            show(before + part * share)


@contextmanager
def fit_pass(name: str) -> Iterator[None]:
    """Time a ``with`` block that is one pass over the training data, and report the time.

    The progress callback of `timed_passes`, if there is one, gets a line such as ``rules: 1.5 s``.

    Args:
        name: name of the pass in this line.
    """
    started = perf_counter()
    yield
    report_progress(f"{name}: {perf_counter() - started:.1f} s")
