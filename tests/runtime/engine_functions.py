"""Functions in an importable module, as worker processes need them."""

from __future__ import annotations

import os
import time


def stumble(x: int) -> int:
    raise ZeroDivisionError("a bug")


def die(x: int) -> int:
    os._exit(1)


def sleep_long(x: int) -> int:
    print("asleep", flush=True)
    time.sleep(120)
    return x
