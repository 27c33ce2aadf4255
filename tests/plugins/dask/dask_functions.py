"""Functions in an importable module, as workers need them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime import open_text


def lines(words: list[str]) -> Iterator[list[str]]:
    return iter([[word] for word in words])


def slow_lines(words: list[str], folder: Path) -> Iterator[list[str]]:
    """Leaves its process's number in a folder before it takes its time."""
    (folder / str(os.getpid())).touch()
    time.sleep(0.5)
    return lines(words)


def die() -> Iterator[list[str]]:
    os._exit(1)


def fail() -> Iterator[list[str]]:
    raise ZeroDivisionError("a bug")


def fail_twice(tries: Path) -> Iterator[list[str]]:
    with tries.open("a") as file:
        file.write("x")
    if len(tries.read_text()) < 3:
        raise OSError("the network is away")
    return lines(["b"])


def read_words(path: Path | str) -> Iterator[list[str]]:
    with open_text(path) as text:
        for line in text:
            yield line.split()


def read_unless(stop: Path, path: Path) -> Iterator[list[str]]:
    """Read words, but the file that is named in another cannot be read."""
    if path.name == stop.read_text():
        raise InputError("cannot be read today", path=path)
    return read_words(path)


def hold(lock: Any, x: int) -> int:
    return x


class Heavy:
    """Counts how often it was pickled."""

    def __init__(self) -> None:
        self.times_pickled = 0

    def __reduce__(self) -> tuple[Any, ...]:
        self.times_pickled += 1
        return Heavy, ()


def lift(heavy: Heavy, x: int) -> int:
    return x
