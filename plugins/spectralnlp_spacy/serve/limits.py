"""Limits of ``spectralnlp serve``: how much a request may ask for, and how many at once."""

from __future__ import annotations

from dataclasses import dataclass

# Bytes that JSON takes for a character at most: two escapes of six.
_BYTES_OF_CHARACTER = 12
_BYTES_AROUND = 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of requests.

    Args:
        characters: longest text.
        tokens: most tokens of a text.
        seconds: longest analysis, in seconds; the wait for it to begin is half as long at most.
        workers: how many texts are analysed at once, each by a process that holds the models.
        waiting: how many more requests may wait for a worker.
    """

    characters: int = 2000
    tokens: int = 1000
    seconds: float = 10.0
    workers: int = 2
    waiting: int = 16

    @property
    def body(self) -> int:
        """Bytes of the longest body of a request: the longest text, each character escaped."""
        return self.characters * _BYTES_OF_CHARACTER + _BYTES_AROUND

    @property
    def patience(self) -> float:
        """Seconds that a request waits for a worker at most."""
        return self.seconds / 2
