"""Limits of ``spectralnlp serve``: length and time of a request, and number of simultaneous requests."""

from __future__ import annotations

from dataclasses import dataclass

# Maximum number of bytes of a character in JSON: two escapes of six bytes.
_BYTES_OF_CHARACTER = 12
_BYTES_AROUND = 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the length, time and number of requests to the server.

    Args:
        characters: maximum length of a text in characters.
        tokens: maximum number of tokens of a text.
        seconds: maximum time of an analysis, in seconds; a request waits at most half as long for a worker.
        workers: number of texts that are analysed at once, each by a process with its own models.
        waiting: maximum number of further requests that wait for a worker.
    """

    characters: int = 2000
    tokens: int = 1000
    seconds: float = 10.0
    workers: int = 2
    waiting: int = 16

    @property
    def body(self) -> int:
        """Maximum length of a request's body in bytes, enough for any text of ``characters`` characters."""
        return self.characters * _BYTES_OF_CHARACTER + _BYTES_AROUND

    @property
    def patience(self) -> float:
        """Maximum time that a request waits for a worker, in seconds."""
        return self.seconds / 2
