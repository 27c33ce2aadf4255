"""Runs of the command line, as the fixtures of these tests give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Outcome(NamedTuple):
    """Of a command."""

    status: int
    out: str
    err: str


Run = Callable[..., Outcome]
