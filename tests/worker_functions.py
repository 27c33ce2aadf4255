"""Functions that the tests of every engine send to its workers, and a stream for them to read."""

from __future__ import annotations

from collections.abc import Iterator

from spectralnlp.errors import InputError


def square(x: int) -> int:
    return x * x


def refuse_seven(x: int) -> int:
    if x == 7:
        raise InputError("seven", path="numbers.txt", line=7, hint="leave it out")
    return x


class EndlessNumbers:
    """0, 1, 2 and so on; ``taken`` is the number that was read last."""

    def __init__(self) -> None:
        self.taken = 0

    def __iter__(self) -> Iterator[int]:
        while True:
            yield self.taken
            self.taken += 1
