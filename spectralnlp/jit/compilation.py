"""Reporting that kernels are being compiled: the first parse on a machine takes longer, and users ask why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Announcer(event.Listener):
    """Reports the first kernel of this package that is compiled, not merely loaded from the cache."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.announced = False

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"].py_func
        if not self.announced and kernel.__module__.startswith("spectralnlp"):
            self.announced = True
            package = kernel.__module__.rpartition(".")[0]
            self.report(
                f"compiling the kernels of {package}, once: it takes some seconds, and they are cached"
            )

    def on_end(self, event: Any) -> None:
        pass


class _Names(event.Listener):
    """Lists the kernels that are compiled for Python to call; kernels within these are theirs."""

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
    """Yield a list to which each kernel that is compiled in this context adds its name."""
    listener = _Names()
    with event.install_listener("numba:compile", listener):
        yield listener.names


@contextmanager
def announced_compilation(report: Callable[[str], None]) -> Iterator[None]:
    """Report the first compilation of a kernel in this context.

    Args:
        report: called with one line.
    """
    with event.install_listener("numba:compile", _Announcer(report)):
        yield
