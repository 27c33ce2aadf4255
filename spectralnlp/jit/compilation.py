"""Report the compilation of numba functions (kernels), which makes the first parse on a machine slower."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Announcer(event.Listener):
    """Listener to numba's events that reports when compilation begins, once or at each of several stages.

    Kernels that are loaded from the disk cache are not reported.
    """

    def __init__(self, report: Callable[[str], None], parts: Mapping[str, str]) -> None:
        self.report = report
        self.parts = parts
        self.announced = -1

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not module.startswith("spectralnlp"):
            return
        found = (number for number, part in enumerate(self.parts) if module.startswith(part))
        number = next(found, 0)
        if number <= self.announced:
            return
        self.announced = number
        what = f"the kernels of {module.rpartition('.')[0]}"
        if self.parts:
            what = f"kernels: {list(self.parts.values())[number]}, {number + 1} of {len(self.parts)}"
        self.report(f"compiling {what} (up to a minute in all, once on a machine)")

    def on_end(self, event: Any) -> None:
        pass


class _Names(event.Listener):
    """Listener to numba's events that collects the names of compiled kernels.

    A kernel that is compiled because another kernel calls it is not listed.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.depth = 0

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"].py_func
        if self.depth == 0:
            self.names.append(f"{kernel.__module__}.{kernel.__qualname__}")
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1


@contextmanager
def compiled_kernels() -> Iterator[list[str]]:
    """Yield a list that receives the name of each kernel that is compiled inside the ``with`` block."""
    listener = _Names()
    with event.install_listener("numba:compile", listener):
        yield listener.names


@contextmanager
def announced_compilation(
    report: Callable[[str], None], parts: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Report, inside the ``with`` block, when the compilation of kernels begins.

    Args:
        report: function that is called with each line of the report.
        parts: stages of the compilation, in order, as a mapping from a prefix of module names to the name of
            the stage; a line is reported when a stage begins. None to report a single line.
    """
    with event.install_listener("numba:compile", _Announcer(report, parts or {})):
        yield
