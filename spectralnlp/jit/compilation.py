"""Saying that kernels are being compiled: the first parse on a machine takes longer, and should say why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Announcer(event.Listener):
    """Tells of the first kernel of this package that is compiled, not merely loaded from the cache."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.announced = False

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"].py_func
        if not self.announced and kernel.__module__.startswith("spectralnlp"):
            self.announced = True
            room = kernel.__module__.rpartition(".")[0]
            self.say(f"compiling the kernels of {room}, once: it takes some seconds, and they are cached")

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def announced_compilation(say: Callable[[str], None]) -> Iterator[None]:
    """Have the first compilation of a kernel in this context announced.

    Args:
        say: told one line.
    """
    with event.install_listener("numba:compile", _Announcer(say)):
        yield
