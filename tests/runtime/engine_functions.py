"""Functions in an importable module, as worker processes need them."""

from __future__ import annotations

import os
import time

from spectralnlp.errors import InputError


def square(x: int) -> int:
    return x * x


def refuse_seven(x: int) -> int:
    if x == 7:
        raise InputError("seven", path="numbers.txt", line=7, hint="leave it out")
    return x


def stumble(x: int) -> int:
    raise ZeroDivisionError("a bug")


def die(x: int) -> int:
    os._exit(1)


def sleep_long(x: int) -> int:
    time.sleep(120)
    return x
